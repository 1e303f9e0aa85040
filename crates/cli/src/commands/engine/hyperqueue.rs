//! HyperQueue: task arrays over workers that come and go; the tasks of a worker that is lost go to another.

use std::process::Command;

use anyhow::Result;
use serde_json::Value;

use super::{Array, Engine, asked};

pub(super) struct HyperQueue;

impl Engine for HyperQueue {
    fn check(&self) -> Result<()> {
        asked("hyperqueue", Command::new("hq").arg("--version")).map(|_| ())
    }

    fn submit(&self, array: &Array) -> Result<String> {
        Ok(asked("hyperqueue", &mut submission(array))?.trim().into())
    }

    fn unfinished(&self, name: &str, job: &str) -> Result<usize> {
        let mut command = Command::new("hq");
        command.args(["--output-mode=json", "job", "info", job]);
        Ok(unfinished(&asked("hyperqueue", &mut command)?, name))
    }

    fn cancel_words(&self, job: &str) -> String {
        format!("hq job cancel {job}")
    }
}

fn submission(array: &Array) -> Command {
    let log = |ending: &str| format!("{}/%{{TASK_ID}}.{ending}", array.logs.display());
    let mut command = Command::new("hq");
    command
        .args(["--output-mode=quiet", "submit", "--array", &array.tasks])
        .args(["--name", &array.name, "--cpus", &array.cores.to_string()])
        .args(["--stdout", &log("out"), "--stderr", &log("err")])
        .args(&array.options)
        .args(["--", "sh"])
        .arg(&array.script);
    command
}

/// Tasks that wait or run, of the job of that name.
fn unfinished(json: &str, name: &str) -> usize {
    let told: Value = serde_json::from_str(json).unwrap_or_default();
    let info = &told[0]["info"];
    if info["name"] != name {
        return 0;
    }
    let count = |state: &str| info["task_stats"][state].as_u64().unwrap_or(0);
    (count("waiting") + count("running")) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_submitted_as_hq_wants_it() {
        let array = Array {
            name: "aerofed-1".into(),
            script: "/r/engine/task.sh".into(),
            logs: "/r/engine/logs".into(),
            tasks: "1-3,7".into(),
            cores: 2,
            options: vec!["--time-limit=1h".into()],
        };
        let command = submission(&array);
        let words: Vec<&str> = command.get_args().map(|w| w.to_str().unwrap()).collect();
        assert_eq!(
            words.join(" "),
            "--output-mode=quiet submit --array 1-3,7 --name aerofed-1 --cpus 2 --stdout /r/engine/logs/%{TASK_ID}.out \
             --stderr /r/engine/logs/%{TASK_ID}.err --time-limit=1h -- sh /r/engine/task.sh"
        );
    }

    #[test]
    fn what_a_server_tells_is_counted() {
        let told = r#"[{"info": {"id": 1, "name": "aerofed-1", "task_count": 9,
            "task_stats": {"canceled": 0, "failed": 1, "finished": 3, "running": 2, "waiting": 3}}}]"#;
        assert_eq!(unfinished(told, "aerofed-1"), 5);
        assert_eq!(unfinished(told, "of somebody else"), 0);
        assert_eq!(unfinished("[]", "aerofed-1"), 0);
    }
}
