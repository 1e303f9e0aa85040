//! Plots on paper: what is drawn, and where.

use aerofed_experiment::results::PanelKind;
use aerofed_experiment::statistics::Estimate;
use aerofed_report::{Report, panel_svg};
use roxmltree::Document;

use super::{RUN, data, panel};

#[test]
fn panels_on_paper_have_axes_bands_and_whiskers() {
    for kind in [PanelKind::Lines, PanelKind::Bars, PanelKind::Dots] {
        let svg = panel_svg(&panel(kind));
        let document = Document::parse(&svg).unwrap();
        let count = |name: &str| {
            let nodes = document.descendants();
            nodes.filter(|node| node.has_tag_name(name)).count()
        };
        let texts: Vec<&str> = document
            .descendants()
            .filter_map(|node| node.text())
            .collect();
        let has = |words: &str| texts.iter().any(|text| text.contains(words));
        match kind {
            PanelKind::Lines => {
                assert_eq!((count("polygon"), count("polyline")), (0, 2), "two seeds");
                assert!(has("energy (J)") && has("test accuracy (%)"), "{texts:?}");
            }
            PanelKind::Bars => {
                // The sheet, two swatches, four bars.
                assert_eq!(count("rect"), 7);
                assert!(has("2/3"), "a seed that never got there is seen");
                assert!(has("MNIST") && has("time to 90 % (s)"), "{texts:?}");
            }
            PanelKind::Dots => {
                // Four dots and two in the legend, joined by nothing.
                assert_eq!((count("circle"), count("polyline")), (6, 0));
                assert!(has("energy (J)") && has("test accuracy (%)"), "{texts:?}");
            }
        }
        assert!(has("hfl") && has("</script>"), "{texts:?}");
        let numbers = ["x", "y", "width", "height", "x1", "y1", "x2", "y2"];
        for node in document.descendants().filter(|node| node.is_element()) {
            for name in numbers {
                if let Some(value) = node.attribute(name) {
                    let value: f64 = value.parse().unwrap();
                    assert!((-1.0..=720.0).contains(&value), "{name} {value}");
                }
            }
        }
    }
    let mut three = panel(PanelKind::Lines);
    three.series[0].points[1].y = Estimate::of(&[0.3, 0.8, 0.99]);
    let svg = panel_svg(&three);
    assert_eq!(svg.matches("<polygon").count(), 1);
    // From 0 to 100 %, though the interval is wider than that.
    assert!(!svg.contains(">-20<") && !svg.contains(">120<") && svg.contains(">100<"));
    let mut empty = panel(PanelKind::Lines);
    empty.series.clear();
    assert!(Document::parse(&panel_svg(&empty)).is_ok());
}

