//! Where UAVs hover at first.

use rand::RngExt;
use rayon::prelude::*;

use crate::grid::Grid;
use crate::scenario::{Area, ValidScenario};
use crate::seed::{Random, Stream, stream};
use crate::solve::placement::{
    EFFORT, Facility, MARGIN_SHARE, Problem, THRESHOLD, Travel, Worth, place,
};
use crate::vocabulary::Point;

/// The five of a die: quarter points and the middle.
pub(super) fn quincunx(area: &Area) -> Vec<Point> {
    [
        (0.25, 0.25),
        (0.75, 0.25),
        (0.25, 0.75),
        (0.75, 0.75),
        (0.5, 0.5),
    ]
    .map(|(x, y)| Point::new(x * area.width_m, y * area.height_m))
    .to_vec()
}

/// Where most devices are covered, if it takes nothing to get there. Of positions that cover the same, those near the centres of the
/// crowds.
pub(super) fn most_covered(scenario: &ValidScenario, devices: &[Point]) -> Vec<Point> {
    let count = scenario.uavs.count;
    let mut rng = stream(scenario.seed, Stream::Layout, 0, 0);
    let air = &scenario.places().air;
    let bounds = scenario.area.bounds();
    let facility = |(index, center): (usize, Point)| {
        let numbers = scenario.uav(index);
        let zones = air.at(numbers.altitude_m);
        let free = zones.and_then(|zones| zones.nearest_free(center, bounds));
        Facility {
            home: free.unwrap_or(center),
            radius_m: numbers.coverage_radius_m * (1.0 - MARGIN_SHARE),
            reach_m: f64::INFINITY,
            altitude_m: numbers.altitude_m,
        }
    };
    let centers = k_means(devices, count, &mut rng);
    let facilities: Vec<Facility> = centers.into_iter().enumerate().map(facility).collect();
    place(&Problem {
        size_m: [scenario.area.width_m, scenario.area.height_m],
        air,
        points: devices,
        facilities: &facilities,
        travel: &Metres(&facilities),
        worth: Worth {
            point: count as f64 / devices.len().max(1) as f64,
            kilojoule: 0.0,
        },
        relay_m: 0.0,
        effort: EFFORT,
        threshold: THRESHOLD,
    })
}

/// Flights as if every metre took the same.
struct Metres<'a>(&'a [Facility]);

impl Travel for Metres<'_> {
    fn joules(&self, who: usize, to: Point) -> f64 {
        self.straight_joules(who, to)
    }

    fn straight_joules(&self, who: usize, to: Point) -> f64 {
        self.0[who].home.distance(to)
    }

    fn alike(&self, _: usize, _: usize) -> bool {
        true
    }
}

const KMEANS_ROUNDS: usize = 50;
/// Centres of a crowd do not need every head counted.
const KMEANS_POINTS: usize = 20_000;

/// Fewer than this are looked at one by one.
const FEW_CENTERS: usize = 32;

/// Lloyd's k-means from a k-means++ start.
pub(super) fn k_means(points: &[Point], count: usize, rng: &mut Random) -> Vec<Point> {
    let stride = points.len().div_ceil(KMEANS_POINTS);
    let points: Vec<Point> = points.iter().step_by(stride).copied().collect();
    let points = &points[..];
    let mut centers = spread_start(points, count, rng);
    for _ in 0..KMEANS_ROUNDS {
        let mut sums = vec![(0.0, 0.0, 0usize); count];
        for (&point, center) in points.iter().zip(all_nearest(&centers, points)) {
            let sum = &mut sums[center];
            *sum = (sum.0 + point.x_m, sum.1 + point.y_m, sum.2 + 1);
        }
        let moved: Vec<Point> = centers
            .iter()
            .zip(&sums)
            .map(|(&old, &(x, y, n))| {
                if n == 0 {
                    old
                } else {
                    Point::new(x / n as f64, y / n as f64)
                }
            })
            .collect();
        if moved == centers {
            break;
        }
        centers = moved;
    }
    centers
}

