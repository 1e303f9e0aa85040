//! What a method is charged with, and what it is not; what the columns of a run mean.

use std::fs;

use aerofed::record::EnergyItem;
use aerofed::run_folder::RunFolder;
use aerofed::world::DeviceId;

use crate::common::{run, tiny};

/// What a fault takes from a battery stands in the books under its own item, and in nobody's cost of an accuracy.
#[test]
fn joules_that_faults_took_are_not_the_methods_energy() {
    let targets = "stop.targets=[0.1]";
    let calm = run(&tiny(&[targets]), 1);
    for (fault, item) in [
        (
            r#"faults=[{kind="drain", uav=1, round=1}]"#,
            EnergyItem::Drained,
        ),
        (
            r#"faults=[{kind="leak", uav=1, from=1, until=3, power_w=1e4}]"#,
            EnergyItem::Leaked,
        ),
    ] {
        let struck = run(&tiny(&[targets, fault]), 1);
        let taken_j = struck.summary.energy.get(item);
        assert!(taken_j > calm.summary.total_energy_j, "{taken_j}");
        let spent: f64 = EnergyItem::spent()
            .map(|i| struck.summary.energy.get(i))
            .sum();
        assert!((struck.summary.total_energy_j - spent).abs() <= 1e-9 * spent);
        let all = struck.summary.energy.total_j();
        assert!((all - spent - taken_j).abs() <= 1e-9 * all);
        let [to_target] = &struck.summary.targets[..] else {
            panic!("one target");
        };
        assert!(to_target.energy_j.unwrap() <= struck.summary.total_energy_j);
        let last = struck.records.last().unwrap();
        assert!((last.cumulative_energy_j - spent).abs() <= 1e-9 * spent);
    }
    // A leak that changes nothing else leaves the same costs, to the bit.
    let leak = r#"faults=[{kind="leak", uav=1, from=1, until=3, power_w=1}]"#;
    let leaking = run(&tiny(&[targets, leak]), 1);
    assert_eq!(leaking.summary.targets, calm.summary.targets);
    assert_eq!(leaking.summary.total_energy_j, calm.summary.total_energy_j);
}

/// `rounds.csv` has H twice: of the average device, and of the cell with the most.
#[test]
fn local_iterations_are_given_as_mean_over_devices_and_as_maximum() {
    // P1 gives cells of different sizes and links different H.
    let scenario = tiny(&["allocation.kind=p1", "uavs.bandwidth_up_hz=[1e5, 1e8]"]);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let outcome = run(&scenario, 1);
    let mut written = RunFolder::create(&out, &scenario, false).unwrap();
    for record in &outcome.records {
        written.append(record).unwrap();
    }
    written.finish(&outcome).unwrap();
    let text = fs::read_to_string(out.join("rounds.csv")).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|c| *c == name).unwrap();
    let (mean, most) = (
        column("local_iterations_mean"),
        column("local_iterations_max"),
    );
    let mut differed = false;
    for (line, record) in lines.zip(&outcome.records) {
        let cells: Vec<&str> = line.split(',').collect();
        let of_devices = record.uavs.iter().flat_map(|uav| {
            let steps = uav.local_iterations as f64;
            uav.devices.iter().map(move |_| steps)
        });
        let of_devices: Vec<f64> = of_devices.collect();
        let by_hand = of_devices.iter().sum::<f64>() / of_devices.len() as f64;
        let greatest = of_devices.iter().copied().fold(0.0, f64::max);
        assert!((cells[mean].parse::<f64>().unwrap() - by_hand).abs() < 1e-12);
        assert_eq!(cells[most].parse::<f64>().unwrap(), greatest);
        differed |= by_hand < greatest;
    }
    assert!(differed, "every cell had the same H: nothing was tested");
}

/// Agents and P1 look at models on the validation samples: the UAVs that pass them through pay for it.
#[test]
fn passes_over_the_validation_samples_are_paid_for() {
    let first = |probe_samples: usize| {
        let scenario = tiny(&[
            "method=cehfed",
            "association.kind=td3",
            "fitness.personal_epochs=0",
            "fitness.refresh_epochs=0",
            &format!("data.probe_samples={probe_samples}"),
        ]);
        run(&scenario, 1).records.swap_remove(0)
    };
    let (few, many) = (first(50), first(80));
    let cells = many.uavs.iter().filter(|uav| !uav.devices.is_empty());
    // Each edge model and the global one; a pass forward is a third of a step.
    let passes = (cells.count() + 1) as f64;
    let scenario = tiny(&[]);
    let (fitness, bits) = (&scenario.fitness, 30.0 * 784.0 * 8.0);
    let cycles = fitness.uav_cycles_per_bit * bits / 3.0;
    let pass_j = scenario.devices.capacitance / 2.0 * cycles * fitness.uav_cpu_hz.powi(2);
    let more_j = many.energy.get(EnergyItem::Scoring) - few.energy.get(EnergyItem::Scoring);
    assert!(passes > 1.0 && pass_j > 0.0);
    assert!(
        (more_j - passes * pass_j).abs() <= 1e-9 * more_j,
        "{more_j} J, {passes} passes of {pass_j} J"
    );
    // Who does not look does not pay.
    let plain = run(&tiny(&["method=hfl"]), 1);
    assert_eq!(plain.summary.energy.get(EnergyItem::Scoring), 0.0);
}

/// For (6) a device runs its small batch through the UAV's model and through its own: at first both, later its own after it
/// has trained.
#[test]
fn a_devices_own_outputs_are_paid_for() {
    let first = |small_batch: usize| {
        let scenario = tiny(&[
            "method=gshfed",
            "selection.share=1",
            "allocation.kind=equal",
            "stop.max_rounds=1",
            &format!("fitness.small_batch={small_batch}"),
        ]);
        run(&scenario, 1)
    };
    let (small, large) = (first(2), first(5));
    let round = &large.records[0];
    assert_eq!(round.covered, round.selected);
    let devices = &large.world.devices;
    let three_more_samples_j = |device: &DeviceId| {
        let (index, held) = (device.index(), devices.samples[device.index()]);
        let more = f64::from(held.min(5) - held.min(2)) / f64::from(held.min(10));
        // A pass forward is a third of a step.
        devices.iteration_energy_j[index] / 3.0 * more
    };
    // The model of every UAV that covers it; its own at first; and its own once it has trained.
    let coverage = large.world.coverage();
    let by_uavs = coverage.cells.iter().flatten();
    let trained = || round.uavs.iter().flat_map(|uav| &uav.devices);
    let passes = by_uavs.chain(trained()).chain(trained());
    let due_j: f64 = passes.map(three_more_samples_j).sum();
    let compute_j =
        |outcome: &aerofed::run::Outcome| outcome.records[0].energy.get(EnergyItem::DeviceCompute);
    let more_j = compute_j(&large) - compute_j(&small);
    assert!(
        due_j > 0.0 && (more_j - due_j).abs() <= 1e-9 * due_j,
        "{more_j} {due_j}"
    );
}
