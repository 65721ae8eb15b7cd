//! The thread that draws the screen.

use super::painter::Painter;
use super::sampler::LiveSampler;
use crate::platform::{ScreenEvents, ScreenWaker};
use iosonde_report::live::screen::{FINISHED, LiveRun, LiveView, ScreenStyle, draw};
use iosonde_sys::files::OwnedHandle;
use iosonde_sys::process::send_signal;
use iosonde_sys::{signals, terminal};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Twice a second: a figure can be read, and a frame takes less than a
/// millisecond of a processor.
const EVERY: Duration = Duration::from_millis(500);

/// The screen of a run. When it is dropped, the terminal is as it was, and the
/// last frame stays.
pub struct LiveScreen {
    painter: Arc<Mutex<Painter<File>>>,
    waker: ScreenWaker,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Where the screen is drawn and keys come from.
pub struct LiveTerminal {
    /// Drawn on.
    pub output: OwnedHandle,
    /// Keys; none where standard input is no terminal.
    pub keys: Option<OwnedHandle>,
    /// Colours.
    pub colour: bool,
    /// Characters outside of ASCII.
    pub unicode: bool,
}

/// Makes the figures of a frame.
pub trait FrameSource: Send {
    /// The run now.
    fn sample(&mut self) -> LiveRun;
}

impl FrameSource for LiveSampler {
    fn sample(&mut self) -> LiveRun {
        LiveSampler::sample(self)
    }
}

impl LiveScreen {
    /// Begin to draw.
    ///
    /// # Errors
    /// No thread, pipe or listener for signals can be had.
    pub fn begin(
        terminal: LiveTerminal,
        source: impl FrameSource + 'static,
    ) -> io::Result<LiveScreen> {
        let output = File::from(terminal.output.try_clone()?);
        let painter = Arc::new(Mutex::new(Painter::new(output)));
        let stopped = Arc::<AtomicBool>::default();
        let (events, waker) = ScreenEvents::begin(terminal.keys)?;
        let viewer = Viewer {
            events,
            stopped: stopped.clone(),
            output: terminal.output,
            painter: painter.clone(),
            source: Box::new(source),
            style: ScreenStyle {
                colour: terminal.colour,
                unicode: terminal.unicode,
                keys: false,
                paused: false,
            },
            view: LiveView::Overview,
            last: None,
        };
        let thread = Builder::new().name("live view".to_owned()).spawn(move || viewer.run())?;
        Ok(LiveScreen { painter, waker, stopped, thread: Some(thread) })
    }

    /// Take the frame away until [`LiveScreen::release`].
    pub fn hold(&self) {
        // The terminal may have gone, and the run goes on.
        let _ = self.painter.lock().unwrap_or_else(PoisonError::into_inner).hold();
    }

    /// Draw again.
    pub fn release(&self) {
        self.painter.lock().unwrap_or_else(PoisonError::into_inner).release();
    }
}

impl Drop for LiveScreen {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.waker.wake();
        if let Some(thread) = self.thread.take() {
            // If it has panicked, its terminal was put back all the same.
            let _ = thread.join();
        }
    }
}

struct Viewer {
    events: ScreenEvents,
    stopped: Arc<AtomicBool>,
    output: OwnedHandle,
    painter: Arc<Mutex<Painter<File>>>,
    source: Box<dyn FrameSource>,
    style: ScreenStyle,
    view: LiveView,
    last: Option<LiveRun>,
}

impl Viewer {
    fn run(mut self) {
        let mut due = Instant::now() + EVERY;
        // Figures are differences: this is what the first ones are from.
        self.source.sample();
        self.enter();
        while !self.stopped.load(Ordering::Relaxed) {
            let keys = self.events.wait(due.saturating_duration_since(Instant::now()));
            if self.stopped.load(Ordering::Relaxed) {
                break;
            }
            if self.events.take_stop() {
                self.suspend();
            }
            self.obey(&keys);
            let is_due = Instant::now() >= due;
            if is_due {
                due = (due + EVERY).max(Instant::now());
                self.sample();
            }
            self.enter();
            self.paint();
        }
        self.finish();
        self.paint();
        self.exit();
    }

    /// Sample the run. A frame that follows the end of all jobs is left to the last one.
    fn sample(&mut self) {
        let run = self.source.sample();
        if !self.style.paused && run.phase != FINISHED {
            self.last = Some(run);
        }
    }

    /// The last frame: what is done now, with the figures of the last second in
    /// which jobs ran.
    fn finish(&mut self) {
        self.style.paused = false;
        self.view = LiveView::Overview;
        let now = self.source.sample();
        self.last = Some(match self.last.take() {
            Some(last) if last.phase != FINISHED && now.phase == FINISHED => LiveRun {
                phase: now.phase,
                elapsed_s: now.elapsed_s,
                done: now.done,
                left_s: now.left_s,
                findings: now.findings,
                ..last
            },
            _ => now,
        });
    }

