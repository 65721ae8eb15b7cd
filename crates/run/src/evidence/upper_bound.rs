//! Upper bound without storage: what the same job reaches with an engine that
//! does nothing.
//!
//! Measured in bursts of a few milliseconds after the run, on a machine that may
//! be busy. The rate of the fastest window of a millisecond is taken: being
//! preempted, a cold cache and first use of memory only ever make a window
//! slower, so that two measurements agree where their means would not. A busy
//! neighbour on the same core, of this machine or of another one on the host, slows
//! all windows by a quarter, for 20 to 300 ms at a time; so the bursts lie apart, and
//! go on until two of them agree or their time is over. Jobs of the same shape share
//! their bursts over all runs of the process.

use crate::control::{Gate, Shared, WithOthers};
use crate::job::{
    CoordinationPlan, EndPlan, FileKind, JobPlan, MeasurePlan, Need, OpenPlan, PacePlan, Plan,
    SampleWindows, ThreadPlan, TimePlan,
};
use crate::worker::{self, JobResult};
use iosonde_base::Nanos;
use iosonde_engine::EngineSettings;
use iosonde_stats::{CountersWriter, Snapshot};
use iosonde_sys::zones::{EmulatedZones, ZoneDevice};
use iosonde_witness::Fact;
use iosonde_workload::PaceSpec;
use iosonde_workload::zbd::ZbdSpec;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a burst is.
const BURST: Nanos = Nanos(5_000_000);
/// All bursts of a run take this share of its time at most, by the clock ...
const SHARE_MOST: f64 = 0.02;
/// ... and never longer than this.
const LONGEST: Duration = Duration::from_millis(150);
/// Filling buffers for the first time: bytes a second, at least.
const FIRST_USE_PER_S: f64 = 1e9;
/// A bound that few bursts show is one if the job was slower by this factor: more bursts
/// could only raise it.
const CLEARLY_ABOVE: f64 = 4.0;
/// A job that is slower by this factor is not limited by the tester, whatever more bursts
/// show: one is enough, and the ledger's cost is mostly that of bursts.
const FAR_ABOVE: f64 = 10.0;
/// Shapes that are kept.
const SHAPES_MOST: usize = 64;
/// A section has so many bursts at least, and at most.
const BURSTS: std::ops::RangeInclusive<usize> = 4..=12;
/// The two fastest bursts agree if they differ by less than this share.
const AGREED: f64 = 0.03;
/// Between two bursts of a section: most neighbours come to rest within three of these.
const PAUSE: Duration = Duration::from_millis(25);
/// Sections that are measured; the clones of one are alike.
const SECTIONS_MOST: usize = 4;
/// Length of a window. Shorter than a time slice of the scheduler,
/// so that some windows of a busy machine are whole.
const WINDOW: Nanos = Nanos(1_000_000);
/// I/Os without which a window says little: one I/O more or less is 1 %.
const IOS_LEAST: u64 = 100;

/// By job, I/Os a second of the null engine in its place.
pub(super) fn measure(
    plan: &Plan,
    results: &[Option<JobResult>],
    stop: &dyn Fn() -> bool,
) -> Vec<Fact<f64>> {
    let ends = Instant::now() + limit(results);
    let mut sections: Vec<(usize, Section)> = Vec::new();
    let ran = plan.jobs.iter().zip(results).filter_map(|(job, result)| {
        let result = result.as_ref()?;
        Some((job, mean_iops(&result.snapshot, result.runtime)))
    });
    for (job, reached) in ran {
        match sections.iter().position(|(number, _)| *number == job.section) {
            Some(at) => sections[at].1.reached = sections[at].1.reached.max(reached),
            None if does_io(job) && sections.len() < SECTIONS_MOST => {
                sections.push((job.section, Section::of(job, reached)));
            }
            None => {}
        }
    }
    measure_all(&mut sections, ends, stop);
    for (_, section) in &sections {
        section.keep();
    }
    let bound = |(job, result): (&JobPlan, &Option<JobResult>)| {
        let Some(result) = result else { return Fact::unknown("the job did not run") };
        let known = sections.iter().find(|(number, _)| *number == job.section);
        match known {
            Some((_, section)) => {
                let reached = mean_iops(&result.snapshot, result.runtime);
                // A job without storage shows by itself what can be reached.
                let own = || (job.engine.name == "null").then_some(reached);
                section.bound(reached).or(own)
            }
            None if does_io(job) => Fact::unknown("only the first sections are measured"),
            None => Fact::unknown("the engine does no I/O that another could do in its place"),
        }
    };
    plan.jobs.iter().zip(results).map(bound).collect()
}

fn does_io(job: &JobPlan) -> bool {
    !job.engine.caps.no_io && !job.engine.caps.by_name
}

