//! exec: a program is run beside the other jobs.

mod options;

use super::always;
use super::beside::{Beside, BesideLoop, BesideTurn, sleep};
use crate::drive::Failure;
use crate::platform;
use crate::{Caps, EngineDef, EngineError, SliceControl};
use iosonde_base::Errno;
use iosonde_sys::clock::Clock;
use iosonde_sys::guard;
use options::OPTIONS;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub use options::ExecSettings;

/// Catalogue entry.
pub(crate) static EXEC: EngineDef = EngineDef {
    name: "exec",
    aliases: &[],
    summary: "runs a program next to the other jobs",
    doc: "Runs a program next to jobs that do I/O; when the job ends it is asked to end \
          (SIGTERM), and after grace_time made to (SIGKILL).",
    caps: Caps { sync: true, diskless: true, no_io: true, ..Caps::NONE },
    options: Some(&OPTIONS),
    offload: None,
    available: always,
    open: |with, accounting| {
        let settings: ExecSettings = with.settings.of();
        if settings.program.is_empty() {
            return Err(EngineError {
                message: "run a program: none is named".to_owned(),
                help: Some("set program= to its path".to_owned()),
                errno: Errno::EINVAL,
            });
        }
        let exec = Exec { settings, child: None, look: None };
        Ok(BesideLoop::boxed(exec, accounting))
    },
};

/// The program is looked after so often; each look is a turn.
const LOOK_NS: u64 = 100_000_000;

struct Exec {
    settings: ExecSettings,
    child: Option<Child>,
    /// When the present turn began, in ticks.
    look: Option<u64>,
}

impl Beside for Exec {
    fn turn(&mut self, clock: &Clock, control: &SliceControl) -> Result<BesideTurn, Failure> {
        let child = match &mut self.child {
            Some(child) => child,
            none => none.insert(start(&self.settings)?),
        };
        let ended = child.try_wait().map_err(failed("wait for the program"))?.is_some();
        // With a runtime the job lasts for it, whatever becomes of the program.
        if ended && !self.settings.outlasts {
            return Ok(BesideTurn::Nothing);
        }
        let since = *self.look.get_or_insert_with(|| clock.now());
        if !sleep(clock, control, clock.after(since, LOOK_NS)) {
            return Ok(BesideTurn::Part);
        }
        self.look = None;
        Ok(BesideTurn::Whole(clock.now() - since))
    }

    fn end(&mut self) -> Result<(), Failure> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        let grace = Duration::from_secs(self.settings.grace_s.into());
        end(&mut child, grace).map_err(failed("end the program"))
    }
}

impl Drop for Exec {
    /// A job that failed before it began leaves nothing behind either.
    fn drop(&mut self) {
        // The receiver is gone.
        let _ = self.end();
    }
}

fn start(settings: &ExecSettings) -> Result<Child, Failure> {
    let mut command = Command::new(&settings.program);
    command.args(&settings.arguments).stdin(Stdio::null());
    if let Some([out, complaints]) = settings.output_files() {
        let output = |path: PathBuf| {
            guard::create_output(&path)
                .map_err(|refusal| failed("open a file for the program's output")(refusal.into()))
        };
        command.stdout(output(out)?).stderr(output(complaints)?);
    }
    command.spawn().map_err(failed("run the program"))
}

/// Ask a child to end, wait for `grace`, then make it.
fn end(child: &mut Child, grace: Duration) -> std::io::Result<()> {
    if child.try_wait()?.is_some() {
        return Ok(());
    }
    platform::ask_to_end(child)?;
    let until = Instant::now() + grace;
    while Instant::now() < until {
        if child.try_wait()?.is_some() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill()?;
    child.wait().map(drop)
}

fn failed(doing: &'static str) -> impl Fn(std::io::Error) -> Failure {
    move |error| Failure::engine(doing, error.into())
}