    fn obey(&mut self, keys: &[u8]) {
        let toggled = |now: LiveView, view| if now == view { LiveView::Overview } else { view };
        let send = |signal| {
            // To ourselves it is allowed.
            let _ = send_signal(signal);
        };
        for key in keys {
            match key.to_ascii_lowercase() {
                b'q' => send(signals::INTERRUPT),
                b's' => signals::ACCOUNT.into_iter().for_each(send),
                b'p' => self.style.paused = !self.style.paused,
                b'j' => self.view = toggled(self.view, LiveView::Jobs),
                b'h' => self.view = toggled(self.view, LiveView::HeatMap),
                b'?' => self.view = toggled(self.view, LiveView::Help),
                _ => {}
            }
        }
    }

    fn enter(&mut self) {
        self.style.keys = self.events.turn_keys_on();
    }

    /// Leave the terminal as it was found.
    fn exit(&mut self) {
        self.events.turn_keys_off();
        let _ = self.painter.lock().unwrap_or_else(PoisonError::into_inner).leave();
    }

    /// Stop as Ctrl-Z asks, and go on when that is over.
    fn suspend(&mut self) {
        self.exit();
        self.events.suspend();
    }

    fn paint(&mut self) {
        let Some(run) = &self.last else { return };
        if !ScreenEvents::may_draw(&self.output) {
            return;
        }
        let Some((columns, rows)) = terminal::window_size(&self.output) else { return };
        // Below the frame there is a row for the cursor.
        let area = Rect::new(0, 0, columns, rows.saturating_sub(1));
        let mut buffer = Buffer::empty(area);
        let rows = draw(run, self.view, &self.style, &mut buffer);
        let mut painter = self.painter.lock().unwrap_or_else(PoisonError::into_inner);
        // The terminal may have gone, and the run goes on.
        let _ = painter.paint(&buffer, rows, columns);
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.exit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_sys::files::owned_handle;
    use iosonde_testing::{Folder, has};
    use std::io::IsTerminal;
    use std::process::Command;

    /// Panics at its third sample.
    struct Panicking(u32);

    impl FrameSource for Panicking {
        fn sample(&mut self) -> LiveRun {
            self.0 += 1;
            assert!(self.0 < 3, "a defect in the figures");
            LiveRun { title: "a run".to_owned(), ..LiveRun::default() }
        }
    }

    /// Never panics.
    struct Steady;

    impl FrameSource for Steady {
        fn sample(&mut self) -> LiveRun {
            LiveRun { title: "a run".to_owned(), ..LiveRun::default() }
        }
    }

    /// Show a screen on the terminal that this process has, and panic beside it.
    fn panic_on_this_terminal() {
        let terminal = || LiveTerminal {
            output: owned_handle(&io::stdout()).unwrap(),
            keys: Some(owned_handle(&io::stdin()).unwrap()),
            colour: false,
            unicode: false,
        };
        let local_modes = || rustix::termios::tcgetattr(io::stdin()).unwrap().local_modes;
        let before = local_modes();
        let screen = LiveScreen::begin(terminal(), Panicking(0)).unwrap();
        while local_modes() == before {
            std::thread::yield_now();
        }
        // Its thread ends by its panic.
        while local_modes() != before {
            std::thread::yield_now();
        }
        drop(screen);
        let panicked = std::panic::catch_unwind(|| {
            let _screen = LiveScreen::begin(terminal(), Steady).unwrap();
            while local_modes() == before {
                std::thread::yield_now();
            }
            panic!("a defect beside the screen");
        });
        assert!(panicked.is_err());
        assert_eq!(local_modes(), before);
    }

    #[test]
    fn after_a_panic_the_terminal_is_as_before() {
        if std::env::var_os("IOSONDE_TEST_TERMINAL").is_some() && io::stdin().is_terminal() {
            return panic_on_this_terminal();
        }
        if !has("script", "bsdutils") {
            return;
        }
        let folder = Folder::new("screen-panic");
        let program = std::env::current_exe().unwrap();
        let test = "live::viewer::tests::after_a_panic_the_terminal_is_as_before";
        let line = format!(
            "stty rows 24 cols 80; stty -g > before; {} --exact {test} --nocapture; \
             echo $? > code; stty -g > after",
            program.display()
        );
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(folder.path());
        let output = command.env("IOSONDE_TEST_TERMINAL", "1").output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        assert_eq!(folder.read("code"), "0\n", "{shown}");
        assert!(shown.contains("a defect in the figures"), "{shown}");
        assert_eq!(folder.read("after"), folder.read("before"));
        assert!(shown.contains("\u{1b}[?25l") && shown.contains("\u{1b}[?25h"), "{shown}");
    }
}
