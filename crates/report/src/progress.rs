//! How a run went: accuracy over simulated time, energy over rounds.

mod stack;

use aerofed::{RoundRecord, Summary};

use crate::palette;
use crate::svg::{Axis, Frame, SOFT, Scale, Spot, Svg, axes, grid};
use crate::units::{counted, duration, energy, percent, percent_exact, shorten, time_unit};

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 360.0;
const ACCURACY: Frame = Frame {
    left: 58.0,
    top: 66.0,
    right: 376.0,
    bottom: 306.0,
};
/// Left and right edge of the column of item names.
const LEGEND: (f64, f64) = (736.0, 886.0);
/// More points than this cannot be told apart on a panel.
const MOST_POINTS: usize = 500;
/// Every round gets a dot while dots stay apart.
const MOST_DOTS: usize = 40;

/// Test accuracy over simulated time, and the energy spent so far over rounds, stacked by item.
#[must_use]
pub fn progress_svg(summary: &Summary, records: &[RoundRecord]) -> String {
    let name = shorten(&summary.scenario, 48);
    let method = shorten(&summary.method, 24);
    let title = format!("{name} · method {method} · seed {}", summary.seed);
    let mut svg = Svg::new(WIDTH, HEIGHT, &title);
    svg.text((16.0, 26.0), "font-size=\"15\" font-weight=\"600\"", &title);
    let totals = format!(
        "{} · {} simulated · {}",
        counted(records.len(), "round"),
        duration(summary.total_time_s),
        energy(summary.total_energy_j)
    );
    let right = format!("font-size=\"12\" text-anchor=\"end\" fill=\"{SOFT}\"");
    svg.text((LEGEND.1, 26.0), &right, &totals);
    accuracy_panel(&mut svg, summary, records);
    stack::energy_panel(&mut svg, records);
    svg.finish()
}

fn heading(svg: &mut Svg, frame: Frame, text: &str) {
    let at = (frame.left, frame.top - 12.0);
    svg.text(at, "font-size=\"12\" font-weight=\"600\"", text);
}

fn empty_note(svg: &mut Svg, frame: Frame, text: &str) {
    let style = format!("text-anchor=\"middle\" fill=\"{SOFT}\"");
    svg.text(frame.middle(), &style, text);
}

/// Indices of at most `most` of `count` things, evenly spread, the last one always among them.
pub(crate) fn thinned(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let kept = count.min(most);
    (1..=kept).map(move |i| i * count / kept - 1)
}

fn accuracy_panel(svg: &mut Svg, summary: &Summary, records: &[RoundRecord]) {
    let frame = ACCURACY;
    let mut targets: Vec<f64> = summary.targets.iter().map(|t| t.accuracy).collect();
    targets.retain(|target| (0.0..=1.0).contains(target));
    targets.sort_by(|a, b| b.total_cmp(a));
    targets.dedup();
    let shown: Vec<&RoundRecord> = thinned(records.len(), MOST_POINTS)
        .map(|index| &records[index])
        .filter(|r| r.clock_s.is_finite() && r.test_accuracy.is_finite())
        .collect();

    let end_s = shown.last().map_or(0.0, |last| last.clock_s);
    let unit = time_unit(end_s);
    let x = Scale::new((0.0, end_s / unit.size), (frame.left, frame.right));
    let accuracies = shown.iter().map(|r| r.test_accuracy);
    let range = percent_range(accuracies.chain(targets.iter().copied()));
    let y = Scale::new(range, (frame.bottom, frame.top));
    let label = format!("simulated time ({})", unit.symbol);
    let x_axis = Axis {
        scale: x,
        ticks: x.ticks(6, 0.0),
        label: &label,
    };
    let y_axis = Axis {
        scale: y,
        ticks: y.ticks(6, 0.0),
        label: "test accuracy (%)",
    };
    heading(svg, frame, "Test accuracy");
    grid(svg, frame, &y_axis);
    axes(svg, frame, &x_axis, &y_axis);
    let target_lines: Vec<f64> = targets.iter().map(|t| y.at(100.0 * t)).collect();
    target_labels(svg, &targets, &target_lines);

    let points: Vec<Spot> = shown
        .iter()
        .map(|r| (x.at(r.clock_s / unit.size), y.at(100.0 * r.test_accuracy)))
        .collect();
    let (Some(&end), Some(last)) = (points.last(), shown.last()) else {
        return empty_note(svg, frame, "no rounds");
    };
    let blue = palette::BLUE;
    svg.polyline(
        &points,
        &format!("fill=\"none\" stroke=\"{blue}\" stroke-width=\"2\" stroke-linejoin=\"round\""),
    );
    svg.open(&format!("fill=\"{blue}\""));
    if points.len() <= MOST_DOTS {
        points.iter().for_each(|&at| svg.circle(at, 2.4, ""));
    }
    svg.circle(end, 4.0, "stroke=\"#ffffff\" stroke-width=\"1.5\"");
    svg.close();
    let style = format!(
        "font-size=\"12\" font-weight=\"600\" fill=\"{blue}\" text-anchor=\"end\" \
         stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\""
    );
    let at = end_label_spot(&points, end, &target_lines);
    svg.text(at, &style, &percent(last.test_accuracy, 1));
}

/// Whole tens of percent around fractions, at least 20 points apart.
fn percent_range(fractions: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let tens = |fraction: f64| (10.0 * fraction).clamp(0.0, 10.0);
    let least = fractions.clone().map(tens).fold(10.0, f64::min).floor();
    let most = fractions.map(tens).fold(0.0, f64::max).ceil();
    if least > most {
        return (0.0, 100.0);
    }
    let top = most.max(least + 1.0).min(10.0);
    (10.0 * least.min(top - 2.0).max(0.0), 10.0 * top.max(2.0))
}

