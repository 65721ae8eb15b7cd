//! Jobs that something holds back, over a simulated device on a simulated
//! clock.

mod common;

use common::{drive, nowhere, spec, window};
use iosonde_base::{Dir, Errno, Nanos, PerDir};
use iosonde_engine::sim::{Script, Seen, Sim, Stall};
use iosonde_engine::{
    Drive, Ended, Fill, LatencyBounds, Loop, OneShotLoop, Pacing, Pause, PauseEvery, QueueLoop,
    Record, Tape,
};
use iosonde_stats::{CountersWriter, LaneSnapshot, WhichLatencies};
use iosonde_sys::clock::{Clock, ClockSource, Still};
use iosonde_workload::{Cap, Directions, Pace, PaceSpec, Process, Share, Sizes, SourceSpec};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::channel;

const SECOND: u64 = 1_000_000_000;

fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

fn reads() -> Directions {
    Directions { read: true, random: true, ..Directions::default() }
}

fn both() -> Directions {
    Directions { write: true, ..reads() }
}

/// An endless job with these rates.
fn paced(directions: Directions, caps: [Cap; 3], process: Process) -> SourceSpec {
    SourceSpec {
        time_based: true,
        pace: PaceSpec { caps: PerDir(caps), process },
        ..spec(directions, 4096, 1 << 30, 1)
    }
}

fn at_iops(iops: u64) -> SourceSpec {
    paced(reads(), [Cap::Ios(iops); 3], Process::Even)
}

fn pace(spec: &SourceSpec) -> Pacing {
    Pacing::new(Some(Pace::new(&spec.pace, SECOND, spec.randseed, spec.thread_number)))
}

/// One job over a simulated device.
struct PacedBench {
    clock: Clock,
    drive: Drive,
    engine: Box<dyn Loop>,
    seen: Arc<Seen>,
}

impl PacedBench {
    /// At most `depth` in flight; by the loop of one-shot engines where that
    /// is zero.
    fn new(script: Script, spec: &SourceSpec, pacing: Pacing, depth: u32) -> PacedBench {
        PacedBench::by(Clock::still(Still::at(0)), script, spec, pacing, depth)
    }

    fn by(
        clock: Clock,
        script: Script,
        spec: &SourceSpec,
        pacing: Pacing,
        depth: u32,
    ) -> PacedBench {
        let window = window(depth.max(1), 1);
        let (mut drive, _) = drive(clock, spec, vec![nowhere(1 << 30)], window);
        let dirs = PerDir::all(true);
        let response = PerDir(spec.pace.caps.0.map(Cap::is_set));
        let which =
            WhichLatencies { syncs: true, slat: true, clat: true, lat: true, response, dirs };
        drive.writer = CountersWriter::new(&which).0;
        let mut pacing = Box::new(pacing);
        pacing.begin(clock.now());
        drive.pacing = Some(pacing);
        let sim = Sim::new(script, clock, depth.max(1));
        let seen = sim.seen();
        let engine: Box<dyn Loop> = match depth {
            0 => Box::new(OneShotLoop::<_, true>::new(sim)),
            _ => Box::new(QueueLoop::<_, true>::new(sim, depth)),
        };
        PacedBench { clock, drive, engine, seen }
    }

    /// Run until `end` in slices of half a second, as a worker does.
    fn run(&mut self, end: u64) -> Ended {
        let mut next = 0;
        loop {
            next = (next + SECOND / 2).min(end);
            self.drive.control.arm(next);
            match self.engine.run(&mut self.drive) {
                Ended::Time if self.clock.now() < end => {}
                ended => {
                    self.engine.drain(&mut self.drive).unwrap();
                    return ended;
                }
            }
        }
    }

    fn lane(&self, dir: Dir) -> LaneSnapshot {
        self.drive.writer.counters().lane(dir).snapshot()
    }
}

fn near(got: f64, want: f64) -> bool {
    (got - want).abs() <= want / 100.0
}

