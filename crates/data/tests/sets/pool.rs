//! Devices that share a pool of samples.

use std::collections::HashSet;

use aerofed_data::{Dataset, Error, PartitionKind, PartitionPlan, Pool};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::partition::dataset;

fn stream(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn plan(kind: PartitionKind, devices: usize, data_volume: usize) -> PartitionPlan {
    PartitionPlan {
        kind,
        devices,
        data_volume,
        probe_samples: 50,
        uavs: 3,
        personal_samples: 40,
    }
}

fn pool_of(set: &Dataset, kind: PartitionKind, devices: usize, data_volume: usize) -> Pool {
    Pool::new(set, &plan(kind, devices, data_volume), &mut stream(1)).unwrap()
}

fn labels(set: &Dataset, samples: &[u32]) -> Vec<usize> {
    let mut counts = vec![0; set.classes()];
    for &sample in samples {
        counts[usize::from(set.labels[sample as usize])] += 1;
    }
    counts
}

/// Fifty times as many devices as samples, of every kind: what each holds is a function of its stream, none of it is probed, and
/// no device has a sample twice.
#[test]
fn any_number_of_devices_draws_from_a_small_set() {
    let set = dataset(&[200; 5]);
    for kind in PartitionKind::ALL {
        if kind == PartitionKind::User {
            continue;
        }
        let pool = pool_of(&set, kind, 50_000, 500_000);
        let probe: HashSet<u32> = pool.probe().iter().copied().collect();
        assert_eq!(probe.len(), 50);
        for device in [0, 1, 17, 49_999] {
            let own = pool.samples(device, &mut stream(device as u64));
            assert_eq!(own, pool.samples(device, &mut stream(device as u64)));
            assert_eq!(own.len(), 10, "{kind:?}");
            assert_eq!(pool.count(device, &mut stream(device as u64)), 10);
            let different: HashSet<u32> = own.iter().copied().collect();
            assert_eq!(different.len(), 10, "{kind:?}: {own:?}");
            assert!(different.is_disjoint(&probe));
            let held = labels(&set, &own);
            let classes = held.iter().filter(|count| **count > 0).count();
            match kind {
                PartitionKind::NoniidA => assert_eq!(classes, 2, "{held:?}"),
                PartitionKind::NoniidB => assert!((2..=5).contains(&classes), "{held:?}"),
                PartitionKind::Shards { per_device } => assert!(classes <= 2 * per_device),
                _ => {}
            }
        }
        let own = pool.personal(&mut stream(3));
        assert_eq!(labels(&set, &own), [8; 5]);
        assert!(own.iter().all(|sample| !probe.contains(sample)));
    }
}

/// Over many devices, classes come as often as there are samples of them; single devices have their own mix.
#[test]
fn label_mixes_are_those_of_the_partition() {
    let set = dataset(&[800, 400, 200, 100]);
    let all = |kind: PartitionKind| {
        let pool = pool_of(&set, kind, 2_000, 40_000);
        let each: Vec<Vec<usize>> = (0..2_000)
            .map(|device| labels(&set, &pool.samples(device, &mut stream(7 + device as u64))))
            .collect();
        let sum = |class: usize| each.iter().map(|own| own[class]).sum::<usize>() as f64 / 4e4;
        let largest = |own: &Vec<usize>| *own.iter().max().unwrap() as f64 / 20.0;
        let dominance = each.iter().map(largest).sum::<f64>() / 2_000.0;
        ([0, 1, 2, 3].map(sum), dominance)
    };
    let (iid, iid_dominance) = all(PartitionKind::Iid);
    for (share, expected) in iid.iter().zip([0.533, 0.267, 0.133, 0.067]) {
        assert!((share - expected).abs() < 0.03, "{iid:?}");
    }
    let (even, one_sided) = all(PartitionKind::Dirichlet { alpha: 0.1 });
    assert!(
        even.iter().all(|share| (share - 0.25).abs() < 0.05),
        "{even:?}"
    );
    assert!(
        one_sided > 0.75 && iid_dominance < 0.65,
        "{one_sided} {iid_dominance}"
    );
}

#[test]
fn a_class_with_few_samples_gives_them_more_than_once() {
    let set = dataset(&[60, 60]);
    let pool = pool_of(&set, PartitionKind::NoniidA, 2, 400);
    let own = pool.samples(0, &mut stream(1));
    assert_eq!((own.len(), labels(&set, &own)), (200, vec![100, 100]));
    let different: HashSet<u32> = own.iter().copied().collect();
    assert!(different.len() <= 70, "the probe set is not drawn from");
}

#[test]
fn what_no_pool_can_give_is_said() {
    let refused = |set: &Dataset, plan: &PartitionPlan| Pool::new(set, plan, &mut stream(1));
    let set = dataset(&[30, 30]);
    let few = refused(&set, &plan(PartitionKind::Iid, 10, 5));
    assert!(matches!(few, Err(Error::Field { .. })), "{few:?}");
    let all_probed = PartitionPlan {
        probe_samples: 60,
        ..plan(PartitionKind::Iid, 10, 100)
    };
    let empty = refused(&set, &all_probed);
    assert!(
        matches!(empty, Err(Error::NotEnoughSamples { .. })),
        "{empty:?}"
    );
    let by_user = refused(&set, &plan(PartitionKind::User, 10, 100));
    assert!(matches!(by_user, Err(Error::NoUsers { .. })), "{by_user:?}");
    let one_class = refused(&dataset(&[500]), &plan(PartitionKind::NoniidA, 10, 100));
    assert!(one_class.is_err());
}
