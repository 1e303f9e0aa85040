//! Mistakes in settings, and what is said to each.

/// With `--set`.
pub(super) const SETTINGS: &[(&[&str], &[&str])] = &[
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
        &["did you mean `mobility.speed_mps` or `uavs.speed_mps`?"],
    ),
    (
        &["devices.owner=me"],
        &["no field `devices.owner`", "count, positions, cpu_hz"],
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
        &["channel.kind=freespace"],
        &[
            "`channel.kind` is \"freespace\"",
            "did you mean \"free_space\"?",
        ],
    ),
    (
        &["channel.kind=line_of_sight", "channel.environment=rural"],
        &["`channel.environment` is \"rural\"", "suburban, urban"],
    ),
    (
        &["channel.kind=tr36777", "channel.scenario=uma"],
        &["`channel.scenario` is \"uma\"", "rma_av, uma_av, umi_av"],
    ),
    (
        &["channel.environment=urban"],
        &["`channel.environment` exists for kind = \"line_of_sight\""],
    ),
    (
        &["radio.carrier_hz=5.8e9"],
        &["`radio.carrier_hz` is 5800000000", "power_law"],
    ),
    (
        &["radio.rician_k_db=6"],
        &["`radio.rician_k_db` is 6", "radio.fading = \"rician\""],
    ),
    (
        &["radio.decorrelation_m=20"],
        &["`radio.decorrelation_m` is 20", "radio.shadowing_db"],
    ),
    (
        &["radio.retries=3"],
        &["`radio.retries` is 3", "radio.least_snr_db"],
    ),
    (
        &["radio.fading=nakagami"],
        &["`radio.fading` is \"nakagami\"", "none, rayleigh, rician"],
    ),
    (
        &["radio.snr_db=3"],
        &["no field `radio.snr_db`", "`radio.least_snr_db`"],
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
            "a number, or two numbers [min, max]",
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
    (
        &["uavs.base_m={lat=47.4, lon=8.5}"],
        &[
            "`uavs.base_m` is { lat = 47.4, lon = 8.5 }",
            "`area.origin`",
        ],
    ),
    (
        &["area.origin=[8.5]"],
        &["`area.origin` is [8.5]", "[lat, lon]"],
    ),
    (
        &["area.no_fly=[{name=\"castle\", polygon=[[1500, 1500], [2500, 1500], [2000, 2500]]}]"],
        &[
            "`uavs.base_m` is [2000, 2000]",
            "outside of `area.no_fly` \"castle\"",
        ],
    ),
    (
        &["area.no_fly=[{corners=[[9e3, 9e3], [11e3, 9e3], [10e3, 11e3]]}]"],
        &["no field `area.no_fly[0].corners`", "polygon"],
    ),
    (
        &["devices.positions=villages.csv"],
        &["`devices.positions` is \"villages.csv\"", "No such file"],
    ),
    (&["mobility=static"], &["`mobility` is \"static\"", "kind"]),
    (
        &["mobility.speed_mps=3"],
        &[
            "`mobility.speed_mps` exists for kind = \"random_waypoint\" or \"manhattan\" or \"group\"",
        ],
    ),
    (
        &["mobility.kind=random_waypoint", "mobility.speed_mps=[0, 5]"],
        &["`mobility.speed_mps` is [0, 5]", "0.001 to 1000"],
    ),
    (
        &["mobility.kind=manhattan", "mobility.block_m=1e6"],
        &["`mobility.block_m` is 1000000", "allowed: 1 to "],
    ),
    (
        &["mobility.kind=group", "mobility.groups=1000"],
        &["`mobility.groups` is 1000", "1 to "],
    ),
    (
        &["mobility.kind=trace"],
        &["`mobility.file` is \"\"", "a CSV or Parquet file"],
    ),
    (
        &["mobility.kind=trace", "mobility.file=/no/tracks.csv"],
        &["`mobility.file` is \"/no/tracks.csv\"", "No such file"],
    ),
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
    (
        &["codec.kind=int4"],
        &["`codec.kind` is \"int4\"", "did you mean \"int8\"?"],
    ),
    (
        &["codec.fraction=0.1"],
        &["`codec.fraction` exists for kind = \"top_k\"; this is \"f32\""],
    ),
    (
        &["codec.kind=top_k", "codec.fraction=0"],
        &["`codec.fraction` is 0", "0.000001 to 1"],
    ),
    (
        &["codec.kind=int8", "model.bits_per_parameter=16"],
        &["`model.bits_per_parameter` is 16", "\"int8\""],
    ),
    (&["seed"], &["`--set seed`", "PATH=VALUE"]),
    (
        &["uavs.speed_mps=max_range"],
        &[
            "`uavs.speed_mps` is \"max_range\"",
            "\"rotary_wing\" has a best one",
        ],
    ),
    (
        &["uavs.speed_mps=fast"],
        &["`uavs.speed_mps` is \"fast\"", "\"max_range\""],
    ),
    (
        &["flight.wind_mps=[19, 0]"],
        &["`flight.wind_mps` is [19, 0], 19.0 m/s", "up to 18.0 m/s"],
    ),
    (
        &["flight.power.kind=rotary_wing", "uavs.hover_power_w=120"],
        &["`uavs.hover_power_w` is 120", "\"rotary_wing\" computes it"],
    ),
    (
        &["flight.power.kind=rotary_wing", "flight.power.weight_n=0"],
        &["`flight.power.weight_n` is 0, allowed: 0.1 to"],
    ),
    (
        &["uavs.each=[{uav = 5, battery_j = 1e5}]"],
        &["`uavs.each[0].uav` is 5, allowed: 0 to 4"],
    ),
    (
        &["uavs.each=[{uav = 1}, {uav = 1}]"],
        &["`uavs.each[1].uav` is 1, allowed: each UAV once"],
    ),
    (
        &["uavs.each=[{uav = 1, altitude_m = -3}]"],
        &["`uavs.each[0].altitude_m` is -3, allowed: 1 to"],
    ),
    (
        &["uavs.each=[{uav = 1, batery_j = 3}]"],
        &[
            "no field `uavs.each[0].batery_j`",
            "`uavs.each[0].battery_j`",
        ],
    ),
    (
        &["solar.sunset_h=5"],
        &["`solar.sunset_h` is 5, allowed: after solar.sunrise_h, 6"],
    ),
    (
        &["battery.usable=0"],
        &["`battery.usable` is 0, allowed: 0.01 to 1"],
    ),
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
