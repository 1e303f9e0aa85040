//! GeoJSON (RFC 7946): features with points or polygons in degrees, longitude first. Members that we do not know are passed over.

use std::path::Path;

use serde_json::{Map, Value};

/// Bytes of a file at most: more is a mistake.
const MAX_BYTES: u64 = 1 << 26;

/// A feature of a file.
#[derive(Debug, PartialEq)]
pub(super) struct Feature {
    /// As in `feature 3 (Lippe)`, from 1.
    pub(super) label: String,
    /// Its property `name`; else empty.
    pub(super) name: String,
    pub(super) shape: Shape,
    properties: Map<String, Value>,
}

/// Longitude and latitude.
pub(super) type Position = [f64; 2];

/// What a feature is.
#[derive(Debug, PartialEq)]
pub(super) enum Shape {
    /// Of a Point or a MultiPoint.
    Points(Vec<Position>),
    /// Of a Polygon or a MultiPolygon: rings, the outer one first.
    Polygons(Vec<Vec<Vec<Position>>>),
}

impl Feature {
    /// A property that is a number and not negative, if the feature has it.
    pub(super) fn amount(&self, property: &str) -> Result<Option<f64>, String> {
        match self.properties.get(property) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value
                .as_f64()
                .filter(|number| (0.0..=1e12).contains(number))
            {
                Some(number) => Ok(Some(number)),
                None => Err(self.refuse(&format!("`{property}` is {value}, allowed: 0 to 1e12"))),
            },
        }
    }

    /// What is wrong with it, with its label.
    pub(super) fn refuse(&self, problem: &str) -> String {
        format!("{}: {problem}", self.label)
    }
}

/// The features of a file.
pub(super) fn read(path: &Path) -> Result<Vec<Feature>, String> {
    let told = |error: std::io::Error| error.to_string();
    let metadata = std::fs::metadata(path).map_err(told)?;
    if !metadata.is_file() {
        return Err("not a file".into());
    }
    if metadata.len() > MAX_BYTES {
        return Err(format!("more than {MAX_BYTES} bytes"));
    }
    let bytes = std::fs::read(path).map_err(told)?;
    parse(&bytes)
}

/// The features of a text: a FeatureCollection, one Feature, or a bare geometry.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<Feature>, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let root: Value = serde_json::from_slice(bytes).map_err(|error| format!("no JSON: {error}"))?;
    let features: Vec<&Value> = match kind(&root) {
        "FeatureCollection" => match root.get("features") {
            Some(Value::Array(features)) => features.iter().collect(),
            _ => return Err("a FeatureCollection without a list `features`".into()),
        },
        _ => vec![&root],
    };
    if features.is_empty() {
        return Err("has no features".into());
    }
    (1..)
        .zip(features)
        .map(|(number, value)| feature(number, value))
        .collect()
}

/// The `type` of an object; empty: it has none.
fn kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or("")
}

fn feature(number: usize, value: &Value) -> Result<Feature, String> {
    let none = Map::new();
    let (geometry, properties) = match kind(value) {
        "Feature" => (
            value.get("geometry").unwrap_or(&Value::Null),
            value
                .get("properties")
                .and_then(Value::as_object)
                .unwrap_or(&none),
        ),
        _ => (value, &none),
    };
    let name = properties.get("name").and_then(Value::as_str).unwrap_or("");
    let label = match name {
        "" => format!("feature {number}"),
        name => format!("feature {number} ({name})"),
    };
    let shape = shape(geometry).map_err(|problem| format!("{label}: {problem}"))?;
    Ok(Feature {
        label,
        name: name.into(),
        shape,
        properties: properties.clone(),
    })
}

