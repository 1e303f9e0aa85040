//! Where devices are at which times, from a file.

use std::collections::BTreeMap;
use std::path::Path;

use aerofed_data::Table;

use super::{Area, Place};
use crate::vocabulary::Point;

/// What a trace file holds: per device, times and places.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracks {
    /// Per device, at least one point each, ascending times in seconds from the earliest of the file.
    of_device: Vec<Vec<(f64, Point)>>,
    /// From the earliest time of the file to the latest, s.
    length_s: f64,
}

/// An id of a file: numbers come in their own order, and before words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    Number(i64),
    Word(String),
}

impl Id {
    fn new(word: &str) -> Self {
        word.parse()
            .map_or_else(|_| Self::Word(word.into()), Self::Number)
    }
}

impl Tracks {
    /// The tracks of so many devices, those with the lowest ids of the file. What is wrong is told in words.
    pub(super) fn read(path: &Path, devices: usize, area: &Area) -> Result<Self, String> {
        let table = match path == Path::new(HARBOUR) && !path.exists() {
            true => Table::from_csv(path, include_str!("../../scenarios/harbour.csv")),
            false => Table::read(path),
        };
        let table = table.map_err(|error| error.to_string())?;
        Self::of_table(&table, devices, area)
    }

    /// Of devices with at least one point each, times ascending and not below 0.
    #[must_use]
    pub fn new(of_device: Vec<Vec<(f64, Point)>>) -> Self {
        let last = |track: &Vec<(f64, Point)>| track.last().map_or(0.0, |(time_s, _)| *time_s);
        let length_s = of_device.iter().map(last).fold(0.0, f64::max);
        Self {
            of_device,
            length_s,
        }
    }

    fn of_table(table: &Table, devices: usize, area: &Area) -> Result<Self, String> {
        let told = |error: aerofed_data::Error| error.to_string();
        let times = table.numbers("t_s").map_err(told)?;
        let ids = table.words("id").map_err(told)?;
        let places = places(table, area)?;
        let mut by_id: BTreeMap<Id, Vec<usize>> = BTreeMap::new();
        for (row, id) in ids.iter().enumerate() {
            by_id.entry(Id::new(id)).or_default().push(row);
        }
        if by_id.len() < devices {
            let found = by_id.len();
            return Err(format!(
                "it has {found} ids, but devices.count is {devices}"
            ));
        }
        let mut all: Vec<Vec<usize>> = by_id.into_values().take(devices).collect();
        let rows = || all.iter().flatten();
        for &row in rows() {
            let Point { x_m, y_m } = places[row];
            let inside =
                (0.0..=area.width_m).contains(&x_m) && (0.0..=area.height_m).contains(&y_m);
            if !inside {
                return Err(format!(
                    "{}: [{x_m}, {y_m}] is outside the area, x 0 to {}, y 0 to {}",
                    table.place(row),
                    area.width_m,
                    area.height_m
                ));
            }
        }
        let first_s = rows().map(|&row| times[row]).fold(f64::INFINITY, f64::min);
        let last_s = rows().map(|&row| times[row]).fold(first_s, f64::max);
        if last_s - first_s > LONGEST_S {
            return Err(format!(
                "from t_s = {first_s} to {last_s} are more than {LONGEST_S:e} s"
            ));
        }
        let mut of_device = Vec::with_capacity(devices);
        for rows in &mut all {
            rows.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
            let twice = rows.windows(2).find(|two| times[two[0]] == times[two[1]]);
            if let Some(&[a, b]) = twice {
                let (before, row) = (table.place(a.min(b)), table.place(a.max(b)));
                return Err(format!("{row} has the id and t_s of {before}"));
            }
            let point = |&row: &usize| (times[row] - first_s, places[row]);
            of_device.push(rows.iter().map(point).collect());
        }
        Ok(Self::new(of_device))
    }

    /// A device's points, by time in seconds from the earliest of the file.
    #[must_use]
    pub fn of(&self, device: usize) -> &[(f64, Point)] {
        self.of_device.get(device).map_or(&[], Vec::as_slice)
    }

