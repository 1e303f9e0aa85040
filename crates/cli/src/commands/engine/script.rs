//! The script of a task: this command line again, with the task's part of the runs.

use std::ffi::OsString;
use std::path::Path;

use aerofed::Error;
use anyhow::Result;

use super::absolute;
use crate::console::BadInput;

/// The script for this process's own command line.
pub(super) fn text(out: &Path, cores: u16, tasks: usize) -> Result<String> {
    let program = std::env::current_exe().map_err(Error::io("find", Path::new("aerofed")))?;
    let here = std::env::current_dir().map_err(Error::io("find", Path::new(".")))?;
    let mut words = vec![program.into_os_string()];
    words.extend(std::env::args_os().skip(1));
    let out = absolute(out)?;
    words.extend(["--engine", "local", "--out"].map(OsString::from));
    words.push(out.into_os_string());
    words.extend(["--jobs".into(), cores.to_string().into()]);
    words.push("--runs-only".into());
    of_words(here.as_os_str().to_owned(), words, tasks)
}

/// What is given twice, like `--out`, counts as given last.
fn of_words(here: OsString, words: Vec<OsString>, tasks: usize) -> Result<String> {
    let quoted: Result<Vec<String>> = words.into_iter().map(in_quotes).collect();
    let (here, command) = (in_quotes(here)?, quoted?.join(" "));
    Ok(format!(
        "#!/bin/sh\n\
         # A task of an array: a part of the runs. Written by aerofed {}.\n\
         cd {here} || exit 1\n\
         exec {command} --shard \"${{HQ_TASK_ID:-$SLURM_ARRAY_TASK_ID}}/{tasks}\"\n",
        aerofed::VERSION
    ))
}

/// A word as a shell takes it, whatever stands in it.
fn in_quotes(word: OsString) -> Result<String> {
    let word = word.into_string().map_err(|word| {
        let shown = word.to_string_lossy().into_owned();
        BadInput(format!("{shown}: an engine takes text alone, in UTF-8"))
    })?;
    Ok(format!("'{}'", word.replace('\'', "'\\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_the_command_line_with_its_part() {
        let words = ["/opt/aero fed", "sweep", "--set", "name='a'", "--out", "/x"];
        let words = words.map(OsString::from).to_vec();
        let text = of_words("/home/me".into(), words, 8).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "#!/bin/sh");
        assert_eq!(lines[2], "cd '/home/me' || exit 1");
        let expected = "exec '/opt/aero fed' 'sweep' '--set' 'name='\\''a'\\''' '--out' '/x' \
                        --shard \"${HQ_TASK_ID:-$SLURM_ARRAY_TASK_ID}/8\"";
        assert_eq!(lines[3], expected);
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_it_as_it_was_typed() {
        let words = ["printf", "%s\\n", "a'b\"c $d", "--out"];
        let words = words.map(OsString::from).to_vec();
        let text = of_words("/".into(), words, 4).unwrap();
        for variable in ["HQ_TASK_ID", "SLURM_ARRAY_TASK_ID"] {
            let output = std::process::Command::new("sh")
                .args(["-c", &text])
                .env(variable, "3")
                .output()
                .unwrap();
            let said = String::from_utf8(output.stdout).unwrap();
            assert_eq!(said, "a'b\"c $d\n--out\n--shard\n3/4\n");
        }
    }
}
