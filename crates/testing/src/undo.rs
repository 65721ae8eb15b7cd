//! What a test or bench made outside of its process, taken away however that ends: by
//! the drop of a guard, or, where a signal ends the process before that, by a shell that
//! then finds its input closed.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

/// Keeps commands by number, runs one when it is told to, and those that are left, last
/// first, when nobody can tell it any more. `again` repeats a command for a second: a
/// program that is on its way out keeps a mount or a control group busy for a moment.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
again() { n=0; until "$@"; do n=$((n + 1)); [ $n -lt 100 ] || return 1; sleep 0.01; done; }
all=
while read -r verb number command; do
    case $verb in
        keep) eval "c$number=\$command"; all="$number $all" ;;
        drop) unset "c$number" ;;
        run) eval "command=\$c$number"; unset "c$number"; eval "$command" </dev/null >/dev/null 2>&1; echo ;;
    esac
done
for number in $all; do eval "command=\${c$number-}"; eval "$command" >/dev/null 2>&1; done
"#;

struct Shell {
    process: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// How many commands it was given.
    given: u64,
}

impl Shell {
    /// Started by the calling thread, whose mounts it sees. It is in a process group of
    /// its own: Ctrl-C does not reach it.
    fn start() -> std::io::Result<Shell> {
        let mut process = Command::new("sh")
            .args(["-c", SCRIPT])
            .env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let commands = process.stdin.take();
        let answers = process.stdout.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
        Ok(Shell { process, commands, answers: BufReader::new(answers), given: 0 })
    }

    fn say(&mut self, line: &str) -> std::io::Result<()> {
        let commands = self.commands.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
        writeln!(commands, "{line}")
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // It ends when its input ends.
        drop(self.commands.take());
        let _ = self.process.wait();
    }
}

/// Where commands are kept that undo something.
#[derive(Clone)]
pub struct Cleaner(Arc<Mutex<Shell>>);

impl Cleaner {
    /// One that sees the mounts of the calling thread.
    ///
    /// # Errors
    /// If no shell can be started.
    pub fn start() -> Result<Cleaner, String> {
        let shell = Shell::start().map_err(|error| format!("sh: {error}"))?;
        Ok(Cleaner(Arc::new(Mutex::new(shell))))
    }

    /// Run `command`, one line for sh(1), when what this returns is dropped or this
    /// process ends.
    ///
    /// # Errors
    /// If the shell has ended.
    pub fn undo(&self, command: &str) -> Result<Undo, String> {
        Ok(Undo { cleaner: self.clone(), number: self.keep(command)?, verb: "run" })
    }

    /// Run `command` when this and all copies of it are dropped, or this process ends.
    ///
    /// # Errors
    /// If the shell has ended.
    pub fn at_end(&self, command: &str) -> Result<(), String> {
        self.keep(command).map(drop)
    }

    fn keep(&self, command: &str) -> Result<u64, String> {
        assert!(!command.contains('\n'), "one line: {command:?}");
        let mut shell = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shell.given += 1;
        let number = shell.given;
        let kept = shell.say(&format!("keep {number} {command}"));
        kept.map_err(|error| format!("undo later by {command:?}: {error}"))?;
        Ok(number)
    }
}

thread_local! {
    static CLEANER: RefCell<Option<Cleaner>> = const { RefCell::new(None) };
}

/// A command that is run when this is dropped, or when the process ends before that.
pub struct Undo {
    cleaner: Cleaner,
    number: u64,
    verb: &'static str,
}

impl Undo {
    /// Undo by `command`, one line for sh(1), in the mounts that the calling thread sees.
    ///
    /// # Panics
    /// If no shell runs: what a test makes would be left behind.
    pub fn by(command: &str) -> Undo {
        CLEANER.with_borrow_mut(|cleaner| {
            if cleaner.is_none() {
                *cleaner = Some(Cleaner::start().unwrap());
            }
            cleaner.as_ref().unwrap().undo(command).unwrap()
        })
    }

    /// Kill this process, unless it has ended and this is cancelled.
    pub fn kill(process: &Child) -> Undo {
        Undo::by(&format!("kill -s KILL {}", process.id()))
    }

    /// As [`Undo::kill`], with all that it started: the process leads a group.
    pub fn kill_group(leader: &Child) -> Undo {
        // dash takes no `--` after `-KILL`.
        Undo::by(&format!("kill -s KILL -- -{}", leader.id()))
    }

    /// There is nothing to undo any more.
    pub fn cancel(mut self) {
        self.verb = "drop";
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        let mut shell = self.cleaner.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = shell.say(&format!("{} {}", self.verb, self.number));
        if answer.is_ok() && self.verb == "run" {
            // An empty line, when it is done; nothing, if the shell is gone.
            let _ = shell.answers.read_line(&mut String::new());
        }
    }
}

/// A path as one word of a shell.
pub fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Folder;
    use std::time::{Duration, Instant};

    fn append(what: &str, to: &Path) -> String {
        format!("printf {what}, >> {}", quoted(to))
    }

    #[test]
    fn what_is_dropped_is_undone_at_once_and_what_is_cancelled_never() {
        let folder = Folder::temporary("it's undone");
        let file = folder.join("order");
        let first = Undo::by(&append("first", &file));
        let second = Undo::by(&append("second", &file));
        Undo::by(&append("third", &file)).cancel();
        assert!(!file.exists());
        drop(first);
        assert_eq!(folder.read("order"), "first,");
        drop(second);
        assert_eq!(folder.read("order"), "first,second,");
    }

    #[test]
    fn a_group_is_killed_with_all_that_its_leader_started() {
        let mut leader = Command::new("sh")
            .args(["-c", "sleep 1000 & echo started; wait"])
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let mut output = BufReader::new(leader.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        drop(Undo::kill_group(&leader));
        // The pipe has its end when the last of them has ended.
        assert_eq!(output.read_line(&mut line).unwrap(), 0);
        leader.wait().unwrap();
    }

    #[test]
    fn what_is_left_is_undone_when_the_process_ends_the_last_first() {
        let folder = Folder::temporary("left");
        let file = folder.join("order");
        let cleaner = Cleaner::start().unwrap();
        let left = ["first", "second"].map(|word| cleaner.undo(&append(word, &file)).unwrap());
        // As the kernel does for a process that was killed.
        drop(cleaner.0.lock().unwrap().commands.take());
        let began = Instant::now();
        let order = || std::fs::read_to_string(&file).unwrap_or_default();
        while order() != "second,first," {
            assert!(began.elapsed() < Duration::from_secs(60), "{}", order());
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(left);
        assert_eq!(folder.read("order"), "second,first,", "nothing twice");
    }
}
