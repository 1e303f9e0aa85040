//! Maps: everybody is on them once, nothing is cut, no name hides a device.

use aerofed::geometry::Point;
use aerofed::scenario::Places;
use aerofed::world::{DeviceId, Status};
use aerofed_report::{map_svg, units};

use super::{RUN, check, check_table, run, texts};

#[test]
fn the_map_shows_every_device_once_and_counts_them() {
    let svg = RUN.map();
    let document = check(&svg);
    let record = RUN.last();
    let texts = texts(&document);
    let count = |n: usize| units::count(n);
    for expected in [
        format!("trained with a UAV ({})", count(record.selected)),
        format!("not covered ({})", count(12 - record.covered)),
        "east (km)".into(),
        "north (km)".into(),
        "base".into(),
        "UAV 0".into(),
        "UAV 2".into(),
    ] {
        assert!(texts.contains(&expected), "{expected}: {texts:?}");
    }
    // On the map devices are circles without a style of their own; in the legend they have one.
    let devices = document
        .descendants()
        .filter(|n| n.tag_name().name() == "circle" && n.attributes().len() == 3);
    assert_eq!(devices.count(), 12);
}

/// Names have a rim of white; none of them lies on a device, and none on another.
#[test]
fn names_on_the_map_hide_no_device() {
    let run = run(&[
        "devices.count=150",
        "data.data_volume=600",
        "stop.max_rounds=1",
    ]);
    let svg = run.map();
    let document = check(&svg);
    let number = |node: roxmltree::Node, name: &str| -> f64 {
        node.attribute(name).unwrap().parse().unwrap()
    };
    let elements = || document.descendants().filter(|node| node.is_element());
    let names: Vec<(f64, f64, f64)> = elements()
        .filter(|node| node.attribute("paint-order").is_some())
        .filter(|node| node.text().unwrap().starts_with("UAV"))
        .map(|node| {
            let half = 3.0 * node.text().unwrap().chars().count() as f64;
            (number(node, "x"), number(node, "y") - 3.5, half)
        })
        .collect();
    assert_eq!(names.len(), run.scenario.uavs.count);
    let devices: Vec<(f64, f64)> = elements()
        .filter(|n| n.tag_name().name() == "circle" && n.attributes().len() == 3)
        .map(|n| (number(n, "cx"), number(n, "cy")))
        .collect();
    assert_eq!(devices.len(), 150);
    for (place, &(x, y, half)) in names.iter().enumerate() {
        let under = |(dx, dy): &&(f64, f64)| (dx - x).abs() < half && (dy - y).abs() < 6.0;
        assert_eq!(devices.iter().find(under), None, "under UAV {place}");
        for &(other, height, wide) in &names[..place] {
            assert!((other - x).abs() >= half + wide || (height - y).abs() >= 12.0);
        }
    }
    // Devices come after the names, so that they lie on top where there is no room.
    let first_device = svg.find("r=\"3.2\"/>").unwrap();
    assert!(svg.find("paint-order").unwrap() < first_device);
}

#[test]
fn circles_that_leave_the_area_are_not_cut() {
    let run = run(&["uavs.coverage_radius_m=2500"]);
    let svg = run.map();
    let document = check(&svg);
    let attribute = |node: &roxmltree::Node, name: &str| -> f64 {
        node.attribute(name).unwrap().parse().unwrap()
    };
    let clip = document.descendants().find(|n| n.has_tag_name("clipPath"));
    let frame = clip.unwrap().first_element_child().unwrap();
    let [left, top, width, height] =
        ["x", "y", "width", "height"].map(|name| attribute(&frame, name));
    let circles = document.descendants().filter(|n| {
        n.tag_name().name() == "circle" && n.attribute("r").unwrap().parse::<f64>().unwrap() > 20.0
    });
    let mut seen = 0;
    for circle in circles {
        let [x, y, r] = ["cx", "cy", "r"].map(|name| attribute(&circle, name));
        assert!(x - r >= left && x + r <= left + width, "{circle:?}");
        assert!(y - r >= top && y + r <= top + height, "{circle:?}");
        seen += 1;
    }
    assert_eq!(seen, run.scenario.uavs.count);
}

