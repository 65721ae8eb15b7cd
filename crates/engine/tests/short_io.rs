//! I/O that is done in parts, interrupted, or fails in the middle: every byte ends where it
//! belongs, and what is reported is where it stopped.
#![allow(unsafe_code)]

mod common;

use common::{STRIDE, drive, nowhere, spec, window};
use iosonde_base::{Completion, Errno, FileId, Op, Slot};
use iosonde_engine::{
    CheckerStart, Checkers, Drive, Ended, ErrorKind, ErrorReporter, Failure, Fill, Io, Loop,
    OneShot, OneShotLoop, Opened, QueueLoop, Queued, Record, Tape, Tolerance, Verifying, Wanted,
    WrongBlock,
};
use iosonde_stats::Counters;
use iosonde_sys::clock::Clock;
use iosonde_verify::{
    Backlogs, BlockContent, BlockFormat, BlockType, CheckOrder, Checks, VerifyJob, VerifySpec,
};
use iosonde_workload::{Directions, SourceSpec, SyncEvery};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

const BLOCK: usize = 8192;
const WORDS: &str = "in words";

/// A file in memory, of which at most `most` bytes are moved at a time.
#[derive(Clone)]
struct Parts {
    file: Rc<RefCell<Vec<u8>>>,
    most: usize,
    /// Each third call is interrupted.
    interrupted: bool,
    calls: usize,
    /// From this byte on, I/O fails so.
    fails: Rc<Cell<Option<(usize, Errno)>>>,
    /// What syncs and openings answer.
    others: Result<(), Errno>,
    closed: Rc<RefCell<Vec<FileId>>>,
}

impl Parts {
    fn new(file: Vec<u8>) -> Parts {
        Parts {
            file: Rc::new(RefCell::new(file)),
            most: 1000,
            interrupted: false,
            calls: 0,
            fails: Rc::default(),
            others: Ok(()),
            closed: Rc::default(),
        }
    }

    fn act(&mut self, io: &Io) -> Result<u32, Errno> {
        if io.op.is_sync() {
            return self.others.map(|()| io.len);
        }
        if io.op == Op::Trim {
            // As engines do that are not told how far it came.
            return Ok(0);
        }
        self.calls += 1;
        if self.interrupted && self.calls.is_multiple_of(3) {
            return Err(Errno::EINTR);
        }
        let mut file = self.file.borrow_mut();
        let (start, mut end) = (io.offset as usize, file.len());
        match self.fails.get() {
            Some((from, errno)) if start >= from => return Err(errno),
            Some((from, _)) => end = end.min(from),
            None => {}
        }
        let bytes = end.saturating_sub(start).min(self.most).min(io.len as usize);
        let place = &mut file[start..start + bytes];
        // SAFETY: the loop lends `len` bytes at `buffer` for the time of the I/O.
        let memory = unsafe { std::slice::from_raw_parts_mut(io.buffer, io.len as usize) };
        match io.op {
            Op::Write => place.copy_from_slice(&memory[..bytes]),
            _ => memory[..bytes].copy_from_slice(place),
        }
        Ok(bytes as u32)
    }
}

fn failing(from: usize, errno: Errno) -> Rc<Cell<Option<(usize, Errno)>>> {
    Rc::new(Cell::new(Some((from, errno))))
}

impl OneShot for Parts {
    fn syncs(&self) -> bool {
        true
    }

    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        self.act(io)
    }

    fn opened(&mut self, _: &Opened) -> Result<(), Errno> {
        self.others
    }

    fn closing(&mut self, file: FileId) {
        self.closed.borrow_mut().push(file);
    }

    fn explain(&self, _: Op, errno: Errno) -> Option<&'static str> {
        (errno == Errno::EIO).then_some(WORDS)
    }
}

const PRIORITY: u16 = 5;

/// The same behind a queue, where each I/O has a priority of its own.
struct InQueue {
    parts: Parts,
    pushed: Vec<(Slot, Io)>,
}

