//! Line of sight by elevation: A. Al-Hourani, S. Kandeepan, S. Lardner, "Optimal LAP altitude for maximum coverage", IEEE
//! Wireless Communications Letters 3(6), 2014.

use super::{Antennas, Channel, Link, Path, by_sight};
use crate::scenario::{Draw, Environment};

/// Loss of free space and η_LoS or η_NLoS dB besides; P(LoS) = 1 / (1 + a exp(-b (θ - a))) with the elevation θ in degrees.
///
/// Between UAVs, which nothing stands between, it is free space: the source has no such links.
#[derive(Clone, Copy, Debug)]
pub struct LineOfSight {
    /// What stands on the ground.
    pub environment: Environment,
    /// Whether the loss is the mean over both cases, or one of them is drawn.
    pub draw: Draw,
    /// Carrier and antennas.
    pub antennas: Antennas,
}

/// An environment's numbers; the excess losses are those for 2 GHz.
struct Numbers {
    a: f64,
    b: f64,
    clear_db: f64,
    blocked_db: f64,
}

fn numbers(environment: Environment) -> Numbers {
    let (a, b, clear_db, blocked_db) = match environment {
        Environment::Suburban => (4.88, 0.43, 0.1, 21.0),
        Environment::Urban => (9.61, 0.16, 1.0, 20.0),
        Environment::DenseUrban => (12.08, 0.11, 1.6, 23.0),
        Environment::HighRise => (27.23, 0.08, 2.3, 34.0),
    };
    Numbers {
        a,
        b,
        clear_db,
        blocked_db,
    }
}

impl LineOfSight {
    /// That nothing stands between a device and a UAV at this elevation, in degrees.
    #[must_use]
    pub fn probability(environment: Environment, elevation_deg: f64) -> f64 {
        let Numbers { a, b, .. } = numbers(environment);
        1.0 / (1.0 + a * libm::exp(-b * (elevation_deg - a)))
    }

    fn loss_db(&self, path: &Path) -> f64 {
        let free_db = self.antennas.free_space_db(path.distance_m());
        if path.link == Link::UavToUav {
            return free_db;
        }
        let elevation_deg = libm::atan2(path.height_m(), path.ground_distance_m()).to_degrees();
        let probability = Self::probability(self.environment, elevation_deg);
        let Numbers {
            clear_db,
            blocked_db,
            ..
        } = numbers(self.environment);
        free_db + by_sight(path, self.draw, probability, clear_db, blocked_db)
    }
}

impl Channel for LineOfSight {
    fn gain(&self, path: &Path) -> f64 {
        self.antennas.gain(path.link, self.loss_db(path))
    }

    fn least_gain(&self, link: Link, ground_distance_m: f64, height_m: f64) -> Option<f64> {
        self.antennas.least_gain(link, ground_distance_m, height_m)
    }
}

#[cfg(test)]
mod tests {
    use super::super::free_space::tests::PLAIN;
    use super::super::tests::{aloft, between, reversed, upwards};
    use super::*;

    const ALL: [Environment; 4] = [
        Environment::Suburban,
        Environment::Urban,
        Environment::DenseUrban,
        Environment::HighRise,
    ];

    fn law(environment: Environment, draw: Draw) -> LineOfSight {
        LineOfSight {
            environment,
            draw,
            antennas: PLAIN,
        }
    }

    /// Al-Hourani, Kandeepan, Lardner 2014: their S-curve with the (a, b) of the four environments, at 15, 30, 45 and 60 degrees.
    #[test]
    fn val_probabilities_of_line_of_sight_are_those_of_al_hourani() {
        let expected = [
            [0.9408, 0.9999, 1.0, 1.0],
            [0.1978, 0.7310, 0.9677, 0.9970],
            [0.1024, 0.3728, 0.7558, 0.9416],
            [0.0136, 0.0438, 0.1321, 0.3357],
        ];
        for (environment, row) in ALL.into_iter().zip(expected) {
            for (elevation_deg, expected) in [15.0, 30.0, 45.0, 60.0].into_iter().zip(row) {
                let p = LineOfSight::probability(environment, elevation_deg);
                assert!((p - expected).abs() < 5.1e-5, "{environment:?}: {p}");
            }
        }
    }

    /// The elevations at the cell's edge that Al-Hourani, Kandeepan, Lardner 2014 print as optimal: there the mean loss at a
    /// fixed radius is least.
    #[test]
    fn val_the_best_elevations_are_those_of_al_hourani() {
        let radius_m = 500.0;
        for (environment, expected_deg) in ALL.into_iter().zip([20.34, 42.44, 54.62, 75.52]) {
            let law = law(environment, Draw::Mean);
            let loss_db = |step: u32| {
                let height_m = radius_m * (f64::from(step) * 0.01).to_radians().tan();
                law.loss_db(&upwards(radius_m, height_m))
            };
            let best = (100..8_900).min_by(|a, b| loss_db(*a).total_cmp(&loss_db(*b)));
            let best_deg = f64::from(best.unwrap()) * 0.01;
            assert!((best_deg - expected_deg).abs() < 0.021, "{best_deg}");
        }
    }

    /// By hand, urban at 45 degrees and 1 km: P = 0.9677, 98.468 + 0.9677 + 0.0323 x 20 = 100.08 dB.
    #[test]
    fn the_mean_loss_lies_between_the_two_cases() {
        let side_m = 1_000.0 / 2f64.sqrt();
        let loss_db = law(Environment::Urban, Draw::Mean).loss_db(&upwards(side_m, side_m));
        assert!((loss_db - 100.082).abs() < 2e-3, "{loss_db}");
    }

    /// Of many devices at an elevation, a share as large as the probability sees its UAV; up and down agree, rounds differ.
    #[test]
    fn sight_is_drawn_for_each_pair_and_round() {
        let law = law(Environment::Urban, Draw::Link);
        let (ground_m, height_m) = (866.0254, 500.0);
        let clear_db = law.antennas.free_space_db(1_000.0) + 1.0;
        let is_clear = |path: &Path| (law.loss_db(path) - clear_db).abs() < 1e-6;
        let pairs: Vec<Path> = (0..4_000)
            .map(|device| between(device, ground_m, height_m))
            .collect();
        let clear = pairs.iter().filter(|path| is_clear(path)).count();
        assert!(
            (clear as f64 / 4_000.0 - 0.7310).abs() < 0.025,
            "{clear} of 4000"
        );
        let again = |path: &Path| {
            is_clear(&Path {
                attempt: 1,
                ..*path
            })
        };
        let later = |path: &Path| is_clear(&Path { round: 9, ..*path });
        assert!(pairs.iter().all(
            |path| is_clear(path) == is_clear(&reversed(path)) && is_clear(path) == again(path)
        ));
        assert!(pairs.iter().any(|path| is_clear(path) != later(path)));
    }

    #[test]
    fn between_uavs_it_is_free_space() {
        let path = aloft(2_000.0);
        for draw in [Draw::Mean, Draw::Link] {
            let law = law(Environment::HighRise, draw);
            assert_eq!(law.loss_db(&path), PLAIN.free_space_db(2_000.0));
            let bound = law.least_gain(Link::UavToUav, 2_000.0, 0.0).unwrap();
            assert_eq!(bound, law.gain(&path));
            assert_eq!(law.least_gain(Link::DeviceToUav, 2_000.0, 0.0), None);
        }
    }
}
