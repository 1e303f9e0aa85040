//! The length of biases in the distance of models: accuracies do not tell it, numbers of devices do.
//!
//! Rules that choose how many devices train ask how far models are from each other. A surrogate's model has few numbers, and what they
//! have in common with the weights of a network is not known beforehand. So scenarios are run without training for several lengths, and
//! the one counts with which they select as many devices as the runs did.

use rayon::prelude::*;

use super::{Evidence, Kind};
use crate::Error;
use crate::learn::DataStore;
use crate::scenario::LawFile;

/// Lengths that are tried: the first, and whichever is better. Where it does not matter it stays the first.
const TRIED: [f64; 13] = [
    1.0, 0.7, 1.4, 0.5, 2.0, 0.35, 2.8, 0.25, 4.0, 0.18, 5.6, 0.12, 8.0,
];
/// Rounds that are compared: in later ones a rule that is at its limits tells nothing.
const ROUNDS: usize = 12;

/// The same laws with the length that suits the runs of each.
pub(super) fn fit(laws: LawFile, runs: &[&Evidence], data: &DataStore) -> Result<LawFile, Error> {
    let mut fitted = laws.clone();
    for (place, group) in fitted.group.iter_mut().enumerate() {
        let of_all = group.data.is_empty();
        let own = |run: &&&Evidence| of_all || Kind::of(&run.scenario) == Kind::of_group(group);
        let own: Vec<&Evidence> = runs.iter().filter(own).copied().collect();
        let mut best = (f64::INFINITY, group.law.bias_length);
        for length in TRIED {
            let mut one = laws.group[place].clone();
            one.law.bias_length = length;
            let missed = missed(&LawFile::new(vec![one]), &own, data)?;
            if missed < best.0 {
                best = (missed, length);
            }
        }
        group.law.bias_length = best.1;
    }
    Ok(fitted)
}

/// Mean square of the differences of logarithms of numbers of devices.
fn missed(law: &LawFile, runs: &[&Evidence], data: &DataStore) -> Result<f64, Error> {
    let of_run = |run: &&Evidence| {
        let rounds = run.rounds.len().min(ROUNDS);
        let predicted = run.predict(law, data, rounds)?;
        let log = |selected: usize| libm::log(selected.max(1) as f64);
        let both = run.rounds.iter().zip(&predicted);
        let squares = both.map(|(real, ours)| (log(ours.selected) - log(real.selected)).powi(2));
        Ok(squares.sum::<f64>() / predicted.len().max(1) as f64)
    };
    let each: Vec<Result<f64, Error>> = runs.par_iter().map(of_run).collect();
    // Summed in the order of the runs, whoever was first.
    each.into_iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use crate::calibrate::{FIRST, described};

    /// Runs that selected as many devices as dry runs of some length do have that length. There are more devices than the rule takes at most, and noise counts so
    /// little that it takes fewer: were all of them selected, their number would not tell lengths apart.
    #[test]
    fn the_length_that_selected_as_many_devices_is_found() {
        let settings = [
            "model.name=logistic",
            "devices.count=120",
            "data.data_volume=1200",
            "selection.noise_weight=0.2",
            "training.max_edge_rounds=3",
        ];
        let scenario = Scenario::parse("", &settings).unwrap().check().unwrap();
        let data = DataStore::new();
        let mut law = described(&Kind::of(&scenario), &[], &FIRST);
        law.law = FIRST;
        let laws = |length: f64| {
            let mut law = law.clone();
            law.law.bias_length = length;
            LawFile::new(vec![law])
        };
        let run = Evidence::of(scenario, Vec::new());
        for length in [0.25, 4.0] {
            let rounds = run.predict(&laws(length), &data, ROUNDS).unwrap();
            let run = Evidence::of(run.scenario.clone(), rounds);
            let none = missed(&laws(length), &[&run], &data).unwrap();
            let plain = missed(&laws(1.0), &[&run], &data).unwrap();
            assert!(none == 0.0 && plain > 0.0, "{length}: {none}, {plain}");
            let fitted = fit(laws(1.0), &[&run], &data).unwrap();
            let found = fitted.group[0].law.bias_length;
            assert_eq!(missed(&laws(found), &[&run], &data).unwrap(), 0.0);
            assert!((found < 1.0) == (length < 1.0), "{length}: {found}");
        }
    }
}
