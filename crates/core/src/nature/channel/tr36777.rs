//! Aerial users of a cellular network: 3GPP TR 36.777 V15.0.0, Annex B.

use std::f64::consts::PI;

use super::{Antennas, Channel, Link, Path, ShadowField, by_sight};
use crate::scenario::{Deployment, Draw};

/// The losses of Table B-2, the probabilities of line of sight of Table B-1 and the shadowing of Table B-3, with f in GHz, h
/// the height of the aerial end, d2 the ground distance and d the 3-D distance, in metres.
///
/// Departs from the report: its fixed end is a base station on a mast of 35, 25 or 10 m (RMa, UMa, UMi), ours a device on the
/// ground. A height below that of the tables (10 m, 22.5 m) counts as the least of them, above 300 m as 300 m. Between UAVs it is
/// free space: the report has no such links, and its terms for clutter around a mast mean nothing there.
#[derive(Debug)]
pub struct Tr36777 {
    /// Which of the three.
    pub deployment: Deployment,
    /// Whether losses are means over both cases of sight, or one of them is drawn.
    pub draw: Draw,
    /// Where shadowing comes from; none: there is none.
    pub shadowing: Option<ShadowField>,
    /// Carrier and antennas.
    pub antennas: Antennas,
}

/// The greatest height of the tables, m.
const HIGHEST_M: f64 = 300.0;

/// The two cases of sight.
#[derive(Clone, Copy)]
struct Losses {
    clear_db: f64,
    blocked_db: f64,
}

impl Tr36777 {
    /// The height that the tables are read at.
    fn tabled_m(&self, height_m: f64) -> f64 {
        let lowest_m = match self.deployment {
            Deployment::RmaAv => 10.0,
            Deployment::UmaAv | Deployment::UmiAv => 22.5,
        };
        height_m.clamp(lowest_m, HIGHEST_M)
    }

    /// That there is line of sight over a ground distance to an aerial end at this height.
    #[must_use]
    pub fn probability(&self, ground_m: f64, height_m: f64) -> f64 {
        let h = libm::log10(self.tabled_m(height_m));
        let (d1, p1) = match self.deployment {
            Deployment::RmaAv if height_m > 40.0 => return 1.0,
            Deployment::UmaAv if height_m > 100.0 => return 1.0,
            Deployment::RmaAv => (
                (1350.8 * h - 1602.0).max(18.0),
                (15021.0 * h - 16053.0).max(1000.0),
            ),
            Deployment::UmaAv => ((460.0 * h - 700.0).max(18.0), 4300.0 * h - 3800.0),
            Deployment::UmiAv => ((294.05 * h - 432.94).max(18.0), 233.98 * h - 0.95),
        };
        if ground_m <= d1 {
            return 1.0;
        }
        d1 / ground_m + libm::exp(-ground_m / p1) * (1.0 - d1 / ground_m)
    }

    /// Loss over a 3-D distance to an aerial end at this height.
    fn losses(&self, distance_m: f64, height_m: f64) -> Losses {
        let (h, d) = (
            libm::log10(self.tabled_m(height_m)),
            libm::log10(distance_m),
        );
        let f_ghz = self.antennas.carrier_ghz();
        let f = 20.0 * libm::log10(f_ghz);
        let c = 20.0 * libm::log10(40.0 * PI * f_ghz / 3.0);
        let (clear_db, blocked_db) = match self.deployment {
            Deployment::RmaAv => {
                let clear_db = (23.9 - 1.8 * h).max(20.0) * d + c;
                (clear_db, clear_db.max(-12.0 + (35.0 - 5.3 * h) * d + c))
            }
            Deployment::UmaAv => (28.0 + 22.0 * d + f, -17.5 + (46.0 - 7.0 * h) * d + c),
            Deployment::UmiAv => {
                let free_db = self.antennas.free_space_db(distance_m);
                let clear_db = free_db.max(30.9 + (22.25 - 0.5 * h) * d + f);
                (clear_db, clear_db.max(32.4 + (43.2 - 7.6 * h) * d + f))
            }
        };
        Losses {
            clear_db,
            blocked_db,
        }
    }

    /// Standard deviations of shadowing.
    fn sigmas(&self, height_m: f64) -> Losses {
        let h = self.tabled_m(height_m);
        let (clear_db, blocked_db) = match self.deployment {
            Deployment::RmaAv => (4.2 * libm::exp(-0.0046 * h), 6.0),
            Deployment::UmaAv => (4.64 * libm::exp(-0.0066 * h), 6.0),
            Deployment::UmiAv => ((5.0 * libm::exp(-0.01 * h)).max(2.0), 8.0),
        };
        Losses {
            clear_db,
            blocked_db,
        }
    }

    fn loss_db(&self, path: &Path) -> f64 {
        let Some((ground, air)) = path.ground_and_air() else {
            return self.antennas.free_space_db(path.distance_m());
        };
        let height_m = path.from_height_m.max(path.to_height_m);
        let mut losses = self.losses(path.distance_m(), height_m);
        if let Some(field) = &self.shadowing {
            let (sigmas, deviation) = (self.sigmas(height_m), field.at(ground, air));
            losses.clear_db += sigmas.clear_db * deviation;
            losses.blocked_db += sigmas.blocked_db * deviation;
        }
        let probability = self.probability(path.ground_distance_m(), height_m);
        let Losses {
            clear_db,
            blocked_db,
        } = losses;
        by_sight(path, self.draw, probability, clear_db, blocked_db)
    }
}

impl Channel for Tr36777 {
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