impl Queued for InQueue {
    fn queues_syncs(&self) -> bool {
        true
    }

    fn push(&mut self, slot: Slot, io: &Io) {
        self.pushed.push((slot, *io));
    }

    fn submit(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    fn reap(&mut self, wanted: Wanted, done: &mut Vec<Completion>) -> Result<(), Errno> {
        let count = self.pushed.len().min(wanted.max as usize);
        for (slot, io) in self.pushed.drain(..count) {
            done.push(Completion { slot, result: self.parts.act(&io) });
        }
        Ok(())
    }

    fn priority(&self, _: Slot) -> u16 {
        PRIORITY
    }

    fn opened(&mut self, file: &Opened) -> Result<(), Errno> {
        OneShot::opened(&mut self.parts, file)
    }

    fn closing(&mut self, file: FileId) {
        OneShot::closing(&mut self.parts, file);
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        OneShot::explain(&self.parts, op, errno)
    }
}

/// The results of a run.
struct Finished {
    ended: Ended,
    drive: Drive,
    counters: Arc<Counters>,
    engine: Box<dyn Loop>,
}

impl Finished {
    fn failure(&self) -> &Failure {
        match &self.ended {
            Ended::Failed(failure) => failure,
            other => panic!("no failure: {other:?}"),
        }
    }
}

/// Every loop: without a queue, and with one of each depth; with stamps and without.
fn loops(parts: &Parts) -> Vec<(String, u32, Box<dyn Loop>)> {
    let queued = |parts: &Parts| InQueue { parts: parts.clone(), pushed: Vec::new() };
    let mut all: Vec<(String, u32, Box<dyn Loop>)> = vec![
        ("one by one".into(), 1, Box::new(OneShotLoop::<_, true>::new(parts.clone()))),
        ("one by one, no stamps".into(), 1, Box::new(OneShotLoop::<_, false>::new(parts.clone()))),
    ];
    for depth in [1, 4] {
        let (stamped, plain) = (queued(parts), queued(parts));
        let stamped = Box::new(QueueLoop::<_, true>::new(stamped, depth));
        let plain = Box::new(QueueLoop::<_, false>::new(plain, depth));
        all.push((format!("queue of {depth}"), depth, stamped));
        all.push((format!("queue of {depth}, no stamps"), depth, plain));
    }
    all
}

/// A byte that differs at each place of each buffer.
fn mark(slot: usize, at: usize) -> u8 {
    (slot * 89 + at / 256 + at * 7) as u8
}

fn job(op: Op, blocks: usize) -> SourceSpec {
    let (read, write, trim) = (op == Op::Read, op == Op::Write, op == Op::Trim);
    let directions = Directions { read, write, trim, ..Directions::default() };
    spec(directions, BLOCK as u32, (blocks * BLOCK) as u64, 1)
}

/// Run to the end; `prepare` may change the drive before.
fn run(
    mut engine: Box<dyn Loop>,
    depth: u32,
    spec: &SourceSpec,
    prepare: impl FnOnce(&mut Drive),
) -> Finished {
    let setup = vec![nowhere(spec.files[0].size)];
    let (mut drive, counters) = drive(Clock::monotonic(), spec, setup, window(depth, depth));
    for slot in 0..depth {
        let bytes = drive.memory.bytes(slot, STRIDE as u32);
        bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = mark(slot as usize, at));
    }
    prepare(&mut drive);
    let ended = engine.run(&mut drive);
    Finished { ended, drive, counters, engine }
}

/// The blocks that were recorded as written whole, and their priorities.
fn taped_blocks(records: &[Record]) -> impl Iterator<Item = (usize, u16)> {
    let whole = |one: &&Record| (one.len, one.dir) == (BLOCK as u32, Op::Write as u16);
    records.iter().filter(whole).map(|one| (one.offset as usize / BLOCK, one.prio))
}

const BLOCKS: usize = 4;

