//! Takes away what was made for the bench, however the bench ends.

use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};

/// A shell that reads commands and runs them, last first, when the bench has
/// ended or was killed. It is in a session of its own: Ctrl-C does not reach it.
pub(crate) struct Cleaner {
    shell: Child,
    commands: Option<ChildStdin>,
}

const SCRIPT: &str = "all=; while read -r line; do all=\"$line\n$all\"; done; eval \"$all\"";

impl Cleaner {
    pub(crate) fn start() -> Result<Cleaner, String> {
        let mut shell = Command::new("setsid")
            .args(["sh", "-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("setsid: {error}"))?;
        let commands = shell.stdin.take();
        Ok(Cleaner { shell, commands })
    }

    /// Run `command` at the end, before those that were there already.
    pub(crate) fn add(&mut self, command: &str) -> Result<(), String> {
        let commands = self.commands.as_mut().ok_or("the shell that cleans up has ended")?;
        writeln!(commands, "{command}").map_err(|error| format!("clean up later: {error}"))
    }
}

impl Drop for Cleaner {
    fn drop(&mut self) {
        // It begins when its input ends.
        drop(self.commands.take());
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;

    #[test]
    fn the_last_command_runs_first_when_the_bench_has_ended() {
        let folder = Folder::temporary("cleaner");
        let file = folder.join("order");
        let mut cleaner = Cleaner::start().unwrap();
        cleaner.add(&format!("printf first >> {}", file.display())).unwrap();
        cleaner.add(&format!("printf second, >> {}", file.display())).unwrap();
        assert!(!file.exists());
        drop(cleaner);
        assert_eq!(folder.read("order"), "second,first");
    }
}
