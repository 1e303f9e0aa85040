//! A folder of its own for a test, and the command run in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Carries as much as possible from round to round: warm solvers, batteries, UAVs that left and moved.
const SCENARIO: &str = r#"
name = "small"
method = "hfl"
allocation = { kind = "p1" }
faults = [
    { kind = "leak", uav = 1, from = 1, until = 9, power_w = 300 },
    { kind = "loss", uav = 0, round = 3, moment = "edge" },
    { kind = "device_crash", device = 4, from = 2, until = 4 },
]
[devices]
count = 30
[data]
data_volume = 600
[model]
name = "logistic"
[redeploy]
method = "two_stage"
[uavs]
base_m = [0, 0]
battery_j = 172000
[training]
max_edge_rounds = 3
[stop]
max_rounds = 12
"#;

pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("small.toml"), SCENARIO).unwrap();
        Self { dir }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("aerofed"));
        command
            .current_dir(self.dir.path())
            .args(["run", "--quiet", "--threads", "2"])
            .args(args)
            .stdout(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).stderr(Stdio::piped()).output().unwrap()
    }

    pub(crate) fn begin(&self, out: &str, more: &[&str]) -> Child {
        self.command(&[&["small.toml", "--out", out], more].concat())
            .spawn()
            .unwrap()
    }

    /// Continues a run in the background.
    pub(crate) fn begin_resumed(&self, out: &str) -> Child {
        let mut command = self.command(&["--resume", out]);
        command.stderr(Stdio::null()).spawn().unwrap()
    }

    /// Starts a run and waits until so many rounds are in its table.
    pub(crate) fn begin_and_wait(&self, out: &str, more: &[&str], rounds: usize) -> Child {
        let child = self.begin(out, more);
        self.wait_for_rounds(out, rounds);
        child
    }

    /// Waits until an unfinished run has so many rounds in its table.
    pub(crate) fn wait_for_rounds(&self, out: &str, rounds: usize) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.rounds_so_far(out) < rounds {
            assert!(Instant::now() < deadline, "no round {rounds} of {out}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Rounds in the table of an unfinished run.
    pub(crate) fn rounds_so_far(&self, out: &str) -> usize {
        let table = self.path(&format!("{out}.partial/rounds.csv"));
        let lines = fs::read_to_string(table).map_or(0, |text| text.lines().count());
        lines.saturating_sub(1)
    }

    /// A run that was killed after some rounds, with the checkpoints of rounds 2 and 4 or later ones.
    pub(crate) fn broken_off(&self, out: &str) {
        let mut child =
            self.begin_and_wait(out, &["--checkpoint-every", "2", "--rounds", "1000000"], 5);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

pub(crate) fn told(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Every file of a run; of the summary all but the real time.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut files: BTreeMap<String, Vec<u8>> = entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect();
    let summary = files.get_mut("summary.json").unwrap();
    let mut json: serde_json::Value = serde_json::from_slice(summary).unwrap();
    json["wall_clock_s"] = 0.into();
    *summary = json.to_string().into_bytes();
    files
}

pub(crate) fn checkpoints(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|ending| ending == "bin"))
        .collect();
    found.sort();
    found
}
