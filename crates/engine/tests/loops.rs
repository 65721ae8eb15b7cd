//! The loops over a simulated device, on a simulated clock.

mod common;

use common::{drive, nowhere, plan, spec, tally, window};
use iosonde_base::{Completion, Errno, FileId, Nanos, Op, Slot};
use iosonde_engine::sim::{Script, Seen, Sim, Stall};
use iosonde_engine::{
    Drive, Ended, ErrorKind, Fill, Io, Loop, OneShotLoop, Opened, QueueLoop, Queued, Tolerance,
    Wanted, Window,
};
use iosonde_stats::{Counters, Moments};
use iosonde_sys::clock::{Clock, Still};
use iosonde_workload::{Directions, MapMode, Sizes, SourceSpec, SyncEvery};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// What the loop did, as an engine sees it, and the account that follows.
#[derive(Default)]
struct Notes {
    /// Of each slot in flight: the I/O, and the stamps of its submission.
    flights: Vec<Option<(Io, u64, u64)>>,
    depth_max: usize,
    overlapped: bool,
    /// Opened or closed while something flew.
    disturbed: bool,
    clat: [Moments; 3],
    lat: [Moments; 3],
    slat: [Moments; 3],
    /// Of syncs in the queue, from start.
    syncs: Moments,
    /// Depth before each push of a new I/O.
    depths: Vec<usize>,
}

/// An engine that keeps books on another, one by one, and moves the clock at
/// each step so that every stamp differs.
struct Bookkeeper<E> {
    engine: E,
    hand: Still,
    notes: Rc<RefCell<Notes>>,
    fresh: Vec<u32>,
    /// The first push of a submission began here.
    began: u64,
}

impl<E> Bookkeeper<E> {
    fn new(engine: E, hand: Still, depth: u32) -> (Self, Rc<RefCell<Notes>>) {
        let notes = Notes { flights: vec![None; depth as usize], ..Notes::default() };
        let notes = Rc::new(RefCell::new(notes));
        let keeper = Bookkeeper { engine, hand, notes: notes.clone(), fresh: Vec::new(), began: 0 };
        (keeper, notes)
    }
}

impl<E: Queued> Queued for Bookkeeper<E> {
    fn queues_syncs(&self) -> bool {
        self.engine.queues_syncs()
    }

    fn push(&mut self, slot: Slot, io: &Io) {
        let mut notes = self.notes.borrow_mut();
        if notes.flights[slot.0 as usize].is_none() {
            if self.fresh.is_empty() {
                self.began = self.hand.now_ns();
            }
            let depth = notes.flights.iter().flatten().count();
            notes.depths.push(depth);
            let end = |io: &Io| io.offset + u64::from(io.len);
            let touches = |other: &Io| {
                other.file == io.file && other.offset < end(io) && io.offset < end(other)
            };
            notes.overlapped |= notes.flights.iter().flatten().any(|(other, ..)| touches(other));
            notes.flights[slot.0 as usize] = Some((*io, 0, 0));
            notes.depth_max = notes.depth_max.max(depth + 1);
            self.fresh.push(slot.0);
        }
        self.hand.advance(1);
        self.engine.push(slot, io);
    }

    fn submit(&mut self) -> Result<(), Errno> {
        self.hand.advance(3);
        let now = self.hand.now_ns();
        let mut notes = self.notes.borrow_mut();
        for slot in self.fresh.drain(..) {
            let flight = notes.flights[slot as usize].as_mut().unwrap();
            (flight.1, flight.2) = (self.began, now);
            let op = flight.0.op as usize;
            if op < 3 {
                notes.slat[op].add(now - self.began);
            }
        }
        self.engine.submit()
    }

