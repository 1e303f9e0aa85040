//! What a person at a terminal relies on: exit codes, where results are, lines that fit, completions and manual pages.

use std::fs;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

const SMALL: [&str; 9] = [
    "run",
    "--set",
    "devices.count=10",
    "--set",
    "data.data_volume=50",
    "--set",
    "model.name=logistic",
    "--rounds",
    "2",
];

fn aerofed(args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("aerofed").unwrap();
    command.args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_quiet_run_still_says_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run");
    let out = out.to_str().unwrap();
    let output = aerofed(&[&SMALL[..], &["--quiet", "--json", "--out", out]].concat());
    assert_eq!(text(&output.stderr), format!("wrote {out}\n"));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["rounds"], 2);
}

#[test]
fn a_verbose_run_tells_of_every_round() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run");
    let out = out.to_str().unwrap();
    let output = aerofed(&[&SMALL[..], &["--verbose", "--out", out]].concat());
    let said = text(&output.stderr);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    for (round, line) in lines[..2].iter().enumerate() {
        assert!(
            line.starts_with(&format!("round {}/2 ", round + 1)),
            "{line}"
        );
        for told in [
            "accuracy",
            " H ",
            " K ",
            "covered devices",
            "aggregates",
            " kJ",
        ] {
            assert!(line.contains(told), "{told}: {line}");
        }
    }
    let both = aerofed(&[&SMALL[..], &["-q", "-v", "--out", out]].concat());
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn a_seed_that_no_file_can_hold_is_refused_by_its_own_name() {
    for command in ["run", "pretrain"] {
        let output = aerofed(&[command, "--seed", "9223372036854775808"]);
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(said.contains("--seed"), "{said}");
        assert!(said.contains("from 0 to 9223372036854775807"), "{said}");
        assert!(!said.contains("--set"), "{said}");
    }
}

#[test]
fn methods_fit_into_their_lines_and_come_as_json() {
    let output = aerofed(&["methods"]);
    let listed = text(&output.stdout);
    assert!(
        listed.lines().all(|line| line.chars().count() <= 100),
        "{listed}"
    );
    let output = aerofed(&["methods", "--json"]);
    let methods: Value = serde_json::from_slice(&output.stdout).unwrap();
    for method in methods.as_array().unwrap() {
        let name = method["name"].as_str().unwrap();
        assert!(listed.lines().any(|line| line.starts_with(name)), "{name}");
        assert!(!method["summary"].as_str().unwrap().is_empty());
    }
}

#[test]
fn scenarios_are_listed_a_line_each_shown_and_run_by_name() {
    let listed = text(&aerofed(&["scenario", "list"]).stdout);
    let lines: Vec<&str> = listed.lines().collect();
    assert!(
        lines.iter().all(|line| line.chars().count() <= 100),
        "{listed}"
    );
    let output = aerofed(&["scenario", "list", "--json"]);
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), lines.len());
    for (scenario, line) in all.iter().zip(lines) {
        let name = scenario["name"].as_str().unwrap();
        assert!(line.starts_with(name), "{line}");
        let counts = [("devices", "device"), ("uavs", "UAV")];
        for (field, unit) in counts {
            let told = format!(" {} {unit}", scenario[field]);
            assert!(line.contains(&told), "{line}");
        }
        assert!(scenario["width_m"].as_f64().unwrap() > 0.0);
        let shown = text(&aerofed(&["scenario", "show", name]).stdout);
        assert_eq!(
            Some(shown.trim_end()),
            aerofed::scenario::built_in(name).map(str::trim_end)
        );
        // The words of its comment, in lines of their own.
        let words = |text: &str| {
            text.replace(['#', '\n'], " ")
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        let summary = scenario["summary"].as_str().unwrap();
        assert!(words(&shown).starts_with(summary), "{summary}");
        let checked = aerofed(&["scenario", "check", name]);
        assert_eq!(checked.status.code(), Some(0), "{name}");
    }
}

