//! Commands before and after a job: `exec_prerun`, `exec_postrun`.

use iosonde_sys::guard;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// When a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before the job.
    Before,
    /// After the job.
    After,
}

impl When {
    /// The file that receives what the command prints: `<job>.prerun.txt`.
    pub fn file(self, job: &str) -> PathBuf {
        let word = match self {
            When::Before => "prerun",
            When::After => "postrun",
        };
        PathBuf::from(format!("{job}.{word}.txt"))
    }
}

/// Run a command by the shell, as the calling thread's user and on its
/// processors. What it prints, and complains of, goes to a file in the working
/// directory; it reads nothing. Until it ends `stop` is asked again and again,
/// and ends it.
///
/// # Errors
/// If the file or the shell is not to be had, or if the command fails: in
/// words.
pub fn run(job: &str, when: When, command: &str, stop: &dyn Fn() -> bool) -> Result<(), String> {
    let path = when.file(job);
    let out = guard::create_output(&path).map_err(|refusal| format!("cannot {refusal}"))?;
    let complaints = out.try_clone();
    let complaints =
        complaints.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command).stdin(Stdio::null()).stdout(out).stderr(complaints);
    let child = shell.spawn().map_err(|error| format!("cannot run /bin/sh: {error}"))?;
    let status = end_of(child, stop).map_err(|error| format!("cannot wait for it: {error}"))?;
    match status {
        Some(status) if !status.success() => Err(format!("{status}; see {}", path.display())),
        _ => Ok(()),
    }
}

/// How it ended; `None` when it was stopped.
fn end_of(mut child: Child, stop: &dyn Fn() -> bool) -> io::Result<Option<ExitStatus>> {
    const STEP: Duration = Duration::from_millis(5);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if stop() {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(STEP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_writes_to_the_file_of_its_job() {
        assert_eq!(When::Before.file("a"), PathBuf::from("a.prerun.txt"));
        assert_eq!(When::After.file("a b"), PathBuf::from("a b.postrun.txt"));
    }

    #[test]
    fn what_is_printed_is_kept_and_failure_is_said() {
        let job = std::env::temp_dir().join(format!("iosonde-hook-{}", std::process::id()));
        let job = job.to_str().unwrap();
        run(job, When::Before, "echo one; echo two >&2", &|| false).unwrap();
        let file = When::Before.file(job);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\n");
        let failed = run(job, When::Before, "exit 3", &|| false).unwrap_err();
        assert!(failed.starts_with("exit status: 3; see "), "{failed}");
        run(job, When::Before, "sleep 1000", &|| true).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert!(run("/nowhere/at/all", When::After, "true", &|| false).is_err());
    }
}