/// Beside the end of the curve, where neither the curve nor a target's line is in the way; on a
/// target's line when nothing better is left.
fn end_label_spot(points: &[Spot], end: Spot, target_lines: &[f64]) -> Spot {
    const WIDTH: f64 = 48.0;
    // A curve of one early point must not push its label over the axis.
    let right = end.0.max(ACCURACY.left + WIDTH);
    let heights = heights_from(points, right - WIDTH);
    let clear_of = |baseline: &f64, lines: &[f64]| {
        let (top, bottom) = (baseline - 13.0, baseline + 5.0);
        top >= ACCURACY.top - 4.0
            && bottom <= ACCURACY.bottom + 2.0
            && !lines.iter().any(|line| (top..bottom).contains(line))
            && (bottom <= heights.0 || top >= heights.1)
    };
    let near = [9.0, 14.0, 20.0, 28.0];
    let choices = near
        .iter()
        .flat_map(|gap| [heights.0 - gap, heights.1 + gap + 9.0]);
    let choices: Vec<f64> = choices.collect();
    let free = choices.iter().find(|b| clear_of(b, target_lines));
    let baseline = free.or(choices.iter().find(|b| clear_of(b, &[])));
    (right, *baseline.unwrap_or(&(end.1 - 9.0)))
}

/// The highest and the lowest the curve gets from `left` on, as coordinates.
fn heights_from(points: &[Spot], left: f64) -> (f64, f64) {
    let entry = points.windows(2).find_map(|pair| {
        let [(x1, y1), (x2, y2)] = [pair[0], pair[1]];
        let share = (left - x1) / (x2 - x1);
        (0.0..1.0)
            .contains(&share)
            .then_some(y1 + share * (y2 - y1))
    });
    let inside = points.iter().filter(|(x, _)| *x >= left).map(|(_, y)| *y);
    let heights = inside.chain(entry);
    heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(top, bottom), y| {
        (top.min(y), bottom.max(y))
    })
}

/// A thin line for each target, named in the margin; names that would touch are moved apart.
fn target_labels(svg: &mut Svg, targets: &[f64], lines: &[f64]) {
    const GAP: f64 = 12.0;
    let room = (ACCURACY.height() / GAP) as usize;
    let style = format!("stroke=\"{SOFT}\" stroke-width=\"0.8\" stroke-dasharray=\"4 3\"");
    svg.open(&style);
    for &at in lines {
        svg.line((ACCURACY.left, at), (ACCURACY.right + 4.0, at), "");
    }
    svg.close();
    let mut names = apart(&lines[..lines.len().min(room)], GAP, ACCURACY.bottom);
    names.iter_mut().for_each(|at| *at += 3.5);
    svg.open(&format!("font-size=\"10\" fill=\"{SOFT}\""));
    for (target, at) in targets.iter().zip(names) {
        let text = format!("target {}", percent_exact(*target));
        svg.text((ACCURACY.right + 7.0, at), "", &text);
    }
    svg.close();
}

/// Moves ascending positions so that neighbours are `gap` apart and none is beyond `end`.
fn apart(positions: &[f64], gap: f64, end: f64) -> Vec<f64> {
    let mut moved = positions.to_vec();
    for i in 1..moved.len() {
        moved[i] = moved[i].max(moved[i - 1] + gap);
    }
    let mut limit = end;
    for at in moved.iter_mut().rev() {
        *at = at.min(limit);
        limit = *at - gap;
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_order_and_the_last() {
        assert_eq!(thinned(3, 10).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(thinned(0, 10).count(), 0);
        let kept: Vec<usize> = thinned(1_001, 100).collect();
        assert_eq!((kept.len(), kept.last()), (100, Some(&1_000)));
        assert!(kept.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn labels_move_apart_and_stay_inside() {
        assert_eq!(apart(&[10.0, 12.0, 50.0], 12.0, 60.0), [10.0, 22.0, 50.0]);
        assert_eq!(apart(&[55.0, 56.0], 12.0, 60.0), [48.0, 60.0]);
        assert!(apart(&[], 12.0, 60.0).is_empty());
    }

    #[test]
    fn the_end_label_stays_off_the_curve_and_off_targets() {
        let steep = [(60.0, 300.0), (340.0, 160.0), (376.0, 130.0)];
        let end = steep[2];
        assert_eq!(heights_from(&steep, 340.0), (130.0, 160.0));
        assert_eq!(heights_from(&steep, 200.0), (130.0, 230.0));
        assert_eq!(end_label_spot(&steep, end, &[]), (376.0, 121.0));
        // A target just above: further up, rather than down into the curve.
        let (_, baseline) = end_label_spot(&steep, end, &[112.0]);
        let covers = |y: f64| (baseline - 11.0..baseline + 3.0).contains(&y);
        assert!(
            !covers(112.0) && !covers(130.0) && !covers(150.0),
            "{baseline}"
        );
        // At the very top: below.
        let flat = [(60.0, 67.0), (376.0, 67.0)];
        assert!(end_label_spot(&flat, flat[1], &[66.0]).1 > 76.0);
    }

    #[test]
    fn accuracies_are_shown_between_whole_tens() {
        let range = |fractions: &[f64]| percent_range(fractions.iter().copied());
        assert_eq!(range(&[]), (0.0, 100.0));
        assert_eq!(range(&[0.12, 0.95]), (10.0, 100.0));
        assert_eq!(range(&[0.75, 0.8, 0.86]), (70.0, 90.0));
        assert_eq!(range(&[0.85]), (70.0, 90.0));
        assert_eq!(range(&[0.0]), (0.0, 20.0));
        assert_eq!(range(&[1.0]), (80.0, 100.0));
    }
}
