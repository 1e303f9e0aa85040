//! Mistakes that people make, and the message for each: one line that names the field or the argument, in the words of whoever
//! made it, with what was probably meant; exit code 2, and nothing written.

use std::fs;
use std::path::Path;

use assert_cmd::Command;

/// What messages must not contain: words of the language this is written in.
const RUST: &[&str] = &[
    "usize",
    "f64",
    "u64",
    "u32",
    "u16",
    "i64",
    "sequence",
    "invalid type",
    "invalid digit",
    "invalid float",
    "Some(",
    "None",
    "unwrap",
    "panicked",
    "enum",
    "variant",
    "struct",
    "tuple",
    "deserialize",
    "Error {",
    "os error 0",
];

/// A mistake: the words after `aerofed`, the file named `FILE` in them, and what the message must contain.
struct Mistake {
    arguments: &'static [&'static str],
    file: &'static str,
    told: &'static [&'static str],
}

const fn typed(arguments: &'static [&'static str], told: &'static [&'static str]) -> Mistake {
    written(arguments, "", told)
}

const fn written(
    arguments: &'static [&'static str],
    file: &'static str,
    told: &'static [&'static str],
) -> Mistake {
    Mistake {
        arguments,
        file,
        told,
    }
}

const RUN: &[&str] = &["run", "FILE.toml"];
const REPRODUCE: &[&str] = &["reproduce", "FILE.toml"];
const ALLOCATE: &[&str] = &["allocate", "FILE.json"];
const DEPLOY: &[&str] = &["deploy", "FILE.json"];

/// On the command line.
const COMMAND_LINE: &[Mistake] = &[
    typed(&["comapre"], &["comapre", "'compare'"]),
    typed(&["run", "papr"], &["papr", "did you mean `paper`?"]),
    typed(&["run", "Paper"], &["Paper", "did you mean `paper`?"]),
    typed(&["run", "quick"], &["quick", "did you mean `quickstart`?"]),
    typed(&["run", "no/such.toml"], &["no/such.toml", "no such file"]),
    typed(
        &["run", "--method", "cehfd"],
        &["`method` is \"cehfd\"", "did you mean \"cehfed\"?"],
    ),
    typed(
        &["run", "--method", "CEHFed"],
        &["`method` is \"CEHFed\"", "did you mean \"cehfed\"?"],
    ),
    typed(
        &["run", "--method", "direct-drop"],
        &["did you mean \"direct_drop\"?"],
    ),
    typed(&["run", "--sed", "3"], &["--sed", "--seed"]),
    typed(
        &["run", "--seed", "abc"],
        &[
            "'abc' for '--seed <N>'",
            "a whole number from 0 to 9223372036854775807",
        ],
    ),
    typed(
        &["run", "--seed", "9223372036854775808"],
        &[
            "'9223372036854775808' for '--seed <N>'",
            "a whole number from 0",
        ],
    ),
    typed(
        &["run", "--rounds", "x"],
        &[
            "'x' for '--rounds <N>'",
            "a whole number from 1 to 10000000",
        ],
    ),
    typed(
        &["run", "--rounds", "0"],
        &["'0' for '--rounds <N>'", "a whole number from 1"],
    ),
    typed(
        &["run", "--threads", "-1"],
        &["'-1' for '--threads <N>'", "a whole number from 1 to 1024"],
    ),
    typed(
        &["run", "--checkpoint-every", "often"],
        &[
            "'often' for '--checkpoint-every <N>'",
            "a whole number from 0",
        ],
    ),
    typed(&["run", "--out", ""], &["'--out <DIR>'"]),
    typed(
        &["compare", "--methods", "hfl,cehfd", "--seeds", "2"],
        &["no method \"cehfd\"", "did you mean \"cehfed\"?"],
    ),
    typed(
        &["compare", "--methods", "hfl", "--seeds", "abc"],
        &[
            "'abc' for '--seeds <N>'",
            "a whole number from 1 to 1000000",
        ],
    ),
    typed(
        &[
            "compare",
            "--methods",
            "hfl",
            "--seeds",
            "1",
            "--targets",
            "90%",
        ],
        &["'90%' for '--targets <LIST>'", "a number from 0 to 1"],
    ),
    typed(
        &[
            "compare",
            "--methods",
            "x=hfl:allocation.local_iteration=20",
            "--seeds",
            "1",
        ],
        &[
            "\"x\"",
            "no field `allocation.local_iteration`",
            "`allocation.local_iterations`",
        ],
    ),
    typed(
        &[
            "compare",
            "--methods",
            "hfl:allocation.local_iterations=many",
            "--seeds",
            "1",
        ],
        &[
            "`allocation.local_iterations` is \"many\"",
            "a whole number from 0",
        ],
    ),
    typed(&["compare", "--methods", "hfl"], &["--seeds <N>"]),
    typed(
        &["reproduce", "fig55"],
        &["fig55", "did you mean \"fig5\"?"],
    ),
    typed(
        &["reproduce", "fig5", "--shard", "4"],
        &["--shard", "as in 1/4"],
    ),
    typed(
        &["reproduce", "fig5", "--scale", "quik"],
        &["--scale", "quick"],
    ),
    typed(
        &["data", "get", "minst"],
        &["minst", "did you mean \"mnist\"?"],
    ),
    typed(
        &["pretrain", "--episodes", "1.5"],
        &["'1.5' for '--episodes <N>'", "a whole number from 1"],
    ),
    typed(
        &["bench", "train", "--model", "CNN"],
        &["'CNN' for '--model", "cnn"],
    ),
    typed(
        &["bench", "train", "--seconds", "long"],
        &["'long' for '--seconds", "a number from 0.01 to 600"],
    ),
    typed(
        &["scenario", "defaults", "quickstrat"],
        &["quickstrat", "did you mean `quickstart`?"],
    ),
    typed(&["report", "no/such/run"], &["no/such/run"]),
];

