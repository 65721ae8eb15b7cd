//! A device that exists only on a clock: it answers when and as its script says. On a
//! still clock a simulated minute takes no time. It moves no data but for jobs that
//! have a device in memory (`SimulatedDevice`).

mod data;
mod device;
mod options;
mod zone;

pub use device::SimulatedDevice;
pub use options::{SimSettings, SimZoneSettings};

use super::{always, shared_queued};
use crate::{Caps, EngineDef, Io, OneShot, Queued, Wanted};
use iosonde_base::{Completion, Errno, Nanos, Op, PerDir, Slot};
use iosonde_sys::clock::Clock;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Catalogue entry.
pub(crate) static SIM: EngineDef = EngineDef {
    name: "sim",
    aliases: &[],
    summary: "iosonde's own: a device of 100 us that exists only in time",
    doc: "A simulated device: answers each I/O after sim_latency, however many are in flight, or \
          sim_channels at a time. For rehearsing a job without a disk. It keeps data in memory for jobs that verify, and \
          with zonemode=zbd it is a zoned device; else it moves no data.",
    caps: Caps { diskless: true, trim: true, slat: true, simulates: true, ..Caps::NONE },
    options: Some(&options::OPTIONS),
    offload: None,
    available: always,
    open: |with, accounting| {
        let SimSettings { latency, channels, devices, .. } = with.settings.of();
        let script = Script { latency_of: Some(latency), channels, ..Script::default() };
        let sim = Sim::new(script, with.clock, with.depth).on(devices);
        Ok(shared_queued(sim, with.depth, accounting))
    },
};

/// How a simulated device behaves. The same script answers the same requests
/// in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Where every draw starts.
    pub seed: u64,
    /// The shortest and the longest that an I/O takes; evenly spread between.
    /// Where they differ, I/Os overtake one another.
    pub latency: (Nanos, Nanos),
    /// How long I/Os of each direction take instead, if given.
    pub latency_of: Option<PerDir<Nanos>>,
    /// How many I/Os the device works on together, those that come later wait; 0 for no
    /// limit.
    pub channels: u32,
    /// The device stalls for `lasts` of each `every`.
    pub stall: Option<Stall>,
    /// Of a million I/Os, how many fail...
    pub errors_ppm: u32,
    /// ...and with what.
    pub errno: Errno,
    /// Of a million I/Os of more than a byte, how many move only a part.
    pub short_ppm: u32,
    /// Files end here: what lies beyond is neither read nor written.
    pub end: u64,
    /// From this many submissions on, the queue is broken.
    pub breaks_after: u64,
}

/// A device that stalls now and then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// From the start of one stall to the next.
    pub every: Nanos,
    /// How long one lasts.
    pub lasts: Nanos,
}

impl Default for Script {
    /// Every I/O takes 100 us and succeeds.
    fn default() -> Script {
        Script {
            seed: 0,
            latency: (Nanos::from_micros(100), Nanos::from_micros(100)),
            latency_of: None,
            channels: 0,
            stall: None,
            errors_ppm: 0,
            errno: Errno::EIO,
            short_ppm: 0,
            end: u64::MAX,
            breaks_after: u64::MAX,
        }
    }
}

/// Requests that a simulated device received, for assertions.
#[derive(Debug, Default)]
pub struct Seen {
    /// Requests pushed, the rests of short ones among them.
    pub pushed: AtomicU64,
    /// Completions handed out.
    pub answered: AtomicU64,
    /// The deepest the queue was.
    pub depth_max: AtomicU64,
    /// Bytes moved.
    pub bytes: AtomicU64,
    /// Answers that were errors or moved nothing.
    pub refused: AtomicU64,
    /// Answers that moved only a part.
    pub short: AtomicU64,
    /// Submissions.
    pub submits: AtomicU64,
}

impl Seen {
    fn count(tally: &AtomicU64, n: u64) {
        tally.fetch_add(n, Ordering::Relaxed);
    }
}

/// A simulated device.
pub struct Sim {
    script: Script,
    clock: Clock,
    state: u64,
    /// When each answer is due, in ticks; among equals, the order of arrival.
    flying: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// When each channel is free, in ticks.
    channels: BinaryHeap<Reverse<u64>>,
    /// The answer of each slot in flight.
    answers: Vec<Option<Result<u32, Errno>>>,
    arrivals: u64,
    seen: Arc<Seen>,
    /// The devices of the job's files; of a file without one no data is moved.
    devices: Vec<Arc<SimulatedDevice>>,
    /// Syncs go through its queue.
    queues_syncs: bool,
}

impl Sim {
    /// A device for at most `depth` requests at a time.
    pub fn new(script: Script, clock: Clock, depth: u32) -> Self {
        let channels = (0..script.channels).map(|_| Reverse(0)).collect();
        Sim {
            state: script.seed,
            script,
            clock,
            flying: BinaryHeap::with_capacity(depth as usize),
            channels,
            answers: vec![None; depth as usize],
            arrivals: 0,
            seen: Arc::default(),
            devices: Vec::new(),
            queues_syncs: false,
        }
    }

