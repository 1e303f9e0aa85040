//! Losses of UAVs without any training: what each redeployment recovers, and for how much energy.

use aerofed::decide::redeploy::{Fleet, FleetUav, Redeployment};
use aerofed::geometry::Point;
use aerofed::nature::Nature;
use aerofed::scenario::Scenario;
use aerofed::seed::{Stream, stream};
use aerofed::world::World;
use rayon::prelude::*;

use super::results::{Map, MapUav};
use crate::Error;

/// The paper's CNN, 32 bit a parameter: what UAVs would send each other.
const MODEL_BITS: f64 = 21_840.0 * 32.0;
/// The paper's volume over all devices; positions do not depend on it.
const SAMPLES: u32 = 26;
/// 28 x 28 values of 8 bit.
const SAMPLE_BITS: f64 = 6_272.0;

/// Stands for all losses of a single UAV together.
pub const ANY_ONE: &str = "any one";

/// One loss and the redeployment after it.
#[derive(Clone, Debug, PartialEq)]
pub struct LossStep {
    /// Share of the devices covered before.
    pub before: f64,
    /// When the UAV is gone.
    pub after_loss: f64,
    /// When the others are at their new positions.
    pub after: f64,
    /// What their flights cost, J.
    pub energy_j: f64,
    /// The UAVs left: number from 1, position before and after.
    pub posts: Vec<(u32, Point, Point)>,
}

/// Layouts of devices in which UAVs are lost.
pub struct LossStudy {
    nature: Nature,
    worlds: Vec<World>,
}

impl LossStudy {
    /// So many layouts of a scenario, one for each seed from 1.
    ///
    /// # Errors
    /// When the scenario cannot be run.
    pub fn new(base: &Scenario, layouts: u64) -> Result<Self, Error> {
        let world = |seed| -> Result<World, Error> {
            let scenario = Scenario {
                seed,
                ..base.clone()
            };
            let samples = vec![SAMPLES; scenario.devices.count];
            Ok(World::new(&scenario.check()?, samples, SAMPLE_BITS))
        };
        Ok(Self {
            nature: Nature::new(&base.clone().check()?),
            worlds: (1..=layouts).map(world).collect::<Result<_, _>>()?,
        })
    }

    /// How many layouts there are.
    #[must_use]
    pub fn layouts(&self) -> usize {
        self.worlds.len()
    }

    /// In every layout, the losses one after another (UAVs are numbered from 1) with a redeployment
    /// after each.
    #[must_use]
    pub fn in_all(
        &self,
        lost: &[usize],
        make: &(dyn Fn() -> Box<dyn Redeployment> + Sync),
    ) -> Vec<Vec<LossStep>> {
        (0..self.worlds.len())
            .into_par_iter()
            .map(|layout| self.in_layout(layout, lost, make().as_mut()))
            .collect()
    }

    fn in_layout(
        &self,
        layout: usize,
        lost: &[usize],
        method: &mut dyn Redeployment,
    ) -> Vec<LossStep> {
        let world = &self.worlds[layout];
        let mut uavs: Vec<FleetUav> = world
            .uavs
            .iter()
            .map(|uav| FleetUav {
                id: uav.id,
                position: uav.position,
                altitude_m: uav.altitude_m,
                coverage_radius_m: uav.coverage_radius_m,
                cruise: self.nature.airframe(uav.id).cruise,
                spare_j: uav.battery_j,
                tx_power_w: uav.tx_power_w,
            })
            .collect();
        let model_energy_j = |from: &FleetUav, to: &FleetUav| {
            let hover_power_w = self.nature.airframe(from.id).hover_power_w;
            self.nature
                .exchange_j(MODEL_BITS, &from.link_to(to, 0), hover_power_w)
        };
        let mut steps = Vec::new();
        for (step, &lost) in (1u64..).zip(lost) {
            let covered =
                |uavs: &[FleetUav]| self.fleet(world, uavs, &model_energy_j).coverage().share();
            let before = covered(&uavs);
            uavs.retain(|uav| uav.id.index() + 1 != lost);
            let after_loss = covered(&uavs);
            let mut rng = stream(layout as u64, Stream::Redeployment, step, lost as u64);
            let moves = method.redeploy(&self.fleet(world, &uavs, &model_energy_j), &mut rng);
            let mut posts = Vec::new();
            for uav in &mut uavs {
                let from = uav.position;
                for flight in moves.iter().filter(|flight| flight.uav == uav.id) {
                    uav.position = flight.to;
                    uav.spare_j -= flight.energy_j;
                }
                posts.push((uav.id.0 + 1, from, uav.position));
            }
            steps.push(LossStep {
                before,
                after_loss,
                after: covered(&uavs),
                energy_j: moves.iter().map(|m| m.energy_j).sum::<f64>() + 0.0,
                posts,
            });
        }
        steps
    }

