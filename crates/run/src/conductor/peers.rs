//! The other hosts of a run: asked at the few moments at which all have to agree, and in
//! between only to hear that they live.

use super::Conductor;
use super::interval::Interval;
use super::view::JobSnapshot;
use iosonde_base::{DIRS, Nanos, PerDir};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A point of a run at which its hosts wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeetingPoint {
    /// Files are laid out.
    LaidOut,
    /// The jobs of this wave are ready to start.
    Wave(usize),
}

/// What the jobs of a host have done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostCounts {
    /// Since its run began.
    pub elapsed: Nanos,
    /// I/Os completed.
    pub ios: PerDir<u64>,
    /// Bytes moved.
    pub bytes: PerDir<u64>,
    /// Jobs that run.
    pub running: u32,
    /// Files open.
    pub open_files: u32,
}

impl HostCounts {
    pub(super) fn of(snapshots: &[JobSnapshot], elapsed: Nanos) -> HostCounts {
        let sum = |of: &dyn Fn(&JobSnapshot) -> u64| snapshots.iter().map(of).sum();
        HostCounts {
            elapsed,
            ios: PerDir(DIRS.map(|dir| sum(&|job| job.ios[dir]))),
            bytes: PerDir(DIRS.map(|dir| sum(&|job| job.bytes[dir]))),
            running: snapshots.iter().filter(|job| job.state.is_running()).count() as u32,
            open_files: snapshots.iter().map(|job| job.open_files).sum(),
        }
    }
}

/// What the jobs of the other hosts do, as far as this one hears of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OtherHosts {
    /// How many there are.
    pub hosts: u32,
    /// Of how many of them rates are known: the rest is not in the sums.
    pub heard: u32,
    /// I/Os done, as far as is known.
    pub ios: PerDir<u64>,
    /// I/Os per second.
    pub iops: PerDir<f64>,
    /// Bytes per second.
    pub bytes_per_s: PerDir<f64>,
    /// Jobs that run.
    pub running: u32,
    /// Files open.
    pub open_files: u32,
}

/// The other hosts of a run.
pub trait Peers {
    /// How often [`Peers::beat`] is to be called, to hear of the others and to let them hear; never where nothing connects the hosts.
    fn beat_every(&self) -> Option<Duration> {
        None
    }

    /// Let the others know that this host lives, and what it has done.
    ///
    /// # Errors
    /// The run is over: one of them is silent, or has ended it.
    fn beat(&mut self, own: &HostCounts) -> Result<(), String> {
        let _ = own;
        Ok(())
    }

    /// What the others do; `None` where this host does not hear of it.
    fn others(&self) -> Option<OtherHosts> {
        None
    }

    /// The most that any host has to say at the end of the time of a wave's jobs, `own` being
    /// what this one has; return when all have said it.
    ///
    /// # Errors
    /// As of [`Peers::meet`].
    fn most(
        &mut self,
        wave: usize,
        own: u64,
        stopped: &mut dyn FnMut() -> Option<String>,
    ) -> Result<u64, String> {
        let _ = (wave, stopped);
        Ok(own)
    }

    /// Come to a point, well or for a reason not, and return when all have. `stopped` says
    /// why this host must not wait any longer.
    ///
    /// # Errors
    /// Not all of them came there: who did not, and why.
    fn meet(
        &mut self,
        at: MeetingPoint,
        own: Result<(), String>,
        stopped: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), String>;
}

/// What a conductor knows of the other hosts; nothing for a run by itself.
pub(super) struct PeerLink<'a> {
    peers: Option<&'a mut dyn Peers>,
    /// When they are to hear of this one.
    beat: Interval,
    /// Why they ended the run, if they did.
    pub ended: Option<String>,
    /// The wave whose start they are still to be met for.
    pub meets_for: Option<usize>,
}

impl<'a> PeerLink<'a> {
    pub fn new(peers: Option<&'a mut dyn Peers>) -> PeerLink<'a> {
        let beat = Interval::new(peers.as_ref().and_then(|peers| peers.beat_every()));
        PeerLink { peers, beat, ended: None, meets_for: None }
    }

    /// When the next sign of life is due.
    pub fn due(&self) -> Option<Instant> {
        self.beat.due
    }

    /// Send a sign of life if it is due: why the run is over, if it is.
    pub fn beat(&mut self, own: impl FnOnce() -> HostCounts) -> Result<(), String> {
        match &mut self.peers {
            Some(peers) if self.beat.is_due() => peers.beat(&own()),
            _ => Ok(()),
        }
    }

    /// What the others do, if this host hears of it.
    pub fn others(&self) -> Option<OtherHosts> {
        self.peers.as_ref().and_then(|peers| peers.others())
    }
}

impl Conductor<'_> {
    /// Wait at a point for the other hosts; where one of them does not come there, the
    /// run ends here, too.
    pub(super) fn meet(&mut self, at: MeetingPoint) {
        if self.peers.ended.is_some() || self.abandoned {
            return;
        }
        let Some(peers) = self.peers.peers.take() else { return };
        self.listen_for_signal();
        let own = self.own_state();
        let mut stopped = || {
            self.listen_for_signal();
            self.signal.map(stopped_by)
        };
        let met = peers.meet(at, own, &mut stopped);
        self.peers.peers = Some(peers);
        if let Err(why) = met {
            self.end_by_peers(why);
        }
    }

    /// The most of all hosts at the end of the time of a wave's jobs; `None` where the run ends.
    pub(super) fn most_of_all(&mut self, wave: usize, own: u64) -> Option<u64> {
        if self.peers.ended.is_some() {
            return None;
        }
        let Some(peers) = self.peers.peers.take() else { return Some(own) };
        let mut stopped = || {
            self.listen_for_signal();
            self.signal.map(stopped_by)
        };
        let most = peers.most(wave, own, &mut stopped);
        self.peers.peers = Some(peers);
        most.inspect_err(|why| self.end_by_peers(why.clone())).ok()
    }

    /// Whether this host can go on: not after a signal, nor if a job failed before its start.
    fn own_state(&self) -> Result<(), String> {
        if let Some(signal) = self.signal {
            return Err(stopped_by(signal));
        }
        let waiting = self.results.iter().zip(&self.let_go).zip(&self.plan.jobs);
        let mut failed = waiting.filter(|((_, let_go), _)| let_go.is_none());
        failed
            .find_map(|((result, _), job)| {
                let error = result.as_ref()?.error.as_ref()?;
                Some(Err(format!("{}: {error}", job.name)))
            })
            .unwrap_or(Ok(()))
    }

    /// The other hosts have ended the run, or are gone. They go on hearing of this one: its
    /// result is still to come.
    pub(super) fn end_by_peers(&mut self, why: String) {
        if self.peers.ended.is_some() {
            return;
        }
        self.peers.ended = Some(why);
        self.called_off.fill(true);
        self.stop_layout.store(true, Ordering::Relaxed);
        self.shared.iter().for_each(|shared| shared.control.stop());
    }
}

/// A signal as the reason that a host stops.
fn stopped_by(signal: i32) -> String {
    format!("stopped by signal {signal}")
}
