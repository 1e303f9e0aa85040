//! Flights of a fleet for ground stations and for programs that show maps: GeoJSON (RFC 7946), QGroundControl's plans, QGC WPL 110
//! and KML 2.2. All on WGS84; heights of missions are above the place where a UAV starts.

use std::fmt::Write;

use aerofed::geometry::{Geodetic, LocalFrame, Point};
use aerofed::solve::airspace::Airspace;
use serde_json::{Value, json};

/// A UAV's flight to where it should hover.
#[derive(Clone, Debug, PartialEq)]
pub struct FlightPlan {
    /// Its number.
    pub uav: usize,
    /// Where it is, where it turns, and where it should hover; one place where it stays.
    pub way_m: Vec<Point>,
    /// How high, m.
    pub altitude_m: f64,
    /// How fast, m/s.
    pub speed_mps: f64,
    /// How far it covers, m.
    pub coverage_radius_m: f64,
    /// How long it flies, s.
    pub seconds: f64,
    /// What that takes, J.
    pub energy_j: f64,
    /// Devices within its radius.
    pub devices: usize,
}

impl FlightPlan {
    fn post(&self) -> Point {
        self.way_m.last().copied().unwrap_or_default()
    }

    fn home(&self) -> Point {
        self.way_m.first().copied().unwrap_or_default()
    }

    /// Whether it leaves its place.
    #[must_use]
    pub fn flies(&self) -> bool {
        self.way_m.len() > 1
    }
}

/// A fleet's flights on the globe.
#[derive(Clone, Copy, Debug)]
pub struct Missions<'a> {
    /// Where on the globe.
    pub frame: &'a LocalFrame,
    /// What nobody flies into.
    pub air: &'a Airspace,
    /// Where the devices are.
    pub devices: &'a [Point],
    /// Whether each of them is covered once all are where they should be.
    pub covered: &'a [bool],
    /// The UAVs that are needed.
    pub flights: &'a [FlightPlan],
}

/// MAVLink's commands and frames, as far as they are needed here.
const NAV_WAYPOINT: u16 = 16;
const NAV_LOITER_UNLIM: u16 = 17;
const NAV_TAKEOFF: u16 = 22;
const DO_CHANGE_SPEED: u16 = 178;
const FRAME_GLOBAL: u8 = 0;
const FRAME_MISSION: u8 = 2;
const FRAME_GLOBAL_RELATIVE_ALT: u8 = 3;
/// Plans are written for a multicopter under PX4; the commands are those of all autopilots.
const AUTOPILOT_PX4: u8 = 12;
const QUADROTOR: u8 = 2;

/// One step of a mission.
struct Item {
    command: u16,
    frame: u8,
    /// The first four parameters.
    params: [f64; 4],
    /// Latitude, longitude, height.
    place: [f64; 3],
}

