//! Commands to zones between the I/Os of each loop, on simulated devices that take nothing a
//! zoned device would refuse.

mod common;

use common::{STRIDE, drive, nowhere, spec, window};
use iosonde_base::{Errno, FileId, Op, ZoneCondition, ZoneReport};
use iosonde_engine::sim::{Script, Sim, SimZoneSettings, SimulatedDevice};
use iosonde_engine::{
    Drive, Ended, ErrorKind, Failure, Io, Loop, OneShot, OneShotLoop, QueueLoop, Record, Tape,
};
use iosonde_stats::Counters;
use iosonde_sys::clock::{Clock, Still};
use iosonde_sys::zones::{OpenTarget, ZoneDevice};
use iosonde_workload::zbd::{ZbdSpec, ZoneLimits, ZoneShare, ZoneTable};
use iosonde_workload::{Directions, SourceSpec};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

const BLOCK: u32 = 4096;
const ZONE: u64 = 4 * BLOCK as u64;
const ZONES: u64 = 4;

fn empty() -> Vec<ZoneReport> {
    (0..ZONES).map(|zone| ZoneReport::empty(zone * ZONE, ZONE, ZONE)).collect()
}

fn full() -> Vec<ZoneReport> {
    let fill = |zone: ZoneReport| ZoneReport {
        condition: ZoneCondition::Full,
        write_pointer: zone.start + ZONE,
        ..zone
    };
    empty().into_iter().map(fill).collect()
}

fn job(op: Op, zones: &[ZoneReport]) -> SourceSpec {
    let (read, write, trim) = (op == Op::Read, op == Op::Write, op == Op::Trim);
    let directions = Directions { read, write, trim, ..Directions::default() };
    let table = ZoneTable::new(zones, ZoneLimits { open_max: 0 }).unwrap();
    let zbd = ZbdSpec {
        files: vec![ZoneShare::new(table)],
        read_beyond_wp: false,
        job_open_max: 0,
        write_remainder: false,
        skip: 0,
        reset: None,
        recover: true,
        imagined: false,
    };
    let whole = spec(directions, BLOCK, ZONE * ZONES, 1);
    SourceSpec { zbd: Some(zbd), ..whole }
}

/// A device whose resets may fail, and which notes what it is given of a write that failed.
#[derive(Debug)]
struct Odd {
    device: Arc<SimulatedDevice>,
    resets: Result<(), Errno>,
    rests: Mutex<Vec<(u64, u64, bool)>>,
}

impl ZoneDevice for Odd {
    fn report(&self, file: OpenTarget<'_>, at: u64, most: usize) -> Result<Vec<ZoneReport>, Errno> {
        self.device.report(file, at, most)
    }

    fn reset(&self, file: OpenTarget<'_>, start: u64, bytes: u64) -> Result<(), Errno> {
        self.resets.and_then(|()| self.device.reset(file, start, bytes))
    }

    fn finish(&self, file: OpenTarget<'_>, start: u64, bytes: u64) -> Result<(), Errno> {
        self.device.finish(file, start, bytes)
    }

    fn write_rest(
        &self,
        file: OpenTarget<'_>,
        at: u64,
        bytes: u64,
        data: Option<&[u8]>,
    ) -> Result<(), Errno> {
        self.rests.lock().unwrap().push((at, bytes, data.is_some()));
        self.device.write_rest(file, at, bytes, data)
    }
}

/// A job on such a device, by one of the loops.
struct Bench {
    words: String,
    depth: u32,
    stamped: bool,
    odd: Arc<Odd>,
    drive: Drive,
    counters: Arc<Counters>,
    engine: Box<dyn Loop>,
    taped: Receiver<Vec<Record>>,
}

/// The byte at each place of each block.
fn mark(at: usize) -> u8 {
    (at * 7 + at / 256) as u8
}

/// Every loop: without a queue, and with one of each depth; with stamps and without.
fn benches(
    spec: &SourceSpec,
    zones: &[ZoneReport],
    settings: SimZoneSettings,
    odd: impl Fn(Odd) -> Odd,
) -> Vec<Bench> {
    let make = |(depth, stamped): (u32, bool)| {
        let device = Arc::new(SimulatedDevice::new(zones, settings));
        device.keep_data();
        let clock = Clock::still(Still::at(1_000));
        let sim = Sim::new(Script::default(), clock, depth.max(1)).on(vec![device.clone()]);
        let engine: Box<dyn Loop> = match (depth, stamped) {
            (0, true) => Box::new(OneShotLoop::<_, true>::new(sim)),
            (0, false) => Box::new(OneShotLoop::<_, false>::new(sim)),
            (_, true) => Box::new(QueueLoop::<_, true>::new(sim, depth)),
            (_, false) => Box::new(QueueLoop::<_, false>::new(sim, depth)),
        };
        let mut spec = spec.clone();
        if let Some(zbd) = &mut spec.zbd {
            *zbd = zbd.private_copy();
        }
        let setup = vec![nowhere(ZONE * ZONES)];
        let (mut drive, counters) = drive(clock, &spec, setup, window(depth.max(1), 1));
        for slot in 0..depth.max(1) {
            let bytes = drive.memory.bytes(slot, STRIDE as u32);
            bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = mark(at));
        }
        let odd = Arc::new(odd(Odd { device, resets: Ok(()), rests: Mutex::default() }));
        drive.zones = Some(Box::new([odd.clone()]));
        let (out, taped) = channel();
        drive.tape = Some(Tape::new(Box::new(move |full| {
            // Nobody listens once a test has what it wants.
            let _ = out.send(full);
            Vec::with_capacity(8)
        })));
        let words = format!("depth {depth}, stamped: {stamped}");
        Bench { words, depth, stamped, odd, drive, counters, engine, taped }
    };
    [(0, true), (0, false), (1, true), (1, false), (4, true), (4, false)].map(make).into()
}