    fn reap(&mut self, wanted: Wanted, done: &mut Vec<Completion>) -> Result<(), Errno> {
        self.engine.reap(wanted, done)?;
        self.hand.advance(2);
        let now = self.hand.now_ns();
        let mut notes = self.notes.borrow_mut();
        assert!(done.len() as u32 <= wanted.max);
        for done in done.iter() {
            let (io, start, issue) = notes.flights[done.slot.0 as usize].expect("it is in flight");
            let rest = match done.result {
                Ok(n) if io.op.dir().is_some() && n > 0 => io.len - n,
                _ => 0,
            };
            if rest > 0 {
                // It will be pushed again; its stamps stay.
                notes.flights[done.slot.0 as usize].as_mut().unwrap().0.len = rest;
                continue;
            }
            notes.flights[done.slot.0 as usize] = None;
            if io.op.is_sync() {
                notes.syncs.add(now - start);
            }
            let whole = matches!(done.result, Ok(n) if n > 0);
            if whole && io.op.dir().is_some() {
                notes.clat[io.op as usize].add(now - issue);
                notes.lat[io.op as usize].add(now - start);
            }
        }
        Ok(())
    }

    fn broken(&self) -> Option<&'static str> {
        Some("asked only when it is")
    }

    fn opened(&mut self, file: &Opened) -> Result<(), Errno> {
        let mut notes = self.notes.borrow_mut();
        notes.disturbed |= notes.flights.iter().flatten().count() > 0;
        self.engine.opened(file)
    }

    fn closing(&mut self, file: FileId) {
        let mut notes = self.notes.borrow_mut();
        notes.disturbed |= notes.flights.iter().flatten().count() > 0;
        self.engine.closing(file);
    }
}

/// Run to the end in slices of `slice` nanoseconds.
fn run_out(engine: &mut dyn Loop, drive: &mut Drive, hand: Still, slice: u64) -> Ended {
    loop {
        drive.control.arm(hand.now_ns().saturating_add(slice));
        match engine.run(drive) {
            Ended::Time => {
                // Nothing need have happened, and time must pass.
                hand.advance(1);
            }
            Ended::Pass => drive.source.next_pass(),
            ended => return ended,
        }
    }
}

fn mixed(read: bool, write: bool, trim: bool, random: bool) -> Directions {
    Directions { read, write, trim, random, trim_then_write: false }
}

#[derive(Clone, Debug)]
struct LoopCase {
    spec: SourceSpec,
    window: Window,
    script: Script,
    slice: u64,
    queue_syncs: bool,
}

impl LoopCase {
    /// In every second case there is more to do for each I/O than to issue it.
    fn tap(&self, drive: &mut Drive) {
        if self.script.seed.is_multiple_of(2) {
            drive.fill = Fill::new(7, true);
            drive.fill.prepare(&mut drive.memory);
        }
    }
}

fn cases(errors: bool) -> impl Strategy<Value = LoopCase> {
    let source = (0..5usize, any::<bool>(), 1..4usize, 0..4u32, 1..3u64, any::<u64>());
    let window = (1..40u32, 1..40u32, 0..40u32, 0..40u32, 0..40u32, any::<bool>());
    let script = (any::<u64>(), 0..200u64, 0..400u64, any::<bool>(), 0..300_000u32, 0..100_000u32);
    (source, window, script, prop_oneof![Just(u64::MAX), 50..5000u64], any::<bool>()).prop_map(
        move |(source, window, script, slice, queue_syncs)| {
            let (dirs, random, files, syncs, loops, seed) = source;
            let dirs = [
                mixed(true, false, false, random),
                mixed(false, true, false, random),
                mixed(true, true, false, random),
                mixed(false, false, true, random),
                Directions { trim_then_write: true, ..mixed(false, true, true, random) },
            ][dirs];
            let mut spec = spec(dirs, 4096, 4096 * 60, files);
            spec.randseed = seed;
            spec.loops = loops;
            spec.open_files = if files > 2 { files - 1 } else { files };
            spec.sync_every =
                SyncEvery { fsync: syncs * 3, fdatasync: syncs, ..SyncEvery::default() };
            let (depth, batch, reap_min, reap_max, low, serialize_overlap) = window;
            let window = Window { depth, batch, reap_min, reap_max, low, serialize_overlap };
            let (seed, shortest, spread, stalls, short_ppm, errors_ppm) = script;
            let script = Script {
                seed,
                latency: (Nanos(shortest), Nanos(shortest + spread)),
                stall: stalls.then_some(Stall { every: Nanos(20_000), lasts: Nanos(5_000) }),
                errors_ppm: if errors { errors_ppm } else { 0 },
                short_ppm,
                ..Script::default()
            };
            LoopCase { spec, window, script, slice, queue_syncs }
        },
    )
}