/// How long a run may be watched for this after it has ended.
fn limit(results: &[Option<JobResult>]) -> Duration {
    let longest = results.iter().flatten().map(|result| result.runtime.0).max().unwrap_or(0);
    Duration::from_nanos(longest).mul_f64(SHARE_MOST).min(LONGEST)
}

/// A burst of each section in turn, until those of each agree or the time is over.
fn measure_all(sections: &mut [(usize, Section)], ends: Instant, stop: &dyn Fn() -> bool) {
    let pause = PAUSE.min(ends.saturating_duration_since(Instant::now()) / 8);
    loop {
        for (_, section) in sections.iter_mut().filter(|(_, section)| !section.is_done()) {
            let left = ends.saturating_duration_since(Instant::now());
            if stop() || left < section.burst_takes() {
                return;
            }
            section.measure();
        }
        let left = ends.saturating_duration_since(Instant::now());
        if sections.iter().all(|(_, section)| section.is_done()) || left <= pause {
            return;
        }
        thread::sleep(pause);
    }
}

/// The bursts of each shape that this process has measured.
static KNOWN: Mutex<Vec<(String, Bursts)>> = Mutex::new(Vec::new());

/// What decides about the bound of a job without storage.
fn shape(job: &JobPlan) -> String {
    let source = &job.source;
    format!(
        "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        job.window.depth,
        source.directions,
        source.sizes,
        source.distribution,
        source.rwmixread,
        job.fill,
        job.measure.latencies,
        (job.files.len(), job.thread.cpus.as_ref()),
    )
}

/// A section of which the bound is measured.
struct Section {
    /// Its job without storage, or why there is no bound.
    job: Result<JobPlan, String>,
    shape: String,
    /// I/Os a second of the fastest of its jobs.
    reached: f64,
    bursts: Bursts,
}

impl Section {
    fn of(job: &JobPlan, reached: f64) -> Section {
        let job = without_storage(job, BURST).ok_or_else(|| "there is no null engine".to_owned());
        let shape = job.as_ref().map(shape).unwrap_or_default();
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let bursts = known.iter().find(|(known, _)| *known == shape);
        let bursts = bursts.map(|(_, bursts)| *bursts).unwrap_or_default();
        Section { job, shape, reached, bursts }
    }

    /// For later jobs of this shape.
    fn keep(&self) {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = known.len() >= SHAPES_MOST;
        match known.iter_mut().find(|(shape, _)| *shape == self.shape) {
            Some((_, bursts)) => *bursts = self.bursts,
            None if is_full => {}
            None => known.push((self.shape.clone(), self.bursts)),
        }
    }

    /// How long a burst takes, about.
    fn burst_takes(&self) -> Duration {
        let first_use = self.job.as_ref().map_or(0, |job| job.time.ramp_bytes);
        Duration::from_nanos(BURST.0) + Duration::from_secs_f64(first_use as f64 / FIRST_USE_PER_S)
    }

    fn is_done(&self) -> bool {
        let is_far_above = self.bursts.fastest > self.reached * FAR_ABOVE;
        self.job.is_err() || is_far_above || self.bursts.are_enough()
    }

    fn measure(&mut self) {
        let Ok(job) = &self.job else { return };
        match of_burst(job.clone()) {
            Fact::Known(rate) => self.bursts.add(rate),
            Fact::Unknown(why) => self.job = Err(why.into_owned()),
        }
    }

    /// The bound of a job that reached this rate.
    fn bound(&self, reached: f64) -> Fact<f64> {
        match (&self.job, self.bursts.count) {
            (Err(why), _) => Fact::unknown(why.clone()),
            (Ok(_), 0) => Fact::unknown("the run was too short to measure it"),
            // It is no bound if the job itself was faster.
            (Ok(_), _) if self.bursts.are_enough() => Fact::Known(self.bursts.fastest.max(reached)),
            (Ok(_), _) if self.bursts.fastest > reached * CLEARLY_ABOVE => {
                Fact::Known(self.bursts.fastest)
            }
            (Ok(_), _) => Fact::unknown("the run was too short to measure it well enough"),
        }
    }
}

/// The rates of bursts.
#[derive(Clone, Copy, Debug, Default)]
struct Bursts {
    count: usize,
    fastest: f64,
    second: f64,
}

impl Bursts {
    fn add(&mut self, rate: f64) {
        self.count += 1;
        self.second = self.second.max(rate.min(self.fastest));
        self.fastest = self.fastest.max(rate);
    }

    /// Whether another would change little.
    fn are_enough(&self) -> bool {
        let agree = self.second > self.fastest * (1.0 - AGREED);
        self.count >= *BURSTS.end() || self.count >= *BURSTS.start() && agree
    }
}