    /// The same; whether syncs go through its queue.
    pub fn queueing_syncs(self, queues_syncs: bool) -> Self {
        Sim { queues_syncs, ..self }
    }

    /// The same with a device in memory for each file, in their order.
    pub fn on(self, devices: Vec<Arc<SimulatedDevice>>) -> Self {
        Sim { devices, ..self }
    }

    /// What it sees, from now on.
    pub fn seen(&self) -> Arc<Seen> {
        self.seen.clone()
    }

    /// The next draw. Steele, Lea and Flood, Fast Splittable Pseudorandom
    /// Number Generators, OOPSLA 2014 (SplitMix64).
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(n)) >> 64) as u64
    }

    /// When an I/O that arrives now is done, in ticks.
    fn due(&mut self, op: Op) -> u64 {
        let (shortest, longest) = match (self.script.latency_of, op.dir()) {
            (Some(latency), Some(dir)) => (latency[dir], latency[dir]),
            _ => self.script.latency,
        };
        let took = shortest.0 + self.below(longest.0.saturating_sub(shortest.0) + 1);
        let now = self.clock.now();
        let Some(Reverse(free)) = self.channels.pop() else { return self.end(now, took) };
        let due = self.end(now.max(free), took);
        self.channels.push(Reverse(due));
        due
    }

    /// When an I/O that begins at `start` is done, stalls counted; in ticks.
    fn end(&self, start: u64, took: u64) -> u64 {
        let due = self.clock.after(start, took);
        let Some(Stall { every, lasts }) = self.script.stall else { return due };
        // The last `lasts` of each `every` is the stall.
        let ns = self.clock.ns_between(0, due);
        let into = ns % every.0.max(1);
        let moves = every.0.saturating_sub(lasts.0);
        if into < moves { due } else { self.clock.after(due, every.0 - into) }
    }

    fn answer(&mut self, io: &Io) -> Result<u32, Errno> {
        if self.below(1_000_000) < u64::from(self.script.errors_ppm) {
            return Err(self.script.errno);
        }
        if io.op.dir().is_none() {
            return Ok(0);
        }
        let room = self.script.end.saturating_sub(io.offset);
        let len = u64::from(io.len).min(room) as u32;
        let is_short = len > 1 && self.below(1_000_000) < u64::from(self.script.short_ppm);
        let len = if is_short { 1 + self.below(u64::from(len) - 1) as u32 } else { len };
        match self.devices.get(io.file.0 as usize) {
            Some(device) => device.perform(io, len),
            None => Ok(len),
        }
    }

    fn count_answer(&self, io: &Io, answer: Result<u32, Errno>) {
        match answer {
            Ok(n) if io.op.dir().is_some() => {
                Seen::count(&self.seen.bytes, n.into());
                let tally = match n {
                    0 => &self.seen.refused,
                    n if n < io.len => &self.seen.short,
                    _ => return,
                };
                Seen::count(tally, 1);
            }
            Ok(_) => {}
            Err(_) => Seen::count(&self.seen.refused, 1),
        }
    }
}

impl Queued for Sim {
    fn queues_syncs(&self) -> bool {
        self.queues_syncs
    }

    fn push(&mut self, slot: Slot, io: &Io) {
        let answer = self.answer(io);
        let before = self.answers[slot.0 as usize].replace(answer);
        assert_eq!(before, None, "slot {} is pushed while it is in flight", slot.0);
        self.count_answer(io, answer);
        let due = self.due(io.op);
        self.arrivals += 1;
        self.flying.push(Reverse((due, self.arrivals, slot.0)));
        Seen::count(&self.seen.pushed, 1);
        self.seen.depth_max.fetch_max(self.flying.len() as u64, Ordering::Relaxed);
    }

    fn submit(&mut self) -> Result<(), Errno> {
        let before = self.seen.submits.fetch_add(1, Ordering::Relaxed);
        if before >= self.script.breaks_after { Err(Errno::EIO) } else { Ok(()) }
    }

    fn reap(&mut self, wanted: Wanted, done: &mut Vec<Completion>) -> Result<(), Errno> {
        let Wanted { min, max, patience } = wanted;
        let start = self.clock.now();
        let give_up = self.clock.after(start, patience.0);
        while (done.len() as u32) < max {
            let Some(&Reverse((due, _, slot))) = self.flying.peek() else { break };
            if due > self.clock.now() {
                if done.len() as u32 >= min {
                    break;
                }
                // Nobody rings a bell here, so it is slept through.
                let _ = self.clock.sleep_until(due.min(give_up), None);
                if due > give_up {
                    break;
                }
                continue;
            }
            self.flying.pop();
            let result = self.answers[slot as usize].take().expect("it is in flight");
            done.push(Completion { slot: Slot(slot), result });
            Seen::count(&self.seen.answered, 1);
        }
        Ok(())
    }
}

impl OneShot for Sim {
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        let answer = self.answer(io);
        self.count_answer(io, answer);
        Seen::count(&self.seen.pushed, 1);
        Seen::count(&self.seen.answered, 1);
        let due = self.due(io.op);
        let _ = self.clock.sleep_until(due, None);
        answer
    }
}
