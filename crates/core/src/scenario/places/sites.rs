//! Where devices start, from a file of sites among which they are dealt.

use std::path::Path;

use aerofed_data::Table;
use rand::RngExt;

use super::super::check::bad;
use super::super::{Devices, ScenarioError};
use super::geojson::{self, Shape};
use super::zones::points;
use super::{Area, Place};
use crate::seed::Random;
use crate::vocabulary::Point;
use crate::vocabulary::geometry::{LocalFrame, Polygon};

/// Sites, and how many devices start at each.
#[derive(Debug, PartialEq)]
pub(super) struct Sites {
    sites: Vec<Ground>,
    /// Devices of each site and of those before it.
    ends: Vec<usize>,
}

/// Where the devices of a site are.
#[derive(Debug, PartialEq)]
enum Ground {
    /// Anywhere in a circle.
    Circle { middle: Point, radius_m: f64 },
    /// Anywhere in a polygon, but not in its holes.
    Polygon { outer: Polygon, holes: Vec<Polygon> },
}

/// A site as read.
struct Site {
    /// For messages.
    label: String,
    ground: Ground,
    /// Its share of the devices, in any unit.
    devices: f64,
}

/// Draws in the box around a polygon until one is inside: with less of the box filled, refused.
const THINNEST: f64 = 1e-3;
/// By then one is inside, all but certainly (1 - e^-100).
const TRIES: usize = 100_000;

/// The name of the sites that come with the program: three halls of a town.
const SHELTERS: &str = "shelters";

impl Devices {
    /// The file of sites; none where it names none, or those that come with the program.
    #[must_use]
    pub fn positions_file(&self) -> Option<&Path> {
        let path = self.positions.as_path();
        let file = !path.as_os_str().is_empty() && path != Path::new(SHELTERS);
        file.then_some(path)
    }
}

impl Sites {
    /// Reads the file that `devices.positions` names; none where it names none.
    pub(super) fn read(
        devices: &Devices,
        area: &Area,
        frame: Option<&LocalFrame>,
    ) -> Result<Option<Self>, ScenarioError> {
        let path = &devices.positions;
        if path.as_os_str().is_empty() {
            return Ok(None);
        }
        let told = |error: aerofed_data::Error| error.to_string();
        let read = || {
            let sites = match path.extension().and_then(|ending| ending.to_str()) {
                Some("csv") => sites_of(&Table::read(path).map_err(told)?, frame)?,
                None if devices.positions_file().is_none() => {
                    let text = include_str!("../../../scenarios/shelters.csv");
                    sites_of(&Table::from_csv(path, text).map_err(told)?, frame)?
                }
                Some("geojson" | "json") => from_geojson(path, frame)?,
                _ => return Err("the name ends in none of .csv, .geojson, .json".into()),
            };
            sites.iter().try_for_each(|site| site.check(area))?;
            Self::deal(sites, devices.count)
        };
        read().map(Some).map_err(|problem: String| {
            let allowed = format!(
                "a CSV file with columns x_m, y_m or lon, lat, or a GeoJSON file with points and polygons ({problem})"
            );
            bad("devices.positions", format_args!("{path:?}"), allowed)
        })
    }

    fn deal(sites: Vec<Site>, count: usize) -> Result<Self, String> {
        let shares: Vec<f64> = sites.iter().map(|site| site.devices).collect();
        let counts = largest_remainder(&shares, count);
        let counts = counts.ok_or("`devices` is 0 everywhere")?;
        let mut end = 0;
        let ends = counts.iter().map(|count| {
            end += count;
            end
        });
        Ok(Self {
            ends: ends.collect(),
            sites: sites.into_iter().map(|site| site.ground).collect(),
        })
    }