/// The rate of a job without storage.
fn of_burst(job: JobPlan) -> Fact<f64> {
    let body = move || {
        let (writer, counters) = CountersWriter::new(&job.measure.latencies);
        let shared = Shared::new(counters, job.measure.clock, WithOthers::default());
        let gate = Gate::default();
        gate.open(None);
        worker::work(&job, writer, &shared, &gate, || {})
    };
    // On a separate thread: a job changes its thread for good.
    let started = thread::Builder::new().name("upper-bound".to_owned()).spawn(body);
    let result = match started.map(thread::JoinHandle::join) {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => return Fact::unknown("its measurement failed"),
        Err(error) => return Fact::unknown(error.to_string()),
    };
    match (result.error, upper_bound(&result.snapshot, result.runtime)) {
        (Some(error), _) => Fact::unknown(error.to_string()),
        (None, bound) if bound > 0.0 => Fact::Known(bound),
        (None, _) => Fact::unknown("its measurement did no I/O"),
    }
}

/// The rate of the fastest window, all directions together (a mix does one
/// direction for many I/Os, so the fastest windows of each do not add up); of
/// large blocks, of which a window holds few, the mean.
fn upper_bound(snapshot: &Snapshot, runtime: Nanos) -> f64 {
    let mean = mean_iops(snapshot, runtime);
    let fastest = snapshot.window_iops.max;
    let windows = (runtime.0 / WINDOW.0).max(1);
    let ios: u64 = snapshot.lanes.iter().map(|lane| lane.ios).sum();
    if ios < windows * IOS_LEAST { mean } else { mean.max(fastest as f64) }
}

fn mean_iops(snapshot: &Snapshot, runtime: Nanos) -> f64 {
    let ios: u64 = snapshot.lanes.iter().map(|lane| lane.ios).sum();
    if runtime.0 == 0 { 0.0 } else { ios as f64 * 1e9 / runtime.0 as f64 }
}

/// Bytes after which all buffers have been used once: taking large ones from
/// the system and filling them is no small part of the time.
fn first_use(job: &JobPlan) -> u64 {
    const SMALL: u64 = 1 << 20;
    let all = job.buffers.bytes as u64 * u64::from(job.window.depth);
    if all < SMALL { 0 } else { all }
}