/// With `--set`.
const SETTINGS: &[(&[&str], &[&str])] = &[
    (
        &["uav.count=3"],
        &["no field `uav.count`", "did you mean `uavs.count`?"],
    ),
    (&["uavs.battrey_j=1e5"], &["did you mean `uavs.battery_j`?"]),
    (&["uavs.speed=15"], &["did you mean `uavs.speed_mps`?"]),
    (&["learning_rate=0.1"], &["`training.learning_rate`"]),
    (&["training.lr=0.1"], &["`training.learning_rate`"]),
    (
        &["devices.speed_mps=3"],
        &["did you mean `uavs.speed_mps`?"],
    ),
    (
        &["devices.owner=me"],
        &["no field `devices.owner`", "count, cpu_hz"],
    ),
    (
        &["model.name=CNN"],
        &["`model.name` is \"CNN\"", "did you mean \"cnn\"?"],
    ),
    (
        &["data.set=minst"],
        &["`data.set` is \"minst\"", "did you mean \"mnist\"?"],
    ),
    (
        &["uavs.waiting=hovering"],
        &["`uavs.waiting`", "did you mean \"hover\"?"],
    ),
    (
        &["data.partition.kind=non-iid-a"],
        &["`data.partition.kind`", "did you mean \"noniid_a\"?"],
    ),
    (
        &["redeploy.method=stay"],
        &["`redeploy.method` is \"stay\"", "none, two_stage"],
    ),
    (
        &["channel.exponent_up=abc"],
        &["`channel.exponent_up` is \"abc\"", "a number"],
    ),
    (
        &["devices.count=many"],
        &["`devices.count` is \"many\"", "a whole number from 0"],
    ),
    (
        &["devices.count=1.5"],
        &["`devices.count` is 1.5", "a whole number from 0"],
    ),
    (
        &["devices.count=-3"],
        &["`devices.count` is -3", "a whole number from 0"],
    ),
    (
        &["td3.online=yes"],
        &["`td3.online` is \"yes\"", "true or false"],
    ),
    (
        &["uavs.bandwidth_up_hz=wide"],
        &[
            "`uavs.bandwidth_up_hz` is \"wide\"",
            "two numbers [min, max], or one number",
        ],
    ),
    (
        &["devices.cpu_hz=[1e9]"],
        &["`devices.cpu_hz` is [1000000000.0]", "[min, max]"],
    ),
    (
        &["stop.targets=0.9"],
        &["`stop.targets` is 0.9", "a list", "[0."],
    ),
    (
        &["uavs.base_m=home"],
        &["`uavs.base_m` is \"home\"", "two numbers"],
    ),
    (&["mobility=static"], &["`mobility` is \"static\"", "kind"]),
    (&["devices=20"], &["`devices` is 20", "devices.c"]),
    (
        &["data.partition.alpha=0.5"],
        &["`data.partition.alpha` exists for kind = \"dirichlet\"; this is \"noniid_a\""],
    ),
    (
        &["uavs.layout.kind=fixed"],
        &["`uavs.layout.positions_m` is missing: kind = \"fixed\" needs it"],
    ),
    (
        &["faults=[{kind=loss, uav=0, round=2}]"],
        &[
            "`faults`",
            "--set 'faults=[{kind=\"loss\", uav=0, round=2}]'",
        ],
    ),
    (
        &["faults=[{kind=\"los\", uav=0, round=2}]"],
        &["`faults[0].kind` is \"los\"", "did you mean \"loss\"?"],
    ),
    (
        &["faults=[{kind=\"loss\", uav=\"one\", round=2}]"],
        &["`faults[0].uav` is \"one\"", "a whole number"],
    ),
    (
        &["faults=[{kind=\"loss\", uav=0}]"],
        &["`faults[0].round` is missing"],
    ),
    (
        &["faults=[{kind=\"loss\", uav=0, round=2, power_w=3}]"],
        &["`faults[0].power_w` exists for kind = \"leak\"; this is \"loss\""],
    ),
    (&["seed"], &["`--set seed`", "PATH=VALUE"]),
    (
        &["uavs.battery_j=250k"],
        &["`uavs.battery_j` is \"250k\"", "a number"],
    ),
    (
        &["data.data_volume=50000"],
        &[
            "`data.data_volume` is 50000",
            "aerofed data get mnist",
            "data.dir",
        ],
    ),
    (
        &["weights.energy=1e-10"],
        &["`weights.energy` is", "1e-9 to 1e6"],
    ),
    (
        &["stop.target_accuracy=92"],
        &["`stop.target_accuracy` is 92", "0 to 1"],
    ),
    (
        &["extends=paper"],
        &["`extends` stands at the top of a scenario file"],
    ),
];

