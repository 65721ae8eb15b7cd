//! Running iosonde with a limit of time.

use iosonde_testing::Undo;
use std::fmt;
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// No job of the bench takes so long, also where other programs keep all
/// processors busy; one that does hangs.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// The program, and where it is started.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// iosonde.
    pub path: &'a Path,
    /// Its current directory, where its output is kept meanwhile.
    pub directory: &'a Path,
}

/// How it ended.
#[derive(Clone, Debug)]
pub struct ProgramEnd {
    /// The command line.
    pub line: String,
    /// The exit code, if no signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub killed_by: Option<i32>,
    /// How long it ran.
    pub took: Duration,
    /// It ran for longer than any job may, and was killed.
    pub hung: bool,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl fmt::Display for ProgramEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = |text: &str| text.lines().take(30).collect::<Vec<_>>().join("\n");
        let (code, signal) = (self.code, self.killed_by);
        let (line, seconds) = (&self.line, self.took.as_secs_f64());
        let (stdout, stderr) = (self.stdout.len(), head(&self.stderr));
        write!(
            f,
            "{line}\nexit {code:?} signal {signal:?} after {seconds:.3} s, {stdout} bytes of \
             output\n{stderr}"
        )
    }
}

impl Program<'_> {
    /// Run it to its end.
    pub fn run(&self, arguments: &[String]) -> ProgramEnd {
        self.run_under(&[], arguments, |_, _| ())
    }

    /// Run it as the command of another program; `meanwhile` is called again
    /// and again with its process and the time since its start.
    pub fn run_under(
        &self,
        before: &[String],
        arguments: &[String],
        mut meanwhile: impl FnMut(&Child, Duration),
    ) -> ProgramEnd {
        let path = self.path.display().to_string();
        let words: Vec<&String> = before.iter().chain([&path]).chain(arguments).collect();
        let line = words.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(" ");
        // Into files: a pipe that nobody reads would hold the program up.
        let output = |name: &str| File::create(self.directory.join(name));
        let started = output("stdout").and_then(|stdout| {
            // No signal is ignored, also where a script runs this in the background.
            Command::new("env")
                .arg("--default-signal")
                .args(&words)
                .current_dir(self.directory)
                .stdin(Stdio::null())
                .stdout(stdout)
                .stderr(output("stderr")?)
                .process_group(0)
                .spawn()
        });
        let mut child = match started {
            Ok(child) => child,
            Err(error) => return could_not_start(line, &error.to_string()),
        };
        let kill = Undo::kill_group(&child);
        let began = Instant::now();
        let (status, hung) = loop {
            if let Ok(Some(status)) = child.try_wait() {
                break (Some(status), false);
            }
            if began.elapsed() > PATIENCE {
                let _ = child.kill();
                std::thread::sleep(Duration::from_millis(200));
                break (child.try_wait().ok().flatten(), true);
            }
            meanwhile(&child, began.elapsed());
            std::thread::sleep(Duration::from_millis(2));
        };
        let took = began.elapsed();
        if status.is_some() {
            kill.cancel();
        }
        let text = |name: &str| {
            let bytes = std::fs::read(self.directory.join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        ProgramEnd {
            line,
            code: status.and_then(|status| status.code()),
            killed_by: status.and_then(|status| status.signal()),
            took,
            hung,
            stdout: text("stdout"),
            stderr: text("stderr"),
        }
    }
}

fn could_not_start(line: String, why: &str) -> ProgramEnd {
    let stderr = format!("it could not be started: {why}");
    ProgramEnd {
        line,
        code: None,
        killed_by: None,
        took: Duration::ZERO,
        hung: false,
        stdout: String::new(),
        stderr,
    }
}
