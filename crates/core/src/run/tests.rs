//! What only shows from inside a simulation.

use super::learning::EdgeTraining;
use super::*;
use crate::learn::aggregation::FedAvg;
use crate::learn::{Devices, Job, LocalUpdate, UpdateLost};
use crate::scenario::Scenario;
use crate::vocabulary::DeviceId;

/// UAVs 0 - 1 - 2 - 3 in a chain for two rounds; 3, in the middle of the area, merges.
#[test]
fn who_misses_the_broadcast_goes_on_from_the_model_it_has() {
    let text = r#"
        method = "fedprox"
        faults = [
            {kind = "link_outage", uavs = [0, 2], from = 1, until = 2},
            {kind = "link_outage", uavs = [0, 3], from = 1, until = 2},
            {kind = "link_outage", uavs = [1, 3], from = 1, until = 2},
        ]
        [devices]
        count = 40
        [data]
        data_volume = 80
        probe_samples = 10
        [model]
        name = "logistic"
        [uavs]
        count = 4
        layout = {kind = "fixed", positions_m = [[2000, 10000], [18000, 10000], [10000, 17000], [9900, 10000]]}
    "#;
    let scenario = Scenario::parse(text, &[""; 0]).unwrap().check().unwrap();
    let mut simulation = Simulation::builder(&scenario).threads(1).build().unwrap();
    let mut method = Method::of(&scenario).unwrap();
    let first_model = simulation.global_model().to_vec();
    for _ in 0..2 {
        let record = simulation.step(&mut method).unwrap().unwrap();
        assert_eq!(record.aggregator, Some(UavId(3)));
        assert_ne!(simulation.global_model(), first_model);
        let stale: Vec<_> = simulation.learning.stale_models.iter().collect();
        assert_eq!(stale, [(&UavId(0), &first_model)]);
    }

    // A few steps do not lead far from where they start.
    let learning = &mut simulation.learning;
    let marked = vec![0.25; first_model.len()];
    learning.stale_models.insert(UavId(0), marked);
    let mut cell = CellWork {
        devices: simulation.fleet.world.coverage().cells[0][..1].to_vec(),
        transfers: vec![Default::default()],
        device_loss: vec![(0.0, 0)],
        ..CellWork::default()
    };
    cell.plan.local_iterations = 6;
    let training = EdgeTraining {
        key: 1,
        local: method.local,
        aggregation: &FedAvg,
        merges_at_uavs: true,
        wants_outputs: false,
    };
    learning
        .train(&mut [(UavId(0), &mut cell)], &training)
        .unwrap();
    let (trained, samples) = cell.model.unwrap();
    assert!(samples > 0.0 && trained.iter().all(|w| (w - 0.25).abs() < 0.2));

    simulation.step(&mut method).unwrap().unwrap();
    assert!(simulation.learning.stale_models.is_empty());
}

/// Devices that are not asked side by side, though they could be.
struct InTurn(Box<dyn Devices>);

impl Devices for InTurn {
    fn train(
        &mut self,
        jobs: &[Job],
        deliver: &mut dyn FnMut(usize, Result<LocalUpdate, UpdateLost>),
    ) -> Result<(), Error> {
        self.0.train(jobs, deliver)
    }

    fn softmax_outputs(
        &mut self,
        asked: &[(&[f32], &[DeviceId])],
    ) -> Result<Vec<Vec<Vec<f32>>>, Error> {
        self.0.softmax_outputs(asked)
    }
}

/// Whichever way devices are asked, they come to the same: with updates that fail, leave and are handed over.
#[test]
fn cells_side_by_side_come_to_the_same_as_in_turn() {
    for method in ["cehfed", "hfed", "cfed"] {
        let settings = [
            &format!("method={method}"),
            "learner=surrogate",
            "devices.count=400",
            "data.data_volume=4000",
            "data.partition.kind=dirichlet",
            "radio.fading=rayleigh",
            "radio.least_snr_db=10",
            "mobility.kind=random_waypoint",
            "mobility.speed_mps=[100, 300]",
        ];
        let scenario = Scenario::parse("", &settings).unwrap().check().unwrap();
        let build = || Simulation::builder(&scenario).threads(1).build().unwrap();
        let run = |mut simulation: Simulation| {
            let mut method = Method::of(&scenario).unwrap();
            let step = |_| simulation.step(&mut method).unwrap().unwrap();
            let records: Vec<RoundRecord> = (0..8).map(step).collect();
            let text = serde_json::to_string(&records).unwrap();
            (text, simulation.global_model().to_vec())
        };
        let (side_by_side, mut in_turn) = (build(), build());
        assert!(side_by_side.learning.devices.stateless().is_some());
        in_turn.learning.devices = Box::new(InTurn(build().learning.devices));
        let (records, model) = run(side_by_side);
        assert!(records.contains("update_lost"), "{method}");
        assert_eq!((records, model), run(in_turn), "{method}");
    }
}

/// Validation samples can be easier than test samples: by theirs a run might seem to be over long before it is.
#[test]
fn how_far_a_target_is_goes_by_the_accuracy_that_it_is_judged_by() {
    use crate::scenario::TargetOn;
    for target_on in [TargetOn::Test, TargetOn::Validation] {
        let settings = [
            "model.name=logistic".to_owned(),
            "devices.count=40".to_owned(),
            "stop.target_accuracy=0.99".to_owned(),
            format!("stop.target_on={}", target_on.name()),
        ];
        let scenario = Scenario::parse("", &settings).unwrap().check().unwrap();
        let mut simulation = Simulation::builder(&scenario).threads(1).build().unwrap();
        let mut method = Method::of(&scenario).unwrap();
        let mut by_hand = outlook::Outlook::default();
        for _ in 0..3 {
            let record = simulation.step(&mut method).unwrap().unwrap();
            by_hand.note(target_on.accuracy(&record), 0.99, None);
        }
        assert_eq!(simulation.fleet.outlook.curve(), by_hand.curve());
    }
}
