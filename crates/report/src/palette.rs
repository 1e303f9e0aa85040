//! Every colour of every picture, page and plot, in one place.
//!
//! Okabe and Ito's eight, told apart by readers with any kind of colour vision, some more for methods from the
//! ninth on, which have dashes as well, others for methods from outside the registry, which have dashes of their own,
//! and a few that only ever stand beside a name.

use aerofed::record::{EnergyItem, TimeItem};
use aerofed_experiment::styles::Styles;

pub(crate) const ORANGE: &str = "#E69F00";
pub(crate) const SKY: &str = "#56B4E9";
pub(crate) const GREEN: &str = "#009E73";
pub(crate) const YELLOW: &str = "#F0E442";
pub(crate) const BLUE: &str = "#0072B2";
pub(crate) const VERMILLION: &str = "#D55E00";
pub(crate) const PURPLE: &str = "#CC79A7";
pub(crate) const BLACK: &str = "#000000";
pub(crate) const BROWN: &str = "#7A4A21";
/// What stands for no category.
pub(crate) const GREY: &str = "#9aa0a6";
const ROSE: &str = "#E8C4D9";
const MINT: &str = "#A6DBCB";
const LILAC: &str = "#B8A9C9";
const WINE: &str = "#882255";
const OLIVE: &str = "#8F8F1F";
const INDIGO: &str = "#332288";
const TEAL: &str = "#2A9D9D";
const RED: &str = "#C1272D";
const SLATE: &str = "#5F6B7A";
const ROYAL: &str = "#4363D8";
const MAGENTA: &str = "#D4119B";
const LIME: &str = "#6FBF2A";
const VIOLET: &str = "#8A4FD3";
const FOREST: &str = "#1F5F2A";
const CORAL: &str = "#FF7F7A";
const SAND: &str = "#C8A26A";

/// What each colour is called in style sheets, and what it turns into on a dark screen.
pub(crate) const ON_SCREEN: [(&str, &str, &str); 26] = [
    (ORANGE, "orange", "#F2B134"),
    (SKY, "sky", "#8ACBF3"),
    (GREEN, "green", "#2FBF94"),
    (YELLOW, "yellow", "#F0E442"),
    (BLUE, "blue", "#4A9BDB"),
    (VERMILLION, "vermillion", "#F2793D"),
    (PURPLE, "purple", "#E09CC2"),
    (BLACK, "black", "#E6E8EB"),
    (BROWN, "brown", "#BD8A5E"),
    (GREY, "grey", "#8b929a"),
    (ROSE, "rose", "#8F6B80"),
    (MINT, "mint", "#5E8F82"),
    (LILAC, "lilac", "#7F7396"),
    (WINE, "wine", "#C95A91"),
    (OLIVE, "olive", "#BDBD4A"),
    (INDIGO, "indigo", "#8C7BE0"),
    (TEAL, "teal", "#4CC2C2"),
    (RED, "red", "#EF5A60"),
    (SLATE, "slate", "#A3AFBD"),
    (ROYAL, "royal", "#8FA4FF"),
    (MAGENTA, "magenta", "#F25CC5"),
    (LIME, "lime", "#9BE05A"),
    (VIOLET, "violet", "#B78AF0"),
    (FOREST, "forest", "#5FAE6E"),
    (CORAL, "coral", "#FFA5A1"),
    (SAND, "sand", "#DCC08F"),
];

/// A colour's name in style sheets.
pub(crate) fn name(colour: &str) -> &'static str {
    let known = ON_SCREEN.iter().find(|(paper, ..)| *paper == colour);
    known.map_or("grey", |(_, name, _)| name)
}

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    pub(crate) colour: &'static str,
    /// Lengths of strokes and gaps as SVG takes them; empty: one stroke.
    pub(crate) dash: &'static str,
    /// How much of the colour is left, up to 1.
    pub(crate) opacity: f64,
}

/// The look of a number of [`Styles`]: a colour for the method, a shade for the label.
pub(crate) fn look(style: usize) -> Look {
    // Behind the first eight colours dashes help those who cannot tell all of them apart.
    const PLAIN: usize = 8;
    const COLOURS: [&str; 14] = [
        BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY, BROWN, BLACK, WINE, OLIVE, INDIGO, TEAL, RED,
        ROYAL,
    ];
    const DASHES: [&str; 3] = ["", "7 3", "2 3"];
    const FOREIGN: [&str; Styles::METHODS - Styles::FOREIGN] =
        [MAGENTA, LIME, VIOLET, FOREST, CORAL, SAND];
    const FOREIGN_DASHES: [&str; 3] = ["8 3 2 3", "8 3 2 3 2 3", "3 5"];
    const OPACITIES: [f64; 5] = [1.0, 0.72, 0.52, 0.38, 0.28];
    let (method, shade) = (style % Styles::METHODS, style / Styles::METHODS);
    let (colour, dash) = match method.checked_sub(Styles::FOREIGN) {
        Some(foreign) => (
            FOREIGN[foreign],
            FOREIGN_DASHES[shade % FOREIGN_DASHES.len()],
        ),
        None => (
            COLOURS[method % COLOURS.len()],
            DASHES[(method / PLAIN + shade) % DASHES.len()],
        ),
    };
    Look {
        colour,
        dash,
        opacity: OPACITIES[shade % OPACITIES.len()],
    }
}

