//! Gauss-Markov: speed and heading that remember what they were (Liang and Haas, INFOCOM 1999; Camp, Boleng and Davies,
//! Wireless Communications and Mobile Computing 2(5), 2002).

use rand::RngExt;

use super::legs::{Leg, Motion, Start, Walk};
use super::uniform_point;
use crate::seed::{Random, Stream, stream};
use crate::vocabulary::{DeviceId, Point};

/// In every step x' = α x + (1 - α) mean + sqrt(1 - α²) w, with w normal, for speed and heading, which begin stationary. Who
/// comes to the border is reflected: heading and mean heading are turned like light, so that devices are everywhere equally
/// often. A speed below 0 counts as 0.
#[derive(Clone, Copy, Debug)]
pub struct GaussMarkov {
    /// Of the random streams.
    pub seed: u64,
    /// East-west extent of the area.
    pub width_m: f64,
    /// North-south extent of the area.
    pub height_m: f64,
    /// What speeds come back to.
    pub mean_speed_mps: f64,
    /// Standard deviation of speeds.
    pub speed_sigma_mps: f64,
    /// Standard deviation of headings around a device's mean heading.
    pub heading_sigma_rad: f64,
    /// How much is kept from step to step.
    pub alpha: f64,
    /// From one draw to the next.
    pub step_s: f64,
}

/// What a device remembers.
#[derive(Clone, Copy)]
struct Course {
    speed_mps: f64,
    heading_rad: f64,
    mean_heading_rad: f64,
}

impl GaussMarkov {
    /// When a step is over. Steps begin at multiples of their length, whenever anybody looks.
    fn end_s(&self, step: u64) -> f64 {
        (step as f64 + 1.0) * self.step_s
    }

    /// The way of a step until its end or the border, whichever is first.
    fn motion(&self, from: Point, from_s: f64, step: u64, course: Course) -> Motion {
        let end_s = self.end_s(step).max(from_s);
        let way_m = course.speed_mps.max(0.0) * (end_s - from_s);
        let heading = course.heading_rad;
        let (dx, dy) = (way_m * libm::cos(heading), way_m * libm::sin(heading));
        let x_share = until_border(from.x_m, dx, self.width_m);
        let y_share = until_border(from.y_m, dy, self.height_m);
        let share = x_share.min(y_share);
        // Whoever meets a border is exactly on it.
        let to = |from: f64, delta: f64, most: f64, own_share: f64| match own_share == share {
            true if share < 1.0 => {
                if delta < 0.0 {
                    0.0
                } else {
                    most
                }
            }
            _ => (from + share * delta).max(0.0).min(most),
        };
        let leg = Leg {
            from,
            to: Point::new(
                to(from.x_m, dx, self.width_m, x_share),
                to(from.y_m, dy, self.height_m, y_share),
            ),
            from_s,
            until_s: match share < 1.0 {
                true => from_s + share * (end_s - from_s),
                false => end_s,
            },
        };
        let Course {
            speed_mps,
            heading_rad,
            mean_heading_rad,
        } = course;
        Motion {
            memory: [speed_mps, heading_rad, mean_heading_rad],
            ..Motion::on(leg, step)
        }
    }

    /// Turned back at whatever border it has run into.
    fn reflected(&self, at: Point, course: Course) -> Course {
        let outward =
            |at: f64, most: f64, ahead: f64| at <= 0.0 && ahead < 0.0 || at >= most && ahead > 0.0;
        let (mut heading, mut mean) = (course.heading_rad, course.mean_heading_rad);
        if outward(at.x_m, self.width_m, libm::cos(course.heading_rad)) {
            (heading, mean) = (std::f64::consts::PI - heading, std::f64::consts::PI - mean);
        }
        if outward(at.y_m, self.height_m, libm::sin(course.heading_rad)) {
            (heading, mean) = (-heading, -mean);
        }
        Course {
            heading_rad: heading,
            mean_heading_rad: mean,
            ..course
        }
    }

