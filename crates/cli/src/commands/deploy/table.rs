//! What came of it, for a terminal.

use aerofed_report::units::{counted, duration, energy, percent};

use aerofed::decide::redeploy::{Answer, Degrees, UavAnswer};
use aerofed::geometry::Point;

const COLUMNS: [&str; 8] = [
    "UAV",
    "from",
    "to",
    "flight",
    "energy",
    "battery left",
    "endurance",
    "devices",
];

/// One line for each UAV, and one for all.
pub(super) fn table(answer: &Answer) -> String {
    let mut rows = vec![COLUMNS.map(str::to_owned)];
    rows.extend(answer.uavs.iter().map(row));
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: [usize; COLUMNS.len()] = std::array::from_fn(width);
    let line = |row: &[String; COLUMNS.len()]| {
        let cells = row.iter().zip(widths);
        let cells: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:>width$}"))
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    lines.push(String::new());
    lines.extend(total(answer));
    lines.join("\n")
}

fn row(uav: &UavAnswer) -> [String; COLUMNS.len()] {
    let stays = uav.from_m == uav.to_m;
    let (to, flight, spent) = match (uav.needed, stays) {
        (false, _) => ("not needed".into(), String::new(), String::new()),
        (true, true) => ("stays".into(), String::new(), String::new()),
        (true, false) => (
            place(uav.to_m, uav.to),
            duration(uav.seconds),
            energy(uav.energy_j),
        ),
    };
    let endurance = uav.endurance_min.map(|minutes| format!("{minutes:.0} min"));
    [
        uav.uav.to_string(),
        place(uav.from_m, uav.from),
        to,
        flight,
        spent,
        energy(uav.battery_left_j),
        endurance.unwrap_or_else(|| "without end".into()),
        if uav.needed {
            uav.covered.to_string()
        } else {
            String::new()
        },
    ]
}

fn place(at: Point, degrees: Option<Degrees>) -> String {
    match degrees {
        Some(Degrees { lat, lon }) => format!("{lat:.5}, {lon:.5}"),
        None => format!("{:.0}, {:.0} m", at.x_m, at.y_m),
    }
}

fn total(answer: &Answer) -> Vec<String> {
    let serve = if answer.uavs_needed == 1 {
        "serves"
    } else {
        "serve"
    };
    let mut lines = vec![
        format!(
            "{} of {} covered, {} before; {} of {} {serve}",
            percent(answer.coverage_after, 1),
            counted(answer.devices, "device"),
            percent(answer.coverage_before, 1),
            answer.uavs_needed,
            counted(answer.uavs.len(), "UAV"),
        ),
        format!(
            "{} in all, the last arrives after {}",
            energy(answer.energy_j),
            duration(answer.seconds)
        ),
    ];
    lines.push(match answer.pays_after_min {
        Some(0.0) => "pays at once".into(),
        Some(minutes) if minutes < 1.0 => {
            format!("pays after {:.0} s of service", minutes * 60.0)
        }
        Some(minutes) => format!("pays after {minutes:.1} minutes of service"),
        None => "does not pay: staying takes no more energy for each device".into(),
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use aerofed::decide::redeploy::DeploymentMethod;

    fn uav(number: usize, to_m: Point, needed: bool) -> UavAnswer {
        let from_m = Point::new(3_000.0, 3_000.0);
        let moves = from_m != to_m;
        UavAnswer {
            uav: number,
            needed,
            from_m,
            to_m,
            from: None,
            to: None,
            distance_m: 0.0,
            seconds: if moves { 509.0 } else { 0.0 },
            energy_j: if moves { 81_500.0 } else { 0.0 },
            battery_left_j: 318_600.0,
            endurance_min: Some(24.8),
            covered: 40,
        }
    }

    #[test]
    fn who_flies_who_stays_and_who_is_not_needed_is_said() {
        let home = Point::new(3_000.0, 3_000.0);
        let answer = Answer {
            method: DeploymentMethod::MarginalGains,
            devices: 120,
            coverage_before: 0.25,
            coverage_after: 0.975,
            energy_j: 81_500.0,
            seconds: 509.0,
            uavs_needed: 2,
            goal: Some(0.9),
            pays_after_min: Some(2.5),
            uavs: vec![
                uav(0, Point::new(13_185.0, 3_223.0), true),
                uav(1, home, true),
                uav(2, home, false),
            ],
        };
        let text = table(&answer);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 8, "{text}");
        for (line, words) in [
            (0, &["UAV", "battery left", "endurance"][..]),
            (
                1,
                &[
                    "3000, 3000 m",
                    "13185, 3223 m",
                    "8 min 29 s",
                    "81.5 kJ",
                    "319 kJ",
                    "25 min",
                    "40",
                ],
            ),
            (2, &["stays"]),
            (3, &["not needed"]),
            (
                5,
                &["97.5 % of 120 devices covered, 25.0 % before; 2 of 3 UAVs serve"],
            ),
            (6, &["81.5 kJ in all, the last arrives after 8 min 29 s"]),
            (7, &["pays after 2.5 minutes of service"]),
        ] {
            for word in words {
                assert!(lines[line].contains(word), "{word}: {text}");
            }
        }
    }
}