#[test]
fn what_is_written_in_parts_is_the_buffer_in_order() {
    for interrupted in [false, true] {
        let parts = Parts { interrupted, ..Parts::new(vec![0; BLOCKS * BLOCK]) };
        for (words, depth, engine) in loops(&parts) {
            parts.file.borrow_mut().fill(0);
            let (out, taped) = channel();
            let turn = move |full: Vec<Record>| {
                taped_blocks(&full).for_each(|block| out.send(block).unwrap());
                Vec::with_capacity(8)
            };
            let mut done = run(engine, depth, &job(Op::Write, BLOCKS), |drive| {
                drive.tape = interrupted.then(|| Tape::new(Box::new(turn)));
            });
            assert!(matches!(done.ended, Ended::Done), "{words}: {:?}", done.ended);
            for (block, bytes) in parts.file.borrow().chunks(BLOCK).enumerate() {
                let of = |slot| bytes.iter().enumerate().all(|(at, &byte)| byte == mark(slot, at));
                assert!((0..depth as usize).any(of), "{words}: block {block}");
            }
            let lane = &done.counters.lanes[Op::Write as usize];
            assert_eq!((lane.ios.get(), lane.errors.get()), (BLOCKS as u64, 0), "{words}");
            assert_eq!(lane.bytes.get(), (BLOCKS * BLOCK) as u64, "{words}");
            // 8192 bytes in parts of 1000: eight were short of what was asked.
            assert_eq!(lane.short.get(), 8 * BLOCKS as u64, "{words}");
            done.drive.tape.iter_mut().for_each(Tape::hand_over);
            let mut taped: Vec<(usize, u16)> = taped.try_iter().collect();
            taped.sort_unstable();
            let blocks = if interrupted && !words.contains("no stamps") { BLOCKS } else { 0 };
            let prio = if words.starts_with("queue") { PRIORITY } else { 0 };
            let each: Vec<_> = (0..blocks).map(|block| (block, prio)).collect();
            assert_eq!(taped, each, "{words}: whole, for logs");
        }
    }
}

#[test]
fn what_is_read_in_parts_is_the_file_in_order() {
    let file: Vec<u8> = (0..BLOCKS * BLOCK).map(|at| mark(at / BLOCK + 9, at)).collect();
    for interrupted in [false, true] {
        let parts = Parts { interrupted, ..Parts::new(file.clone()) };
        for (words, depth, engine) in loops(&parts) {
            let mut done = run(engine, depth, &job(Op::Read, depth as usize), |_| {});
            assert!(matches!(done.ended, Ended::Done), "{words}: {:?}", done.ended);
            let mut found: Vec<usize> = (0..depth)
                .map(|slot| {
                    let bytes = &*done.drive.memory.bytes(slot, BLOCK as u32);
                    let block = file.chunks(BLOCK).position(|block| block == bytes);
                    block.unwrap_or_else(|| panic!("{words}: slot {slot} holds no block"))
                })
                .collect();
            found.sort_unstable();
            assert_eq!(found, (0..depth as usize).collect::<Vec<_>>(), "{words}");
        }
    }
}