#[test]
fn a_stall_shows_in_the_response_and_hides_in_the_service() {
    // The device completes nothing from 3 s to 4 s.
    let stall = Some(Stall { every: ms(4000), lasts: ms(1000) });
    for depth in [0, 1, 8] {
        let spec = at_iops(1000);
        let script = Script { stall, ..Script::default() };
        let mut bench = PacedBench::new(script, &spec, pace(&spec), depth);
        assert!(matches!(bench.run(6 * SECOND), Ended::Time));
        let lane = bench.lane(Dir::Read);
        assert!(near(lane.ios as f64, 6000.0), "{depth}: {}", lane.ios);
        assert_eq!(lane.response.n, lane.ios);
        let [response, service] = [&lane.response_histogram, &lane.clat_histogram]
            .map(|histogram| histogram.as_ref().unwrap().percentile(99.0));
        assert!((900_000_000..1_000_000_000).contains(&response), "{depth}: {response}");
        assert!(service < 1_000_000, "{depth}: {service}");
    }
}

#[test]
fn each_direction_keeps_its_rate_whatever_the_sizes_and_the_gaps() {
    let share = |bytes, percent| Share { bytes, percent };
    let sizes = [
        Sizes::Fixed(4096),
        Sizes::Range { min: 512, max: 65536 },
        Sizes::Split(vec![share(4096, 70), share(65536, 30)]),
    ];
    for process in [Process::Even, Process::Poisson] {
        for sizes in &sizes {
            for depth in [0, 4] {
                let caps = [Cap::Ios(2000), Cap::Bytes(5_000_000), Cap::Free];
                let mut spec = paced(both(), caps, process);
                spec.sizes = PerDir::all(sizes.clone());
                let script =
                    Script { latency: (Nanos(20_000), Nanos(60_000)), ..Script::default() };
                let mut bench = PacedBench::new(script, &spec, pace(&spec), depth);
                bench.run(120 * SECOND);
                let (read, write) = (bench.lane(Dir::Read), bench.lane(Dir::Write));
                let got = (read.ios as f64 / 120.0, write.bytes as f64 / 120.0);
                // A Poisson process of 9000 I/Os is off by 1 % itself.
                let gaps_are_few = process == Process::Poisson && write.ios < 40_000;
                let writes_fit = gaps_are_few && (got.1 - 5e6).abs() < 2e5;
                assert!(near(got.0, 2000.0), "{process:?} {sizes:?} {depth}: {got:?}");
                assert!(writes_fit || near(got.1, 5e6), "{process:?} {sizes:?} {depth}: {got:?}");
            }
        }
    }
}

#[test]
fn by_the_processors_counter_too_no_io_starts_before_it_is_due_and_each_counts_once() {
    let Ok(clock) = Clock::pick(ClockSource::Cpu) else {
        iosonde_testing::skip!("this processor has no counter to go by");
    };
    const IOS: u64 = 300;
    let spec = SourceSpec { time_based: false, number_ios: IOS, ..at_iops(10_000) };
    let kinds = [(0, false), (200_000, false), (200_000, true)];
    let all = [0, 1, 4].into_iter().flat_map(|depth| kinds.map(|(ppm, tape)| (depth, ppm, tape)));
    for (depth, short_ppm, is_taped) in all {
        let words = format!("depth {depth}, short: {short_ppm}, taped: {is_taped}");
        let script = Script { latency: (Nanos(0), Nanos(0)), short_ppm, ..Script::default() };
        let begin = clock.now();
        let second = clock.ns_to_ticks(SECOND);
        let pace = Pace::new(&spec.pace, second, spec.randseed, spec.thread_number);
        let mut bench = PacedBench::by(clock, script, &spec, Pacing::new(Some(pace)), depth);
        if is_taped {
            bench.drive.fill = Fill::new(7, true);
        }
        let (out, taped) = channel();
        bench.drive.tape = is_taped.then(|| {
            Tape::new(Box::new(move |full| {
                out.send(full).unwrap();
                Vec::with_capacity(64)
            }))
        });
        loop {
            let until = clock.after(clock.now(), 5_000_000);
            bench.drive.control.arm(until);
            match bench.engine.run(&mut bench.drive) {
                Ended::Time => assert!(clock.now() >= until, "{words}: not before its end"),
                ended => break assert!(matches!(ended, Ended::Done), "{words}: {ended:?}"),
            }
        }
        // One every 100 us, the first at once.
        let due = |io: u64| io * 100_000 - io * 100;
        assert!(clock.ns_between(begin, clock.now()) >= due(IOS - 1), "{words}");
        bench.drive.tape.iter_mut().for_each(Tape::hand_over);
        let mut ends: Vec<u64> = taped.try_iter().flatten().map(|io: Record| io.end).collect();
        ends.sort_unstable();
        assert_eq!(ends.len() as u64, if is_taped { IOS } else { 0 }, "{words}");
        for (io, end) in (0..).zip(ends) {
            assert!(clock.ns_between(begin, end) >= due(io), "{words}: number {io}");
        }
        let lane = bench.lane(Dir::Read);
        assert_eq!((lane.ios, lane.issued, lane.bytes), (IOS, IOS, 4096 * IOS), "{words}");
        assert_eq!((lane.clat.n, lane.response.n), (IOS, IOS), "{words}");
        assert_eq!(lane.short > 0, short_ppm > 0, "{words}: the rest of a short one is done");
        let timed = [lane.clat_histogram, lane.response_histogram];
        assert_eq!(timed.map(|histogram| histogram.unwrap().total()), [IOS; 2], "{words}");
        assert!(lane.response.min >= lane.clat.min, "{words}: it begins no later");
        let levels = &bench.drive.writer.counters().depth.level;
        assert_eq!(levels.iter().map(|level| level.get()).sum::<u64>(), IOS, "{words}");
    }
}

