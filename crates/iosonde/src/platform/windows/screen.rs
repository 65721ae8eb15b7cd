//! What wakes the thread that draws the screen: its end. Keys of a console are not read: Ctrl-C ends a run.

use iosonde_sys::Bell;
use iosonde_sys::files::OwnedHandle;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Events of the console.
pub struct ScreenEvents(Arc<Bell>);

/// Ends a wait for events.
pub struct ScreenWaker(Arc<Bell>);

impl ScreenWaker {
    /// End it, now and later.
    pub fn wake(&self) {
        self.0.ring();
    }
}

impl ScreenEvents {
    /// Begin.
    ///
    /// # Errors
    /// None here.
    pub fn begin(_keys: Option<OwnedHandle>) -> io::Result<(ScreenEvents, ScreenWaker)> {
        let bell = Arc::<Bell>::default();
        Ok((ScreenEvents(bell.clone()), ScreenWaker(bell)))
    }

    /// Wait for the end, or so long.
    pub fn wait(&self, left: Duration) -> Vec<u8> {
        self.0.wait(left);
        Vec::new()
    }

    /// There is no Ctrl-Z.
    pub fn take_stop(&self) -> bool {
        false
    }

    /// As [`ScreenEvents::take_stop`].
    pub fn suspend(&self) {}

    /// They do not.
    pub fn turn_keys_on(&mut self) -> bool {
        false
    }

    /// They are.
    pub fn turn_keys_off(&mut self) {}

    /// All processes of a console may.
    pub fn may_draw(_console: &OwnedHandle) -> bool {
        true
    }
}
