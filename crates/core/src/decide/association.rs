//! Which covered devices train, and with which UAV.

use crate::scenario;
use crate::seed::Random;
use crate::world::{Coverage, DeviceId, World};
use crate::{Error, checkpoint};

/// What the controller sees at the start of a global round.
pub struct Scene<'a> {
    /// The global round, from 1.
    pub round: usize,
    /// Everybody's place and means.
    pub world: &'a World,
    /// Who covers whom.
    pub coverage: &'a Coverage,
}

/// Chooses the devices of every cell.
pub trait Association: Send {
    /// Per UAV, the devices that train with it this round. A device may be chosen by one UAV that
    /// covers it, or by none.
    fn select(&mut self, scene: &Scene, rng: &mut Random) -> Vec<Vec<DeviceId>>;

    /// What it carries from round to round, see [`checkpoint`].
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes up what [`save`](Self::save) gave.
    ///
    /// # Errors
    /// When that is not the state of such a part.
    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        checkpoint::expect_nothing("association", saved)
    }
}

/// Every covered device, each with its nearest UAV.
#[derive(Clone, Copy, Debug)]
pub struct All;

impl Association for All {
    fn select(&mut self, scene: &Scene, _: &mut Random) -> Vec<Vec<DeviceId>> {
        let mut cells = vec![Vec::new(); scene.world.uavs.len()];
        for (device, nearest) in scene.coverage.nearest.iter().enumerate() {
            if let Some(uav) = nearest {
                cells[uav.index()].push(DeviceId(device as u32));
            }
        }
        cells
    }
}

/// The association a scenario asks for.
#[must_use]
pub fn from_config(config: &scenario::Association) -> Box<dyn Association> {
    match config {
        scenario::Association::All {} => Box::new(All),
    }
}

/// Says what is wrong with a selection, if anything: it must be a partition of covered devices.
pub(crate) fn flaw(selection: &[Vec<DeviceId>], coverage: &Coverage) -> Option<String> {
    if selection.len() != coverage.cells.len() {
        return Some(format!(
            "{} cells for {} UAVs",
            selection.len(),
            coverage.cells.len()
        ));
    }
    let mut taken = vec![false; coverage.nearest.len()];
    for (uav, (chosen, covered)) in selection.iter().zip(&coverage.cells).enumerate() {
        for device in chosen {
            if covered.binary_search(device).is_err() {
                return Some(format!(
                    "UAV {uav} selects device {}, which it does not cover",
                    device.0
                ));
            }
            if std::mem::replace(&mut taken[device.index()], true) {
                return Some(format!("device {} is selected twice", device.0));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use crate::seed::{Stream, stream};
    use crate::world::UavId;

    #[test]
    fn all_takes_every_covered_device_once_with_its_nearest_uav() {
        let scenario = Scenario::default().check().unwrap();
        let world = World::new(&scenario, vec![10; 150], 6_272.0);
        let coverage = world.coverage();
        let scene = Scene {
            round: 1,
            world: &world,
            coverage: &coverage,
        };
        let cells = All.select(&scene, &mut stream(1, Stream::Association, 1, 0));
        assert_eq!(flaw(&cells, &coverage), None);
        assert_eq!(
            cells.iter().map(Vec::len).sum::<usize>(),
            coverage.covered()
        );
    }

    #[test]
    fn flaws_are_found() {
        let id = DeviceId;
        let coverage = Coverage {
            cells: vec![vec![id(0), id(1)], vec![id(1)]],
            nearest: vec![Some(UavId(0)), Some(UavId(0))],
        };
        assert_eq!(flaw(&[vec![id(0)], vec![id(1)]], &coverage), None);
        assert!(flaw(&[vec![id(0)]], &coverage).is_some());
        assert!(flaw(&[vec![], vec![id(0)]], &coverage).is_some());
        assert!(flaw(&[vec![id(1)], vec![id(1)]], &coverage).is_some());
    }
}
