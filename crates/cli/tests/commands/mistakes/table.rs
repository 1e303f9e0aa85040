//! The mistakes, and what is said to each.

/// A mistake: the words after `aerofed`, the file named `FILE` in them, and what the message must contain.
pub(super) struct Mistake {
    pub(super) arguments: &'static [&'static str],
    pub(super) file: &'static str,
    pub(super) told: &'static [&'static str],
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
pub(super) const COMMAND_LINE: &[Mistake] = &[
    typed(&["comapre"], &["comapre", "'compare'"]),
    typed(&["run", "papr"], &["papr", "did you mean `paper`?"]),
    typed(&["run", "Paper"], &["Paper", "did you mean `paper`?"]),
    typed(&["run", "quick"], &["quick", "did you mean `quickstart`?"]),
    typed(
        &["scenario", "show", "papr"],
        &["no scenario \"papr\"", "did you mean \"paper\"?"],
    ),
    typed(
        &["sweep", "papr", "--grid", "uavs.count=3"],
        &["papr", "did you mean `paper`?"],
    ),
    typed(&["sweep"], &["nothing is varied", "--grid", "--random"]),
    typed(
        &["sweep", "--grid", "uavs.cuont=3,5"],
        &["`--grid uavs.cuont=3`", "did you mean `uavs.count`?"],
    ),
    typed(
        &["sweep", "--grid", "uavs.count"],
        &["`--grid uavs.count`", "PATH=VALUE,VALUE,..."],
    ),
    typed(
        &["sweep", "--grid", "uavs.count=3,many"],
        &["`--grid uavs.count=many`", "a whole number"],
    ),
    typed(
        &["sweep", "--grid", "uavs.count=3,0"],
        &["`uavs.count` is 0", "allowed: "],
    ),
    typed(
        &["sweep", "--grid", "uavs.count=3,3"],
        &["3 stands there twice"],
    ),
    typed(
        &["sweep", "--grid", "seed=1,2"],
        &["`--grid seed`", "--seeds and --first-seed"],
    ),
    typed(
        &["sweep", "--random", "uavs.speed_mps=10..30"],
        &["`--random` needs --samples"],
    ),
    typed(
        &["sweep", "--grid", "uavs.count=3", "--samples", "5"],
        &["`--samples 5` has no effect"],
    ),
    typed(
        &[
            "sweep",
            "--random",
            "uavs.sped_mps=10..30",
            "--samples",
            "5",
        ],
        &["`--random uavs.sped_mps=", "did you mean `uavs.speed_mps`?"],
    ),
    typed(
        &[
            "sweep",
            "--random",
            "uavs.speed_mps=30..10",
            "--samples",
            "5",
        ],
        &["`--random uavs.speed_mps=30..10`", "below the upper one"],
    ),
    typed(
        &[
            "sweep",
            "--random",
            "uavs.speed_mps=0..10,log",
            "--samples",
            "5",
        ],
        &["allowed with `log`: ends above 0"],
    ),
    typed(
        &[
            "sweep",
            "--random",
            "uavs.speed_mps=10-30",
            "--samples",
            "5",
        ],
        &["PATH=LOW..HIGH"],
    ),
    typed(
        &["sweep", "--grid", "uavs.count=3", "--methods", "cehfd"],
        &["no method \"cehfd\"", "did you mean \"cehfed\"?"],
    ),
    typed(
        &["sweep", "--grid", "uavs.count=3", "--set", "uavs.count=4"],
        &["`--set uavs.count=4` has no effect"],
    ),
    typed(
        &["sweep", "--grid", "uavs.count=3", "--shard", "5/4"],
        &["'5/4' for '--shard <I/N>'", "I from 1 to N"],
    ),
    typed(
        &["sweep", "--grid", "uavs.count=3", "--engine", "hyperque"],
        &["hyperque", "hyperqueue"],
    ),
    typed(
        &["sweep", "--grid", "selection.threshold=0.3,0.5"],
        &["`selection.threshold` is 0.3", "no method here reads it"],
    ),
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
    // What bash makes of --set faults=[{kind="loss",uav=0}].
    typed(
        &["run", "--set", "faults=[kind=loss]", "faults=[uav=0]"],
        &["faults=[uav=0]", "in quotes, or the shell divides it"],
    ),
    typed(
        &[
            "run",
            "paper",
            "--set",
            "faults=[kind=loss]",
            "faults=[uav=0]",
        ],
        &["faults=[uav=0]", "in quotes, or the shell divides it"],
    ),
    typed(
        &["compare", "seed=3", "--methods", "hfl", "--seeds", "1"],
        &["seed=3", "behind --set"],
    ),
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
        &["compare", "--methods", "hfl", "--rounds", "x"],
        &["--rounds", "'x'", "allowed: a whole number from 1"],
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

/// In files.
pub(super) const FILES: &[Mistake] = &[
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
        DEPLOY,
        "{\"area_m\": [9, 9], \"coverage_radius_m\": 5, \"speed_mps\": 5, \"move_power_w\": 5, \"devices_m\": [], \"uavs\": [{\"position_m\": [1, 1], \"battery_j\": 3}], \"no_fly\": [[[0, 0], [9, 0], [0, 9]]]}",
        &["FILE.json", "uavs[0].position_m", "no_fly"],
    ),
    written(
        DEPLOY,
        "{\"area_m\": [9, 9], \"coverage_radius_m\": 5, \"speed_mps\": 5, \"move_power_w\": 5, \"devices_m\": [], \"uavs\": [{\"position_m\": [1, 1], \"battery_j\": 3}], \"no_fly\": [[[0, 0], [9, 0]]]}",
        &["FILE.json", "no_fly[0]", "three corners"],
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