impl Missions<'_> {
    fn degrees(&self, at: Point) -> [f64; 2] {
        let Geodetic { lat, lon, .. } = self.frame.degrees(at);
        // To a centimetre.
        [lat, lon].map(|degrees| (degrees * 1e7).round() / 1e7)
    }

    /// Takes off, flies at its speed over the places where it turns, and hovers over the last until told otherwise.
    fn items(&self, flight: &FlightPlan) -> Vec<Item> {
        let item = |command: u16, at: Point| {
            let [lat, lon] = self.degrees(at);
            Item {
                command,
                frame: FRAME_GLOBAL_RELATIVE_ALT,
                params: [0.0; 4],
                place: [lat, lon, flight.altitude_m],
            }
        };
        let mut items = vec![
            item(NAV_TAKEOFF, flight.home()),
            Item {
                command: DO_CHANGE_SPEED,
                frame: FRAME_MISSION,
                // Ground speed; the throttle stays as it is.
                params: [1.0, flight.speed_mps, -1.0, 0.0],
                place: [0.0; 3],
            },
        ];
        let turns = flight.way_m.len().saturating_sub(1);
        let turns = flight.way_m.iter().take(turns).skip(1);
        items.extend(turns.map(|&at| item(NAV_WAYPOINT, at)));
        items.push(item(NAV_LOITER_UNLIM, flight.post()));
        items
    }

    /// A UAV's mission as QGroundControl keeps it, with the zones as fences.
    #[must_use]
    pub fn plan(&self, flight: &FlightPlan) -> String {
        let items = (1..).zip(self.items(flight)).map(|(number, item)| {
            let [lat, lon, height_m] = item.place;
            let [a, b, c, d] = item.params;
            // The fourth is where the nose points: wherever it does.
            let d = (item.frame != FRAME_GLOBAL_RELATIVE_ALT).then_some(d);
            let mut told = json!({
                "type": "SimpleItem",
                "autoContinue": true,
                "command": item.command,
                "doJumpId": number,
                "frame": item.frame,
                "params": [a, b, c, d, lat, lon, height_m],
            });
            if item.frame == FRAME_GLOBAL_RELATIVE_ALT {
                told["Altitude"] = json!(height_m);
                told["AltitudeMode"] = json!(1);
                told["AMSLAltAboveTerrain"] = Value::Null;
            }
            told
        });
        let fence =
            |ring: Vec<[f64; 2]>| json!({"inclusion": false, "polygon": ring, "version": 1});
        let [lat, lon] = self.degrees(flight.home());
        let text = json!({
            "fileType": "Plan",
            "version": 1,
            "groundStation": "QGroundControl",
            "mission": {
                "version": 2,
                "firmwareType": AUTOPILOT_PX4,
                "vehicleType": QUADROTOR,
                "cruiseSpeed": flight.speed_mps,
                "hoverSpeed": flight.speed_mps,
                "globalPlanAltitudeMode": 1,
                "plannedHomePosition": [lat, lon, self.frame.origin().alt_m],
                "items": items.collect::<Vec<Value>>(),
            },
            "geoFence": {
                "version": 2,
                "circles": [],
                "polygons": self.rings().into_iter().map(fence).collect::<Vec<Value>>(),
            },
            "rallyPoints": {"version": 2, "points": []},
        });
        format!("{text:#}\n")
    }

    /// A UAV's mission as QGC WPL 110: home, then the items, one line each.
    #[must_use]
    pub fn waypoints(&self, flight: &FlightPlan) -> String {
        let [lat, lon] = self.degrees(flight.home());
        let home = Item {
            command: NAV_WAYPOINT,
            frame: FRAME_GLOBAL,
            params: [0.0; 4],
            place: [lat, lon, self.frame.origin().alt_m],
        };
        let mut text = "QGC WPL 110\n".to_owned();
        let items = std::iter::once(home).chain(self.items(flight));
        for (number, item) in items.enumerate() {
            let [a, b, c, d] = item.params;
            let [x, y, z] = item.place;
            // Writing to a string cannot fail.
            _ = writeln!(
                text,
                "{number}\t{}\t{}\t{}\t{a}\t{b}\t{c}\t{d}\t{x:.7}\t{y:.7}\t{z:.2}\t1",
                u8::from(number == 0),
                item.frame,
                item.command,
            );
        }
        text
    }

    /// Devices, UAVs, flights and zones as GeoJSON. Every feature has a property `kind`: `device`, `uav`, `flight`, `zone`.
    #[must_use]
    pub fn geojson(&self) -> String {
        let feature = |geometry: Value, properties: Value| json!({"type": "Feature", "geometry": geometry, "properties": properties});
        let spot = |at: Point| {
            let [lat, lon] = self.degrees(at);
            [lon, lat]
        };
        let mut features = Vec::new();
        for (index, (&at, covered)) in self.devices.iter().zip(self.covered).enumerate() {
            let told = json!({"kind": "device", "device": index, "covered": covered});
            features.push(feature(
                json!({"type": "Point", "coordinates": spot(at)}),
                told,
            ));
        }
        let alt_m = self.frame.origin().alt_m;
        for flight in self.flights {
            let high = |at: Point| {
                let [lon, lat] = spot(at);
                [lon, lat, alt_m + flight.altitude_m]
            };
            let told = json!({
                "kind": "uav",
                "uav": flight.uav,
                "devices": flight.devices,
                "altitude_m": flight.altitude_m,
                "coverage_radius_m": flight.coverage_radius_m,
            });
            features.push(feature(
                json!({"type": "Point", "coordinates": high(flight.post())}),
                told,
            ));
            if flight.flies() {
                let way: Vec<[f64; 3]> = flight.way_m.iter().map(|&at| high(at)).collect();
                let told = json!({
                    "kind": "flight",
                    "uav": flight.uav,
                    "seconds": flight.seconds,
                    "energy_j": flight.energy_j,
                });
                features.push(feature(
                    json!({"type": "LineString", "coordinates": way}),
                    told,
                ));
            }
        }
        for ring in self.rings() {
            let mut ring: Vec<[f64; 2]> = ring.iter().map(|&[lat, lon]| [lon, lat]).collect();
            ring.extend(ring.first().copied());
            let geometry = json!({"type": "Polygon", "coordinates": [ring]});
            features.push(feature(geometry, json!({"kind": "zone"})));
        }
        json!({"type": "FeatureCollection", "features": features}).to_string() + "\n"
    }

    /// The corners of the zones, latitude first.
    fn rings(&self) -> Vec<Vec<[f64; 2]>> {
        let ring = |corners: &[Point]| corners.iter().map(|&at| self.degrees(at)).collect();
        let zones = self.air.zones().iter();
        zones.map(|zone| ring(zone.polygon.corners())).collect()
    }

    /// UAVs, flights and zones as KML 2.2.
    #[must_use]
    pub fn kml(&self) -> String {
        let mut text = String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<kml xmlns=\"http://www.opengis.net/kml/2.2\">\n<Document>\n<name>UAVs</name>\n",
        );
        let tuple = |at: Point, height_m: f64| {
            let [lat, lon] = self.degrees(at);
            format!("{lon:.7},{lat:.7},{height_m}")
        };
        let mut placemark = |name: &str, about: &str, geometry: &str| {
            _ = writeln!(
                text,
                "<Placemark><name>{name}</name><description>{about}</description>{geometry}</Placemark>"
            );
        };
        for flight in self.flights {
            let about = format!(
                "{} devices within {} m",
                flight.devices, flight.coverage_radius_m
            );
            let at = tuple(flight.post(), flight.altitude_m);
            let point = format!(
                "<Point><altitudeMode>relativeToGround</altitudeMode><coordinates>{at}</coordinates></Point>"
            );
            placemark(&format!("UAV {}", flight.uav), &about, &point);
            if flight.flies() {
                let way = flight.way_m.iter().map(|&at| tuple(at, flight.altitude_m));
                let way: Vec<String> = way.collect();
                let line = format!(
                    "<LineString><altitudeMode>relativeToGround</altitudeMode><coordinates>{}</coordinates></LineString>",
                    way.join(" ")
                );
                let about = format!("{:.0} s, {:.0} J", flight.seconds, flight.energy_j);
                placemark(&format!("flight of UAV {}", flight.uav), &about, &line);
            }
        }
        for zone in self.air.zones() {
            let corners = zone.polygon.corners();
            let ring = corners.iter().chain(corners.first());
            let ring: Vec<String> = ring.map(|&at| tuple(at, 0.0)).collect();
            let polygon = format!(
                "<Polygon><outerBoundaryIs><LinearRing><coordinates>{}</coordinates></LinearRing></outerBoundaryIs></Polygon>",
                ring.join(" ")
            );
            placemark("no-fly zone", "", &polygon);
        }
        text + "</Document>\n</kml>\n"
    }
}