fn whole(odd: Odd) -> Odd {
    odd
}

impl Bench {
    fn go(&mut self) -> Ended {
        loop {
            match self.engine.run(&mut self.drive) {
                Ended::Pass => self.drive.source.next_pass(),
                ended => return ended,
            }
        }
    }

    fn failure(&mut self) -> Failure {
        match self.go() {
            Ended::Failed(failure) => failure,
            other => panic!("{}: no failure: {other:?}", self.words),
        }
    }

    /// I/Os, bytes, errors, issued.
    fn counts(&self, op: Op) -> [u64; 4] {
        let lane = &self.counters.lanes[op as usize];
        [lane.ios.get(), lane.bytes.get(), lane.errors.get(), lane.issued.get()]
    }

    /// What is on the device.
    fn data(&self) -> Vec<u8> {
        let mut sim = Sim::new(Script::default(), Clock::still(Still::at(0)), 1)
            .on(vec![self.odd.device.clone()]);
        let mut bytes = vec![0; (ZONE * ZONES) as usize];
        let (buffer, len) = (bytes.as_mut_ptr(), bytes.len() as u32);
        let io = Io { offset: 0, buffer, len, op: Op::Read, file: FileId(0), fd: -1 };
        assert_eq!(sim.perform(&io), Ok(len));
        bytes
    }

    fn is_written(&self, from: usize) -> bool {
        let data = self.data();
        data[from..].iter().zip(from..).all(|(&byte, at)| byte == mark(at % BLOCK as usize))
    }

    fn records(&mut self) -> Vec<Record> {
        if let Some(tape) = &mut self.drive.tape {
            tape.hand_over();
        }
        self.taped.try_iter().flatten().collect()
    }
}

const BLOCKS: u64 = ZONE * ZONES / BLOCK as u64;

#[test]
fn zones_that_are_full_are_reset_and_written_again() {
    for mut bench in benches(&job(Op::Write, &full()), &full(), SimZoneSettings::default(), whole) {
        let words = bench.words.clone();
        assert!(matches!(bench.go(), Ended::Done), "{words}");
        assert_eq!(bench.counts(Op::Write)[..3], [BLOCKS, ZONE * ZONES, 0], "{words}");
        assert_eq!(bench.drive.source.zone_resets(), ZONES, "{words}");
        assert!(bench.is_written(0), "{words}");
        let taped = bench.records().len() as u64;
        assert_eq!(taped, if bench.stamped { BLOCKS } else { 0 }, "{words}");
    }
}

#[test]
fn what_did_not_arrive_of_a_failed_write_is_written() {
    let failing = SimZoneSettings { failing_write: 2, ..SimZoneSettings::default() };
    for mut bench in benches(&job(Op::Write, &empty()), &empty(), failing, whole) {
        let words = bench.words.clone();
        bench.drive.tolerance.go_on = vec![ErrorKind::Write];
        assert!(matches!(bench.go(), Ended::Done), "{words}");
        assert_eq!(bench.counts(Op::Write)[2], 1, "{words}");
        let (at, half) = (u64::from(BLOCK) * 3 / 2, u64::from(BLOCK) / 2);
        // Of several buffers nobody knows which it was.
        assert_eq!(*bench.odd.rests.lock().unwrap(), [(at, half, bench.depth < 2)], "{words}");
        assert!(bench.is_written(if bench.depth < 2 { 0 } else { 2 * BLOCK as usize }), "{words}");
    }
}

#[test]
fn a_trim_that_is_refused_is_an_error_and_may_be_tolerated() {
    for tolerated in [false, true] {
        let refuses = |odd| Odd { resets: Err(Errno::EIO), ..odd };
        let none = SimZoneSettings::default();
        for mut bench in benches(&job(Op::Trim, &full()), &full(), none, refuses) {
            let words = bench.words.clone();
            if tolerated {
                bench.drive.tolerance.go_on = vec![ErrorKind::Write];
                // Each is drawn again as long as its zone is full.
                bench.drive.source.zone_resets();
                bench.drive.control.stop();
                assert!(matches!(bench.engine.run(&mut bench.drive), Ended::Time), "{words}");
            } else {
                let failure = bench.failure();
                assert_eq!((failure.doing, failure.errno), ("trim", Errno::EIO), "{words}");
            }
            let [ios, bytes, errors, issued] = bench.counts(Op::Trim);
            assert_eq!((ios, bytes, errors, issued), (0, 0, 1, 1), "{words}");
        }
    }
}