/// The same sizes, offsets, depth and content, and nothing around them.
fn without_storage(job: &JobPlan, runtime: Nanos) -> Option<JobPlan> {
    let mut alike = JobPlan {
        engine: iosonde_engine::find("null")?,
        offload: None,
        settings: EngineSettings::default(),
        pace: PacePlan::default(),
        time: TimePlan {
            delay: Nanos(0),
            ramp: Nanos(0),
            ramp_bytes: first_use(job),
            runtime: Some(runtime),
            wear_out: false,
            steady: None,
            start_clock: job.time.start_clock,
        },
        end: EndPlan::default(),
        thread: ThreadPlan { cpus: job.thread.cpus.clone(), ..ThreadPlan::default() },
        open: OpenPlan::default(),
        verify: None,
        coordination: CoordinationPlan::default(),
        measure: MeasurePlan {
            // Counts of the job itself, which would be counted on.
            priorities: None,
            tap: None,
            iolog: None,
            logs: None,
            trace: false,
            dump_errors: false,
            readings: None,
            sample_every: SampleWindows { bandwidth: WINDOW, iops: WINDOW },
            ..job.measure.clone()
        },
        ..job.clone()
    };
    for file in &mut alike.files {
        (file.kind, file.need) = (FileKind::None, Need::Nothing);
    }
    alike.buffers.locked_bytes = 0;
    (alike.layout.only, alike.layout.pre_read) = (false, false);
    // Zones of its own: what other jobs know of the device's stays, and so does the device.
    alike.source.zbd = job.source.zbd.as_ref().map(ZbdSpec::private_copy);
    alike.zones = job.zones.as_ref().map(|zones| {
        zones.iter().map(|_| Arc::new(EmulatedZones) as Arc<dyn ZoneDevice>).collect()
    });
    alike.source.time_based = true;
    alike.source.number_ios = 0;
    alike.source.pace = PaceSpec::default();
    alike.measure.latencies.response = Default::default();
    Some(alike)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::Dir;

    const MS_48: Nanos = Nanos(48_000_000);

    fn bursts(rates: &[f64]) -> Bursts {
        let mut bursts = Bursts::default();
        rates.iter().for_each(|&rate| bursts.add(rate));
        bursts
    }

    #[test]
    fn bursts_end_when_the_two_fastest_agree() {
        assert!(!bursts(&[10e6, 10e6, 10e6]).are_enough(), "too few");
        assert!(bursts(&[10e6, 5e6, 5e6, 9.9e6]).are_enough());
        // Two of the slow ones agree: a faster one may come.
        let slow = bursts(&[5e6, 5e6, 5e6, 10e6]);
        assert!(!slow.are_enough());
        assert_eq!(slow.fastest, 10e6);
        assert!(bursts(&[5e6, 5e6, 10e6, 4e6, 10.1e6]).are_enough());
        let never: Vec<f64> = (1..=12).map(|burst| f64::from(burst) * 1e6).collect();
        assert!(bursts(&never).are_enough(), "some machines never come to rest");
        assert_eq!(bursts(&never).fastest, 12e6);
    }

    #[test]
    fn bursts_have_a_share_of_the_run_and_never_long() {
        let ran = |seconds: u64| {
            let mut result =
                crate::worker::failed_to_start(crate::job::JobError::unchecked(&"it never began"));
            result.runtime = Nanos(seconds * 1_000_000_000);
            Some(result)
        };
        assert_eq!(limit(&[ran(2), None, ran(1)]), Duration::from_millis(40));
        assert_eq!(limit(&[ran(600)]), LONGEST);
        assert_eq!(limit(&[]), Duration::ZERO);
    }

    #[test]
    fn few_bursts_are_a_bound_only_of_a_much_slower_job() {
        let mut job =
            crate::plan::JobBuilder::new("job", std::path::Path::new("/tmp/iosonde-upper-bound"));
        job.set_text("size", "1m").unwrap();
        let job = job.plan().unwrap().jobs.remove(0);
        let section = |rates: &[f64]| Section {
            job: Ok(job.clone()),
            shape: String::new(),
            reached: 1e6,
            bursts: bursts(rates),
        };
        assert!(section(&[11e6]).is_done(), "more would change nothing");
        assert!(!section(&[9e6, 9e6]).is_done());
        assert_eq!(section(&[8e6, 9e6]).bound(1e6), Fact::Known(9e6));
        assert!(section(&[8e6, 9e6]).bound(5e6).get().is_none());
        assert_eq!(section(&[9e6, 9e6, 9e6, 9e6]).bound(10e6), Fact::Known(10e6));
        assert!(section(&[]).bound(0.0).get().is_none());
    }

    #[test]
    fn large_buffers_are_used_once_before_the_measurement() {
        let job = |bytes: &str| {
            let path = std::path::Path::new("/tmp/iosonde-upper-bound");
            let mut job = crate::plan::JobBuilder::new("job", path);
            for (name, text) in [("bs", bytes), ("size", "64m"), ("iodepth", "8")] {
                job.set_text(name, text).unwrap();
            }
            job.set_text("ioengine", "libaio").unwrap();
            without_storage(&job.plan().unwrap().jobs[0], BURST).unwrap()
        };
        assert_eq!(job("1m").time.ramp_bytes, 8 << 20);
        assert_eq!(job("4k").time.ramp_bytes, 0);
    }

    fn counted(lanes: [(Dir, u64, u64); 2]) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (dir, ios, fastest) in lanes {
            let lane = &mut snapshot.lanes[dir as usize];
            (lane.ios, lane.window_iops.n, lane.window_iops.max) = (ios, 48, fastest);
            // Each direction in windows that the other has no share in.
            snapshot.window_iops.max = snapshot.window_iops.max.max(fastest);
        }
        snapshot
    }

    #[test]
    fn the_fastest_window_counts_however_slow_the_others_were() {
        // 10 M IOPS in half of the time, preempted in the other half.
        let half = counted([(Dir::Read, 240_000, 10_000_000), (Dir::Write, 0, 0)]);
        assert_eq!(upper_bound(&half, MS_48), 10e6);
    }

    #[test]
    fn the_fastest_windows_of_two_directions_do_not_add_up() {
        let mixed = counted([(Dir::Read, 336_000, 14_000_000), (Dir::Write, 144_000, 8_000_000)]);
        assert_eq!(upper_bound(&mixed, MS_48), 14e6);
    }

    #[test]
    fn windows_of_a_few_large_blocks_are_not_believed() {
        // One or two I/Os a window: the window that held two is no rate.
        let large = counted([(Dir::Write, 60, 2000), (Dir::Read, 0, 0)]);
        assert_eq!(upper_bound(&large, MS_48), 1250.0);
    }

    #[test]
    fn the_bound_is_never_below_the_mean() {
        let even = counted([(Dir::Read, 480_000, 9_900_000), (Dir::Write, 0, 0)]);
        assert_eq!(upper_bound(&even, MS_48), 10e6);
        assert_eq!(upper_bound(&Snapshot::default(), MS_48), 0.0);
        assert_eq!(upper_bound(&even, Nanos(0)), 9_900_000.0);
    }
}