/// Run a case to its end over the bookkeeper, and hold the account to it.
fn check(case: &LoopCase) -> Result<(), TestCaseError> {
    let LoopCase { spec, window, script, slice, .. } = case;
    let hand = Still::at(1_000);
    let clock = Clock::still(hand);
    let sim = Sim::new(script.clone(), clock, window.depth).queueing_syncs(case.queue_syncs);
    let seen = sim.seen();
    let (keeper, notes) = Bookkeeper::new(sim, hand, window.depth);
    let setups = spec.files.iter().map(|file| nowhere(file.size)).collect();
    let (mut drive, counters) = drive(clock, spec, setups, *window);
    drive.tolerance =
        Tolerance { go_on: vec![ErrorKind::Read, ErrorKind::Write], ..Tolerance::default() };
    case.tap(&mut drive);
    let mut engine = QueueLoop::<_, true>::new(keeper, window.depth);
    let ended = run_out(&mut engine, &mut drive, hand, *slice);
    prop_assert!(matches!(ended, Ended::Done), "{ended:?}");

    let plan = plan(spec);
    let (mut issued, mut errors, mut short) = (0, 0, 0);
    for op in [Op::Read, Op::Write, Op::Trim] {
        let lane = &counters.lanes[op as usize];
        let (ios, bytes) = tally(&plan, op);
        prop_assert_eq!(lane.issued.get(), ios, "each {:?} is issued once", op);
        prop_assert_eq!(lane.ios.get() + lane.errors.get(), ios, "and comes back once");
        prop_assert_eq!(lane.bytes.get(), bytes - 4096 * lane.errors.get());
        let notes = notes.borrow();
        prop_assert_eq!(lane.clat.snapshot(), notes.clat[op as usize].snapshot(), "clat {:?}", op);
        prop_assert_eq!(lane.lat.snapshot(), notes.lat[op as usize].snapshot(), "lat {:?}", op);
        prop_assert_eq!(lane.slat.snapshot(), notes.slat[op as usize].snapshot(), "slat {:?}", op);
        let histogram = lane.clat_histogram.as_ref().unwrap();
        prop_assert_eq!(histogram.snapshot().total(), lane.ios.get());
        issued += ios;
        errors += lane.errors.get();
        short += lane.short.get();
    }
    let syncs = tally(&plan, Op::Sync).0 + tally(&plan, Op::DataSync).0;
    prop_assert_eq!(counters.sync.ios.get(), syncs);
    errors += counters.sync.errors.get();
    let queued = if case.queue_syncs { syncs } else { 0 };
    let (found, seen_syncs) = (counters.sync.lat.snapshot(), notes.borrow().syncs.snapshot());
    prop_assert!(!case.queue_syncs || found == seen_syncs, "{:?}, not {:?}", found, seen_syncs);
    held_to_what_was_seen(&counters, &seen, issued + queued, errors, short)?;
    prop_assert_eq!(drive.tolerance.tolerated, errors);
    let notes = notes.borrow();
    prop_assert!(notes.depth_max <= window.depth as usize);
    prop_assert!(!notes.disturbed, "a file was opened or closed while something flew");
    prop_assert!(!(window.serialize_overlap && notes.overlapped));
    Ok(())
}