    /// From the earliest time of the file to the latest, s.
    #[must_use]
    pub fn length_s(&self) -> f64 {
        self.length_s
    }
}

/// The name of the tracks that come with the program: ships in the harbour of New York.
const HARBOUR: &str = "harbour";

/// Longer than anybody was watched; times so far apart are in another unit.
const LONGEST_S: f64 = 1e11;

/// The places of a table's rows, in metres.
fn places(table: &Table, area: &Area) -> Result<Vec<Point>, String> {
    let told = |error: aerofed_data::Error| error.to_string();
    let pair = |x: &str, y: &str| {
        let (x, y) = (
            table.numbers(x).map_err(told)?,
            table.numbers(y).map_err(told)?,
        );
        Ok::<_, String>(x.into_iter().zip(y))
    };
    if table.has("x_m") || table.has("y_m") || !(table.has("lon") || table.has("lat")) {
        return Ok(pair("x_m", "y_m")?.map(|(x, y)| Point::new(x, y)).collect());
    }
    let degrees = pair("lon", "lat")?;
    let frame = area.frame();
    if frame.is_none() {
        return Err("lon and lat: needs area.origin; columns x_m and y_m do not".into());
    }
    let places = degrees.enumerate().map(|(row, (lon, lat))| {
        let place = Place::Degrees { lat, lon }.resolve(frame.as_ref());
        place.map_err(|allowed| {
            format!(
                "{}: lon {lon}, lat {lat}, allowed: {allowed}",
                table.place(row)
            )
        })
    });
    places.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tracks(csv: &str, devices: usize) -> Result<Tracks, String> {
        let area = Area::new(100.0, 50.0);
        let table = Table::from_csv(Path::new("t.csv"), csv).map_err(|error| error.to_string())?;
        Tracks::of_table(&table, devices, &area)
    }

    #[test]
    fn the_lowest_ids_are_taken_and_times_begin_at_0() {
        let csv = "id,t_s,x_m,y_m\n10,1000,1,2\n9,1010,3,4\n9,1005,5,6\nbus,1000,7,8\n";
        let tracks = tracks(csv, 2).unwrap();
        assert_eq!(
            tracks.of(0),
            [(5.0, Point::new(5.0, 6.0)), (10.0, Point::new(3.0, 4.0))]
        );
        assert_eq!(tracks.of(1), [(0.0, Point::new(1.0, 2.0))]);
        assert_eq!(tracks.length_s(), 10.0);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (csv, devices, part) in [
            (
                "id,t_s,x_m,y_m\n1,0,1,2\n",
                2,
                "it has 1 ids, but devices.count is 2",
            ),
            (
                "id,t_s,x_m,y_m\n1,0,1,2\n1,0,3,4\n",
                1,
                "line 3 has the id and t_s of line 2",
            ),
            (
                "id,t_s,x_m,y_m\n1,0,1,2\n1,1,3,51\n",
                1,
                "line 3: [3, 51] is outside the area",
            ),
            (
                "id,t_s,x_m,y_m\n1,0,1,2\n1,1e12,3,4\n",
                1,
                "more than 1e11 s",
            ),
            ("id,t_s,x_m,y_m\n1,x,1,2\n", 1, "line 2"),
            ("id,t_s,x_m,y_m\n1,nan,1,2\n", 1, "line 2"),
            ("id,t_s,x_m\n1,0,1\n", 1, "y_m"),
            ("id,x_m,y_m\n1,0,1\n", 1, "t_s"),
            ("t_s,x_m,y_m\n1,0,1\n", 1, "id"),
            ("id,t_s,lon,lat\n1,0,1,2\n", 1, "needs area.origin"),
            ("id,t_s,x_m,y_m\n", 1, "it has 0 ids"),
        ] {
            let told = tracks(csv, devices).unwrap_err();
            assert!(told.contains(part), "{csv}: {told}");
        }
    }
}
