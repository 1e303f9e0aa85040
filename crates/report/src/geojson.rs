//! The last map of a run for programs that show maps: GeoJSON (RFC 7946).

use aerofed::RoundRecord;
use aerofed::geometry::{LocalFrame, Point};
use aerofed::scenario::Places;
use aerofed::world::World;
use serde_json::{Value, json};

/// Devices, UAVs, bases and zones as they were at the end of a round; none where the area lies nowhere in particular.
///
/// `world` must be the world at the end of that round. Every feature has a property `kind`: `device`, `uav`, `base`, `zone`.
#[must_use]
pub fn map_geojson(world: &World, record: &RoundRecord, places: &Places) -> Option<String> {
    let frame = places.frame?;
    let point = |at: Point| json!({"type": "Point", "coordinates": position(&frame, at)});
    let mut features = Vec::new();
    for (index, &at) in world.devices.position.iter().enumerate() {
        features.push(feature(
            point(at),
            json!({"kind": "device", "device": index}),
        ));
    }
    for uav in &record.uavs {
        let told = json!({
            "kind": "uav",
            "uav": uav.uav.0,
            "status": uav.status.name(),
            "devices": uav.selected(),
            "altitude_m": world.uavs[uav.uav.index()].altitude_m,
            "coverage_radius_m": world.uavs[uav.uav.index()].coverage_radius_m,
        });
        features.push(feature(point(uav.position_m), told));
    }
    for (index, &at) in places.bases.iter().enumerate() {
        features.push(feature(point(at), json!({"kind": "base", "base": index})));
    }
    for zone in places.air.zones() {
        let corners = zone.polygon.corners();
        let ring = corners.iter().chain(corners.first());
        let ring: Vec<Value> = ring.map(|&corner| position(&frame, corner)).collect();
        let told = json!({"kind": "zone", "name": zone.name, "height_m": zone.height_m});
        features.push(feature(
            json!({"type": "Polygon", "coordinates": [ring]}),
            told,
        ));
    }
    let name = format!("round {}", record.round);
    Some(json!({"type": "FeatureCollection", "name": name, "features": features}).to_string())
}

fn feature(geometry: Value, properties: Value) -> Value {
    json!({"type": "Feature", "geometry": geometry, "properties": properties})
}

/// Longitude and latitude to a centimetre.
fn position(frame: &LocalFrame, at: Point) -> Value {
    let place = frame.degrees(at);
    let round = |degrees: f64| (degrees * 1e7).round() / 1e7;
    json!([round(place.lon), round(place.lat)])
}