fn held_to_what_was_seen(
    counters: &Counters,
    seen: &Arc<Seen>,
    issued: u64,
    errors: u64,
    short: u64,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(seen.pushed.load(Relaxed), issued + short, "each rest is one more push");
    prop_assert_eq!(seen.answered.load(Relaxed), seen.pushed.load(Relaxed));
    prop_assert_eq!(seen.refused.load(Relaxed), errors);
    prop_assert_eq!(seen.short.load(Relaxed), short);
    let sum = |map: &[iosonde_stats::Tally]| map.iter().map(|tally| tally.get()).sum::<u64>();
    prop_assert_eq!(sum(&counters.depth.level), issued);
    prop_assert_eq!(sum(&counters.depth.submit), counters.depth.submits.get());
    prop_assert_eq!(sum(&counters.depth.complete), counters.depth.completes.get());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_io_comes_back_once_and_runs_count_as_one_by_one(case in cases(false)) {
        check(&case)?;
    }

    #[test]
    fn tolerated_errors_are_counted_and_lose_nothing(case in cases(true)) {
        check(&case)?;
    }

    #[test]
    fn one_at_a_time_counts_as_the_device_does(case in cases(true)) {
        let hand = Still::at(1_000);
        let clock = Clock::still(hand);
        let sim = Sim::new(case.script.clone(), clock, 1);
        let seen = sim.seen();
        let setups = case.spec.files.iter().map(|file| nowhere(file.size)).collect();
        let (mut drive, counters) = drive(clock, &case.spec, setups, Window::ONE);
        drive.tolerance.go_on = vec![ErrorKind::Read, ErrorKind::Write];
        case.tap(&mut drive);
        let mut engine = OneShotLoop::<_, true>::new(sim);
        let ended = run_out(&mut engine, &mut drive, hand, case.slice);
        prop_assert!(matches!(ended, Ended::Done), "{:?}", ended);
        let plan = plan(&case.spec);
        let (mut issued, mut errors, mut short) = (0, 0, 0);
        for op in [Op::Read, Op::Write, Op::Trim] {
            let lane = &counters.lanes[op as usize];
            let (ios, bytes) = tally(&plan, op);
            prop_assert_eq!(lane.ios.get() + lane.errors.get(), ios);
            prop_assert_eq!(lane.bytes.get(), bytes - 4096 * lane.errors.get());
            prop_assert_eq!(lane.clat.snapshot().n, lane.ios.get());
            prop_assert_eq!(lane.issued.get(), ios);
            (issued, errors, short) =
                (issued + ios, errors + lane.errors.get(), short + lane.short.get());
        }
        let syncs = tally(&plan, Op::Sync).0 + tally(&plan, Op::DataSync).0;
        prop_assert_eq!(counters.sync.ios.get(), syncs);
        errors += counters.sync.errors.get();
        held_to_what_was_seen(&counters, &seen, issued, errors, short)?;
    }

    #[test]
    fn without_stamps_the_counts_are_the_same(case in cases(false)) {
        let hand = Still::at(1_000);
        let clock = Clock::still(hand);
        let setups: Vec<_> = case.spec.files.iter().map(|file| nowhere(file.size)).collect();
        let depth = case.window.depth;
        let sim = || Sim::new(case.script.clone(), clock, depth).queueing_syncs(true);
        let mut loops: [(Window, Box<dyn Loop>); 2] = [
            (case.window, Box::new(QueueLoop::<_, false>::new(sim(), depth))),
            (Window::ONE, Box::new(OneShotLoop::<_, false>::new(sim()))),
        ];
        let plan = plan(&case.spec);
        for (window, engine) in &mut loops {
            let (mut drive, counters) = drive(clock, &case.spec, setups.clone(), *window);
            case.tap(&mut drive);
            let ended = run_out(engine.as_mut(), &mut drive, hand, case.slice);
            prop_assert!(matches!(ended, Ended::Done), "{:?}", ended);
            for op in [Op::Read, Op::Write, Op::Trim] {
                let lane = &counters.lanes[op as usize];
                prop_assert_eq!((lane.ios.get(), lane.bytes.get()), tally(&plan, op));
                prop_assert_eq!(lane.clat.snapshot().n, 0);
            }
        }
    }
}

fn reads(ios: u64) -> SourceSpec {
    spec(mixed(true, false, false, false), 4096, 4096 * ios, 1)
}

type SimLoop = QueueLoop<Bookkeeper<Sim>, true>;

