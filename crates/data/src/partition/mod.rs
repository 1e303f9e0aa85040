//! Which training sample lies on which device.

mod by_user;
mod deal;
mod draw;
mod kind;
mod pool;
mod repair;
mod table;

use rand::Rng;

use crate::dataset::count_labels;
use crate::{Dataset, Error};
use draw::{shuffle, spread};

pub use kind::PartitionKind;
pub use pool::Pool;

/// What is to be divided, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionPlan {
    /// How labels are spread over devices.
    pub kind: PartitionKind,
    /// Number of devices.
    pub devices: usize,
    /// Samples of all devices together; each gets an equal share (to within one sample, or to
    /// within one sample a shard; by user: in proportion to what each user has).
    pub data_volume: usize,
    /// Samples of the probe set.
    pub probe_samples: usize,
    /// Number of UAVs.
    pub uavs: usize,
    /// Samples that each UAV has for itself.
    pub personal_samples: usize,
}

/// Sample numbers in the training set; no sample is in two places, unless devices share a [`Pool`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// For each device, in random order.
    pub devices: Vec<Vec<u32>>,
    /// For each UAV.
    pub personal: Vec<Vec<u32>>,
    /// For looking at a model without touching the test set.
    pub probe: Vec<u32>,
}

/// Unused samples of each class, in random order.
type Pools = Vec<Vec<u32>>;

/// Divides a training set among devices, UAVs and the probe set.
///
/// Probe and personal sets are drawn first, with equally many samples of each class as long as
/// the classes last. The result depends on the data set's labels, the plan and the random stream
/// alone: only integer arithmetic and platform-independent functions take part.
///
/// ```
/// use aerofed_data::{Embedded, PartitionKind, PartitionPlan, embedded, partition};
/// use rand::SeedableRng;
///
/// let train = embedded(Embedded::Mnist)?.train;
/// let plan = PartitionPlan {
///     kind: PartitionKind::Dirichlet { alpha: 0.3 },
///     devices: 20,
///     data_volume: 2_000,
///     probe_samples: 100,
///     uavs: 3,
///     personal_samples: 50,
/// };
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
/// let parts = partition(&train, &plan, &mut rng)?;
/// assert!(parts.devices.iter().all(|device| device.len() == 100));
/// assert_eq!((parts.personal.len(), parts.probe.len()), (3, 100));
/// # Ok::<(), aerofed_data::Error>(())
/// ```
pub fn partition(
    dataset: &Dataset,
    plan: &PartitionPlan,
    rng: &mut impl Rng,
) -> Result<Partition, Error> {
    dataset.check()?;
    plan.check(dataset)?;
    let mut pools = by_class(dataset, rng);
    let probe = take_balanced(&mut pools, plan.probe_samples, rng);
    let personal = (0..plan.uavs)
        .map(|_| take_balanced(&mut pools, plan.personal_samples, rng))
        .collect();
    let mut devices = deal::deal(&mut pools, dataset, plan, rng)?;
    for device in &mut devices {
        // A trainer that goes through the samples in order must not meet them class by class.
        shuffle(device, rng);
    }
    Ok(Partition {
        devices,
        personal,
        probe,
    })
}

/// The samples of each class, in random order.
fn by_class(dataset: &Dataset, rng: &mut impl Rng) -> Pools {
    let mut pools: Pools = vec![Vec::new(); dataset.classes()];
    for (index, &label) in (0_u32..).zip(&dataset.labels) {
        pools[usize::from(label)].push(index);
    }
    for pool in &mut pools {
        shuffle(pool, rng);
    }
    pools
}

impl PartitionPlan {
    /// Refuses numbers that no data set could serve.
    fn check_numbers(&self) -> Result<(), Error> {
        self.kind.check()?;
        if self.devices == 0 {
            return Err(Error::field("devices", 0, "1 or more"));
        }
        let (each, why) = match self.kind {
            PartitionKind::NoniidA | PartitionKind::NoniidB => (2, "2 samples a device"),
            PartitionKind::Shards { per_device } => (per_device, "1 sample a shard"),
            PartitionKind::Iid | PartitionKind::Dirichlet { .. } | PartitionKind::User => {
                (1, "1 sample a device")
            }
        };
        let needed = self.devices.saturating_mul(each);
        if self.data_volume < needed {
            let allowed = format!(
                "at least {needed} ({why}, {} devices, partition {})",
                self.devices,
                self.kind.name()
            );
            return Err(Error::field("data_volume", self.data_volume, allowed));
        }
        Ok(())
    }

    fn check(&self, dataset: &Dataset) -> Result<(), Error> {
        self.check_numbers()?;
        let personal = self.personal_samples.checked_mul(self.uavs);
        let asked = personal
            .and_then(|samples| samples.checked_add(self.probe_samples))
            .and_then(|samples| samples.checked_add(self.data_volume));
        match asked {
            Some(asked) if asked <= dataset.len() => Ok(()),
            _ => Err(self.not_enough(dataset)),
        }
    }

    fn not_enough(&self, dataset: &Dataset) -> Error {
        Error::NotEnoughSamples {
            data_volume: self.data_volume,
            probe_samples: self.probe_samples,
            personal_samples: self.personal_samples,
            uavs: self.uavs,
            available: dataset.len(),
        }
    }
}

/// Takes samples class by class in turn, beginning anywhere, so that class counts differ by one
/// at most until a class is used up.
fn take_balanced(pools: &mut Pools, samples: usize, rng: &mut impl Rng) -> Vec<u32> {
    let mut order: Vec<usize> = (0..pools.len()).collect();
    shuffle(&mut order, rng);
    let mut taken = Vec::with_capacity(samples);
    while taken.len() < samples {
        let before = taken.len();
        for &class in order.iter().take(samples - before) {
            taken.extend(pools[class].pop());
        }
        if taken.len() == before && order.iter().all(|&class| pools[class].is_empty()) {
            break; // the plan's check rules this out
        }
        // Classes that are used up must not take a turn from those behind them.
        order.retain(|&class| !pools[class].is_empty());
    }
    shuffle(&mut taken, rng);
    taken
}

/// Equal shares of `total`, the remainder spread evenly.
fn shares(total: usize, parts: usize) -> Vec<usize> {
    (0..parts).map(|i| spread(total, i, parts)).collect()
}

impl Partition {
    /// For each device, how many samples of each class it holds.
    #[must_use]
    pub fn label_counts(&self, dataset: &Dataset) -> Vec<Vec<usize>> {
        let count = |device: &Vec<u32>| indexed_counts(device, dataset);
        self.devices.iter().map(count).collect()
    }

    /// The partition as text for a terminal: a line per device, then totals and the other sets.
    #[must_use]
    pub fn table(&self, dataset: &Dataset) -> String {
        table::table(self, dataset)
    }
}

/// Class counts of some samples; numbers outside the set are not counted.
fn indexed_counts(samples: &[u32], dataset: &Dataset) -> Vec<usize> {
    let labels = samples.iter().filter_map(|&index| {
        let index = usize::try_from(index).ok()?;
        dataset.labels.get(index).copied()
    });
    count_labels(dataset.classes(), labels)
}