#[test]
fn an_error_in_the_middle_is_reported_with_its_place_and_its_words() {
    let place = 2 * BLOCK + 5000;
    for op in [Op::Read, Op::Write] {
        let parts = Parts::new(vec![0; BLOCKS * BLOCK]);
        let parts = Parts { fails: failing(place, Errno::EIO), ..parts };
        for (words, depth, engine) in loops(&parts) {
            if depth > 1 {
                // The first that fails is another block, then.
                continue;
            }
            let done = run(engine, depth, &job(op, BLOCKS), |_| {});
            let failure = done.failure();
            assert_eq!(failure.offset, Some(place as u64), "{words}");
            assert_eq!((failure.errno, failure.detail), (Errno::EIO, Some(WORDS)), "{words}");
            assert_eq!((failure.file, failure.len), (Some(FileId(0)), BLOCK as u32), "{words}");
            let lane = &done.counters.lanes[op as usize];
            assert_eq!((lane.ios.get(), lane.errors.get()), (2, 1), "{words}");
            assert_eq!(lane.bytes.get(), 2 * BLOCK as u64, "{words}");
            assert_eq!(lane.issued.get(), 3, "{words}");
        }
        // Tolerated, the job goes on with the block after it.
        for (words, depth, engine) in loops(&parts) {
            let (out, told) = channel();
            let done = run(engine, depth, &job(op, BLOCKS), |drive| {
                drive.tolerance.go_on = vec![ErrorKind::Read, ErrorKind::Write];
                let tell = move |failure: &Failure| out.send(failure.errno).unwrap();
                drive.tolerance.tell = Some(ErrorReporter::new(tell));
            });
            assert_eq!(told.try_iter().collect::<Vec<_>>(), [Errno::EIO; 2], "{words}");
            assert!(matches!(done.ended, Ended::Done), "{words}: {:?}", done.ended);
            let lane = &done.counters.lanes[op as usize];
            assert_eq!((lane.ios.get(), lane.errors.get()), (2, 2), "{words}");
            assert_eq!(done.drive.tolerance.tolerated, 2, "{words}");
            assert_eq!(done.drive.tolerance.first, Some(Errno::EIO), "{words}");
        }
    }
}

#[test]
fn a_write_that_moves_nothing_more_is_an_error_with_its_place() {
    let parts = Parts::new(vec![0; BLOCK + 3000]);
    for (words, depth, engine) in loops(&parts) {
        let done = run(engine, depth, &job(Op::Write, 2), |_| {});
        let failure = done.failure();
        assert_eq!(failure.offset, Some(BLOCK as u64 + 3000), "{words}");
        assert_eq!((failure.doing, failure.errno), ("write", Errno::EIO), "{words}");
        assert!(failure.detail.is_some_and(|words| words.contains("end of file")), "{words}");
    }
}

#[test]
fn syncs_and_openings_that_an_engine_refuses_are_explained() {
    let parts = Parts { others: Err(Errno::EIO), ..Parts::new(vec![0; BLOCKS * BLOCK]) };
    let mut spec = job(Op::Write, BLOCKS);
    spec.sync_every.fsync = 2;
    for (words, depth, engine) in loops(&parts) {
        let mut done = run(engine, depth, &spec, |_| {});
        let failure = done.failure();
        assert_eq!((failure.doing, failure.errno), ("fsync", Errno::EIO), "{words}");
        assert_eq!(failure.detail, Some(WORDS), "{words}");
        assert_eq!(done.counters.sync.errors.get(), 1, "{words}");
        let failure = done.engine.open(&mut done.drive, FileId(0)).unwrap_err();
        assert_eq!((failure.doing, failure.file), ("open", Some(FileId(0))), "{words}");
        assert_eq!(failure.errno, Errno::EIO, "{words}");
        parts.closed.borrow_mut().clear();
        done.engine.close(&mut done.drive, FileId(0)).unwrap();
        assert_eq!(*parts.closed.borrow(), [FileId(0)], "{words}: the engine knows of it");
    }
}

#[test]
fn each_write_has_its_own_content_where_that_is_wanted() {
    let parts = Parts { most: usize::MAX, ..Parts::new(vec![0; BLOCKS * BLOCK]) };
    for scrambled in [false, true] {
        for (words, depth, engine) in loops(&parts) {
            if depth > 1 {
                // Each slot has its own buffer there.
                continue;
            }
            run(engine, depth, &job(Op::Write, BLOCKS), |drive| {
                drive.fill = Fill::new(7, scrambled);
                drive.fill.prepare(&mut drive.memory);
            });
            let file = parts.file.borrow();
            let blocks: Vec<&[u8]> = file.chunks(BLOCK).collect();
            for pair in blocks.windows(2) {
                assert_eq!(pair[0] != pair[1], scrambled, "{words}");
            }
        }
    }
}