/// A folder or a file that happens to have a scenario's name does not stand in its way.
#[test]
fn a_name_of_the_library_means_its_scenario_wherever_one_is() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("paper")).unwrap();
    fs::write(dir.path().join("quickstart"), "name = \"mine\"").unwrap();
    let check = |name: &str| {
        let mut command = Command::cargo_bin("aerofed").unwrap();
        let output = command
            .current_dir(dir.path())
            .args(["scenario", "check", name]);
        text(&output.output().unwrap().stdout)
    };
    assert!(check("paper").starts_with("paper: valid"));
    assert!(check("quickstart").starts_with("quickstart: valid"));
    assert!(check("./quickstart").starts_with("mine: valid"));
}

#[test]
fn a_partition_comes_as_json() {
    let settings = ["--set", "devices.count=20", "--set", "data.data_volume=300"];
    let output = aerofed(&[&["data", "partition", "--json"], &settings[..]].concat());
    let held: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(held["classes"].as_array().unwrap().len(), 10);
    let sum = |counts: &Value| -> u64 {
        let counts = counts.as_array().unwrap().iter();
        counts.map(|count| count.as_u64().unwrap()).sum()
    };
    let devices = held["devices"].as_array().unwrap();
    assert_eq!(devices.len(), 20);
    assert_eq!(devices.iter().map(sum).sum::<u64>(), 300);
    assert!(sum(&held["probe"]) > 0);
    assert!(
        held["personal"]
            .as_array()
            .unwrap()
            .iter()
            .all(|uav| sum(uav) > 0)
    );
}

