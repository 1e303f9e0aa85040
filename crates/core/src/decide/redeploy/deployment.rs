//! Planning a fleet that somebody describes in a file: where its UAVs go, and what comes of it.

use serde::Serialize;

use super::{
    Answer, Fleet, FleetFile, FleetUav, JointGreedy, MarginalGains, Redeployment, Selection, Stay,
    TwoStage, fewest,
};
use crate::Error;
use crate::nature::Nature;
use crate::scenario::{Area, Scenario};
use crate::seed::{Stream, stream};

/// Who finds the new positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeploymentMethod {
    /// All UAVs together: marginal gains, exchanges, and who flies where.
    MarginalGains,
    /// The paper's Algorithm 4.
    TwoStage,
    /// Coverage, movement and model exchange in one benefit, climbed greedily (the paper's M-ii).
    JointGreedy,
    /// Nobody moves (the paper's M-i).
    None,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deployment {
    /// Who finds the new positions.
    pub method: DeploymentMethod,
    /// As few UAVs as cover this share of the devices, 0 to 1; none: all of them.
    pub goal: Option<f64>,
    /// Devices are covered so far inside the radius that they may drift, m (marginal gains); none: 1 % of the radius.
    pub margin_m: Option<f64>,
    /// Price of a kilojoule of flight, where an average UAV's devices are worth 1; none: the method's own.
    pub movement_weight: Option<f64>,
    /// UAVs stay within hops of each other up to so long, m (marginal gains); 0: they need not.
    pub relay_m: f64,
    /// Seed of the directions that two_stage and joint_greedy look in.
    pub seed: u64,
}

impl Default for Deployment {
    fn default() -> Self {
        Self {
            method: DeploymentMethod::MarginalGains,
            goal: None,
            margin_m: None,
            movement_weight: None,
            relay_m: 0.0,
            seed: 1,
        }
    }
}

/// The paper's CNN, 32 bit a parameter: what joint_greedy takes for the size of a model.
const MODEL_BITS: f64 = 21_840.0 * 32.0;
/// In the middle of Table II's range.
const TX_POWER_W: f64 = 0.75;

impl Deployment {
    /// Says what is wrong with the request, if anything: options that the method does not read, a margin that leaves nothing.
    #[must_use]
    pub fn flaw(&self, file: &FleetFile) -> Option<String> {
        let ours = self.method == DeploymentMethod::MarginalGains;
        let unread = [
            ("--margin-m", !ours && self.margin_m.is_some()),
            ("--relay-m", !ours && self.relay_m > 0.0),
            (
                "--movement-weight",
                self.method == DeploymentMethod::None && self.movement_weight.is_some(),
            ),
        ];
        if let Some((name, _)) = unread.iter().find(|(_, unread)| *unread) {
            return Some(format!(
                "`{name}` is not read by this --method; marginal_gains does"
            ));
        }
        let radii_m = file.uavs.iter().map(|uav| uav.coverage_radius_m);
        let least_m = radii_m.fold(f64::INFINITY, f64::min);
        let margin_m = self.margin_m.filter(|margin_m| *margin_m >= least_m)?;
        Some(format!(
            "`--margin-m` is {margin_m}, allowed: 0 to less than the least coverage_radius_m, {least_m}"
        ))
    }

    /// Plans a fleet; `look` sees it, where its UAVs go, and what comes of that.
    ///
    /// # Errors
    /// Never with the defaults of this program, whose laws are used.
    pub fn plan<T>(
        &self,
        file: &FleetFile,
        look: impl FnOnce(&Fleet, &Selection, Answer) -> T,
    ) -> Result<T, Error> {
        let area = Area::new(file.area_m[0], file.area_m[1]);
        let air = file.airspace();
        let uavs = file.fleet_uavs(TX_POWER_W);
        let nature = Nature::new(&Scenario::default().check()?);
        let model_energy_j = |from: &FleetUav, to: &FleetUav| {
            let hover_power_w = file.uavs[from.id.index()].hover_power_w;
            nature.exchange_j(MODEL_BITS, &from.link_to(to, 0), hover_power_w)
        };
        let fleet = Fleet {
            area: &area,
            air: &air,
            devices: &file.devices_m,
            uavs: &uavs,
            model_energy_j: &model_energy_j,
            changed: &[],
        };
        let mut rng = stream(self.seed, Stream::Redeployment, 0, 0);
        let mut method = self.redeployment();
        let chosen = match self.goal {
            Some(goal) => fewest(&fleet, goal, method.as_mut(), &rng),
            None => Selection {
                moves: method.redeploy(&fleet, &mut rng),
                uavs: (0..uavs.len()).collect(),
                covered: 0.0,
            },
        };
        let answer = Answer::new(self, file, &fleet, &chosen);
        Ok(look(&fleet, &chosen, answer))
    }

    fn redeployment(&self) -> Box<dyn Redeployment> {
        let usual = TwoStage::default().movement_weight;
        let movement_weight = self.movement_weight.unwrap_or(usual);
        match self.method {
            DeploymentMethod::MarginalGains => Box::new(MarginalGains {
                movement_weight: self.movement_weight.unwrap_or(0.0),
                margin_m: self.margin_m,
                relay_m: self.relay_m,
                ..MarginalGains::default()
            }),
            DeploymentMethod::TwoStage => Box::new(TwoStage {
                movement_weight,
                ..TwoStage::default()
            }),
            DeploymentMethod::JointGreedy => Box::new(JointGreedy {
                energy_weight: movement_weight,
                ..JointGreedy::default()
            }),
            DeploymentMethod::None => Box::new(Stay),
        }
    }
}
