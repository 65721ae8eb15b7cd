//! What wakes the thread that draws the screen: keys, signals about the terminal, the end.

use super::keyboard::{Keyboard, is_in_foreground};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::time::Timespec;
use signal_hook::consts::{SIGCONT, SIGTSTP, SIGWINCH};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Events of the terminal, and its keys.
pub struct ScreenEvents {
    wake: OwnedFd,
    signals: Listened,
    keyboard: Option<Keyboard>,
}

/// Ends a wait for events.
pub struct ScreenWaker(OwnedFd);

impl ScreenWaker {
    /// End it.
    pub fn wake(&self) {
        // If who waits has ended by itself, nobody reads.
        let _ = rustix::io::write(&self.0, b"x");
    }
}

impl ScreenEvents {
    /// Begin to listen; `keys` is the terminal that they come from.
    ///
    /// # Errors
    /// No pipe or listener for signals can be had.
    pub fn begin(keys: Option<OwnedFd>) -> io::Result<(ScreenEvents, ScreenWaker)> {
        let (wake, stop) = rustix::pipe::pipe()?;
        let signals = Listened::begin(&stop)?;
        let events = ScreenEvents { wake, signals, keyboard: keys.map(Keyboard::new) };
        Ok((events, ScreenWaker(stop)))
    }

    /// Wait for keys, signals or so long.
    pub fn wait(&self, left: Duration) -> Vec<u8> {
        let timeout =
            Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        let keyboard = self.keyboard.as_ref().filter(|keyboard| keyboard.is_on());
        let mut ready = vec![PollFd::new(&self.wake, PollFlags::IN)];
        ready.extend(keyboard.map(|keyboard| PollFd::new(keyboard.terminal(), PollFlags::IN)));
        if poll(&mut ready, Some(&timeout)).is_err() {
            return Vec::new();
        }
        if ready[0].revents().contains(PollFlags::IN) {
            // Why we were woken is in the flags.
            let _ = rustix::io::read(&self.wake, &mut [0; 64][..]);
        }
        match (keyboard, ready.get(1)) {
            (Some(keyboard), Some(keys)) if keys.revents().contains(PollFlags::IN) => {
                keyboard.read()
            }
            _ => Vec::new(),
        }
    }

    /// Whether Ctrl-Z was pressed since the last call.
    pub fn take_stop(&self) -> bool {
        self.signals.stop.swap(false, Ordering::Relaxed)
    }

    /// Stop as Ctrl-Z asks, and go on when that is over.
    pub fn suspend(&self) {
        // Where it fails we go on.
        let _ = signal_hook::low_level::emulate_default_handler(SIGTSTP);
    }

    /// Have keys come one by one; whether they do.
    pub fn turn_keys_on(&mut self) -> bool {
        self.keyboard.as_mut().is_some_and(|keyboard| {
            keyboard.turn_on();
            keyboard.is_on()
        })
    }

    /// As it was before.
    pub fn turn_keys_off(&mut self) {
        if let Some(keyboard) = &mut self.keyboard {
            keyboard.turn_off();
        }
    }

    /// Whether this process may draw on a terminal.
    pub fn may_draw(terminal: impl AsFd) -> bool {
        is_in_foreground(terminal)
    }
}

/// Signals that are about the terminal. They wake the thread.
struct Listened {
    stop: Arc<AtomicBool>,
    /// Ctrl-Z does what it does without us.
    has_ended: Arc<AtomicBool>,
    all: Vec<signal_hook::SigId>,
}

impl Listened {
    fn begin(wake: &OwnedFd) -> io::Result<Listened> {
        let (stop, has_ended) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        // A signal once listened to is without effect when nobody listens any more.
        signal_hook::flag::register_conditional_default(SIGTSTP, has_ended.clone())?;
        let all = vec![signal_hook::flag::register(SIGTSTP, stop.clone())?];
        let mut listened = Listened { stop, has_ended, all };
        for signal in [SIGTSTP, SIGCONT, SIGWINCH] {
            let wake = wake.as_fd().try_clone_to_owned()?;
            listened.all.push(signal_hook::low_level::pipe::register(signal, wake)?);
        }
        Ok(listened)
    }
}

impl Drop for Listened {
    fn drop(&mut self) {
        for id in self.all.drain(..) {
            signal_hook::low_level::unregister(id);
        }
        self.has_ended.store(true, Ordering::Relaxed);
    }
}