/// A loop over a scripted device, with everything one may look at.
struct LoopBench {
    hand: Still,
    drive: Drive,
    counters: Arc<Counters>,
    engine: SimLoop,
    notes: Rc<RefCell<Notes>>,
    seen: Arc<Seen>,
}

fn bench(script: Script, spec: &SourceSpec, window: Window) -> LoopBench {
    let hand = Still::at(1_000);
    let clock = Clock::still(hand);
    let sim = Sim::new(script, clock, window.depth);
    let seen = sim.seen();
    let (keeper, notes) = Bookkeeper::new(sim, hand, window.depth);
    let setups = spec.files.iter().map(|file| nowhere(file.size)).collect();
    let (drive, counters) = drive(clock, spec, setups, window);
    let engine = QueueLoop::new(keeper, window.depth);
    LoopBench { hand, drive, counters, engine, notes, seen }
}

fn in_flight(bench: &LoopBench) -> usize {
    bench.notes.borrow().flights.iter().flatten().count()
}

#[test]
fn a_pass_ends_only_when_everything_is_back() {
    let mut bench = bench(Script::default(), &reads(20), window(32, 4));
    assert!(matches!(bench.engine.run(&mut bench.drive), Ended::Done));
    assert_eq!(in_flight(&bench), 0);
    assert_eq!(bench.counters.lanes[0].ios.get(), 20);
}

#[test]
fn a_slice_ends_in_time_with_io_in_flight_and_draining_brings_it_home() {
    let mut bench = bench(Script::default(), &reads(1000), window(32, 1));
    bench.drive.control.arm(bench.hand.now_ns() + 150_000);
    assert!(matches!(bench.engine.run(&mut bench.drive), Ended::Time));
    assert!(in_flight(&bench) > 0);
    let issued = bench.counters.lanes[0].issued.get();
    bench.engine.drain(&mut bench.drive).unwrap();
    assert_eq!(in_flight(&bench), 0);
    assert_eq!(bench.counters.lanes[0].ios.get(), issued, "nothing new was issued");
}

#[test]
fn a_stop_ends_the_slice_at_the_next_collection() {
    let mut bench = bench(Script::default(), &reads(100_000), window(8, 1));
    bench.drive.control.stop();
    bench.drive.control.arm(u64::MAX);
    assert!(matches!(bench.engine.run(&mut bench.drive), Ended::Time));
    assert!(bench.counters.lanes[0].issued.get() <= 9);
}

#[test]
fn a_device_that_completes_nothing_does_not_delay_a_stop() {
    let slow = Nanos::from_secs(3600);
    let script = Script { latency: (slow, slow), ..Script::default() };
    let mut bench = bench(script, &reads(100), window(4, 1));
    let start = bench.hand.now_ns();
    bench.drive.control.arm(start + 1);
    assert!(matches!(bench.engine.run(&mut bench.drive), Ended::Time));
    assert!(bench.hand.now_ns() - start < 1_000_000_000, "not the hour that the I/O takes");
}

#[test]
fn a_failure_with_31_others_in_flight_brings_all_of_them_home() {
    let script = Script { errors_ppm: 20_000, ..Script::default() };
    let mut bench = bench(script, &reads(100_000), window(32, 32));
    let Ended::Failed(failure) = bench.engine.run(&mut bench.drive) else { panic!("no failure") };
    assert_eq!((failure.doing, failure.errno, failure.len), ("read", Errno::EIO, 4096));
    assert_eq!(in_flight(&bench), 0);
    let lane = &bench.counters.lanes[0];
    assert!(lane.errors.get() >= 1);
    assert_eq!(lane.ios.get() + lane.errors.get(), lane.issued.get());
    assert_eq!(bench.seen.answered.load(Relaxed), bench.seen.pushed.load(Relaxed));
    assert_eq!(bench.drive.tolerance.tolerated, 0);
}