/// The look among so many series: one alone has nothing to be told from.
pub(crate) fn look_among(style: usize, series: usize) -> Look {
    match series {
        1 => Look {
            dash: "",
            opacity: 1.0,
            ..look(style)
        },
        _ => look(style),
    }
}

/// The colour of a UAV and of the devices that train with it.
pub(crate) fn uav_colour(index: usize) -> &'static str {
    const COLOURS: [&str; 7] = [BLUE, ORANGE, GREEN, PURPLE, VERMILLION, SKY, YELLOW];
    COLOURS[index % COLOURS.len()]
}

/// An item of energy. Tints are for links that take watts where hovering takes hundreds.
pub(crate) fn energy_colour(item: EnergyItem) -> &'static str {
    match item {
        EnergyItem::EdgeHover => SKY,
        EnergyItem::OffloadHover => BLUE,
        EnergyItem::BroadcastHover => GREEN,
        EnergyItem::Move => ORANGE,
        EnergyItem::ReturnFlight => VERMILLION,
        EnergyItem::Drained => BROWN,
        EnergyItem::Leaked => MAGENTA,
        EnergyItem::DeviceCompute => YELLOW,
        EnergyItem::DeviceUpload => PURPLE,
        EnergyItem::Broadcast => BLACK,
        EnergyItem::Downlink => ROSE,
        EnergyItem::Relay => MINT,
        EnergyItem::Scoring => LILAC,
        EnergyItem::Waiting => SLATE,
    }
}

/// An item of time: the colour of the energy spent meanwhile.
pub(crate) fn time_colour(item: TimeItem) -> &'static str {
    match item {
        TimeItem::Compute => YELLOW,
        TimeItem::Upload => PURPLE,
        TimeItem::Download => ROSE,
        TimeItem::Move => ORANGE,
        TimeItem::Offload => BLUE,
        TimeItem::Broadcast => GREEN,
        TimeItem::Wait => GREY,
        TimeItem::Scoring => LILAC,
    }
}

#[cfg(test)]
mod tests {
    use aerofed::method::Registry;

    use super::*;

    fn all_differ<T: Ord>(mut colours: Vec<T>) -> bool {
        let all = colours.len();
        colours.sort_unstable();
        colours.dedup();
        colours.len() == all
    }

    #[test]
    fn no_two_items_share_a_colour() {
        let mut energies = EnergyItem::ALL.map(energy_colour).to_vec();
        energies.push(GREY);
        assert!(all_differ(energies));
        assert!(all_differ(TimeItem::ALL.map(time_colour).to_vec()));
        assert!(all_differ((0..7).map(uav_colour).collect()));
    }

    #[test]
    fn methods_have_a_look_of_their_own_and_labels_shades_of_it() {
        let mut styles = Styles::default();
        let mut looks: Vec<Look> = Vec::new();
        for entry in Registry::builtin().entries() {
            let first = look(styles.of(entry.name(), entry.name()));
            let same = looks.iter().any(|look| look.colour == first.colour);
            assert!(!same, "{}", entry.name());
            looks.push(first);
            let other = look(styles.of(entry.name(), "other"));
            assert_eq!((first.colour, first.opacity), (other.colour, 1.0));
            assert!(first.dash != other.dash && other.opacity < 1.0);
            assert_eq!(look(styles.of(entry.name(), entry.name())), first);
        }
        for foreign in ["mine", "yours", "theirs", "hers", "his", "ours"] {
            let first = look(styles.of(foreign, foreign));
            let same = looks.iter().any(|look| look.colour == first.colour);
            assert!(!same, "{foreign}");
            looks.push(first);
            let part = format!("{foreign}[allocation=equal]");
            let part = look(styles.of(&part, &part));
            assert_eq!((first.colour, first.opacity), (part.colour, 1.0));
            assert!(first.dash != part.dash && part.opacity < 1.0);
        }
        let shades: Vec<Look> = (0..5).map(|k| look(k * Styles::METHODS)).collect();
        assert!(all_differ(
            shades.iter().map(|l| format!("{l:?}")).collect()
        ));
    }

    #[test]
    fn every_colour_has_a_name_of_its_own_on_screens() {
        let used = EnergyItem::ALL.map(energy_colour).to_vec();
        let used = used.into_iter().chain(TimeItem::ALL.map(time_colour));
        let used = used.chain((0..Styles::METHODS).map(|style| look(style).colour));
        for colour in used.chain((0..7).map(uav_colour)) {
            assert!(ON_SCREEN.iter().any(|(paper, ..)| *paper == colour));
        }
        assert!(all_differ(ON_SCREEN.map(|(_, name, _)| name).to_vec()));
        assert!(all_differ(ON_SCREEN.map(|(_, _, dark)| dark).to_vec()));
    }
}