#[test]
fn a_paced_queue_keeps_its_depth() {
    // At 20 ms each, 1000 a second are 20 in flight: one by one would be 50.
    let spec = at_iops(1000);
    let script = Script { latency: (ms(20), ms(20)), ..Script::default() };
    let mut bench = PacedBench::new(script, &spec, pace(&spec), 64);
    bench.run(10 * SECOND);
    let lane = bench.lane(Dir::Read);
    assert!(near(lane.ios as f64, 10_000.0), "{}", lane.ios);
    assert!((20..=22).contains(&bench.seen.depth_max.load(Relaxed)));
    // All but those that were in flight at the end, which are collected at once.
    let p99 = lane.response_histogram.as_ref().unwrap().percentile(99.0);
    assert!(p99 < 20_400_000, "{p99}");
}

#[test]
fn a_direction_without_a_rate_runs_free_beside_one_with() {
    let spec = paced(both(), [Cap::Free, Cap::Ios(100), Cap::Free], Process::Even);
    for depth in [0, 4] {
        let mut bench = PacedBench::new(Script::default(), &spec, pace(&spec), depth);
        bench.run(10 * SECOND);
        let (read, write) = (bench.lane(Dir::Read), bench.lane(Dir::Write));
        assert!(near(write.ios as f64, 1000.0), "{depth}: {}", write.ios);
        assert!(read.ios > 90_000, "{depth}: {}", read.ios);
        assert_eq!((read.response.n, write.response.n), (0, write.ios));
    }
}

#[test]
fn a_pause_follows_so_many_ios_and_the_queue_is_idle_before_it() {
    for (depth, every) in
        [(0, PauseEvery::Completed(5)), (1, PauseEvery::Completed(5)), (4, PauseEvery::Issued(5))]
    {
        let spec = SourceSpec { number_ios: 100, time_based: false, ..at_iops(0) };
        let mut pause = Pause::new(ms(10));
        pause.every = every;
        let mut bench =
            PacedBench::new(Script::default(), &spec, Pacing::new(None).pausing(pause), depth);
        assert!(matches!(bench.run(u64::MAX), Ended::Done));
        assert_eq!(bench.lane(Dir::Read).ios, 100);
        // 20 runs of 5, and a pause after each but the last.
        let batch_ms = if depth == 4 { 2 } else { 5 };
        let took_us = bench.clock.now() / 1000;
        let want_us = 19 * 10_000 + 20 * batch_ms * 100;
        assert!(took_us.abs_diff(want_us) <= 100, "{depth}: {took_us} us, not {want_us}");
    }
}

