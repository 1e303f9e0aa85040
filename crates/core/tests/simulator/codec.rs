//! What models and updates are on the air: real in training, and in every cost.

use std::collections::HashSet;

use crate::common::{assert_conforms, light, resume, run, tiny};
use aerofed::learn::Codec;
use aerofed::learn::codec::F16;
use aerofed::record::{EnergyItem, EventKind, TimeItem};
use aerofed::run::{Outcome, Run};
use aerofed::{Method, RoundRecord, Simulation};

const CODECS: [&str; 4] = [
    "codec={kind=\"f32\"}",
    "codec={kind=\"f16\"}",
    "codec={kind=\"int8\"}",
    "codec={kind=\"top_k\", fraction=0.05}",
];

/// Parameters of the linear model of these worlds.
const PARAMETERS: f64 = 7_850.0;
/// Bits that 7850 parameters are, up and down, worked by hand: 31 blocks have a scale, 393 values have places of 13 bits.
const BITS: [[f64; 2]; 4] = [
    [32.0 * PARAMETERS, 32.0 * PARAMETERS],
    [16.0 * PARAMETERS, 16.0 * PARAMETERS],
    [
        8.0 * PARAMETERS + 31.0 * 32.0,
        8.0 * PARAMETERS + 31.0 * 32.0,
    ],
    [393.0 * (32.0 + 13.0), 32.0 * PARAMETERS],
];

fn bytes(outcome: &Outcome) -> (String, Vec<u32>) {
    let weights = outcome.weights.iter().map(|weight| weight.to_bits());
    // As text, because NaN is not equal to itself.
    (format!("{:?}", outcome.records), weights.collect())
}

/// Everything that takes a way over the air costs what its bits cost, in seconds and in joules.
#[test]
fn every_cost_follows_the_bits() {
    for method in ["hfl", "cfed"] {
        let first = |codec: &str| {
            let method = format!("method={method}");
            let settings = [codec, &method, "stop.max_rounds=1", "uavs.waiting=free"];
            run(&tiny(&settings), 2).records.remove(0)
        };
        let records = CODECS.map(first);
        let [plain_up, plain_down] = BITS[0];
        for (record, [up, down]) in records.iter().zip(BITS) {
            let assert_ratio = |what: f64, of: f64, ratio: f64, name: &str| {
                assert!(of > 0.0, "{name}");
                assert!((what / of - ratio).abs() < 1e-9, "{name}: {what} of {of}");
            };
            for (item, ratio) in [
                (EnergyItem::DeviceUpload, up / plain_up),
                (EnergyItem::Downlink, down / plain_down),
                (EnergyItem::OffloadHover, up / plain_up),
                (EnergyItem::Broadcast, down / plain_down),
            ] {
                let joules = |record: &RoundRecord| record.energy.get(item);
                let name = format!("{method}, {item:?}");
                assert_ratio(joules(record), joules(&records[0]), ratio, &name);
            }
            for (item, ratio) in [
                (TimeItem::Offload, up / plain_up),
                (TimeItem::Broadcast, down / plain_down),
            ] {
                let seconds = |record: &RoundRecord| record.time.get(item);
                let name = format!("{method}, {item:?}");
                assert_ratio(seconds(record), seconds(&records[0]), ratio, &name);
            }
        }
    }
}

/// A personal model that is sent out to be compared with is as long as any.
#[test]
fn comparing_models_costs_what_the_codec_says() {
    let scoring_s = |codec: &str| {
        let settings = [
            codec,
            "method=gshfed",
            "stop.max_rounds=2",
            "uavs.bandwidth_down_hz=1e3",
            "fitness.personal_epochs=0",
            "fitness.refresh_epochs=0",
        ];
        let outcome = run(&light(&settings), 2);
        outcome.records[1].time.get(TimeItem::Scoring)
    };
    let [plain, half, eight, sparse] = CODECS.map(scoring_s);
    assert!((half / plain - 0.5).abs() < 1e-3, "{half} of {plain}");
    assert!((eight / plain - BITS[2][1] / BITS[0][1]).abs() < 1e-3);
    assert_eq!(sparse, plain);
}