#[test]
fn colours_follow_who_trained_whom() {
    let mut record = RUN.last().clone();
    record.uavs.iter_mut().for_each(|uav| uav.devices.clear());
    record.uavs[0].devices = vec![DeviceId(0), DeviceId(1), DeviceId(2)];
    record.uavs[1].devices = vec![DeviceId(3), DeviceId(4)];
    record.uavs[2].devices = vec![DeviceId(99)];
    let svg = RUN.map_of(&record);
    let document = check(&svg);
    let drawn_in = |colour: &str| {
        document
            .descendants()
            .filter(|n| n.tag_name().name() == "circle" && n.attributes().len() == 3)
            .filter(|n| n.parent().unwrap().attribute("fill") == Some(colour))
            .count()
    };
    assert_eq!((drawn_in("#0072B2"), drawn_in("#E69F00")), (3, 2));
    assert_eq!(drawn_in("#9aa0a6") + drawn_in("#ffffff"), 7);
}

#[test]
fn batteries_and_absences_are_told() {
    let mut record = RUN.last().clone();
    record.uavs[0].battery_after_j = 0.25 * RUN.scenario.full_battery_j(0);
    record.uavs[1].status = Status::Away { returns_at_s: 9.0 };
    record.uavs[2].status = Status::Lost;
    record.aggregator = None;
    let texts = texts(&check(&RUN.map_of(&record)));
    for expected in ["25 %", "UAV 1 away", "UAV 2 lost"] {
        assert!(texts.iter().any(|t| t == expected), "{expected}: {texts:?}");
    }
}

#[test]
fn the_map_survives_anything() {
    let mut record = RUN.last().clone();
    record.uavs[0].position_m = Point::new(f64::NAN, f64::INFINITY);
    record.uavs[1].battery_after_j = f64::NAN;
    record.test_accuracy = f64::NAN;
    record.clock_s = f64::NAN;
    let mut world = RUN.outcome.world.clone();
    for full_j in [0.0, f64::NAN, -1.0] {
        let mut far = Places::default();
        far.bases = vec![Point::new(-1e300, f64::NAN)];
        world.uavs[0].full_j = full_j;
        check(&map_svg(&world, &record, &far));
    }
    for settings in [
        ["area.width_m=1", "area.height_m=1", "uavs.count=1"],
        ["area.width_m=1e7", "area.height_m=1", "uavs.count=2"],
        ["area.width_m=1e7", "area.height_m=1e7", "uavs.count=5"],
        ["uavs.battery_j=1", "uavs.coverage_radius_m=1e7", "seed=7"],
    ] {
        let mut settings = settings.to_vec();
        settings.push("stop.max_rounds=1");
        let run = run(&settings);
        check(&run.progress());
        check_table(&run.outcome.summary);
        if let Some(record) = run.outcome.records.last() {
            check(&run.map_of(record));
        }
    }
}

#[test]
fn a_crowd_is_sampled_and_the_map_says_so() {
    let mut world = RUN.outcome.world.clone();
    let place = |i: usize| Point::new((i % 200) as f64 * 20.0, (i / 200) as f64 * 20.0);
    world.devices.position = (0..30_000).map(place).collect();
    let mut record = RUN.last().clone();
    let uav = record.uavs[0].clone();
    record.uavs = vec![uav; 2_000];
    let svg = map_svg(&world, &record, &Places::default());
    let texts = texts(&check(&svg));
    for expected in [
        "5000 of 30\u{202f}000 devices drawn",
        "400 of 2000 UAVs drawn",
    ] {
        assert!(texts.iter().any(|t| t == expected), "{texts:?}");
    }
    assert!(svg.len() < 500_000, "{} bytes", svg.len());
}
