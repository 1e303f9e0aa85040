//! Slurm: job arrays.

use std::process::Command;

use anyhow::Result;

use super::{Array, Engine, asked};

pub(super) struct Slurm;

impl Engine for Slurm {
    fn check(&self) -> Result<()> {
        asked("slurm", Command::new("sbatch").arg("--version")).map(|_| ())
    }

    fn submit(&self, array: &Array) -> Result<String> {
        let said = asked("slurm", &mut submission(array))?;
        // With several clusters, the cluster stands behind the number.
        Ok(said.trim().split(';').next().unwrap_or_default().into())
    }

    fn unfinished(&self, name: &str, job: &str) -> Result<usize> {
        // By name: a number that is no longer known would be an error. A line for each task.
        let mut command = Command::new("squeue");
        command.args([
            "--me",
            "--noheader",
            "--array",
            "--format=%F",
            "--name",
            name,
        ]);
        Ok(of_job(&asked("slurm", &mut command)?, job))
    }

    fn cancel_words(&self, job: &str) -> String {
        format!("scancel {job}")
    }
}

fn submission(array: &Array) -> Command {
    let log = |ending: &str| format!("{}/%a.{ending}", array.logs.display());
    let mut command = Command::new("sbatch");
    command
        .args(["--parsable", "--requeue"])
        .arg(format!("--array={}", array.tasks))
        .arg(format!("--job-name={}", array.name))
        .arg(format!("--cpus-per-task={}", array.cores))
        .arg(format!("--output={}", log("out")))
        .arg(format!("--error={}", log("err")))
        .args(&array.options)
        .arg(&array.script);
    command
}

/// How many lines are of a job.
fn of_job(lines: &str, job: &str) -> usize {
    lines.lines().filter(|line| line.trim() == job).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_submitted_as_sbatch_wants_it() {
        let array = Array {
            name: "aerofed-1".into(),
            script: "/r/engine/task.sh".into(),
            logs: "/r/engine/logs".into(),
            tasks: "1-3,7".into(),
            cores: 2,
            options: vec!["--partition=long".into()],
        };
        let command = submission(&array);
        let words: Vec<&str> = command.get_args().map(|w| w.to_str().unwrap()).collect();
        assert_eq!(
            words.join(" "),
            "--parsable --requeue --array=1-3,7 --job-name=aerofed-1 --cpus-per-task=2 --output=/r/engine/logs/%a.out \
             --error=/r/engine/logs/%a.err --partition=long /r/engine/task.sh"
        );
    }

    #[test]
    fn tasks_of_the_job_are_counted() {
        assert_eq!(of_job("17\n17\n3\n", "17"), 2);
        assert_eq!(of_job("", "17"), 0);
    }
}
