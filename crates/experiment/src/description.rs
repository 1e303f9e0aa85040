//! What a user writes about an experiment: one TOML file, in the format of `experiments/`.
//!
//! ```toml
//! name = "mine"
//! title = "Does mobility matter?"
//! methods = ["hfl", "long=hfl:allocation.local_iterations=20"]
//! seeds = 5
//!
//! [scenario]                       # as in a scenario file
//! training.learning_rate = 0.05
//!
//! [[axes]]                         # what is varied: every combination of points is run
//! name = "xi"
//! points = [
//!     { label = "0", set = ["mobility.hop_probability=0"] },
//!     { label = "0.3", set = ["mobility.hop_probability=0.3"] },
//! ]
//!
//! [quick]                          # what `--scale quick` changes
//! seeds = 2
//! set = ["stop.max_rounds=10"]
//!
//! [[panels]]
//! title = "Time to 90 %"
//! x = "xi"                         # an axis, or "round", "time_s", "energy_j", "target"
//! y = "time_to_target_s"
//! target = 0.9
//! kind = "bars"
//!
//! [[claims]]                       # what the paper says; the verdict is computed
//! text = "Longer training saves time when nobody moves"
//! of = { method = "long", xi = "0" }
//! against = { method = "hfl" }     # the rest as in `of`
//! quantity = "time_to_target_s"
//! target = 0.9
//! paper = 0.2
//!
//! [[regrets]]                      # a table: what each costs more than the best of some, at every point
//! title = "Time above that of the better one"
//! quantity = "time_to_target_s"
//! best_of = ["hfl", "long"]
//! target = 0.9
//! ```

use std::collections::BTreeMap;

use aerofed::Scenario;
use aerofed::reading::{self, Mistake, from_toml, path_of};
use serde::Deserialize;

use super::curve::Along;
use super::quantity::Quantity;
use super::results::{Measure, PanelKind, Scale};
use crate::Error;

/// An experiment as written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Its name, as in `fig5`.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What a reader must know.
    #[serde(default)]
    pub caption: String,
    /// Contenders, as `aerofed compare --methods` takes them; empty for redeployment.
    #[serde(default)]
    pub methods: Vec<String>,
    /// How many seeds, from 1, when nobody asks for another number.
    #[serde(default = "five")]
    pub seeds: u64,
    /// Whether it needs a folder of images, `--data-dir`.
    #[serde(default)]
    pub needs_data_dir: bool,
    /// What differs from the paper's settings, as in a scenario file.
    #[serde(default)]
    pub scenario: toml::Table,
    /// What is varied.
    #[serde(default)]
    pub axes: Vec<SweepAxis>,
    /// What the quick scale leaves out.
    #[serde(default)]
    pub quick: Quick,
    /// What is drawn.
    #[serde(default)]
    pub panels: Vec<PanelPlan>,
    /// Instead of training: UAVs are lost, the others redeployed.
    #[serde(default)]
    pub redeployment: Option<RedeploymentPlan>,
    /// What the paper says.
    #[serde(default)]
    pub claims: Vec<ClaimPlan>,
    /// Tables of what contenders cost more than the best of some.
    #[serde(default)]
    pub regrets: Vec<RegretPlan>,
    /// What messages call its file.
    #[serde(skip)]
    pub place: String,
}

fn five() -> u64 {
    5
}

/// One thing that is varied.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepAxis {
    /// What panels and claims call it.
    pub name: String,
    /// What plots call it; empty: the name.
    #[serde(default)]
    pub label: String,
    /// Unit of the points' `x`.
    #[serde(default)]
    pub unit: String,
    /// Its values.
    pub points: Vec<SweepPoint>,
}

/// One value of an axis.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepPoint {
    /// What panels and claims call it.
    pub label: String,
    /// Its place on a plot; none: it is a category.
    #[serde(default)]
    pub x: Option<f64>,
    /// Settings of the scenario, as `path=value`.
    pub set: Vec<String>,
    /// The accuracy to reach, where it is not the panel's or the claim's.
    #[serde(default)]
    pub target: Option<f64>,
}

/// What `--scale quick` changes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quick {
    /// How many seeds; none: as many.
    pub seeds: Option<u64>,
    /// Settings of the scenario, after all others but the contenders' own.
    pub set: Vec<String>,
    /// Contenders instead; empty: the same.
    pub methods: Vec<String>,
    /// Of an axis, the labels that are kept; an axis not named keeps all.
    pub keep: BTreeMap<String, Vec<String>>,
    /// Layouts, for redeployment; none: as many.
    pub layouts: Option<u64>,
}

/// Panels: one, or one for each combination of the points of `each`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PanelPlan {
    /// Its title, in which `{axis}` stands for the label of a point.
    pub title: String,
    /// How to draw it.
    #[serde(default)]
    pub kind: PanelKind,
    /// Axes of which every point has a panel of its own.
    #[serde(default)]
    pub each: Vec<String>,
    /// Axes that are held at a point.
    #[serde(default, rename = "where")]
    pub held: BTreeMap<String, String>,
    /// Along the bottom; what is neither here nor in `each` or `where` becomes a series.
    pub x: PanelX,
    /// Up the side.
    pub y: Quantity,
    /// The accuracy to reach.
    #[serde(default)]
    pub target: Option<f64>,
    /// Accuracies to reach, for `x = "target"`.
    #[serde(default)]
    pub targets: Vec<f64>,
}

/// What runs along the bottom of a panel.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "String")]
pub enum PanelX {
    /// A curve.
    Along(Along),
    /// The accuracies to reach.
    Target,
    /// An axis of the sweep.
    Axis(String),
}

