//! What shows a run besides its line: the screen, or objects of JSON.

use super::json::{JsonStream, LiveJson};
use super::mode::{LiveConditions, LiveMode, mode};
use super::sampler::LiveSampler;
use super::viewer::{LiveScreen, LiveTerminal};
use iosonde_run::conductor::RunView;
use iosonde_run::job::Plan;
use iosonde_session::Personality;
use iosonde_spec::cli::flags::{Flags, ShowWhen};
use iosonde_sys::files::{self, owned_handle};
use iosonde_sys::terminal;
use std::io::{self, IsTerminal};
use std::sync::Arc;

/// How a run is shown, and what does it once it runs.
pub struct LiveShow {
    /// How.
    pub mode: LiveMode,
    colour: ShowWhen,
    stream: Option<JsonStream>,
    screen: Option<LiveScreen>,
    json: Option<LiveJson>,
}

impl LiveShow {
    /// Of a run that is about to begin; `has_document`: standard output carries one.
    ///
    /// # Errors
    /// What was asked for cannot be had here: a sentence.
    pub fn of(
        personality: Personality,
        flags: &Flags,
        plan: &Plan,
        has_document: bool,
        stream: Option<JsonStream>,
    ) -> Result<LiveShow, String> {
        let shown =
            |mode| LiveShow { mode, colour: flags.output.color, stream, screen: None, json: None };
        if personality == Personality::Fio {
            // When its line is shown is fio's affair.
            return Ok(shown(LiveMode::Line));
        }
        let seconds = |job: &iosonde_run::job::JobPlan| Some(job.time.runtime?.millis() / 1000);
        let facts = LiveConditions {
            stdout_is_terminal: io::stdout().is_terminal(),
            stdout_is_file: stdout_is_file(),
            screen: terminal::screen_size(),
            has_document,
            jobs: plan.jobs.len(),
            planned_s: plan.jobs.iter().filter_map(seconds).max(),
        };
        mode(&flags.live, &facts).map(shown)
    }

    /// The run begins.
    ///
    /// # Errors
    /// What shows it cannot be started; the run goes on without.
    pub fn begin(&mut self, plan: &Arc<Plan>, view: &RunView) -> io::Result<()> {
        match self.mode {
            LiveMode::Screen => {
                let terminal = self.terminal()?;
                self.screen = Some(LiveScreen::begin(terminal, LiveSampler::new(plan, view))?);
            }
            LiveMode::Json => {
                let sampler = LiveSampler::new(plan, view);
                let json = self.stream.take().map(|stream| LiveJson::begin(stream, sampler));
                self.json = json.transpose()?;
            }
            LiveMode::None | LiveMode::Line | LiveMode::Plain => {}
        }
        Ok(())
    }

    fn terminal(&self) -> io::Result<LiveTerminal> {
        let stdin = io::stdin();
        let keys = stdin.is_terminal().then(|| owned_handle(&stdin));
        Ok(LiveTerminal {
            output: owned_handle(&io::stderr())?,
            keys: keys.transpose()?,
            colour: match self.colour {
                ShowWhen::Always => true,
                ShowWhen::Never => false,
                ShowWhen::Auto => std::env::var_os("NO_COLOR").is_none(),
            },
            unicode: terminal::shows_unicode(),
        })
    }

    /// Take the frame away until [`LiveShow::release`], to print something.
    pub fn hold(&self) {
        self.screen.iter().for_each(LiveScreen::hold);
    }

    /// Draw again.
    pub fn release(&self) {
        self.screen.iter().for_each(LiveScreen::release);
    }

    /// The run has ended: the last frame stays, and the last object is written.
    ///
    /// # Errors
    /// Objects were lost.
    pub fn end(&mut self) -> io::Result<()> {
        self.screen = None;
        self.json.take().map_or(Ok(()), LiveJson::end)
    }
}

/// Whether standard output is a file or /dev/null.
fn stdout_is_file() -> bool {
    let kind = owned_handle(&io::stdout()).and_then(|handle| files::status_of(&handle.into()));
    kind.is_ok_and(|found| {
        let is_terminal = io::stdout().is_terminal();
        found.is_file() || found.file_type().is_char_device() && !is_terminal
    })
}