/// Points of the first element of a name.
fn corners(svg: &str, name: &str) -> Vec<(f64, f64)> {
    let document = Document::parse(svg).unwrap();
    let found = document.descendants().find(|n| n.tag_name().name() == name);
    let points = found.unwrap().attribute("points").unwrap().to_owned();
    let pair = |text: &str| {
        let (x, y) = text.split_once(',').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    points.split(' ').map(pair).collect()
}

/// Height of the tick with a label.
fn tick(svg: &str, label: &str) -> f64 {
    let document = Document::parse(svg).unwrap();
    let found = document.descendants().find(|n| n.text() == Some(label));
    let baseline: f64 = found.unwrap().attribute("y").unwrap().parse().unwrap();
    baseline - 4.0
}

#[test]
fn bands_of_shares_stay_between_none_and_all() {
    let mut wide = panel(PanelKind::Lines);
    for point in &mut wide.series[0].points {
        point.y = Estimate::of(&[0.01, 0.4, 0.99]);
    }
    let svg = panel_svg(&wide);
    let (all, none) = (tick(&svg, "100"), tick(&svg, "0"));
    for (_, y) in corners(&svg, "polygon") {
        assert!(
            (all - 0.2..=none + 0.2).contains(&y),
            "{y}: {all} to {none}"
        );
    }
}

#[test]
fn an_interval_that_is_cut_off_says_so_and_others_have_caps() {
    let mut bars = panel(PanelKind::Bars);
    bars.series.truncate(1);
    let mut whiskers = |values: [f64; 3]| {
        for point in &mut bars.series[0].points {
            point.y = Estimate::of(&values);
        }
        let svg = panel_svg(&bars);
        let heads = svg.matches("class=\"goes-on\"").count();
        let document = Document::parse(&svg).unwrap();
        let ink = |node: &roxmltree::Node| node.attribute("stroke") == Some("#222222");
        let marks = document.descendants().filter(ink);
        let lines = marks.flat_map(|group| group.children().filter(|n| n.has_tag_name("line")));
        (heads, lines.count())
    };
    // Two bars, each a line with a cap at both ends.
    assert_eq!(whiskers([99.0, 100.0, 101.0]), (0, 6));
    // The interval of each goes below nothing and above twice the mean.
    assert_eq!(whiskers([1.0, 2.0, 300.0]), (4, 2));
}

#[test]
fn a_mean_is_marked_where_its_first_and_its_last_run_end() {
    let mut lines = panel(PanelKind::Lines);
    let note = "the first of the runs behind a curve ends";
    assert!(!panel_svg(&lines).contains(note));
    lines.series[0].ends = vec![0.5, 0.8, 1.0];
    let svg = panel_svg(&lines);
    assert!(svg.contains(note));
    let curve = corners(&svg, "polyline");
    let document = Document::parse(&svg).unwrap();
    let number = |node: roxmltree::Node, name: &str| -> f64 {
        node.attribute(name).unwrap().parse().unwrap()
    };
    let hollow = |n: &roxmltree::Node| n.attribute("r") == Some("4");
    let first = document.descendants().find(hollow).unwrap();
    let middle = |a: f64, b: f64| 0.5 * (a + b);
    assert!((number(first, "cx") - middle(curve[0].0, curve[1].0)).abs() < 0.2);
    assert!((number(first, "cy") - middle(curve[0].1, curve[1].1)).abs() < 0.2);
    let diamond = document.descendants().find(|n| n.has_tag_name("path"));
    let at = format!("translate({} {})", curve[1].0, curve[1].1);
    assert_eq!(diamond.unwrap().attribute("transform"), Some(at.as_str()));
}

#[test]
fn a_curve_alone_is_one_stroke_in_a_colour() {
    // hfl, the last of the registry.
    let mut alone = panel(PanelKind::Lines);
    alone.series.truncate(1);
    alone.series[0].style = 13;
    let svg = panel_svg(&alone);
    assert!(svg.contains("stroke-dasharray=\"\"") && !svg.contains("stroke-dasharray=\"7"));
    let html = Report::of_runs(vec![RUN.0.clone()]).html();
    let series = &data(&html)["charts"][0]["series"][0];
    assert_eq!(
        (&series["dash"], &series["opacity"]),
        (&"".into(), &1.0.into())
    );
    assert!(!["grey", "slate"].contains(&series["colour"].as_str().unwrap()));
}

#[test]
fn the_legend_of_many_curves_fits_on_the_sheet() {
    let mut many = panel(PanelKind::Lines);
    let one = many.series[0].clone();
    many.series = vec![one; 30];
    let svg = panel_svg(&many);
    let document = Document::parse(&svg).unwrap();
    let number = |node: &roxmltree::Node, name: &str| {
        let value = node.attribute(name).unwrap_or("0");
        value.parse::<f64>().unwrap()
    };
    let sheet = number(&document.root_element(), "height");
    let texts = document.descendants().filter(|n| n.has_tag_name("text"));
    let lowest = texts.map(|node| number(&node, "y")).fold(0.0, f64::max);
    assert!(
        lowest > 600.0 && lowest <= sheet,
        "{lowest} of {sheet}: names lie outside"
    );
}