#[test]
fn a_trim_that_does_not_say_how_far_it_came_is_done() {
    let parts = Parts::new(vec![0; BLOCKS * BLOCK]);
    for (words, depth, engine) in loops(&parts) {
        let done = run(engine, depth, &job(Op::Trim, BLOCKS), |_| {});
        assert!(matches!(done.ended, Ended::Done), "{words}: {:?}", done.ended);
        let lane = &done.counters.lanes[Op::Trim as usize];
        assert_eq!((lane.ios.get(), lane.errors.get()), (BLOCKS as u64, 0), "{words}");
        assert_eq!(lane.bytes.get(), (BLOCKS * BLOCK) as u64, "{words}");
    }
}

#[test]
fn io_that_is_interrupted_for_ever_is_an_error_in_the_end() {
    let errno = Errno::EINTR;
    let parts = Parts { fails: failing(5000, errno), ..Parts::new(vec![0; BLOCKS * BLOCK]) };
    let engine = Box::new(OneShotLoop::<_, true>::new(parts));
    let done = run(engine, 1, &job(Op::Write, BLOCKS), |_| {});
    let failure = done.failure();
    assert_eq!((failure.errno, failure.offset), (errno, Some(5000)));
    assert!(failure.detail.is_some_and(|words| words.contains("again and again")), "{failure:?}");
}

type Wrong = Sender<(FileId, u64, u32)>;

/// Verify of what is written, by so many threads besides, of a job whose clock began 3.6 s ago.
fn verify(drive: &mut Drive, threads: u32, only_synced: bool, wrong: Wrong) {
    let backlogs = Backlogs {
        verify: true,
        verify_after: 0,
        verify_batch: 0,
        trim_after: 0,
        trim_batch: 0,
        trimmed_are_zero: true,
    };
    let slots = drive.window.depth as usize;
    let spec = VerifySpec {
        format: BlockFormat::new(BlockType::Crc32c, 0, 0, BlockContent::Seeded, BLOCK).unwrap(),
        checks: Checks::Writes,
        moves_data: true,
        order: CheckOrder::Issue,
        backlogs,
        draws_again: false,
        only_synced,
        until: None,
        ios_most: u64::MAX,
        wraps: false,
        pass_bytes_most: u64::MAX,
        files: [1, 1],
        compare_seed: true,
        compare_number: true,
        trim_percentage: 0,
        randseed: 1,
        thread: 1,
        wide: false,
        repeat: true,
        slots,
    };
    let start: CheckerStart = Arc::new(|| Ok(()));
    let checkers = (threads > 0).then(|| Checkers::start(threads, &spec.format, &start).unwrap());
    let epoch = drive.clock.now() - drive.clock.ns_to_ticks(BEFORE_NS);
    let tell = Box::new(move |block: &WrongBlock| {
        wrong.send((block.file, block.offset, block.len)).unwrap();
    });
    let job = VerifyJob::new(spec, None);
    drive.verify = Some(Box::new(Verifying::new(job, epoch, checkers, tell)));
}

const BEFORE_NS: u64 = 3_600_000_000;

/// Read back what was written, and wait until it is checked.
fn read_back(done: &mut Finished) -> Result<(), Failure> {
    assert!(matches!(done.ended, Ended::Pass), "{:?}", done.ended);
    done.drive.verify.as_mut().unwrap().job.begin_check();
    let checked = match done.engine.run(&mut done.drive) {
        Ended::Done => Ok(()),
        Ended::Failed(failure) => Err(failure),
        other => panic!("{other:?}"),
    };
    checked.and(done.drive.finish_checks())
}

