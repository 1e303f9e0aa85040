//! A partition as text.

use std::fmt::Write as _;

use super::{Partition, indexed_counts};
use crate::Dataset;

/// Class names longer than this are cut in the head of the table.
const LONGEST_HEAD: usize = 8;

pub(super) fn table(partition: &Partition, dataset: &Dataset) -> String {
    let mut rows: Vec<(String, Vec<usize>)> = Vec::new();
    let counts = partition.label_counts(dataset);
    let totals = (0..dataset.classes())
        .map(|class| counts.iter().map(|device| device[class]).sum())
        .collect();
    let of_one_user = |own: &Vec<u32>| user(own, dataset).is_some();
    let by_user = partition.devices.iter().all(of_one_user);
    for (device, counts) in counts.into_iter().enumerate() {
        let user = user(&partition.devices[device], dataset).filter(|_| by_user);
        let user = user.map_or_else(String::new, |name| format!(" ({name})"));
        rows.push((format!("device {device}{user}"), counts));
    }
    rows.push(("all devices".to_owned(), totals));
    for (uav, samples) in partition.personal.iter().enumerate() {
        rows.push((
            format!("UAV {uav} personal"),
            indexed_counts(samples, dataset),
        ));
    }
    rows.push((
        "probe".to_owned(),
        indexed_counts(&partition.probe, dataset),
    ));

    let heads: Vec<String> = dataset
        .class_names
        .iter()
        .map(|name| name.chars().take(LONGEST_HEAD).collect())
        .collect();
    let widths: Vec<usize> = heads
        .iter()
        .enumerate()
        .map(|(class, head)| {
            let digits = rows
                .iter()
                .map(|(_, counts)| counts[class].to_string().len());
            digits.max().unwrap_or(0).max(head.chars().count())
        })
        .collect();
    let first = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = format!("{:first$}  samples", "");
    for (head, &width) in heads.iter().zip(&widths) {
        let _ = write!(text, "  {head:>width$}");
    }
    text.push('\n');
    for (name, counts) in rows {
        let _ = write!(text, "{name:first$}  {:>7}", counts.iter().sum::<usize>());
        for (&count, &width) in counts.iter().zip(&widths) {
            // A dot is easier to overlook than a zero: the eye finds the labels held.
            let cell = if count == 0 {
                ".".to_owned()
            } else {
                count.to_string()
            };
            let _ = write!(text, "  {cell:>width$}");
        }
        text.push('\n');
    }
    text
}

/// The one user of some samples.
fn user<'a>(samples: &[u32], dataset: &'a Dataset) -> Option<&'a str> {
    let users = dataset.users.as_ref()?;
    let mut owners = samples
        .iter()
        .map(|&sample| users.of_sample.get(sample as usize));
    let first = owners.next()??;
    let same = owners.all(|owner| owner == Some(first));
    let name = users.names.get(*first as usize).filter(|_| same)?;
    Some(name)
}
