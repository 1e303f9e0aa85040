//! What each redeployment recovers after losses of UAVs, and for how much energy: the counterparts of the paper's Tables III
//! and IV, and the sweep over λ_9.
//!
//! `cargo run --release -p aerofed-experiment --example redeployment [LAYOUTS]` prints Markdown.
#![allow(clippy::print_stdout, reason = "an example")]

use std::process::ExitCode;

use aerofed::Scenario;
use aerofed::decide::redeploy::{
    CoverageMeasure, JointGreedy, MarginalGains, Redeployment, Stay, TwoStage,
};
use aerofed_experiment::redeployment::{LossStep, LossStudy, loss_labels};

const DEVICES: usize = 150;
/// Losses as the paper numbers UAVs, from 1.
const LOSSES: [&[usize]; 8] = [&[1], &[2], &[3], &[4], &[5], &[1, 2], &[1, 4], &[3, 5]];

fn main() -> ExitCode {
    let layouts = match std::env::args().nth(1).map(|text| text.parse::<u64>()) {
        None => 200,
        Some(Ok(layouts)) if layouts > 1 => layouts,
        Some(_) => return ExitCode::from(2),
    };
    match LossStudy::new(&Scenario::default(), layouts).map(Study) {
        Ok(study) => {
            study.tables();
            study.sweep();
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    }
}

struct Study(LossStudy);

type Make = Box<dyn Fn() -> Box<dyn Redeployment> + Sync>;

fn two_stage(coverage: CoverageMeasure, movement_weight: f64) -> Make {
    Box::new(move || {
        Box::new(TwoStage {
            coverage,
            movement_weight,
            ..TwoStage::default()
        })
    })
}

fn marginal_gains(movement_weight: f64) -> Make {
    Box::new(move || {
        Box::new(MarginalGains {
            movement_weight,
            ..MarginalGains::default()
        })
    })
}

fn no_margin() -> Make {
    Box::new(|| {
        Box::new(MarginalGains {
            margin_m: Some(0.0),
            ..MarginalGains::default()
        })
    })
}

impl Study {
    /// Per step of the losses, what all layouts gave.
    fn all(&self, lost: &[usize], make: &Make) -> Vec<Vec<LossStep>> {
        let layouts = self.0.in_all(lost, make.as_ref());
        let step = |step: usize| layouts.iter().map(|each| each[step].clone()).collect();
        (0..lost.len()).map(step).collect()
    }

    fn tables(&self) {
        let methods: [(&str, Make); 7] = [
            ("M-i `none`", Box::new(|| Box::new(Stay))),
            (
                "Algorithm 4 `two_stage`",
                two_stage(CoverageMeasure::Marginal, 0.005),
            ),
            (
                "Algorithm 4, own coverage",
                two_stage(CoverageMeasure::Own, 0.005),
            ),
            (
                "M-ii `joint_greedy`",
                Box::new(|| Box::new(JointGreedy::default())),
            ),
            ("`marginal_gains`", marginal_gains(0.005)),
            ("`marginal_gains`, no margin", no_margin()),
            ("`marginal_gains`, λ_9 = 0.0175", marginal_gains(0.0175)),
        ];
        println!(
            "Means over {} layouts of {DEVICES} uniform devices, with 95 % intervals. Coverage in % of the devices, change in points.\n",
            self.0.layouts()
        );
        println!(
            "| lost | method | before | after the loss | after redeployment | change | energy (kJ) | kJ per recovered device |"
        );
        println!("|---|---|---|---|---|---|---|---|");
        let mut single: Vec<Vec<LossStep>> = methods.iter().map(|_| Vec::new()).collect();
        for lost in LOSSES {
            for (method, (name, make)) in methods.iter().enumerate() {
                let labels = loss_labels(&[lost.to_vec()]);
                for (label, steps) in labels.iter().zip(self.all(lost, make)) {
                    println!("| {label} | {name} | {} |", row(&steps));
                    if lost.len() == 1 {
                        single[method].extend(steps);
                    }
                }
            }
        }
        for ((name, _), steps) in methods.iter().zip(&single) {
            println!("| any one | {name} | {} |", row(steps));
        }
        println!("\nShare of a single loss that is recovered, and what it costs:\n");
        println!("| method | recovered (%) | energy (kJ) |\n|---|---|---|");
        for ((name, _), steps) in methods.iter().zip(&single) {
            let energy = mean(steps, |s| s.energy_j / 1e3);
            println!("| {name} | {:.1} | {energy} |", recovered(steps));
        }
    }

    fn sweep(&self) {
        println!("\nSweep over λ_9, all single losses:\n");
        println!("| λ_9 | Algorithm 4: coverage | kJ | `marginal_gains`: coverage | kJ |");
        println!("|---|---|---|---|---|");
        for weight in [
            0.0, 0.001, 0.002, 0.005, 0.01, 0.015, 0.0175, 0.02, 0.025, 0.03, 0.05, 0.1, 0.2,
        ] {
            let of = |make: Make| -> Vec<LossStep> {
                let single = LOSSES.iter().filter(|lost| lost.len() == 1);
                single
                    .flat_map(|lost| self.all(lost, &make))
                    .flatten()
                    .collect()
            };
            let theirs = of(two_stage(CoverageMeasure::Marginal, weight));
            let ours = of(marginal_gains(weight));
            println!(
                "| {weight} | {} | {} | {} | {} |",
                mean(&theirs, |s| 100.0 * s.after),
                mean(&theirs, |s| s.energy_j / 1e3),
                mean(&ours, |s| 100.0 * s.after),
                mean(&ours, |s| s.energy_j / 1e3),
            );
        }
    }
}

fn row(steps: &[LossStep]) -> String {
    let devices: f64 = steps
        .iter()
        .map(|s| (s.after - s.after_loss) * DEVICES as f64)
        .sum();
    let energy_kj: f64 = steps.iter().map(|s| s.energy_j / 1e3).sum();
    let each = if devices > 0.0 {
        format!("{:.2}", energy_kj / devices)
    } else {
        "-".into()
    };
    format!(
        "{} | {} | {} | {} | {} | {each}",
        mean(steps, |s| 100.0 * s.before),
        mean(steps, |s| 100.0 * s.after_loss),
        mean(steps, |s| 100.0 * s.after),
        mean(steps, |s| 100.0 * (s.after - s.before)),
        mean(steps, |s| s.energy_j / 1e3),
    )
}

fn recovered(steps: &[LossStep]) -> f64 {
    let lost: f64 = steps.iter().map(|s| s.before - s.after_loss).sum();
    steps.iter().map(|s| s.after - s.after_loss).sum::<f64>() / lost * 100.0
}

/// `mean ± half a 95 % interval`.
fn mean(steps: &[LossStep], value: impl Fn(&LossStep) -> f64) -> String {
    let count = steps.len() as f64;
    // An empty sum of moves is -0.
    let mean = steps.iter().map(&value).sum::<f64>() / count + 0.0;
    let squares: f64 = steps.iter().map(|s| (value(s) - mean).powi(2)).sum();
    let half = 1.96 * (squares / (count - 1.0) / count).sqrt();
    format!("{mean:.2} ± {half:.2}")
}