#[test]
fn time_at_io_brings_a_pause_too_and_the_pace_waits_or_catches_up() {
    for (shifts_pace, want) in [(true, 5000.0), (false, 10_000.0)] {
        let spec = at_iops(1000);
        let mut pause = Pause::new(ms(500));
        (pause.every, pause.after_ticks) = (PauseEvery::Never, Some(SECOND / 2));
        pause.shifts_pace = shifts_pace;
        let mut bench = PacedBench::new(Script::default(), &spec, pace(&spec).pausing(pause), 0);
        bench.run(10 * SECOND);
        let ios = bench.lane(Dir::Read).ios as f64;
        // It ends in a pause, before what was due then has been caught up.
        assert!((ios - want).abs() <= want * 0.055, "{shifts_pace}: {ios}");
    }
}

#[test]
fn an_io_that_takes_too_long_ends_the_job() {
    for depth in [0, 4] {
        let stall = Some(Stall { every: ms(3000), lasts: ms(100) });
        let script = Script { stall, ..Script::default() };
        let most = PerDir([50_000_000, u64::MAX, u64::MAX]);
        let pacing = Pacing::new(None).bounded(LatencyBounds::new(most));
        let mut bench = PacedBench::new(script, &at_iops(0), pacing, depth);
        let Ended::Failed(failure) = bench.run(10 * SECOND) else { panic!("{depth}") };
        assert_eq!((failure.errno, failure.doing), (Errno(110), "max latency exceeded"));
        let (took, bound) = bench.drive.pacing.as_ref().unwrap().too_long().unwrap();
        assert_eq!(bound, 50_000_000);
        assert!((100_000_000..101_000_000).contains(&took), "{took}");
        assert!(bench.clock.now() < 3_200_000_000, "at once");
    }
}

#[test]
fn slow_ios_are_counted_against_a_target() {
    let script = Script { latency: (Nanos(0), ms(1)), ..Script::default() };
    let bounds = LatencyBounds::new(PerDir::all(u64::MAX)).counting(750_000, false);
    let mut bench = PacedBench::new(script, &at_iops(0), Pacing::new(None).bounded(bounds), 8);
    bench.run(SECOND);
    let tried = bench.drive.pacing.as_mut().unwrap().take_tried();
    assert_eq!(tried.ios, bench.lane(Dir::Read).ios);
    // A quarter, and those that wait to be collected a little longer.
    let share = tried.slow as f64 / tried.ios as f64;
    assert!((0.22..0.32).contains(&share), "{share}");
}

#[test]
fn a_lower_depth_is_kept_from_the_next_slice_on() {
    let script = Script { latency: (ms(1), ms(1)), ..Script::default() };
    let spec = at_iops(0);
    let mut bench = PacedBench::new(script, &spec, Pacing::new(None), 16);
    bench.drive.window.depth = 4;
    bench.run(SECOND);
    assert_eq!(bench.seen.depth_max.load(Relaxed), 4);
    assert!(near(bench.lane(Dir::Read).ios as f64, 4000.0));
}

#[test]
fn a_stop_wakes_a_job_that_sleeps_until_its_next_io() {
    for depth in [0, 4] {
        // One now, the next in eleven days.
        let spec = paced(reads(), [Cap::Bytes(1), Cap::Free, Cap::Free], Process::Even);
        let spec = SourceSpec { sizes: PerDir::all(Sizes::Fixed(1 << 20)), ..spec };
        let mut bench = PacedBench::new(Script::default(), &spec, pace(&spec), depth);
        let clock = Clock::monotonic();
        bench.drive.clock = clock;
        bench.drive.pacing.as_mut().unwrap().begin(clock.now());
        bench.drive.control.arm(u64::MAX);
        let control = bench.drive.control.clone();
        let (engine, drive) = (&mut bench.engine, &mut bench.drive);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(20));
                control.stop();
            });
            assert!(matches!(engine.run(drive), Ended::Time));
        });
        assert_eq!(bench.lane(Dir::Read).ios, 1);
    }
}