#[test]
fn what_is_read_back_in_parts_is_checked_whole_and_a_wrong_block_is_told_once() {
    let parts = Parts { interrupted: true, ..Parts::new(vec![0; BLOCKS * BLOCK]) };
    let spec = SourceSpec { verify: true, ..job(Op::Write, BLOCKS) };
    for (threads, is_tolerated) in [(0, true), (2, true), (0, false), (2, false)] {
        for (words, depth, engine) in loops(&parts) {
            let words = format!("{words}, {threads} threads, tolerated: {is_tolerated}");
            let (out, wrong) = channel();
            let mut done = run(engine, depth, &spec, |drive| {
                verify(drive, threads, false, out);
                if is_tolerated {
                    drive.tolerance.go_on = vec![ErrorKind::Verify];
                }
            });
            let elapsed = {
                let file = parts.file.borrow();
                let word = |at| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
                assert!(word(28) < 1_000_000_000, "{words}");
                u64::from(word(24)) * 1_000_000_000 + u64::from(word(28))
            };
            assert!((BEFORE_NS..BEFORE_NS + 60_000_000_000).contains(&elapsed), "{words}");
            parts.file.borrow_mut()[BLOCK + 5000] ^= 1;
            let checked = read_back(&mut done);
            let counts = done.drive.verify.as_ref().unwrap().job.counts();
            assert_eq!((counts.written, counts.wrong), (BLOCKS as u64, 1), "{words}");
            let told: Vec<_> = wrong.try_iter().collect();
            assert_eq!(told, [(FileId(0), BLOCK as u64, BLOCK as u32)], "{words}");
            let errno = Errno::EILSEQ;
            if is_tolerated {
                assert!(checked.is_ok(), "{words}: {checked:?}");
                assert_eq!(counts.checked, BLOCKS as u64, "{words}");
                let Tolerance { tolerated, first, .. } = done.drive.tolerance;
                assert_eq!((tolerated, first), (1, Some(errno)), "{words}");
            } else {
                let failure = checked.unwrap_err();
                assert_eq!((failure.doing, failure.errno), ("verify", errno), "{words}");
                assert_eq!(failure.offset, Some(BLOCK as u64), "{words}");
            }
            let lane = &done.counters.lanes[Op::Read as usize];
            assert_eq!(lane.errors.get(), 0, "{words}: it was read");
        }
    }
}

#[test]
fn reads_that_fail_are_not_checked_and_not_wrong() {
    let parts = Parts::new(vec![0; BLOCKS * BLOCK]);
    let spec = SourceSpec { verify: true, ..job(Op::Write, BLOCKS) };
    for (words, depth, engine) in loops(&parts) {
        let (out, wrong) = channel();
        let mut done = run(engine, depth, &spec, |drive| {
            verify(drive, 0, false, out);
            drive.tolerance.go_on = vec![ErrorKind::Read];
        });
        parts.fails.set(Some((3 * BLOCK + 1, Errno::EIO)));
        read_back(&mut done).unwrap();
        parts.fails.set(None);
        let counts = done.drive.verify.as_ref().unwrap().job.counts();
        let found = (counts.checked, counts.unreadable, counts.wrong);
        assert_eq!(found, (BLOCKS as u64 - 1, 1, 0), "{words}");
        assert!(wrong.try_iter().next().is_none(), "{words}");
    }
}

#[test]
fn only_what_a_sync_followed_counts_as_durable() {
    let parts = Parts::new(vec![0; BLOCKS * BLOCK]);
    for (sync_every, syncs_all, durable) in [
        (SyncEvery { fsync: 3, ..SyncEvery::default() }, false, 3),
        (SyncEvery { fdatasync: 3, ..SyncEvery::default() }, false, 3),
        (SyncEvery { range: 3, ..SyncEvery::default() }, false, 0),
        (SyncEvery { fsync: 3, ..SyncEvery::default() }, true, 4),
    ] {
        let spec = SourceSpec { verify: true, sync_every, ..job(Op::Write, BLOCKS) };
        for (words, depth, engine) in loops(&parts) {
            if depth > 1 {
                // Those in flight together have no order there.
                continue;
            }
            let mut done = run(engine, depth, &spec, |drive| verify(drive, 0, true, channel().0));
            if syncs_all {
                done.drive.sync_all().unwrap();
            }
            read_back(&mut done).unwrap();
            let counts = done.drive.verify.as_ref().unwrap().job.counts();
            assert_eq!(counts.checked, durable, "{words}, {sync_every:?}");
        }
    }
}