impl From<String> for PanelX {
    fn from(name: String) -> Self {
        match name.as_str() {
            "round" => Self::Along(Along::Round),
            "time_s" => Self::Along(Along::TimeS),
            "energy_j" => Self::Along(Along::EnergyJ),
            "target" => Self::Target,
            _ => Self::Axis(name),
        }
    }
}

/// Losses of UAVs, and who finds the others new positions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedeploymentPlan {
    /// How many layouts of devices.
    pub layouts: u64,
    /// Which UAVs are lost, one after another; numbered from 1, as in the paper.
    pub losses: Vec<Vec<usize>>,
    /// Who finds the new positions.
    pub methods: Vec<RedeploymentMethod>,
    /// What the table shows; none: no table.
    #[serde(default)]
    pub table: Option<Quantity>,
    /// Draw maps of the first layout for each loss, with the first method.
    #[serde(default)]
    pub maps: bool,
}

/// A way to find new positions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedeploymentMethod {
    /// What tables and claims call it.
    pub label: String,
    /// Settings of the scenario's `redeploy`, as `path=value`.
    pub set: Vec<String>,
    /// What the paper's table prints, loss by loss in the table's unit; empty: nothing.
    #[serde(default)]
    pub paper: Vec<f64>,
}

/// Points of axes, and the `method` by its label.
pub type Choice = BTreeMap<String, String>;

/// A statement of the paper, and how ours is computed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimPlan {
    /// In words.
    pub text: String,
    /// The runs it is about.
    pub of: Choice,
    /// The runs it compares them with; what is not named is as in `of`.
    #[serde(default)]
    pub against: Choice,
    /// What is compared.
    pub quantity: Quantity,
    /// How; a saving when there is something to compare with.
    #[serde(default)]
    pub measure: Option<Measure>,
    /// The accuracy to reach.
    #[serde(default)]
    pub target: Option<f64>,
    /// The paper's number.
    pub paper: f64,
    /// For values and differences: how far ours may be off, as a share of the paper's.
    #[serde(default = "tenth")]
    pub tolerance: f64,
}

/// A table of what contenders cost more than the best of some of them, at every point of the axes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegretPlan {
    /// What the table shows.
    pub title: String,
    /// What a reader must know.
    #[serde(default)]
    pub caption: String,
    /// The cost: rounds, time or energy to the target.
    pub quantity: Quantity,
    /// Labels of those of whom the best counts.
    pub best_of: Vec<String>,
    /// Whether the best is found on the other seeds. On the same seeds the best of many is also the luckiest of them.
    #[serde(default)]
    pub on_other_seeds: bool,
    /// The accuracy to reach, where points have none of their own.
    #[serde(default)]
    pub target: Option<f64>,
}

fn tenth() -> f64 {
    0.1
}

impl ClaimPlan {
    /// How its number is meant.
    #[must_use]
    pub fn measure(&self) -> Measure {
        self.measure.unwrap_or(match self.against.is_empty() {
            true => Measure::Value,
            false => Measure::Saving,
        })
    }
}

impl Description {
    /// Reads an experiment and checks it; `place` is what messages call it.
    ///
    /// # Errors
    /// What is wrong and where.
    pub fn parse(text: &str, place: &str) -> Result<Self, Error> {
        let refuse = |mistake: Mistake| Error::Text(mistake.within(place));
        let mut description: Self = from_toml(text).map_err(refuse)?;
        description.place = place.into();
        description.check().map_err(|(field, reason)| {
            refuse(Mistake {
                at: reading::place(text, &path_of(&field)),
                reason: format!("`{field}`: {reason}"),
            })
        })?;
        Scenario::parse_part(text, "scenario", place, &[] as &[&str])?;
        // Where lines end is the file's business, not the reader's.
        let words: Vec<&str> = description.caption.split_whitespace().collect();
        description.caption = words.join(" ");
        Ok(description)
    }

    /// What is left of it at a scale.
    #[must_use]
    pub fn at(mut self, scale: Scale) -> Self {
        let quick = std::mem::take(&mut self.quick);
        if scale == Scale::Paper {
            return self;
        }
        self.seeds = quick.seeds.unwrap_or(self.seeds);
        if !quick.methods.is_empty() {
            self.methods = quick.methods;
        }
        for axis in &mut self.axes {
            if let Some(kept) = quick.keep.get(&axis.name) {
                axis.points.retain(|point| kept.contains(&point.label));
            }
        }
        if let (Some(plan), Some(layouts)) = (&mut self.redeployment, quick.layouts) {
            plan.layouts = layouts;
        }
        self.quick.set = quick.set;
        self
    }

    /// The list in which a setting stands, as in `axes[0].points[1].set`.
    pub(super) fn list_with(&self, setting: &str) -> String {
        let has = |list: &[String]| list.iter().any(|known| known == setting);
        for (index, axis) in self.axes.iter().enumerate() {
            if let Some(point) = axis.points.iter().position(|point| has(&point.set)) {
                return format!("axes[{index}].points[{point}].set");
            }
        }
        let methods = self.redeployment.iter().flat_map(|plan| &plan.methods);
        match methods.into_iter().position(|method| has(&method.set)) {
            Some(method) => format!("redeployment.methods[{method}].set"),
            None => "quick.set".into(),
        }
    }

    /// An axis of that name.
    #[must_use]
    pub fn axis(&self, name: &str) -> Option<&SweepAxis> {
        self.axes.iter().find(|axis| axis.name == name)
    }
}