#[test]
fn every_codec_conforms_under_every_schedule() {
    for method in ["cehfed", "cfed", "hfedat", "hierfavg"] {
        for codec in CODECS {
            let method = format!("method={method}");
            assert_conforms(&light(&[
                codec,
                &method,
                "stop.max_rounds=4",
                "faults=[{kind=\"loss\", uav=4, round=2, moment=\"aggregating\"}, \
                 {kind=\"link_outage\", uavs=[0, 1], from=2, until=3}]",
            ]));
        }
    }
}

/// What was saved under one codec is not taken up under another.
#[test]
fn residuals_of_another_codec_are_refused() {
    let scenario = light(&[CODECS[3]]);
    let mut method = Method::of(&scenario).unwrap();
    let mut run = Run::new(Simulation::builder(&scenario).threads(1).build().unwrap());
    run.step(&mut method).unwrap();
    let saved = run.save(&method);
    let other = light(&[CODECS[1]]);
    let told = resume(&other, &mut Method::of(&other).unwrap(), 1, &saved);
    assert!(told.err().unwrap().to_string().contains("codec"));
}

/// Everybody holds the global model as it came over the air.
#[test]
fn the_global_model_is_what_arrived() {
    for method in ["hfl", "cfed", "hfedat"] {
        let method = format!("method={method}");
        let weights = |codec: &str| run(&light(&[codec, &method]), 2).weights;
        let half = weights(CODECS[1]);
        let mut again = half.clone();
        F16.send_model(&mut again);
        assert_eq!(half, again, "{method}");
        for block in weights(CODECS[2]).chunks(256) {
            let distinct: HashSet<u32> = block.iter().map(|w| w.abs().to_bits()).collect();
            assert!(distinct.len() <= 128, "{method}");
        }
    }
}

/// One's own codec takes the place of the scenario's.
#[test]
fn a_codec_can_be_brought() {
    let (plain, half) = (light(&[CODECS[0]]), light(&[CODECS[1]]));
    let brought = Simulation::builder(&plain).threads(1).codec(F16);
    let mut run_on = Run::new(brought.build().unwrap());
    let mut method = Method::of(&plain).unwrap();
    while run_on.step(&mut method).unwrap().is_some() {}
    assert_eq!(bytes(&run_on.finish(&method)), bytes(&run(&half, 1)));
}

/// A hundredth of an update in each edge round: with what is left over sent later the model learns nearly as well as
/// with all of it, without it does not. Rounding is hardly felt.
#[test]
fn error_feedback_is_worth_its_memory() {
    let accuracy = |codec: &str| {
        let settings = [
            codec,
            "data.partition={kind=\"iid\"}",
            "data.data_volume=900",
            "training.max_edge_rounds=4",
            "mobility.kind=static",
            "stop.max_rounds=10",
        ];
        run(&tiny(&settings), 2).summary.final_accuracy
    };
    let whole = accuracy(CODECS[0]);
    let with = accuracy("codec={kind=\"top_k\", fraction=0.01}");
    let without = accuracy("codec={kind=\"top_k\", fraction=0.01, error_feedback=false}");
    assert!(with > without + 0.1, "{with} {without}");
    assert!(with > whole - 0.1, "{with} {whole}");
    for codec in [CODECS[1], CODECS[2]] {
        let coarse = accuracy(codec);
        assert!((coarse - whole).abs() < 0.02, "{codec}: {coarse} {whole}");
    }
}

/// A model that has diverged is seen whatever it is on the air.
#[test]
fn diverging_is_told_with_every_codec() {
    for codec in CODECS {
        let wild = [
            codec,
            "training.learning_rate=1000",
            "training.weight_decay=1000",
            "allocation.local_iterations=12",
        ];
        let outcome = run(&light(&wild), 2);
        let last = outcome.records.last().unwrap();
        let told = |kind: EventKind| last.events.iter().any(|event| event.kind == kind);
        assert!(told(EventKind::Diverged), "{codec}");
    }
}