    /// Where a device starts.
    pub(super) fn draw(&self, device: usize, rng: &mut Random) -> Point {
        let site = self.ends.partition_point(|&end| end <= device);
        match &self.sites[site.min(self.sites.len() - 1)] {
            Ground::Circle { middle, radius_m } => {
                if *radius_m == 0.0 {
                    return *middle;
                }
                let away_m = radius_m * rng.random::<f64>().sqrt();
                let (sin, cos) = libm::sincos(std::f64::consts::TAU * rng.random::<f64>());
                Point::new(middle.x_m + away_m * cos, middle.y_m + away_m * sin)
            }
            Ground::Polygon { outer, holes } => {
                let (low, high) = outer.bounds();
                for _ in 0..TRIES {
                    let (x, y) = (rng.random::<f64>(), rng.random::<f64>());
                    let point = Point::new(
                        low.x_m + x * (high.x_m - low.x_m),
                        low.y_m + y * (high.y_m - low.y_m),
                    );
                    if outer.contains(point) && !holes.iter().any(|hole| hole.contains(point)) {
                        return point;
                    }
                }
                outer.corners()[0]
            }
        }
    }
}

impl Site {
    fn check(&self, area: &Area) -> Result<(), String> {
        let (low, high) = match &self.ground {
            Ground::Circle { middle, radius_m } => (
                Point::new(middle.x_m - radius_m, middle.y_m - radius_m),
                Point::new(middle.x_m + radius_m, middle.y_m + radius_m),
            ),
            Ground::Polygon { outer, holes } => {
                let (low, high) = outer.bounds();
                let free_m2 = outer.area_m2() - holes.iter().map(Polygon::area_m2).sum::<f64>();
                if free_m2 < THINNEST * (high.x_m - low.x_m) * (high.y_m - low.y_m) {
                    return Err(format!(
                        "{}: too thin a polygon to put devices in",
                        self.label
                    ));
                }
                (low, high)
            }
        };
        if area.contains(low) && area.contains(high) {
            return Ok(());
        }
        Err(format!(
            "{}: reaches from [{:.0}, {:.0}] to [{:.0}, {:.0}] m, the area from [0, 0] to [{}, {}]",
            self.label, low.x_m, low.y_m, high.x_m, high.y_m, area.width_m, area.height_m
        ))
    }
}

/// So many things in proportion to shares: each gets the whole part of its quota, and those with the largest remainders one
/// more; of equal ones the first. None where all shares are 0.
fn largest_remainder(shares: &[f64], count: usize) -> Option<Vec<usize>> {
    let total: f64 = shares.iter().sum();
    if !(total > 0.0 && total.is_finite()) {
        return None;
    }
    let quota = |share: &f64| share / total * count as f64;
    let mut counts: Vec<usize> = shares.iter().map(|share| quota(share) as usize).collect();
    let mut order: Vec<usize> = (0..shares.len())
        .filter(|&site| shares[site] > 0.0)
        .collect();
    let rest = |site: usize| quota(&shares[site]) - counts[site] as f64;
    order.sort_by(|&a, &b| rest(b).total_cmp(&rest(a)).then(a.cmp(&b)));
    let left = count.saturating_sub(counts.iter().sum());
    for &site in order.iter().cycle().take(left) {
        counts[site] += 1;
    }
    // Rounding of huge quotas: nobody is dealt twice.
    let mut over = counts.iter().sum::<usize>().saturating_sub(count);
    for dealt in counts.iter_mut().rev() {
        let less = over.min(*dealt);
        *dealt -= less;
        over -= less;
    }
    Some(counts)
}

fn sites_of(table: &Table, frame: Option<&LocalFrame>) -> Result<Vec<Site>, String> {
    if table.rows() == 0 {
        return Err("has no rows".into());
    }
    let numbers = |column: &str| table.numbers(column).map_err(|error| error.to_string());
    let places: Vec<Place> = if table.has("lon") || table.has("lat") {
        let places = numbers("lat")?.into_iter().zip(numbers("lon")?);
        places
            .map(|(lat, lon)| Place::Degrees { lat, lon })
            .collect()
    } else {
        let places = numbers("x_m")?.into_iter().zip(numbers("y_m")?);
        places
            .map(|(x_m, y_m)| Point::new(x_m, y_m).into())
            .collect()
    };
    let amounts = |column: &str, default: f64| {
        if !table.has(column) {
            return Ok(vec![default; table.rows()]);
        }
        let amounts = numbers(column)?;
        match amounts
            .iter()
            .position(|amount| !(0.0..=1e12).contains(amount))
        {
            Some(row) => {
                let value = amounts[row].to_string();
                Err(table.refuse(row, column, &value, "0 to 1e12").to_string())
            }
            None => Ok(amounts),
        }
    };
    let (devices, radii) = (amounts("devices", 1.0)?, amounts("radius_m", 0.0)?);
    let names = table.has("name").then(|| table.words("name"));
    let names = names.transpose().map_err(|error| error.to_string())?;
    let site = |row: usize| {
        let label = match names.as_ref().map_or("", |names| names[row]) {
            "" => table.place(row),
            name => format!("{} ({name})", table.place(row)),
        };
        let place = places[row];
        let middle = place.resolve(frame);
        let middle = middle.map_err(|allowed| format!("{label}: {place}, allowed: {allowed}"))?;
        Ok(Site {
            label,
            ground: Ground::Circle {
                middle,
                radius_m: radii[row],
            },
            devices: devices[row],
        })
    };
    (0..table.rows()).map(site).collect()
}

