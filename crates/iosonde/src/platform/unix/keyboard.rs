//! Single keys of a terminal, read while the screen is drawn.
//!
//! Only echo and whole lines are turned off: Ctrl-C and Ctrl-Z stay signals,
//! and what others print has its line ends.

use rustix::fd::{AsFd, OwnedFd};
use rustix::termios::{self, LocalModes, OptionalActions, Termios};

/// A terminal as it was, while its keys are read.
pub struct Keyboard {
    terminal: OwnedFd,
    before: Option<Termios>,
}

impl Keyboard {
    /// Of a terminal; nothing has been changed.
    pub fn new(terminal: OwnedFd) -> Keyboard {
        Keyboard { terminal, before: None }
    }

    /// Whether keys come one by one.
    pub fn is_on(&self) -> bool {
        self.before.is_some()
    }

    /// Have keys come one by one, if we are in the foreground: who changes a
    /// terminal from the background is stopped.
    pub fn turn_on(&mut self) {
        if self.is_on() || !is_in_foreground(&self.terminal) {
            return;
        }
        let Ok(before) = termios::tcgetattr(&self.terminal) else { return };
        let mut single = before.clone();
        single.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        if termios::tcsetattr(&self.terminal, OptionalActions::Now, &single).is_ok() {
            self.before = Some(before);
        }
    }

    /// Put the terminal back as it was. Keys that were typed and not read stay.
    pub fn turn_off(&mut self) {
        if let Some(before) = self.before.take() {
            // A terminal that has gone needs nothing.
            let _ = termios::tcsetattr(&self.terminal, OptionalActions::Now, &before);
        }
    }

    /// The keys that wait; call it when there are some.
    pub fn read(&self) -> Vec<u8> {
        let mut keys = [0; 64];
        let read = rustix::io::read(&self.terminal, &mut keys).unwrap_or(0);
        keys[..read].to_vec()
    }

    /// To wait on.
    pub fn terminal(&self) -> &OwnedFd {
        &self.terminal
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.turn_off();
    }
}

/// Whether this process may read from and draw on a terminal.
pub fn is_in_foreground(terminal: impl AsFd) -> bool {
    termios::tcgetpgrp(terminal).is_ok_and(|group| group == rustix::process::getpgrp())
}