/// In files.
const FILES: &[Mistake] = &[
    written(
        RUN,
        "seed = 1\n[uav]\ncount = 3",
        &["FILE.toml, line 2", "no field `uav.count`", "`uavs.count`"],
    ),
    written(
        RUN,
        "[devices]\ncount = \"many\"",
        &[
            "FILE.toml, line 2",
            "`devices.count` is \"many\"",
            "a whole number",
        ],
    ),
    written(RUN, "[devices]\ncount = ", &["FILE.toml, line 2, column 9"]),
    written(RUN, "method = hfl", &["FILE.toml, line 1, column 10"]),
    written(
        RUN,
        "method = \"hfll\"",
        &["`method` is \"hfll\"", "did you mean \"hfl\"?"],
    ),
    written(
        RUN,
        "[mobility]\nkind = \"statc\"",
        &[
            "FILE.toml, line 2",
            "`mobility.kind`",
            "did you mean \"static\"?",
        ],
    ),
    written(
        RUN,
        "[[faults]]\nkind = \"drain\"\nuav = 0\nrounds = 2",
        &["FILE.toml, line 4", "did you mean `faults[0].round`?"],
    ),
    written(
        RUN,
        "extends = \"papr\"",
        &["FILE.toml, line 1", "`extends`", "papr", "no such file"],
    ),
    written(
        RUN,
        "extends = 3",
        &["FILE.toml, line 1", "`extends` is 3", "paper"],
    ),
    written(
        RUN,
        "extends = \"FILE.toml\"",
        &["`extends` goes in a circle", "FILE.toml -> "],
    ),
    written(
        &["scenario", "check", "FILE.toml"],
        "[uavs]\nsped_mps = 3",
        &["FILE.toml, line 2", "`uavs.speed_mps`"],
    ),
    written(
        &["run", "FIEL.toml"],
        "seed = 1",
        &["FIEL.toml: no such file", "FILE.toml"],
    ),
    written(
        REPRODUCE,
        "name = \"mine\"\ntitle = ",
        &["FILE.toml, line 2, column 9"],
    ),
    written(
        REPRODUCE,
        "name = \"mine\"\ntitle = \"t\"\nmethod = [\"hfl\"]",
        &["FILE.toml, line 3", "no field `method`", "`methods`"],
    ),
    written(
        REPRODUCE,
        "name = \"mine\"\ntitle = \"t\"\nmethods = [\"hfl\"]\nseeds = \"five\"",
        &["FILE.toml, line 4", "`seeds` is \"five\"", "a whole number"],
    ),
    written(
        REPRODUCE,
        "name = \"mine\"\ntitle = \"t\"\nmethods = [\"hfll\"]",
        &["FILE.toml", "no method \"hfll\"", "did you mean \"hfl\"?"],
    ),
    written(
        REPRODUCE,
        "name = \"mine\"\ntitle = \"t\"\nmethods = [\"hfl\"]\n[scenario]\nuav.count = 3",
        &["FILE.toml, line 5", "no field `uav.count`", "`uavs.count`"],
    ),
    written(
        REPRODUCE,
        "name = \"mine\"\ntitle = \"t\"\nmethods = [\"hfl\"]\n[[axes]]\nname = \"speed\"\npoints = [{ label = \"a\", set = [\"uavs.sped_mps=3\"] }]",
        &[
            "FILE.toml",
            "`axes[0].points[0].set`",
            "`uavs.sped_mps=3`",
            "did you mean `uavs.speed_mps`?",
        ],
    ),
    written(
        REPRODUCE,
        "name = \"mine\"\ntitle = \"t\"\nmethods = [\"hfl\"]\n[[panels]]\ntitle = \"p\"\nx = \"rund\"\ny = \"accuracy\"",
        &[
            "FILE.toml, line 6",
            "`panels[0].x`",
            "did you mean \"round\"?",
        ],
    ),
    written(
        REPRODUCE,
        "name = \"mine\"\ntitle = \"t\"\nmethods = [\"hfl\"]\n[[panels]]\ntitle = \"p\"\nx = \"round\"\ny = \"acuracy\"",
        &[
            "FILE.toml, line 7",
            "`panels[0].y` is \"acuracy\"",
            "did you mean \"accuracy\"?",
        ],
    ),
    written(
        ALLOCATE,
        "{\"energy_weight\": \"half\"}",
        &["FILE.json", "`energy_weight` is \"half\"", "a number"],
    ),
    written(
        ALLOCATE,
        "{\"energy_wieght\": 0.5}",
        &["FILE.json", "no field `energy_wieght`", "`energy_weight`"],
    ),
    written(
        ALLOCATE,
        "{\"energy_weight\": 0.5}",
        &["FILE.json", "is missing"],
    ),
    written(
        ALLOCATE,
        "{\"energy_weight\": 0.5,}",
        &["FILE.json", "line 1"],
    ),
    written(ALLOCATE, "[1, 2]", &["FILE.json", "JSON object"]),
    written(
        DEPLOY,
        "{\"area_m\": 3}",
        &["FILE.json", "`area_m` is 3", "two numbers"],
    ),
    written(
        DEPLOY,
        "{\"area_m\": [9, 9], \"coverage_radius_m\": 5, \"speed_mps\": 5, \"move_power_w\": 5, \"devices_m\": [], \"uavs\": [{\"position_m\": [1, 2], \"batery_j\": 3}]}",
        &["FILE.json", "no field `uavs[0].batery_j`", "`battery_j`"],
    ),
    written(
        &["deploy", "FILE.json", "--method", "stay"],
        "{}",
        &["'stay' for '--method", "none"],
    ),
    written(
        &["deploy", "FILE.json", "--seed", "-1"],
        "{}",
        &["'-1' for '--seed", "a whole number from 0"],
    ),
];