#[test]
fn a_read_past_the_end_counts_with_what_it_moved() {
    let mut spec = reads(1);
    spec.sizes = iosonde_base::PerDir::all(Sizes::Fixed(8192));
    spec.files[0].size = 8192;
    spec.files[0].end = 8192;
    spec.total_bytes = 8192;
    let script = Script { end: 5000, ..Script::default() };
    let mut bench = bench(script, &spec, window(4, 4));
    assert!(matches!(bench.engine.run(&mut bench.drive), Ended::Done));
    let lane = &bench.counters.lanes[0];
    assert_eq!((lane.short.get(), lane.ios.get(), lane.bytes.get()), (1, 1, 5000));
}

#[test]
fn a_broken_queue_fails_the_job_and_is_not_waited_for() {
    let script = Script { breaks_after: 3, ..Script::default() };
    let mut bench = bench(script, &reads(100_000), window(16, 4));
    let Ended::Failed(failure) = bench.engine.run(&mut bench.drive) else { panic!("no failure") };
    assert_eq!((failure.doing, failure.errno), ("submit", Errno::EIO));
    assert_eq!(failure.detail, Some("asked only when it is"));
    bench.engine.drain(&mut bench.drive).unwrap();
}

#[test]
fn once_full_the_queue_runs_down_to_the_low_mark() {
    let window = Window { low: 4, reap_max: 1, ..window(16, 1) };
    let mut bench = bench(Script::default(), &reads(500), window);
    assert!(matches!(bench.engine.run(&mut bench.drive), Ended::Done));
    // From 16 down to 4, then filled from 4 to 15 again.
    let depths = &bench.notes.borrow().depths;
    assert!(depths[16..].chunks(12).all(|chunk| chunk[0] == 4), "{:?}", &depths[..64]);
}

#[test]
fn with_a_minimum_of_zero_what_is_done_is_taken_at_once() {
    let window = Window { reap_min: 0, ..window(16, 1) };
    let zero = Script { latency: (Nanos(0), Nanos(0)), ..Script::default() };
    let mut bench = bench(zero, &reads(100), window);
    assert!(matches!(bench.engine.run(&mut bench.drive), Ended::Done));
    assert_eq!(bench.notes.borrow().depth_max, 1);
}

#[test]
fn collections_hold_between_the_minimum_and_the_maximum() {
    let window = Window { reap_min: 8, reap_max: 8, ..window(32, 8) };
    let trims = spec(mixed(false, false, true, false), 4096, 4096 * 320, 1);
    for spec in [reads(320), trims] {
        let mut bench = bench(Script::default(), &spec, window);
        assert!(matches!(bench.engine.run(&mut bench.drive), Ended::Done));
        let complete = &bench.counters.depth.complete;
        assert_eq!(complete.each_ref().map(|tally| tally.get()), [0, 0, 40, 0, 0, 0, 0]);
        assert_eq!(bench.counters.depth.submit[2].get(), 40);
    }
}

#[test]
fn a_sync_made_by_the_loop_happens_between_two_submissions() {
    let mut spec = spec(mixed(false, true, false, false), 4096, 4096 * 40, 1);
    spec.sync_every.fsync = 4;
    let mut bench = bench(Script::default(), &spec, window(16, 16));
    assert!(matches!(bench.engine.run(&mut bench.drive), Ended::Done));
    let syncs = tally(&plan(&spec), Op::Sync).0;
    assert_eq!(bench.counters.sync.ios.get(), syncs);
    assert_eq!(bench.counters.lanes[1].ios.get(), 40);
    // Each submission ends at a sync: never more than four writes in one.
    assert_eq!(bench.counters.depth.submit[1].get(), bench.counters.depth.submits.get());
}

#[test]
fn trims_that_are_interrupted_for_ever_are_errors_in_the_end() {
    let interrupted = Script { errors_ppm: 1_000_000, errno: Errno::EINTR, ..Script::default() };
    let trims = spec(mixed(false, false, true, false), 4096, 4096 * 40, 1);
    let clock = Clock::still(Still::at(1_000));
    let sim = || Sim::new(interrupted.clone(), clock, 4).queueing_syncs(true);
    let (mut drive, counters) = drive(clock, &trims, vec![nowhere(1 << 40)], window(4, 1));
    let mut engine = QueueLoop::<_, true>::new(sim(), 4);
    // After a stop the wait for them is short.
    drive.control.stop();
    drive.control.arm(u64::MAX);
    assert!(matches!(engine.run(&mut drive), Ended::Time));
    let failure = engine.drain(&mut drive).unwrap_err();
    assert_eq!((failure.doing, failure.errno), ("trim", Errno::EINTR));
    assert!(failure.detail.unwrap().contains("again and again"), "{failure:?}");
    assert_eq!(counters.lanes[2].errors.get(), counters.lanes[2].issued.get());
}