/// k-means++: each next centre is a point drawn with its squared distance to the chosen ones.
fn spread_start(points: &[Point], count: usize, rng: &mut Random) -> Vec<Point> {
    let mut centers = vec![points[rng.random_range(0..points.len())]];
    let mut gap: Vec<f64> = points
        .iter()
        .map(|p| p.distance_squared(centers[0]))
        .collect();
    while centers.len() < count {
        let mut left = rng.random::<f64>() * gap.iter().sum::<f64>();
        let chosen = gap.iter().position(|&g| {
            left -= g;
            left < 0.0
        });
        // More UAVs than distinct points: the rest share a spot.
        let center = points[chosen.unwrap_or(points.len() - 1)];
        for (gap, point) in gap.iter_mut().zip(points) {
            *gap = gap.min(point.distance_squared(center));
        }
        centers.push(center);
    }
    centers
}

/// The nearest centre of each point; of several at the same distance, the first.
fn all_nearest(centers: &[Point], points: &[Point]) -> Vec<usize> {
    let far = |pick: fn(&Point) -> f64| centers.iter().map(pick).fold(0.0, f64::max);
    let (width_m, height_m) = (far(|c| c.x_m), far(|c| c.y_m));
    let cell_m = (width_m * height_m / centers.len() as f64).sqrt();
    if centers.len() < FEW_CENTERS || !(cell_m > 0.0 && cell_m.is_finite()) {
        return points
            .iter()
            .map(|&point| nearest(centers, 0..centers.len(), point))
            .collect();
    }
    let mut grid = Grid::new(width_m, height_m, cell_m);
    grid.rebuild(centers);
    let near = |&point: &Point| {
        let mut radius_m = cell_m;
        loop {
            let mut found = grid.within(centers, point, radius_m).into_iter();
            if let Some(first) = found.next() {
                let all = std::iter::once(first).chain(found);
                return nearest(centers, all.map(|center| center as usize), point);
            }
            radius_m *= 2.0;
        }
    };
    points.par_iter().map(near).collect()
}

/// The nearest of some centres, of which there is at least one.
fn nearest(centers: &[Point], some: impl Iterator<Item = usize>, point: Point) -> usize {
    let squared = some.map(|index| (centers[index].distance_squared(point), index));
    let least = squared.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    least.map_or(0, |(_, index)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_means_finds_separate_crowds() {
        let crowds = [(10.0, 10.0), (90.0, 10.0), (50.0, 90.0)];
        let points: Vec<Point> = (0..60)
            .map(|i| {
                let (x, y) = crowds[i % 3];
                Point::new(x + (i % 5) as f64 - 2.0, y + (i % 4) as f64 - 1.5)
            })
            .collect();
        for seed in 0..10 {
            let centers = k_means(&points, 3, &mut stream(seed, Stream::Layout, 0, 0));
            for (x, y) in crowds {
                assert!(
                    centers.iter().any(|c| c.distance(Point::new(x, y)) < 3.0),
                    "{centers:?}"
                );
            }
        }
    }

    #[test]
    fn the_nearest_of_many_centres_is_that_of_a_full_scan() {
        let spread = |count: usize, by: usize| -> Vec<Point> {
            let coordinate = |i: usize| (i * by % 997) as f64;
            (0..count)
                .map(|i| Point::new(coordinate(i) / 2.0, coordinate(i * i + 7)))
                .collect()
        };
        // Some of them are at the same place.
        let (mut centers, points) = (spread(300, 331), spread(2_000, 613));
        centers.extend_from_within(..40);
        let scan: Vec<usize> = points
            .iter()
            .map(|&point| nearest(&centers, 0..centers.len(), point))
            .collect();
        assert_eq!(all_nearest(&centers, &points), scan);
        assert!(scan.iter().all(|&center| center < 300));
        let one_spot = vec![Point::new(0.0, 0.0); 50];
        assert_eq!(all_nearest(&one_spot, &points), vec![0; 2_000]);
    }

    #[test]
    fn more_uavs_than_devices_is_no_problem() {
        let one = [Point::new(3.0, 4.0)];
        assert_eq!(
            k_means(&one, 3, &mut stream(1, Stream::Layout, 0, 0)),
            vec![one[0]; 3]
        );
    }
}
