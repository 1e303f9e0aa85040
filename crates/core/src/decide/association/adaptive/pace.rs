//! How many devices UAVs take beside each other. A round lasts as long as its slowest cell, Eq. (25): cells that
//! took longer than the others get fewer devices in the next round, quick ones more, until all end together.

use serde::{Deserialize, Serialize};

use super::super::CellOutcome;

/// How fast factors follow: the exponent of a cell's time. Time grows less than in proportion to devices, so that 1 would swing.
const GAIN: f64 = 0.5;
/// No factor leaves this range.
const LEAST: f64 = 0.2;
const MOST: f64 = 5.0;

/// One factor per UAV.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Pace {
    factors: Vec<f64>,
}

impl Pace {
    pub(super) fn new(uavs: usize) -> Self {
        Self {
            factors: vec![1.0; uavs],
        }
    }

    /// UAVs it has a factor for.
    pub(super) fn uavs(&self) -> usize {
        self.factors.len()
    }

    /// Devices that each UAV would take if all of them were shared out by pace, for the numbers they cover.
    pub(super) fn quotas(&self, covered: &[usize]) -> Vec<f64> {
        let paced = |(factor, &covered): (&f64, &usize)| factor * covered as f64;
        let all: usize = covered.iter().sum();
        let sum: f64 = self.factors.iter().zip(covered).map(paced).sum();
        let scale = if sum > 0.0 { all as f64 / sum } else { 0.0 };
        let cells = self.factors.iter().zip(covered);
        cells.map(|cell| scale * paced(cell)).collect()
    }

    /// Learns from the times that cells took. Cells in which nobody trained say nothing.
    pub(super) fn observe(&mut self, cells: &[CellOutcome]) {
        let busy = || cells.iter().filter(|cell| cell.time_s > 0.0);
        let mean_s = busy().map(|cell| cell.time_s).sum::<f64>() / busy().count().max(1) as f64;
        for cell in busy() {
            let factor = &mut self.factors[cell.uav.index()];
            *factor = (*factor * (mean_s / cell.time_s).powf(GAIN)).clamp(LEAST, MOST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::UavId;

    fn cell(uav: usize, time_s: f64) -> CellOutcome {
        CellOutcome {
            uav: UavId(uav as u32),
            selected: 1,
            edge_model: None,
            energy_j: 0.0,
            time_s,
            overrun: 0.0,
        }
    }

    /// By hand: times 1 and 4, mean 2.5, so factors sqrt(2.5) and sqrt(0.625) = 2 : 1. Of 12 devices in equal cells, 8 and 4.
    #[test]
    fn a_cell_four_times_as_slow_gets_half() {
        let mut pace = Pace::new(3);
        assert_eq!(pace.quotas(&[6, 6, 0]), [6.0, 6.0, 0.0]);
        pace.observe(&[cell(0, 1.0), cell(1, 4.0), cell(2, 0.0)]);
        let quotas = pace.quotas(&[6, 6, 0]);
        for (quota, expected) in quotas.iter().zip([8.0, 4.0, 0.0]) {
            assert!((quota - expected).abs() < 1e-12, "{quotas:?}");
        }
        assert_eq!(pace.quotas(&[0, 0, 0]), [0.0; 3]);
    }

    /// Cells whose times grow with their devices, each from another base and at another rate, end together.
    #[test]
    fn unequal_cells_come_to_end_together() {
        let time_s = |uav: usize, devices: f64| 0.1 + [0.01, 0.02, 0.05][uav] * devices;
        let mut pace = Pace::new(3);
        let mut times = Vec::new();
        for _ in 0..12 {
            let quotas = pace.quotas(&[20, 20, 20]);
            times = (0..3).map(|uav| time_s(uav, quotas[uav])).collect();
            let cells: Vec<CellOutcome> = (0..3).map(|uav| cell(uav, times[uav])).collect();
            pace.observe(&cells);
        }
        let spread =
            times.iter().copied().fold(0.0, f64::max) / times.iter().copied().fold(9.0, f64::min);
        assert!(spread < 1.05, "{times:?}");
    }
}
