//! Where UAVs hover at first.

use rand::RngExt;

use crate::scenario::Area;
use crate::seed::Random;
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

const KMEANS_ROUNDS: usize = 50;
/// Centres of a crowd do not need every head counted.
const KMEANS_POINTS: usize = 20_000;

/// Lloyd's k-means from a k-means++ start.
pub(super) fn k_means(points: &[Point], count: usize, rng: &mut Random) -> Vec<Point> {
    let stride = points.len().div_ceil(KMEANS_POINTS);
    let points: Vec<Point> = points.iter().step_by(stride).copied().collect();
    let points = &points[..];
    let mut centers = spread_start(points, count, rng);
    for _ in 0..KMEANS_ROUNDS {
        let mut sums = vec![(0.0, 0.0, 0usize); count];
        for &point in points {
            let sum = &mut sums[nearest(&centers, point)];
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

fn nearest(centers: &[Point], point: Point) -> usize {
    let mut best = 0;
    for (index, center) in centers.iter().enumerate() {
        if center.distance_squared(point) < centers[best].distance_squared(point) {
            best = index;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Stream, stream};

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
    fn more_uavs_than_devices_is_no_problem() {
        let one = [Point::new(3.0, 4.0)];
        assert_eq!(
            k_means(&one, 3, &mut stream(1, Stream::Layout, 0, 0)),
            vec![one[0]; 3]
        );
    }
}