#[test]
fn tolerated_errors_do_not_keep_a_slice_from_ending() {
    let script = Script { errors_ppm: 1_000_000, ..Script::default() };
    let hand = Still::at(1_000);
    let clock = Clock::still(hand);
    let spec = reads(1_000_000);
    let engines: [Box<dyn Loop>; 2] = [
        Box::new(OneShotLoop::<_, true>::new(Sim::new(script.clone(), clock, 1))),
        Box::new(OneShotLoop::<_, false>::new(Sim::new(script, clock, 1))),
    ];
    for mut engine in engines {
        let (mut drive, counters) = drive(clock, &spec, vec![nowhere(1 << 40)], Window::ONE);
        drive.tolerance.go_on = vec![ErrorKind::Read];
        drive.control.arm(hand.now_ns() + 1_000_000);
        assert!(matches!(engine.run(&mut drive), Ended::Time));
        assert!(counters.lanes[0].errors.get() < 100, "1 ms is about ten I/Os of 100 us");
    }
}

#[test]
fn a_file_that_is_begun_again_is_dropped_from_the_cache_and_no_sync_is_counted() {
    let endless = spec(mixed(true, false, false, false), 4096, 4096 * 20, 1);
    let spec = SourceSpec { time_based: true, ..endless };
    for depth in [0, 1, 4] {
        let hand = Still::at(1_000);
        let clock = Clock::still(hand);
        let sim = Sim::new(Script::default(), clock, 4);
        let (mut drive, counters) = drive(clock, &spec, vec![nowhere(1 << 40)], window(4, 1));
        let mut engine: Box<dyn Loop> = match depth {
            0 => Box::new(OneShotLoop::<_, true>::new(sim)),
            _ => Box::new(QueueLoop::<_, true>::new(sim, depth)),
        };
        drive.control.arm(hand.now_ns() + 10_000_000);
        assert!(matches!(engine.run(&mut drive), Ended::Time));
        assert!(counters.lanes[0].ios.get() > 80, "depth {depth}");
        assert_eq!(counters.sync.ios.get(), 0, "depth {depth}");
    }
}

#[test]
fn one_at_a_time_a_slice_ends_when_it_is_over_and_not_before() {
    let hand = Still::at(1_000);
    let clock = Clock::still(hand);
    let sim = || Sim::new(Script::default(), clock, 1);
    let engines: [Box<dyn Loop>; 2] = [
        Box::new(OneShotLoop::<_, true>::new(sim())),
        Box::new(OneShotLoop::<_, false>::new(sim())),
    ];
    for mut engine in engines {
        let (mut drive, counters) = drive(clock, &reads(400), vec![nowhere(1 << 40)], Window::ONE);
        drive.control.arm(hand.now_ns() + 1_000_000);
        assert!(matches!(engine.run(&mut drive), Ended::Time));
        let ios = counters.lanes[0].ios.get();
        assert!((10..13).contains(&ios), "{ios} of 100 us in 1 ms");
        drive.control.arm(u64::MAX);
        assert!(matches!(engine.run(&mut drive), Ended::Done));
        assert_eq!(counters.lanes[0].ios.get(), 400);
    }
}