/// Runs in a folder of its own, and gives the message.
fn message(arguments: &[&str], file: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    for name in ["FILE.toml", "FILE.json"] {
        if arguments.contains(&name) || arguments.contains(&"FIEL.toml") {
            fs::write(folder.path().join(name), file).unwrap();
        }
    }
    let before = names(folder.path());
    let output = Command::cargo_bin("aerofed")
        .unwrap()
        .current_dir(folder.path())
        .args(arguments)
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty(), "{arguments:?} printed a result");
    assert_eq!(
        names(folder.path()),
        before,
        "{arguments:?} wrote something"
    );
    message
}

fn names(folder: &Path) -> Vec<String> {
    let there = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<String> = there
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// What is wrong with a message; nothing: empty.
fn complaints(message: &str, told: &[&str]) -> Vec<String> {
    let mut wrong = Vec::new();
    if !message.starts_with("error: ") || message.matches("error: ").count() != 1 {
        wrong.push("is not one error".into());
    }
    let rust = RUST.iter().filter(|word| message.contains(**word));
    wrong.extend(rust.map(|word| format!("speaks Rust: {word}")));
    let missing = told.iter().filter(|part| !message.contains(**part));
    wrong.extend(missing.map(|part| format!("does not say {part}")));
    wrong
}

#[test]
fn every_mistake_has_a_message_that_helps() {
    let mut cases: Vec<(Vec<&str>, &str, &[&str])> = Vec::new();
    for mistake in COMMAND_LINE.iter().chain(FILES) {
        cases.push((mistake.arguments.to_vec(), mistake.file, mistake.told));
    }
    for (settings, told) in SETTINGS {
        let mut arguments = vec!["run", "--out", "out"];
        settings
            .iter()
            .for_each(|setting| arguments.extend(["--set", setting]));
        cases.push((arguments, "", told));
    }
    assert!(cases.len() >= 50);
    let mut failed = Vec::new();
    for (arguments, file, told) in cases {
        let message = message(&arguments, file);
        if std::env::var_os("AEROFED_SHOW_MESSAGES").is_some() {
            println!("aerofed {}\n{message}", arguments.join(" "));
        }
        let wrong = complaints(&message, told);
        if !wrong.is_empty() {
            failed.push(format!(
                "{arguments:?} {file:?}\n  {message}  {}",
                wrong.join("; ")
            ));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Runs in a folder of its own with success, and gives what went to stdout and stderr.
fn done(arguments: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::cargo_bin("aerofed")
        .unwrap()
        .current_dir(folder.path())
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {told}");
    (text(&output.stdout), told)
}

#[test]
fn implausible_values_are_warned_of() {
    let check = ["scenario", "check", "quickstart"];
    assert_eq!(done(&check).1, "");
    let odd = [
        "--set",
        "uavs.battery_j=70",
        "--set",
        "training.learning_rate=50",
    ];
    let (_, told) = done(&[&check[..], &odd].concat());
    let lines: Vec<&str> = told.lines().collect();
    // And with such a battery nobody would come back.
    assert_eq!(lines.len(), 3, "{told}");
    assert!(
        lines.iter().all(|line| line.starts_with("warning: ")),
        "{told}"
    );
    assert!(
        told.contains(
            "`uavs.battery_j` is 70, usual: 3000 to 1e8; did you mean Wh? 70 Wh are 252000 J"
        ),
        "{told}"
    );
    assert!(
        told.contains("`training.learning_rate` is 50, usual: 1e-5 to 1"),
        "{told}"
    );
}

#[test]
fn a_run_that_learned_nothing_says_so() {
    let run = |rate: &str| {
        let rate = format!("training.learning_rate={rate}");
        let mut arguments = vec!["run", "--method", "hfl", "--rounds", "3"];
        for setting in [
            "devices.count=20",
            "data.data_volume=400",
            "uavs.count=2",
            "model.name=cnn",
            &rate,
        ] {
            arguments.extend(["--set", setting]);
        }
        let told = done(&arguments).1;
        let is_warning = |line: &&str| line.starts_with("warning: ") && !line.contains("usual");
        told.lines()
            .filter(is_warning)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let told = run("50");
    assert!(
        told.contains("diverged") || told.contains("nothing was learned"),
        "{told}"
    );
    assert!(told.contains("`training.learning_rate` is 50"), "{told}");
    assert_eq!(run("0.1"), "");
}

#[test]
fn a_named_scenario_is_printed_in_full_with_its_comments() {
    let (defaults, _) = done(&["scenario", "defaults"]);
    assert_eq!(defaults.trim_end(), aerofed::scenario::DEFAULTS.trim_end());
    for (name, text) in aerofed::scenario::BUILT_IN {
        let (printed, _) = done(&["scenario", "defaults", name]);
        let read = |text: &str| aerofed::Scenario::parse(text, &[] as &[&str]).unwrap();
        assert_eq!(read(&printed), read(text), "{name}");
        assert!(printed.matches("# ").count() > 50, "{name}");
    }
}
