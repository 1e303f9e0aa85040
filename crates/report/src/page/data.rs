//! What the page's scripts draw, as JSON inside the page.

use serde::Serialize;

use super::replay::Replay;

/// Everything the scripts need.
#[derive(Serialize)]
pub(super) struct PageData {
    pub(super) charts: Vec<Chart>,
    pub(super) costs: Vec<CostSet>,
    pub(super) replays: Vec<Replay>,
    pub(super) maps: Vec<StillMap>,
    pub(super) uav_colours: Vec<&'static str>,
    /// Symbols and joules, from the smallest on.
    pub(super) energy_units: Vec<(&'static str, f64)>,
}

/// Curves, bars or dots, in one view or several.
#[derive(Serialize)]
pub(super) struct Chart {
    pub(super) title: String,
    /// `lines`, `bars` or `dots`.
    pub(super) kind: &'static str,
    pub(super) series: Vec<SeriesLook>,
    pub(super) views: Vec<View>,
}

#[derive(Clone, Serialize)]
pub(super) struct SeriesLook {
    pub(super) label: String,
    pub(super) colour: &'static str,
    pub(super) dash: &'static str,
    pub(super) opacity: f64,
}

/// Points of every series over one axis.
#[derive(Serialize)]
pub(super) struct View {
    pub(super) name: String,
    pub(super) x: AxisWords,
    pub(super) y: AxisWords,
    pub(super) points: Vec<Vec<Spot>>,
    /// Of each series that is a mean over runs, where the first and the last of them end.
    pub(super) ends: Vec<Vec<f64>>,
}

/// What stands at an axis, and behind its values.
#[derive(Clone, Default, Serialize)]
pub(super) struct AxisWords {
    pub(super) name: String,
    pub(super) label: String,
    pub(super) unit: String,
    /// Whether ticks are whole numbers, because something is counted.
    pub(super) whole: bool,
    pub(super) ticks: Vec<NamedTick>,
}

#[derive(Clone, Serialize)]
pub(super) struct NamedTick {
    pub(super) at: f64,
    pub(super) label: String,
}

/// `[x, mean, low, high, n, of]`.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Spot(
    pub(super) f64,
    pub(super) Option<f64>,
    pub(super) Option<f64>,
    pub(super) Option<f64>,
    pub(super) usize,
    pub(super) usize,
);

/// Costs by item of some methods side by side.
#[derive(Serialize)]
pub(super) struct CostSet {
    pub(super) title: String,
    pub(super) energy: Vec<ItemLook>,
    pub(super) time: Vec<ItemLook>,
    /// The methods' names.
    pub(super) rows: Vec<String>,
    /// The whole run, or until a target.
    pub(super) spans: Vec<CostSpan>,
}

#[derive(Serialize)]
pub(super) struct ItemLook {
    pub(super) label: String,
    pub(super) colour: &'static str,
}

#[derive(Serialize)]
pub(super) struct CostSpan {
    pub(super) name: String,
    pub(super) note: String,
    pub(super) energy: CostTable,
    pub(super) time: CostTable,
}

#[derive(Serialize)]
pub(super) struct CostTable {
    pub(super) unit: &'static str,
    pub(super) rows: Vec<CostRow>,
}

/// `sum` is none where no run got that far.
#[derive(Serialize)]
pub(super) struct CostRow {
    pub(super) sum: Option<f64>,
    pub(super) items: Vec<f64>,
}

/// Who stands where, once.
#[derive(Serialize)]
pub(super) struct StillMap {
    pub(super) area: [f64; 2],
    pub(super) radius: f64,
    pub(super) devices: Vec<[i32; 2]>,
    pub(super) uavs: Vec<StillUav>,
}

#[derive(Serialize)]
pub(super) struct StillUav {
    pub(super) number: u32,
    pub(super) at: [f64; 2],
    pub(super) from: Option<[f64; 2]>,
}

/// Six digits: more cannot be seen, and the page stays small.
pub(super) fn short(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// JSON that cannot end the element it stands in, whatever its strings say.
pub(super) fn embedded(data: &impl Serialize) -> String {
    // Serialising plain structs into a string cannot fail.
    let json = serde_json::to_string(data).unwrap_or_else(|_| "null".into());
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_strings_come_back_and_cannot_break_out() {
        let hostile = "</script><!--<script>&\u{2028}\"\\";
        let text = embedded(&hostile);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), hostile);
    }

    #[test]
    fn numbers_keep_six_digits() {
        assert_eq!(short(0.123_456_789), 0.123_457);
        assert_eq!(short(-98_765_432.1), -98_765_400.0);
        assert_eq!(short(0.0), 0.0);
        assert!(short(f64::NAN).is_nan());
    }
}
