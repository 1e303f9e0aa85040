//! How many UAVs cover each device, kept up to date move by move.

use crate::grid::Grid;
use crate::vocabulary::Point;

/// How many UAVs cover each device. Adding, moving and asking cost the devices near the point, whatever the number of UAVs
/// and of devices elsewhere.
#[derive(Clone, Debug)]
pub struct CoverageCounts {
    grid: Grid,
    /// The devices in the grid's order, so that neighbours on the ground are neighbours in memory.
    points: Vec<Point>,
    counts: Vec<u32>,
    /// `order[place]` is the device at that place.
    order: Vec<u32>,
    covered: usize,
}

/// Buckets per radius: more of them waste less on the corners around a circle, and cost more to walk.
const BUCKETS_PER_RADIUS: f64 = 8.0;

impl CoverageCounts {
    /// Devices on ground of this size that nobody covers yet; `radius_m` is about how far UAVs will cover.
    #[must_use]
    pub fn over([width_m, height_m]: [f64; 2], radius_m: f64, devices: &[Point]) -> Self {
        let mut grid = Grid::new(width_m, height_m, radius_m / BUCKETS_PER_RADIUS);
        grid.rebuild(devices);
        let order: Vec<u32> = grid
            .search(devices, Point::new(0.0, 0.0), f64::INFINITY)
            .collect();
        let points: Vec<Point> = order.iter().map(|&id| devices[id as usize]).collect();
        grid.rebuild(&points);
        Self {
            grid,
            counts: vec![0; points.len()],
            points,
            order,
            covered: 0,
        }
    }

    /// How many devices at least one UAV covers.
    #[must_use]
    pub fn covered(&self) -> usize {
        self.covered
    }

    /// Share of the devices that at least one UAV covers; all of none.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.points.is_empty() {
            1.0
        } else {
            self.covered as f64 / self.points.len() as f64
        }
    }

    /// The devices in the order of the ground.
    pub(super) fn points(&self) -> &[Point] {
        &self.points
    }

    /// Per device, how many UAVs cover it.
    #[must_use]
    pub fn per_device(&self) -> Vec<u32> {
        let mut counts = vec![0; self.order.len()];
        for (&id, &count) in self.order.iter().zip(&self.counts) {
            counts[id as usize] = count;
        }
        counts
    }

    /// A UAV appears.
    pub fn add(&mut self, at: Point, radius_m: f64) {
        for place in self.grid.search(&self.points, at, radius_m) {
            let count = &mut self.counts[place as usize];
            self.covered += usize::from(*count == 0);
            *count += 1;
        }
    }

    /// A UAV that was added at this point leaves.
    pub fn remove(&mut self, at: Point, radius_m: f64) {
        for place in self.grid.search(&self.points, at, radius_m) {
            let count = &mut self.counts[place as usize];
            *count = count.saturating_sub(1);
            self.covered -= usize::from(*count == 0);
        }
    }

    /// A UAV goes from one point to another.
    pub fn shift(&mut self, from: Point, to: Point, radius_m: f64) {
        self.remove(from, radius_m);
        self.add(to, radius_m);
    }

    /// How many devices one more UAV at this point would cover.
    #[must_use]
    pub fn within(&self, at: Point, radius_m: f64) -> usize {
        self.grid.search(&self.points, at, radius_m).count()
    }

    /// How many devices a UAV would cover at this point that nobody in the counts covers. Without the UAV itself in the
    /// counts, this is its marginal coverage.
    #[must_use]
    pub fn gain(&self, at: Point, radius_m: f64) -> usize {
        self.grid
            .search(&self.points, at, radius_m)
            .filter(|&place| self.counts[place as usize] == 0)
            .count()
    }

    /// The devices up to `reach_m` beyond the coverage of a UAV at this point that only it covers, or nobody.
    pub(super) fn open_to(
        &self,
        at: Point,
        radius_m: f64,
        reach_m: f64,
    ) -> impl Iterator<Item = Point> {
        let inside = radius_m * radius_m;
        self.grid
            .search(&self.points, at, radius_m + reach_m)
            .map(|place| (self.points[place as usize], self.counts[place as usize]))
            .filter(move |(point, count)| *count == u32::from(point.distance_squared(at) <= inside))
            .map(|(point, _)| point)
    }

    /// How many devices a UAV that is at `at` would cover at `to` that no other covers.
    pub(super) fn gain_of_move(&self, at: Point, to: Point, radius_m: f64) -> usize {
        let inside = radius_m * radius_m;
        let only_it = |&place: &u32| {
            let own = self.points[place as usize].distance_squared(at) <= inside;
            self.counts[place as usize] == u32::from(own)
        };
        let near = self.grid.search(&self.points, to, radius_m);
        near.filter(only_it).count()
    }

    /// How many devices a UAV at this point, which is in the counts, covers alone.
    pub(crate) fn only_by(&self, at: Point, radius_m: f64) -> usize {
        self.gain_of_move(at, at, radius_m)
    }

    /// The devices within a distance that nobody covers.
    pub(crate) fn uncovered_within(
        &self,
        at: Point,
        distance_m: f64,
    ) -> impl Iterator<Item = Point> {
        let near = self.grid.search(&self.points, at, distance_m);
        let open = near.filter(|&place| self.counts[place as usize] == 0);
        open.map(|place| self.points[place as usize])
    }

    /// The devices that nobody covers.
    pub(super) fn uncovered(&self) -> impl Iterator<Item = Point> {
        let all = self.points.iter().zip(&self.counts);
        all.filter(|(_, count)| **count == 0)
            .map(|(&point, _)| point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = Point> {
        (0.0..1_000.0f64, 0.0..600.0f64).prop_map(|(x, y)| Point::new(x, y))
    }

    proptest! {
        #[test]
        fn counts_equal_a_full_recount(
            devices in prop::collection::vec(point(), 0..150),
            start in prop::collection::vec(point(), 1..6),
            moves in prop::collection::vec((0usize..6, point()), 0..20),
            radius_m in 1.0..500.0f64,
        ) {
            let mut index = CoverageCounts::over([1_000.0, 600.0], radius_m, &devices);
            let mut uavs = start;
            uavs.iter().for_each(|&at| index.add(at, radius_m));
            for (who, to) in moves {
                let who = who % uavs.len();
                index.shift(uavs[who], to, radius_m);
                uavs[who] = to;
            }
            let covers = |uav: Point, device: Point| uav.distance_squared(device) <= radius_m * radius_m;
            let recount: Vec<u32> = devices
                .iter()
                .map(|&d| uavs.iter().filter(|&&u| covers(u, d)).count() as u32)
                .collect();
            prop_assert_eq!(index.covered(), recount.iter().filter(|&&c| c > 0).count());
            let probe = Point::new(500.0, 300.0);
            let gain = devices.iter().zip(&recount).filter(|&(&d, &c)| c == 0 && covers(probe, d)).count();
            prop_assert_eq!(index.gain(probe, radius_m), gain);
            let only = |d: &Point| uavs[1..].iter().all(|&u| !covers(u, *d));
            let near = |d: &Point| d.distance_squared(uavs[0]) <= (radius_m + 90.0) * (radius_m + 90.0);
            prop_assert_eq!(
                index.open_to(uavs[0], radius_m, 90.0).count(),
                devices.iter().filter(|d| only(d) && near(d)).count()
            );
            prop_assert_eq!(index.per_device(), recount);
        }
    }
}