    fn fleet<'a>(
        &'a self,
        world: &'a World,
        uavs: &'a [FleetUav],
        model_energy_j: &'a (dyn Fn(&FleetUav, &FleetUav) -> f64 + Sync),
    ) -> Fleet<'a> {
        Fleet {
            area: &world.area,
            air: self.nature.routes.air(),
            devices: &world.devices.position,
            uavs,
            model_energy_j,
            changed: &[],
        }
    }

    /// The first layout before anything happens, and after each loss and each redeployment.
    #[must_use]
    pub fn maps(&self, lost: &[usize], steps: &[LossStep]) -> Vec<Map> {
        let Some(world) = self.worlds.first() else {
            return Vec::new();
        };
        let map = |title: String, covered: f64, uavs: Vec<MapUav>| Map {
            title,
            width_m: world.area.width_m,
            height_m: world.area.height_m,
            coverage_radius_m: world.uavs.first().map_or(0.0, |uav| uav.coverage_radius_m),
            devices_m: world.devices.position.iter().map(|&p| p.into()).collect(),
            uavs,
            covered,
        };
        let uav = |number: u32, at: Point, moved_from: Option<Point>| MapUav {
            number,
            position_m: at.into(),
            moved_from_m: moved_from.map(Into::into),
        };
        let all = world.uavs.iter().map(|u| uav(u.id.0 + 1, u.position, None));
        let before = steps.first().map_or(0.0, |step| step.before);
        let mut maps = vec![map("before".into(), before, all.collect())];
        for (lost, step) in lost.iter().zip(steps) {
            let posts = step.posts.iter();
            let stood = posts
                .clone()
                .map(|&(number, from, _)| uav(number, from, None));
            let title = format!("UAV {lost} is lost");
            maps.push(map(title, step.after_loss, stood.collect()));
            let moved =
                posts.map(|&(number, from, to)| uav(number, to, (from != to).then_some(from)));
            maps.push(map("redeployed".into(), step.after, moved.collect()));
        }
        maps
    }
}

/// What tables call the steps of losses: `1` alone, `1 (then 2)`, `2 after 1`.
#[must_use]
pub fn loss_labels(losses: &[Vec<usize>]) -> Vec<String> {
    let labels = |loss: &Vec<usize>| -> Vec<String> {
        let label = |step: usize| match (step, loss.get(step + 1)) {
            (0, None) => loss[0].to_string(),
            (0, Some(next)) => format!("{} (then {next})", loss[0]),
            _ => format!("{} after {}", loss[step], loss[step - 1]),
        };
        (0..loss.len()).map(label).collect()
    };
    losses.iter().flat_map(labels).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use aerofed::decide::redeploy::{MarginalGains, Stay};

    #[test]
    fn losses_are_named_step_by_step() {
        let labels = loss_labels(&[vec![3], vec![1, 4]]);
        assert_eq!(labels, ["3", "1 (then 4)", "4 after 1"]);
    }

    #[test]
    fn what_is_lost_stays_lost_when_nobody_moves_and_comes_back_when_they_do() {
        let study = LossStudy::new(&Scenario::default(), 3).unwrap();
        let stay = study.in_all(&[1, 4], &|| Box::new(Stay));
        let moved = study.in_all(&[1, 4], &|| Box::new(MarginalGains::default()));
        assert_eq!((stay.len(), stay[0].len()), (3, 2));
        for (stay, moved) in stay.iter().zip(&moved) {
            assert_eq!(stay[0].before, moved[0].before);
            assert_eq!((stay[0].after, stay[0].energy_j), (stay[0].after_loss, 0.0));
            assert_eq!(stay[1].before, stay[0].after);
            assert!(moved[0].after > moved[0].after_loss && moved[0].energy_j > 0.0);
            assert_eq!(moved[1].posts.len(), 3);
        }
        let maps = study.maps(&[1, 4], &moved[0]);
        assert_eq!(maps.len(), 5);
        assert_eq!((maps[0].uavs.len(), maps[4].uavs.len()), (5, 3));
        assert!(maps[2].uavs.iter().any(|uav| uav.moved_from_m.is_some()));
    }
}