fn from_geojson(path: &Path, frame: Option<&LocalFrame>) -> Result<Vec<Site>, String> {
    let mut sites = Vec::new();
    for feature in geojson::read(path)? {
        let devices = feature.amount("devices")?.unwrap_or(1.0);
        let radius_m = feature.amount("radius_m")?.unwrap_or(0.0);
        let told = |problem: String| feature.refuse(&problem);
        let mut add = |ground: Ground, share: f64| {
            sites.push(Site {
                label: feature.label.clone(),
                ground,
                devices: devices * share,
            });
        };
        match &feature.shape {
            Shape::Points(positions) => {
                let share = 1.0 / positions.len() as f64;
                for middle in points(positions, frame).map_err(told)? {
                    add(Ground::Circle { middle, radius_m }, share);
                }
            }
            Shape::Polygons(polygons) => {
                if radius_m > 0.0 {
                    return Err(feature.refuse("`radius_m` is for points"));
                }
                let mut grounds = Vec::new();
                for rings in polygons {
                    let polygon = |ring: &Vec<geojson::Position>| {
                        let corners = points(ring, frame).map_err(told)?;
                        Polygon::new(&corners).map_err(|error| told(format!("allowed: {error}")))
                    };
                    let mut rings = rings.iter().map(polygon).collect::<Result<Vec<_>, _>>()?;
                    let outer = rings.remove(0);
                    grounds.push((outer, rings));
                }
                // Parts of one feature share its devices by their size.
                let all_m2: f64 = grounds.iter().map(|(outer, _)| outer.area_m2()).sum();
                for (outer, holes) in grounds {
                    let share = outer.area_m2() / all_m2;
                    add(Ground::Polygon { outer, holes }, share);
                }
            }
        }
    }
    Ok(sites)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use crate::seed::{Stream, stream};
    use proptest::prelude::*;

    fn sites(name: &str, text: &str, settings: &[&str]) -> Result<Vec<Point>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let mut scenario = Scenario::parse("", settings).unwrap();
        scenario.devices.positions = path;
        let count = scenario.devices.count;
        let valid = scenario.check().map_err(|error| error.to_string())?;
        let place = |device: usize| {
            let mut rng = stream(1, Stream::DevicePosition, 0, device as u64);
            valid.places().device(device, &mut rng).unwrap()
        };
        Ok((0..count).map(place).collect())
    }

    #[test]
    fn devices_are_dealt_over_the_rows_of_a_table() {
        let text = "name,x_m,y_m,devices,radius_m\nAu,1000,2000,3,0\nBerg,9000,9000,1,500\n";
        let places = sites("v.csv", text, &["devices.count=8"]).unwrap();
        assert!(places[..6].iter().all(|p| *p == Point::new(1000.0, 2000.0)));
        let berg = Point::new(9000.0, 9000.0);
        assert!(
            places[6..]
                .iter()
                .all(|p| p.distance(berg) <= 500.0 && *p != berg)
        );
        assert_ne!(places[6], places[7]);
    }

    /// They are no file: a folder of that name is none of their business.
    #[test]
    fn sites_of_the_library_need_no_file() {
        let text = crate::scenario::built_in("shelters").unwrap();
        let scenario = Scenario::parse(text, &[""; 0]).unwrap().check().unwrap();
        assert_eq!(scenario.devices.positions_file(), None);
        let mut rng = stream(1, Stream::DevicePosition, 0, 0);
        let mut near = |middle: Point, radius_m: f64| {
            let places = (0..120).map(|device| scenario.places().device(device, &mut rng));
            let inside = |place: &Point| place.distance(middle) <= radius_m;
            places.flatten().filter(inside).count()
        };
        assert_eq!(near(Point::new(1600.0, 3400.0), 500.0), 90);
        assert_eq!(near(Point::new(3800.0, 1600.0), 250.0), 15);
        let named = Scenario::parse("[devices]\npositions = \"a.csv\"", &[""; 0]).unwrap();
        assert_eq!(named.devices.positions_file(), Some(Path::new("a.csv")));
    }

    #[test]
    fn degrees_need_an_origin_and_places_the_area() {
        let text = "lon,lat\n8.1,47.1\n";
        let told = sites("v.csv", text, &[]).unwrap_err();
        assert!(
            told.contains("line 2") && told.contains("`area.origin`"),
            "{told}"
        );
        let places = sites("v.csv", text, &["area.origin=[47, 8]"]).unwrap();
        assert!(
            places[0].distance(Point::new(7593.0, 11123.0)) < 10.0,
            "{:?}",
            places[0]
        );
        let told = sites("v.csv", "name,x_m,y_m\nAu,1,2\nFar,90000,3\n", &[]).unwrap_err();
        assert!(
            told.contains("line 3 (Far)") && told.contains("90000"),
            "{told}"
        );
        for (text, expected) in [
            ("x_m\n1\n", "no column `y_m`"),
            ("x_m,y_m\n", "no rows"),
            ("x_m,y_m\n1,a\n", "line 2, column `y_m`: \"a\""),
            ("x_m,y_m,devices\n1,1,-3\n", "line 2, column `devices`: -3"),
            ("x_m,y_m,devices\n1,1,0\n", "0 everywhere"),
            ("lat,lon\n91,0\n", "lat -90 to 90"),
        ] {
            let told = sites("v.csv", text, &["area.origin=[47, 8]"]).unwrap_err();
            assert!(told.contains(expected), "{told}");
        }
    }

    #[test]
    fn devices_of_a_polygon_are_inside_and_not_in_its_hole() {
        let text = r#"{"type": "Feature", "properties": {"name": "lake shore"}, "geometry": {"type": "Polygon", "coordinates": [
            [[8.01, 47.01], [8.09, 47.01], [8.09, 47.09], [8.01, 47.09], [8.01, 47.01]],
            [[8.02, 47.02], [8.08, 47.02], [8.08, 47.08], [8.02, 47.08], [8.02, 47.02]]]}}"#;
        let places = sites("v.geojson", text, &["area.origin=[47, 8]"]).unwrap();
        let frame = LocalFrame::new(crate::vocabulary::geometry::Geodetic {
            lat: 47.0,
            lon: 8.0,
            alt_m: 0.0,
        });
        for place in places {
            let at = frame.degrees(place);
            let from_middle = (at.lat - 47.05).abs().max((at.lon - 8.05).abs());
            assert!((0.0299..0.0401).contains(&from_middle), "{at:?}");
        }
        let told = sites("v.geojson", text, &["area.origin=[46, 8]"]).unwrap_err();
        assert!(
            told.contains("feature 1 (lake shore): reaches from"),
            "{told}"
        );
    }

    #[test]
    fn remainders_go_to_the_largest() {
        assert_eq!(largest_remainder(&[1.0, 1.0, 1.0], 10), Some(vec![4, 3, 3]));
        assert_eq!(largest_remainder(&[2.0, 0.0, 1.0], 2), Some(vec![1, 0, 1]));
        assert_eq!(largest_remainder(&[0.0, 0.0], 2), None);
    }

    proptest! {
        #[test]
        fn everybody_is_dealt_once_and_within_one_of_the_quota(
            shares in prop::collection::vec(0.0..1e6f64, 1..20), count in 0usize..10_000,
        ) {
            let total: f64 = shares.iter().sum();
            prop_assume!(total > 0.0);
            let counts = largest_remainder(&shares, count).unwrap();
            prop_assert_eq!(counts.iter().sum::<usize>(), count);
            for (dealt, share) in counts.iter().zip(&shares) {
                prop_assert!((*dealt as f64 - share / total * count as f64).abs() <= 1.0 + 1e-6);
            }
        }
    }
}
