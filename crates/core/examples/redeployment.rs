//! What each redeployment recovers after losses of UAVs, and for how much energy: the counterparts of the paper's Tables III
//! and IV, and the sweep over λ_9.
//!
//! `cargo run --release -p aerofed --example redeployment [LAYOUTS]` prints Markdown.
#![allow(clippy::print_stdout, reason = "an example")]

use std::process::ExitCode;

use aerofed::Scenario;
use aerofed::decide::redeploy::{
    CoverageMeasure, Fleet, FleetUav, JointGreedy, MarginalGains, Redeployment, Stay, TwoStage,
};
use aerofed::geometry::Point;
use aerofed::nature::Nature;
use aerofed::scenario::ScenarioError;
use aerofed::seed::{Stream, stream};
use aerofed::world::World;

const DEVICES: usize = 150;
/// The paper's CNN, 32 bit a parameter.
const MODEL_BITS: f64 = 21_840.0 * 32.0;
/// Losses as the paper numbers UAVs, from 1.
const LOSSES: [&[usize]; 8] = [&[1], &[2], &[3], &[4], &[5], &[1, 2], &[1, 4], &[3, 5]];

fn main() -> ExitCode {
    let layouts = match std::env::args().nth(1).map(|text| text.parse::<u64>()) {
        None => 200,
        Some(Ok(layouts)) if layouts > 1 => layouts,
        Some(_) => return ExitCode::from(2),
    };
    match Study::new(layouts) {
        Ok(study) => {
            study.tables();
            study.sweep();
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    }
}

/// One redeployment after one loss, in percent of the devices and kilojoules.
struct Step {
    before: f64,
    lost: f64,
    after: f64,
    energy_kj: f64,
    /// The same flights on straight lines.
    straight_kj: f64,
}

struct Study {
    nature: Nature,
    worlds: Vec<World>,
}

type Make = Box<dyn Fn() -> Box<dyn Redeployment>>;

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

impl Study {
    fn new(layouts: u64) -> Result<Self, ScenarioError> {
        let nature = Nature::new(&Scenario::default().check()?);
        let world = |seed| -> Result<World, ScenarioError> {
            let scenario = Scenario {
                seed,
                ..Scenario::default()
            };
            Ok(World::new(&scenario.check()?, vec![26; DEVICES], 6_272.0))
        };
        let worlds = (1..=layouts).map(world).collect::<Result<_, _>>()?;
        Ok(Self { nature, worlds })
    }

    /// The losses of `lost` one after another in a layout, with a redeployment after each.
    fn losses(&self, layout: usize, lost: &[usize], method: &mut dyn Redeployment) -> Vec<Step> {
        let world = &self.worlds[layout];
        let mut uavs: Vec<FleetUav> = world
            .uavs
            .iter()
            .map(|uav| FleetUav {
                id: uav.id,
                position: uav.position,
                spare_j: uav.battery_j,
                tx_power_w: uav.tx_power_w,
            })
            .collect();
        let model_energy_j = |tx_power_w: f64, from: Point, to: Point| {
            let time_s = self
                .nature
                .uav_link_time_s(MODEL_BITS, tx_power_w, from, to);
            time_s * (tx_power_w + self.nature.hover_power_w())
        };
        let mut steps = Vec::new();
        for (round, &lost) in lost.iter().enumerate() {
            let percent = |uavs: &[FleetUav]| {
                self.fleet(world, uavs, &model_energy_j).coverage().share() * 100.0
            };
            let before = percent(&uavs);
            uavs.retain(|uav| uav.id.index() + 1 != lost);
            let after_loss = percent(&uavs);
            let mut rng = stream(
                layout as u64,
                Stream::Redeployment,
                round as u64 + 1,
                lost as u64,
            );
            let moves = method.redeploy(&self.fleet(world, &uavs, &model_energy_j), &mut rng);
            for step in &moves {
                for uav in uavs.iter_mut().filter(|uav| uav.id == step.uav) {
                    uav.position = step.to;
                    uav.spare_j -= step.energy_j;
                }
            }
            let straight_m: f64 = moves.iter().map(|m| m.from.distance(m.to)).sum();
            steps.push(Step {
                before,
                lost: after_loss,
                after: percent(&uavs),
                energy_kj: moves.iter().map(|m| m.energy_j).sum::<f64>() / 1e3,
                straight_kj: self.nature.flight_cost(straight_m).1 / 1e3,
            });
        }
        steps
    }

    fn fleet<'a>(
        &self,
        world: &'a World,
        uavs: &'a [FleetUav],
        model_energy_j: &'a (dyn Fn(f64, Point, Point) -> f64 + Sync),
    ) -> Fleet<'a> {
        Fleet {
            area: &world.area,
            coverage_radius_m: world.coverage_radius_m,
            devices: &world.devices.position,
            uavs,
            speed_mps: self.nature.speed_mps,
            move_power_w: self.nature.flight.power_w(self.nature.speed_mps),
            model_energy_j,
        }
    }

    /// Per step of the losses, what all layouts gave.
    fn all(&self, lost: &[usize], make: &Make) -> Vec<Vec<Step>> {
        let mut steps: Vec<Vec<Step>> = lost.iter().map(|_| Vec::new()).collect();
        for layout in 0..self.worlds.len() {
            let each = self.losses(layout, lost, make().as_mut());
            for (all, step) in steps.iter_mut().zip(each) {
                all.push(step);
            }
        }
        steps
    }

    fn tables(&self) {
        let methods: [(&str, Make); 6] = [
            ("M-i `stay`", Box::new(|| Box::new(Stay))),
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
            ("`marginal_gains`, λ_9 = 0.0175", marginal_gains(0.0175)),
        ];
        println!(
            "Means over {} layouts of {DEVICES} uniform devices, with 95 % intervals. Coverage in % of the devices, change in points.\n",
            self.worlds.len()
        );
        println!(
            "| lost | method | before | after the loss | after redeployment | change | energy (kJ) | kJ per recovered device |"
        );
        println!("|---|---|---|---|---|---|---|---|");
        let mut single: Vec<Vec<Step>> = methods.iter().map(|_| Vec::new()).collect();
        for lost in LOSSES {
            for (method, (name, make)) in methods.iter().enumerate() {
                for (step, steps) in self.all(lost, make).into_iter().enumerate() {
                    let label = match step {
                        0 if lost.len() == 1 => format!("{}", lost[0]),
                        0 => format!("{} (then {})", lost[0], lost[1]),
                        _ => format!("{} after {}", lost[1], lost[0]),
                    };
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
        println!(
            "\nShare of a single loss that is recovered, and the energy if the same UAVs flew straight to their new posts:\n"
        );
        println!("| method | recovered (%) | flown straight (kJ) |\n|---|---|---|");
        for ((name, _), steps) in methods.iter().zip(&single) {
            let straight = mean(steps, |s| s.straight_kj);
            println!("| {name} | {:.1} | {straight} |", recovered(steps));
        }
    }

    fn sweep(&self) {
        println!("\nSweep over λ_9, all single losses:\n");
        println!(
            "| λ_9 | Algorithm 4: coverage | kJ | flown straight (kJ) | `marginal_gains`: coverage | kJ |"
        );
        println!("|---|---|---|---|---|---|");
        for weight in [
            0.0, 0.001, 0.002, 0.005, 0.01, 0.015, 0.0175, 0.02, 0.025, 0.03, 0.05, 0.1, 0.2,
        ] {
            let of = |make: Make| -> Vec<Step> {
                let single = LOSSES.iter().filter(|lost| lost.len() == 1);
                single
                    .flat_map(|lost| self.all(lost, &make))
                    .flatten()
                    .collect()
            };
            let theirs = of(two_stage(CoverageMeasure::Marginal, weight));
            let ours = of(marginal_gains(weight));
            println!(
                "| {weight} | {} | {} | {} | {} | {} |",
                mean(&theirs, |s| s.after),
                mean(&theirs, |s| s.energy_kj),
                mean(&theirs, |s| s.straight_kj),
                mean(&ours, |s| s.after),
                mean(&ours, |s| s.energy_kj),
            );
        }
    }
}

fn row(steps: &[Step]) -> String {
    let devices: f64 = steps
        .iter()
        .map(|s| (s.after - s.lost) / 100.0 * DEVICES as f64)
        .sum();
    let energy_kj: f64 = steps.iter().map(|s| s.energy_kj).sum();
    let each = if devices > 0.0 {
        format!("{:.2}", energy_kj / devices)
    } else {
        "-".into()
    };
    format!(
        "{} | {} | {} | {} | {} | {each}",
        mean(steps, |s| s.before),
        mean(steps, |s| s.lost),
        mean(steps, |s| s.after),
        mean(steps, |s| s.after - s.before),
        mean(steps, |s| s.energy_kj),
    )
}

fn recovered(steps: &[Step]) -> f64 {
    let lost: f64 = steps.iter().map(|s| s.before - s.lost).sum();
    steps.iter().map(|s| s.after - s.lost).sum::<f64>() / lost * 100.0
}

/// `mean ± half a 95 % interval`.
fn mean(steps: &[Step], value: impl Fn(&Step) -> f64) -> String {
    let count = steps.len() as f64;
    // An empty sum of moves is -0.
    let mean = steps.iter().map(&value).sum::<f64>() / count + 0.0;
    let squares: f64 = steps.iter().map(|s| (value(s) - mean).powi(2)).sum();
    let half = 1.96 * (squares / (count - 1.0) / count).sqrt();
    format!("{mean:.2} ± {half:.2}")
}