    fn law(deployment: Deployment) -> Tr36777 {
        Tr36777 {
            deployment,
            draw: Draw::Mean,
            shadowing: None,
            antennas: PLAIN,
        }
    }

    use Deployment::{RmaAv, UmaAv, UmiAv};

    /// 3GPP TR 36.777, Table B-2, at 2 GHz.
    #[test]
    fn val_path_losses_are_those_of_tr_36777() {
        let clear_db = |deployment, distance_m, height_m| {
            law(deployment).losses(distance_m, height_m).clear_db
        };
        for (found_db, expected_db) in [
            (clear_db(RmaAv, 1_000.0, 50.0), 100.99),
            (clear_db(UmaAv, 500.0, 50.0), 93.40),
            (clear_db(UmiAv, 200.0, 50.0), 86.16),
            (law(UmaAv).losses(200.0, 50.0).blocked_db, 99.44),
        ] {
            assert!((found_db - expected_db).abs() < 0.006, "{found_db}");
        }
    }

    /// 3GPP TR 36.777, Table B-1.
    #[test]
    fn val_probabilities_of_line_of_sight_are_those_of_tr_36777() {
        for (deployment, height_m, ground_m, expected) in [
            (UmaAv, 50.0, 200.0, 0.9672),
            (UmaAv, 100.0, 500.0, 0.9446),
            (UmaAv, 100.0, 1_000.0, 0.8533),
            (UmaAv, 100.0, 2_000.0, 0.6967),
            (UmiAv, 300.0, 1_000.0, 0.4206),
            (UmaAv, 100.5, 5_000.0, 1.0),
            (RmaAv, 40.5, 9_000.0, 1.0),
        ] {
            let p = law(deployment).probability(ground_m, height_m);
            assert!((p - expected).abs() < 5.1e-5, "{deployment:?}: {p}");
        }
    }

    /// 3GPP TR 36.777, Table B-3: by hand 4.2 exp(-0.23), 4.64 exp(-0.33), 5 exp(-0.5); 2 dB at least.
    #[test]
    fn val_shadowing_deviations_are_those_of_tr_36777() {
        for (deployment, height_m, clear_db, blocked_db) in [
            (RmaAv, 50.0, 3.3370, 6.0),
            (UmaAv, 50.0, 3.3358, 6.0),
            (UmiAv, 50.0, 3.0327, 8.0),
            (UmiAv, 200.0, 2.0, 8.0),
        ] {
            let sigmas = law(deployment).sigmas(height_m);
            assert!(
                (sigmas.clear_db - clear_db).abs() < 5.1e-5,
                "{deployment:?}"
            );
            assert_eq!(sigmas.blocked_db, blocked_db);
        }
    }

    /// The tables end at 10 or 22.5 m and at 300 m: there everything stands still.
    #[test]
    fn heights_outside_the_tables_count_as_their_ends() {
        for (deployment, lowest_m) in [(RmaAv, 10.0), (UmaAv, 22.5), (UmiAv, 22.5)] {
            let law = law(deployment);
            for (outside_m, end_m) in [(1.0, lowest_m), (1e5, 300.0)] {
                let at = |height_m| {
                    let Losses {
                        clear_db,
                        blocked_db,
                    } = law.losses(700.0, height_m);
                    (clear_db, blocked_db, law.probability(700.0, height_m))
                };
                assert_eq!(at(outside_m), at(end_m), "{deployment:?}");
                assert!((0.0..=1.0).contains(&at(end_m).2));
            }
        }
    }

    #[test]
    fn means_lie_between_the_cases_and_draws_are_one_of_them_in_both_directions() {
        let (ground_m, height_m) = (1_500.0, 80.0);
        let mut law = law(UmaAv);
        let Losses {
            clear_db,
            blocked_db,
        } = law.losses(upwards(ground_m, height_m).distance_m(), height_m);
        let p = law.probability(ground_m, height_m);
        let mean_db = law.loss_db(&upwards(ground_m, height_m));
        assert!((mean_db - (p * clear_db + (1.0 - p) * blocked_db)).abs() < 1e-9);
        law.draw = Draw::Link;
        let paths: Vec<Path> = (0..4_000).map(|n| between(n, ground_m, height_m)).collect();
        let clear = paths.iter().filter(|path| law.loss_db(path) == clear_db);
        let share = clear.count() as f64 / 4_000.0;
        assert!((share - p).abs() < 0.025, "{share} and {p}");
        for path in &paths {
            let loss_db = law.loss_db(path);
            assert!(loss_db == clear_db || loss_db == blocked_db);
            assert_eq!(loss_db, law.loss_db(&reversed(path)));
        }
    }

    /// The field's deviation times the sigma of the case.
    #[test]
    fn shadowing_has_the_deviation_of_the_case() {
        let path = upwards(900.0, 60.0);
        let field = ShadowField::new(7, 50.0);
        let (ground, air) = path.ground_and_air().unwrap();
        let deviation = field.at(ground, air);
        let plain_db = law(RmaAv).loss_db(&path);
        let law = Tr36777 {
            shadowing: Some(field),
            ..law(RmaAv)
        };
        // Above 40 m there is always line of sight.
        let expected_db = plain_db + 4.2 * (-0.0046f64 * 60.0).exp() * deviation;
        assert!((law.loss_db(&path) - expected_db).abs() < 1e-9);
        assert!(deviation != 0.0);
    }

    #[test]
    fn between_uavs_it_is_free_space() {
        let law = law(UmiAv);
        assert_eq!(law.loss_db(&aloft(800.0)), PLAIN.free_space_db(800.0));
    }
}
