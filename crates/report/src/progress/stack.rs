//! The energy spent so far, stacked by item.

use aerofed::RoundRecord;
use aerofed::record::EnergyItem;

use super::{LEGEND, MOST_POINTS, empty_note, heading, thinned};
use crate::palette::{self, energy_colour};
use crate::svg::{Axis, FAINT, Frame, INK, SOFT, Scale, Spot, Svg, axes, grid};
use crate::units::{energy, energy_unit, percent};

const ENERGY: Frame = Frame {
    left: 512.0,
    top: 66.0,
    right: 720.0,
    bottom: 306.0,
};
/// Items below this share are put together.
const LEAST_SHARE: f64 = 0.01;

/// One band of the stack.
struct Band {
    label: String,
    colour: &'static str,
    share: f64,
    /// Joules so far, one for each point of the axis.
    so_far_j: Vec<f64>,
}

fn spent(value: f64) -> f64 {
    if value.is_finite() {
        value.max(0.0)
    } else {
        0.0
    }
}

/// The bands from the bottom up, the largest first, at the rounds of `marks`.
fn bands(records: &[RoundRecord], marks: &[usize]) -> Vec<Band> {
    let so_far = |item: EnergyItem| {
        let mut sum = 0.0;
        let sums: Vec<f64> = records
            .iter()
            .map(|record| {
                sum += spent(record.energy.get(item));
                sum
            })
            .collect();
        let at_marks = marks.iter().map(|&index| sums[index]).collect();
        (item, sum, at_marks)
    };
    let mut items: Vec<(EnergyItem, f64, Vec<f64>)> = EnergyItem::spent().map(so_far).collect();
    let total: f64 = items.iter().map(|(_, sum, _)| sum).sum();
    items.retain(|(_, sum, _)| *sum > 0.0);
    items.sort_by(|a, b| b.1.total_cmp(&a.1));
    let small = items.partition_point(|(_, sum, _)| *sum >= LEAST_SHARE * total);
    let rest = items.split_off(small);
    let mut bands: Vec<Band> = items
        .into_iter()
        .map(|(item, sum, so_far_j)| Band {
            label: item.label(),
            colour: energy_colour(item),
            share: sum / total,
            so_far_j,
        })
        .collect();
    if !rest.is_empty() {
        let sum_at = |place| rest.iter().map(|(_, _, so_far_j)| so_far_j[place]).sum();
        bands.push(Band {
            label: "other".into(),
            colour: palette::GREY,
            share: rest.iter().map(|(_, sum, _)| sum).sum::<f64>() / total,
            so_far_j: (0..marks.len()).map(sum_at).collect(),
        });
    }
    bands
}

pub(super) fn energy_panel(svg: &mut Svg, records: &[RoundRecord]) {
    let frame = ENERGY;
    let marks: Vec<usize> = thinned(records.len(), MOST_POINTS).collect();
    let bands = bands(records, &marks);
    let total_j: f64 = bands.iter().filter_map(|band| band.so_far_j.last()).sum();
    let unit = energy_unit(total_j);
    let x = Scale::new((0.0, records.len() as f64), (frame.left, frame.right));
    // Some air above the stack.
    let y = Scale::new((0.0, 1.04 * total_j / unit.size), (frame.bottom, frame.top));
    heading(svg, frame, "Energy spent so far");
    let label = format!("energy ({})", unit.symbol);
    let x_axis = Axis {
        scale: x,
        ticks: x.ticks(6, 1.0),
        label: "global rounds",
    };
    let y_axis = Axis {
        scale: y,
        ticks: y.ticks(6, 0.0),
        label: &label,
    };
    grid(svg, frame, &y_axis);
    axes(svg, frame, &x_axis, &y_axis);
    if bands.is_empty() {
        return empty_note(svg, frame, "no energy spent");
    }
    let rounds: Vec<f64> = std::iter::once(0.0)
        .chain(marks.iter().map(|&index| (index + 1) as f64))
        .collect();
    let mut floor = vec![0.0; rounds.len()];
    svg.open("stroke=\"#ffffff\" stroke-width=\"0.6\" stroke-linejoin=\"round\"");
    for band in &bands {
        let spot = |place: usize, joules: f64| (x.at(rounds[place]), y.at(joules / unit.size));
        let below: Vec<Spot> = (0..rounds.len()).map(|i| spot(i, floor[i])).collect();
        for (under, so_far_j) in floor.iter_mut().skip(1).zip(&band.so_far_j) {
            *under += so_far_j;
        }
        let above = (0..rounds.len()).map(|i| spot(i, floor[i]));
        let outline: Vec<Spot> = above.chain(below.into_iter().rev()).collect();
        svg.polygon(&outline, &format!("fill=\"{}\"", band.colour));
    }
    svg.close();
    legend(svg, &bands);
}

/// In the order of the stack, the uppermost band first.
fn legend(svg: &mut Svg, bands: &[Band]) {
    for (place, band) in bands.iter().rev().enumerate() {
        let top = ENERGY.top + 2.0 + 19.0 * place as f64;
        let swatch = Frame {
            left: LEGEND.0,
            top,
            right: LEGEND.0 + 11.0,
            bottom: top + 11.0,
        };
        let fill = format!("fill=\"{}\" stroke=\"{FAINT}\" rx=\"2\"", band.colour);
        svg.rect(swatch, &fill);
        let baseline = top + 9.5;
        svg.text((swatch.right + 6.0, baseline), "", &band.label);
        let share = if band.share < LEAST_SHARE {
            "<1 %".into()
        } else {
            percent(band.share, 0)
        };
        let right = format!("text-anchor=\"end\" fill=\"{SOFT}\"");
        svg.text((LEGEND.1, baseline), &right, &share);
    }
    let top = ENERGY.top + 2.0 + 19.0 * bands.len() as f64;
    svg.line(
        (LEGEND.0, top),
        (LEGEND.1, top),
        &format!("stroke=\"{FAINT}\""),
    );
    let total: f64 = bands.iter().filter_map(|band| band.so_far_j.last()).sum();
    let style = format!("text-anchor=\"end\" font-weight=\"600\" fill=\"{INK}\"");
    svg.text((LEGEND.0, top + 16.0), "", "total");
    svg.text((LEGEND.1, top + 16.0), &style, &energy(total));
}