    /// Speed and heading of the next step.
    fn next_course(&self, before: Course, rng: &mut Random) -> Course {
        let next = |value: f64, mean: f64, sigma: f64, w: f64| {
            let Self { alpha, .. } = *self;
            let fresh = (1.0 - alpha * alpha).max(0.0).sqrt();
            alpha * value + (1.0 - alpha) * mean + fresh * sigma * w
        };
        let [w_speed, w_heading] = normals(rng);
        let mean_heading_rad = before.mean_heading_rad;
        Course {
            speed_mps: next(
                before.speed_mps,
                self.mean_speed_mps,
                self.speed_sigma_mps,
                w_speed,
            ),
            heading_rad: next(
                before.heading_rad,
                mean_heading_rad,
                self.heading_sigma_rad,
                w_heading,
            ),
            mean_heading_rad,
        }
    }
}

/// The share of a way along one axis after which it meets a border; 1: it does not.
fn until_border(from: f64, delta: f64, most: f64) -> f64 {
    let border = if delta < 0.0 { 0.0 } else { most };
    match delta == 0.0 || (0.0..=most).contains(&(from + delta)) {
        true => 1.0,
        false => ((border - from) / delta).clamp(0.0, 1.0),
    }
}

/// Two standard normal variates (Box and Muller), by `libm`: the same on every platform.
fn normals(rng: &mut Random) -> [f64; 2] {
    // Above 0, so that the logarithm is finite.
    let radius = (-2.0 * libm::log(1.0 - rng.random::<f64>())).sqrt();
    let angle = std::f64::consts::TAU * rng.random::<f64>();
    [radius * libm::cos(angle), radius * libm::sin(angle)]
}

impl Walk for GaussMarkov {
    fn start(&self, start: &Start) -> Motion {
        let Start {
            device,
            now_s,
            at,
            is_given,
            ..
        } = *start;
        let step = (now_s / self.step_s) as u64;
        let mut rng = stream(self.seed, Stream::DevicePosition, step, device.0.into());
        let anywhere = uniform_point(self.width_m, self.height_m, &mut rng);
        let [w_speed, w_heading] = normals(&mut rng);
        let mean_heading_rad = std::f64::consts::TAU * rng.random::<f64>();
        let course = Course {
            speed_mps: self.mean_speed_mps + self.speed_sigma_mps * w_speed,
            heading_rad: mean_heading_rad + self.heading_sigma_rad * w_heading,
            mean_heading_rad,
        };
        self.motion(if is_given { at } else { anywhere }, now_s, step, course)
    }

    fn next(&self, device: DeviceId, before: &Motion) -> Motion {
        let (here, now_s, step) = (before.leg.to, before.leg.until_s, before.number);
        let [speed_mps, heading_rad, mean_heading_rad] = before.memory;
        let course = Course {
            speed_mps,
            heading_rad,
            mean_heading_rad,
        };
        if now_s < self.end_s(step) {
            return self.motion(here, now_s, step, self.reflected(here, course));
        }
        let step = step.saturating_add(1);
        let mut rng = stream(self.seed, Stream::Mobility, step, device.0.into());
        let course = self.next_course(self.reflected(here, course), &mut rng);
        self.motion(here, now_s, step, course)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stationary variance and lag-1 autocorrelation of the process (Liang and Haas 1999): sigma² and α.
    #[test]
    fn val_speed_keeps_its_variance_and_forgets_by_alpha() {
        let walk = GaussMarkov {
            seed: 3,
            width_m: 1e6,
            height_m: 1e6,
            mean_speed_mps: 6.0,
            speed_sigma_mps: 2.0,
            heading_sigma_rad: 0.5,
            alpha: 0.85,
            step_s: 1.0,
        };
        let (mut sum, mut squares, mut products, mut count) = (0.0, 0.0, 0.0, 0.0);
        for id in 0..400 {
            let device = DeviceId(id);
            let mut motion = walk.start(&Start {
                device,
                now_s: 0.0,
                number: 0,
                at: Point::default(),
                is_given: false,
            });
            for _ in 0..500 {
                let before = motion.memory[0] - 6.0;
                motion = walk.next(device, &motion);
                let now = motion.memory[0] - 6.0;
                sum += now;
                squares += now * now;
                products += before * now;
                count += 1.0;
            }
        }
        let (mean, variance, correlation) = (sum / count, squares / count, products / squares);
        assert!(mean.abs() < 0.05, "{mean}");
        assert!((variance - 4.0).abs() < 0.1, "{variance}");
        assert!((correlation - 0.85).abs() < 0.005, "{correlation}");
    }
}