fn shape(geometry: &Value) -> Result<Shape, String> {
    let coordinates = geometry.get("coordinates").unwrap_or(&Value::Null);
    let ring = |value: &Value| list(value, position);
    let rings = |value: &Value| list(value, ring);
    match kind(geometry) {
        "Point" => Ok(Shape::Points(vec![position(coordinates)?])),
        "MultiPoint" => Ok(Shape::Points(list(coordinates, position)?)),
        "Polygon" => Ok(Shape::Polygons(vec![rings(coordinates)?])),
        "MultiPolygon" => Ok(Shape::Polygons(list(coordinates, rings)?)),
        "" => Err("has no geometry".into()),
        other => Err(format!(
            "is a {other}, allowed: Point, MultiPoint, Polygon, MultiPolygon"
        )),
    }
}

fn list<T>(value: &Value, read: impl Fn(&Value) -> Result<T, String>) -> Result<Vec<T>, String> {
    match value.as_array() {
        Some(items) if !items.is_empty() => items.iter().map(read).collect(),
        _ => Err("coordinates that are no list, or an empty one".into()),
    }
}

fn position(value: &Value) -> Result<Position, String> {
    let numbers = value.as_array().map(|list| list.iter().map(Value::as_f64));
    let numbers: Option<Vec<f64>> = numbers.and_then(Iterator::collect);
    match numbers.as_deref() {
        // A height may follow, which we do not need.
        Some(&[lon, lat] | &[lon, lat, _])
            if (-180.0..=180.0).contains(&lon) && (-90.0..=90.0).contains(&lat) =>
        {
            Ok([lon, lat])
        }
        _ => Err(format!(
            "position {}, allowed: [lon, lat], lon -180 to 180, lat -90 to 90",
            cut(value)
        )),
    }
}

/// What people need to see of a value.
fn cut(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn features_geometries_and_properties_are_read() {
        let text = br#"{"type": "FeatureCollection", "bbox": [1, 2, 3, 4], "features": [
            {"type": "Feature", "id": 7, "properties": {"name": "Au", "devices": 12, "odd": []}, "geometry": {"type": "Point", "coordinates": [8.5, 47.25, 410.0]}},
            {"type": "Feature", "properties": null, "geometry": {"type": "MultiPoint", "coordinates": [[1, 2], [3, 4]]}},
            {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 1], [0, 0]]]}}]}"#;
        let features = parse(text).unwrap();
        assert_eq!(features[0].shape, Shape::Points(vec![[8.5, 47.25]]));
        assert_eq!(
            (&*features[0].name, &*features[0].label),
            ("Au", "feature 1 (Au)")
        );
        assert_eq!(features[0].amount("devices"), Ok(Some(12.0)));
        assert_eq!(features[0].amount("radius_m"), Ok(None));
        assert!(features[0].amount("odd").is_err());
        assert_eq!(
            features[1].shape,
            Shape::Points(vec![[1.0, 2.0], [3.0, 4.0]])
        );
        assert!(matches!(&features[2].shape, Shape::Polygons(p) if p[0][0].len() == 4));
        let bare = parse(br#"{"type": "Point", "coordinates": [1, 2]}"#).unwrap();
        assert_eq!(bare[0].label, "feature 1");
    }

    #[test]
    fn mistakes_name_the_feature() {
        let one = |geometry: &str| {
            let text = format!(
                "{{\"type\": \"Feature\", \"properties\": {{\"name\": \"Au\"}}, \"geometry\": {geometry}}}"
            );
            parse(text.as_bytes()).unwrap_err()
        };
        assert_eq!(one("null"), "feature 1 (Au): has no geometry");
        assert!(
            one(r#"{"type": "LineString", "coordinates": [[1, 2], [3, 4]]}"#)
                .contains("is a LineString")
        );
        assert!(one(r#"{"type": "Point", "coordinates": [1, 99]}"#).contains("position [1,99]"));
        assert!(one(r#"{"type": "Point", "coordinates": ["a"]}"#).contains("position [\"a\"]"));
        assert!(one(r#"{"type": "Polygon", "coordinates": [[]]}"#).contains("no list"));
        for text in [
            "",
            "[]",
            "{",
            "{\"type\": \"FeatureCollection\"}",
            "{\"type\": \"FeatureCollection\", \"features\": []}",
            "7",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        let deep = "[".repeat(100_000);
        assert!(parse(deep.as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = parse(&bytes);
        }
    }
}