#[test]
fn shells_and_the_manual_know_every_command() {
    let help = text(&aerofed(&["--help"]).stdout);
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .collect();
    assert!(
        commands.contains(&"run") && commands.len() > 10,
        "{commands:?}"
    );
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = aerofed(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{shell}");
        let script = text(&output.stdout);
        if ["bash", "zsh", "fish"].contains(&shell) {
            let names = aerofed::scenario::BUILT_IN.iter().map(|(name, _)| *name);
            let named = script.matches(&names.collect::<Vec<_>>().join(" ")).count();
            // run, compare, sweep, pretrain, data partition, scenario show, defaults and check.
            assert_eq!(named, 8, "{shell}");
        }
        for command in &commands {
            assert!(script.contains(command), "{shell}: {command}");
        }
        assert!(
            script.contains("--resume") || script.contains("resume"),
            "{shell}"
        );
    }
    let page = text(&aerofed(&["man"]).stdout);
    for command in &commands {
        assert!(
            page.contains(&format!("aerofed\\-{command}(1)")),
            "{command}"
        );
        let page = text(&aerofed(&["man", command]).stdout);
        assert!(page.contains(".SH SYNOPSIS"), "{command}: {page}");
        assert!(page.contains(&format!(".TH aerofed-{command} 1")), "{page}");
    }
    let output = aerofed(&["man", "fly"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("\"fly\""));
}

#[test]
fn files_that_a_user_names_are_replaced_by_force_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let output = aerofed(&[&SMALL[..], &["--quiet", "--out", &path("run")]].concat());
    assert_eq!(output.status.code(), Some(0));
    let write = |name: &str| fs::write(path(name), "mine").unwrap();
    let is_mine = |name: &str| fs::read_to_string(path(name)).unwrap() == "mine";
    let refused = |args: &[&str], file: &str| {
        let output = aerofed(args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(file) && said.contains("--force"), "{said}");
    };

    write("page.html");
    let report = ["report", &path("run"), "--out", &path("page.html")];
    refused(&report, "page.html");
    assert!(is_mine("page.html"));
    let forced = aerofed(&[&report[..], &["--force"]].concat());
    assert_eq!(forced.status.code(), Some(0));
    assert!(!is_mine("page.html"));
    assert_eq!(aerofed(&report).status.code(), Some(0), "the same again");

    fs::create_dir(path("figures")).unwrap();
    write("figures/accuracy-time.svg");
    let folder = path("figures");
    let figures = [&report[..], &["--figures", &folder]].concat();
    refused(&figures, "accuracy-time.svg");
    assert_eq!(fs::read_dir(path("figures")).unwrap().count(), 1);

    write("policy.svg");
    let policy = path("policy.safetensors");
    let pretrain = ["pretrain", "--episodes", "1", "--out", &policy];
    refused(&pretrain, "policy.svg");
    assert!(is_mine("policy.svg") && !dir.path().join("policy.safetensors").exists());
    let output = aerofed(&["pretrain", "--force", "--out", &path("policy.svg")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(is_mine("policy.svg"));

    let fleet = r#"{"area_m":[100,100],"coverage_radius_m":30,"speed_mps":10,"move_power_w":100,
        "uavs":[{"position_m":[50,50],"battery_j":1e5}],"devices_m":[[10,10]]}"#;
    fs::write(path("fleet.json"), fleet).unwrap();
    write("map.svg");
    let deploy = ["deploy", &path("fleet.json"), "--map", &path("map.svg")];
    refused(&deploy, "map.svg");
    assert!(is_mine("map.svg"));
    let forced = aerofed(&[&deploy[..], &["--force"]].concat());
    assert_eq!(forced.status.code(), Some(0), "{}", text(&forced.stderr));
    assert!(!is_mine("map.svg"));
}

#[cfg(unix)]
mod interrupted {
    use std::fs::{self, File};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    /// Reading it would take minutes.
    fn endless_data(dir: &std::path::Path) {
        fs::create_dir(dir).unwrap();
        for part in ["train", "t10k"] {
            for kind in ["images-idx3-ubyte", "labels-idx1-ubyte"] {
                let file = File::create(dir.join(format!("{part}-{kind}"))).unwrap();
                file.set_len(1 << 38).unwrap();
            }
        }
    }

    #[test]
    fn pretraining_before_its_first_turn_is_over_writes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let settings = [
            "devices.count=10",
            "data.data_volume=50",
            "td3.most_share=1",
        ];
        let child = Command::new(assert_cmd::cargo::cargo_bin!("aerofed"))
            .current_dir(dir.path())
            .args(["pretrain", "--episodes", "1000000", "--rounds", "2"])
            .args(settings.iter().flat_map(|setting| ["--set", setting]))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Nothing on the disk tells that it has begun: where the system says so, until it listens to the signal.
        let status = format!("/proc/{}/status", child.id());
        let listens = |text: String| {
            let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
            caught.is_some_and(|caught| u64::from_str_radix(caught.trim(), 16).unwrap() & 2 != 0)
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        while fs::read_to_string(&status).is_ok_and(|text| !listens(text)) {
            assert!(Instant::now() < deadline, "it does not begin");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_secs(1));
        let id = child.id().to_string();
        Command::new("kill").args(["-INT", &id]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{said}");
        assert!(said.contains("before anything was learned"), "{said}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn while_checksums_are_taken_a_signal_ends_the_program_soon_and_nothing_is_left() {
        let dir = tempfile::tempdir().unwrap();
        endless_data(&dir.path().join("data"));
        let data = ["--set", "data.set=idx", "--set", "data.dir=data"];
        let compare = ["compare", "--methods", "hfl", "--seeds", "2"];
        let begun = "schema.json";
        for (command, partial, signal) in [
            (&["run"][..], dir.path().join("out.partial"), "-TERM"),
            (&compare, dir.path().join("out/runs"), "-INT"),
        ] {
            let child = Command::new(assert_cmd::cargo::cargo_bin!("aerofed"))
                .current_dir(dir.path())
                .args(command)
                .args(data)
                .args(["--out", "out"])
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let deadline = Instant::now() + Duration::from_secs(60);
            let has_begun = || {
                let inside = fs::read_dir(&partial).into_iter().flatten().flatten();
                inside
                    .map(|entry| entry.path())
                    .any(|path| path.ends_with(begun) || path.join(begun).exists())
            };
            while !has_begun() {
                assert!(Instant::now() < deadline, "{command:?} does not begin");
                std::thread::sleep(Duration::from_millis(5));
            }
            let id = child.id().to_string();
            Command::new("kill").args([signal, &id]).status().unwrap();
            let told = Instant::now();
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(told.elapsed() < Duration::from_secs(20), "{said}");
            assert_eq!(output.status.code(), Some(130), "{said}");
            assert!(said.contains("interrupted"), "{said}");
            assert!(!has_begun(), "{command:?} leaves a run");
        }
    }
}
