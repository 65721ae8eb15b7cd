//! How idle the processors are while jobs run (`--idle-prof`), as fio measures
//! it: on each a thread works that gives way to everybody, and how much it gets
//! to work is how idle the processor is.

use iosonde_report::CpuIdle;
use iosonde_sys::clock::SystemClock;
use iosonde_sys::cpu::CpuList;
use iosonde_sys::priority::run_only_when_idle;
use iosonde_sys::{Giver, gather};
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::Builder;
use std::time::Instant;

/// Which processors are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleDetail {
    /// All of them together.
    System,
    /// Each as well.
    Each,
}

/// Measures from its making until it is asked.
#[derive(Debug)]
pub struct IdleProfile {
    processors: Vec<Arc<Processor>>,
    began: Instant,
    unit: Unit,
}

/// One processor, as its thread sees it.
#[derive(Debug, Default)]
struct Processor {
    /// Time its thread has had, in nanoseconds.
    worked_ns: AtomicU64,
    over: AtomicBool,
}

/// How long one unit of work takes: its mean and deviation, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Mean.
    pub mean_us: f64,
    /// Deviation.
    pub stddev_us: f64,
}

/// Units that are timed together, as one takes little more than the clock.
const UNITS: u32 = 64;
/// How often that is done on each processor.
const SAMPLES: usize = 100;

impl IdleProfile {
    /// Begin, on every processor that this process may use.
    ///
    /// # Errors
    /// Where threads cannot be had, kept on a processor, or made to give way.
    pub fn begin() -> io::Result<IdleProfile> {
        let (processors, unit) = measure(true)?;
        Ok(IdleProfile { processors, began: Instant::now(), unit })
    }

    /// What was measured until now.
    pub fn report(&self, detail: IdleDetail) -> CpuIdle {
        let elapsed = (self.began.elapsed().as_nanos() as f64).max(1.0);
        let idle = |processor: &Arc<Processor>| {
            let worked = processor.worked_ns.load(Relaxed) as f64;
            (worked / elapsed * 100.0).min(100.0)
        };
        let each: Vec<f64> = self.processors.iter().map(idle).collect();
        CpuIdle {
            system_percent: each.iter().sum::<f64>() / each.len().max(1) as f64,
            per_cpu_percent: if detail == IdleDetail::Each { each } else { Vec::new() },
            unit_mean_us: self.unit.mean_us,
            unit_stddev_us: self.unit.stddev_us,
        }
    }
}

impl Drop for IdleProfile {
    /// The threads end when they next get to run; nobody waits for that, as
    /// on a busy machine it may take long.
    fn drop(&mut self) {
        self.processors.iter().for_each(|processor| processor.over.store(true, Relaxed));
    }
}

/// How long a unit of work takes here (`--idle-prof=calibrate`).
///
/// # Errors
/// As [`IdleProfile::begin`].
pub fn calibrate() -> io::Result<Unit> {
    measure(false).map(|(_, unit)| unit)
}

/// A thread for each processor, which measures its unit and, if asked, goes on
/// to work.
fn measure(goes_on: bool) -> io::Result<(Vec<Arc<Processor>>, Unit)> {
    let (giver, samples) = gather();
    let mut processors = Vec::new();
    for &cpu in CpuList::allowed()?.as_slice() {
        let (processor, giver) = (Arc::<Processor>::default(), giver.clone());
        processors.push(processor.clone());
        processor.over.store(!goes_on, Relaxed);
        Builder::new().name(format!("idle-{cpu}")).spawn(move || work(cpu, &processor, giver))?;
    }
    drop(giver);
    let mut measured: Vec<io::Result<Vec<f64>>> = samples.wait();
    if measured.len() < processors.len() {
        measured.push(Err(io::Error::other("a thread ended")));
    }
    let all = measured.into_iter().collect::<io::Result<Vec<_>>>().inspect_err(|_| {
        processors.iter().for_each(|processor| processor.over.store(true, Relaxed));
    })?;
    Ok((processors, Unit::of(&all.concat())))
}

fn work(cpu: u32, processor: &Processor, giver: Giver<io::Result<Vec<f64>>>) {
    let mut page = vec![0; iosonde_sys::memory::page_bytes()];
    let measured = settle(cpu).map(|()| samples(&mut page));
    let measured = measured.and_then(|samples| run_only_when_idle().map(|()| samples));
    let goes_on = measured.is_ok();
    giver.give(measured);
    let before = worked_ns();
    while goes_on && !processor.over.load(Relaxed) {
        units(&mut page);
        processor.worked_ns.store(worked_ns() - before, Relaxed);
    }
}

fn settle(cpu: u32) -> io::Result<()> {
    let list = CpuList::from_numbers(vec![cpu]).map_err(io::Error::other)?;
    list.pin()
}

/// Times of a unit, in microseconds. Of the thread's own time, which goes on
/// only while it has the processor.
fn samples(page: &mut [u8]) -> Vec<f64> {
    units(page);
    let sample = |_| {
        let before = worked_ns();
        units(page);
        (worked_ns() - before) as f64 / 1000.0 / f64::from(UNITS)
    };
    (0..SAMPLES).map(sample).collect()
}

/// A unit is to touch each byte of a page.
fn units(page: &mut [u8]) {
    for _ in 0..UNITS {
        for byte in page.iter_mut() {
            *byte = black_box(byte.wrapping_add(1));
        }
    }
}

/// Processor time of the calling thread, up to now. (What getrusage(2) reports
/// of it is some milliseconds old.)
fn worked_ns() -> u64 {
    SystemClock::THREAD.now_ns()
}

impl Unit {
    fn of(samples: &[f64]) -> Unit {
        let count = samples.len().max(1) as f64;
        let mean_us = samples.iter().sum::<f64>() / count;
        let squares: f64 = samples.iter().map(|sample| (sample - mean_us).powi(2)).sum();
        Unit { mean_us, stddev_us: (squares / (count - 1.0).max(1.0)).sqrt() }
    }
}