#[test]
fn a_slice_ends_after_a_sync_too() {
    let mut spec = spec(mixed(false, true, false, false), 4096, 4096 * 40, 1);
    spec.sync_every.fsync = 1;
    let mut bench = bench(Script::default(), &spec, window(4, 1));
    bench.drive.control.stop();
    assert!(matches!(bench.engine.run(&mut bench.drive), Ended::Time));
    assert_eq!(bench.counters.lanes[1].issued.get(), 1);
    assert_eq!(bench.counters.sync.ios.get(), 1);

    let clock = Clock::still(Still::at(1_000));
    let (mut drive, counters) = drive(clock, &spec, vec![nowhere(1 << 40)], Window::ONE);
    let mut engine = OneShotLoop::<_, true>::new(Sim::new(Script::default(), clock, 1));
    drive.control.stop();
    for syncs in [0, 1] {
        assert!(matches!(engine.run(&mut drive), Ended::Time));
        assert_eq!((counters.lanes[1].ios.get(), counters.sync.ios.get()), (1, syncs));
    }
}

#[test]
fn a_queue_of_one_is_a_queue() {
    let mut bench = bench(Script::default(), &reads(10), window(1, 1));
    assert!(matches!(bench.engine.run(&mut bench.drive), Ended::Done));
    assert_eq!(bench.counters.lanes[0].ios.get(), 10);
    assert_eq!(bench.counters.depth.level[0].get(), 10);
}

/// Random reads and writes of blocks that overlap by parts, in a small file.
fn crowded() -> SourceSpec {
    let mut spec = spec(mixed(true, true, false, true), 4096, 64 << 10, 1);
    let [small, large] = [Sizes::Fixed(4096), Sizes::Fixed(12_288)];
    spec.sizes = iosonde_base::PerDir([small.clone(), large, small]);
    spec.map = MapMode::Off;
    spec.total_bytes = 2000 * 8192;
    spec
}

#[test]
fn ios_that_overlap_are_never_in_flight_together_where_that_is_wanted() {
    for serialize_overlap in [false, true] {
        let window = Window { serialize_overlap, ..window(8, 1) };
        let mut bench = bench(Script::default(), &crowded(), window);
        assert!(matches!(bench.engine.run(&mut bench.drive), Ended::Done));
        let notes = bench.notes.borrow();
        assert_eq!(notes.overlapped, !serialize_overlap);
        assert!(notes.depth_max > 1, "others are");
    }
}

#[test]
fn ios_side_by_side_and_in_two_files_do_not_overlap() {
    let serialized = |depth| Window { serialize_overlap: true, ..window(depth, 1) };
    // Each begins where the one before ends.
    let mut one_file = bench(Script::default(), &reads(200), serialized(16));
    assert!(matches!(one_file.engine.run(&mut one_file.drive), Ended::Done));
    assert_eq!(one_file.notes.borrow().depth_max, 16);
    // The same offsets, in turns.
    let two = spec(mixed(true, false, false, false), 4096, 4096 * 100, 2);
    let mut two_files = bench(Script::default(), &two, serialized(16));
    assert!(matches!(two_files.engine.run(&mut two_files.drive), Ended::Done));
    assert_eq!(two_files.notes.borrow().depth_max, 16);
    // At random, on either side of each other.
    let random = spec(mixed(true, false, false, true), 4096, 4096 * 100, 1);
    let depths = [serialized(16), window(16, 1)].map(|window| {
        let mut bench = bench(Script::default(), &random, window);
        assert!(matches!(bench.engine.run(&mut bench.drive), Ended::Done));
        bench.notes.borrow().depths.clone()
    });
    assert_eq!(depths[0], depths[1], "none waited for another");
}

#[test]
fn files_are_opened_and_closed_only_while_nothing_is_in_flight() {
    let mut files = spec(mixed(true, false, false, true), 4096, 4096 * 20, 6);
    files.open_files = 2;
    let opens = plan(&files).iter().filter(|entry| entry.op == Op::Open).count();
    assert!(opens >= 4, "{opens}");
    let mut bench = bench(Script::default(), &files, window(8, 1));
    assert!(matches!(bench.engine.run(&mut bench.drive), Ended::Done));
    let notes = bench.notes.borrow();
    assert!(!notes.disturbed && notes.depth_max > 1, "depth {}", notes.depth_max);
    assert_eq!(bench.counters.lanes[0].ios.get(), 120);
}
