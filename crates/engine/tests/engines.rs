//! Every engine on real files and devices.
#![cfg(target_os = "linux")]

mod common;

use common::{STRIDE, drive, plan, spec, tally, window};
use iosonde_base::{Errno, FileId, Op};
use iosonde_engine::settings::{LibaioSettings, MmapSettings, Pvsync2Settings, UringSettings};
use iosonde_engine::{
    Accounting, CATALOGUE, Drive, Ended, EngineDef, EngineSettings, ErrorKind, Failure, FileSetup,
    Loop, OpenMode, OpenWith, SyncRangeFlags, find,
};
use iosonde_stats::Counters;
use iosonde_sys::clock::Clock;
use iosonde_testing::Folder;
use iosonde_workload::{Directions, SourceSpec};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

const BLOCK: usize = 4096;
const BLOCKS: usize = 16;

/// One way to run an engine.
struct Way {
    engine: &'static EngineDef,
    settings: EngineSettings,
    batch: u32,
    words: String,
}

fn way(name: &str, words: &str, batch: u32, settings: EngineSettings) -> Way {
    Way { engine: find(name).unwrap(), settings, batch, words: format!("{name} {words}") }
}

/// Every engine that moves data, in all its ways that run on any file.
fn ways() -> Vec<Way> {
    let plain = EngineSettings::default;
    let mmap = |thp| EngineSettings::new(MmapSettings { thp });
    let libaio = |change: fn(&mut LibaioSettings)| {
        let mut settings = LibaioSettings::default();
        change(&mut settings);
        EngineSettings::new(settings)
    };
    let uring = |change: fn(&mut UringSettings)| {
        let mut settings = UringSettings::default();
        change(&mut settings);
        EngineSettings::new(settings)
    };
    vec![
        way("psync", "", 1, plain()),
        way("sync", "", 1, plain()),
        way("pvsync", "", 1, plain()),
        way("pvsync2", "", 1, plain()),
        way("vsync", "one by one", 1, plain()),
        way("vsync", "batched", 8, plain()),
        way("mmap", "", 1, plain()),
        way("mmap", "thp", 1, mmap(true)),
        way("libaio", "one by one", 1, plain()),
        way("libaio", "batched", 8, plain()),
        way("libaio", "vectored", 5, libaio(|it| it.vectored = true)),
        way("libaio", "reaping", 4, libaio(|it| it.userspace_reap = true)),
        way("io_uring", "vectored", 1, uring(|it| it.nonvectored = false)),
        way("io_uring", "batched", 8, plain()),
        way("io_uring", "fixed", 16, uring(|it| (it.fixedbufs, it.registerfiles) = (true, true))),
        way("io_uring", "async", 3, uring(|it| it.force_async = 2)),
        way("io_uring", "drained", 3, uring(|it| it.drained_syncs = true)),
        way(
            "io_uring",
            "sqpoll",
            4,
            uring(|it| {
                (it.fixedbufs, it.registerfiles, it.sqthread_poll) = (true, true, true);
            }),
        ),
    ]
}

/// The results of a run.
struct FinishedRun {
    ended: Ended,
    drive: Drive,
    counters: Arc<Counters>,
    engine: Box<dyn Loop>,
}

impl FinishedRun {
    fn failure(&self) -> &Failure {
        match &self.ended {
            Ended::Failed(failure) => failure,
            other => panic!("no failure: {other:?}"),
        }
    }
}

fn setup(path: &Path, bytes: u64, direct: bool) -> FileSetup {
    let mode = OpenMode { read: true, write: true, direct, ..OpenMode::default() };
    FileSetup::new(path, mode, bytes)
}

/// FinishedRun a job to its end; `prepare` may change the drive before.
fn run(
    way: &Way,
    spec: &SourceSpec,
    setup: FileSetup,
    prepare: impl FnOnce(&mut Drive),
) -> FinishedRun {
    let depth = if way.engine.caps.sync { 1 } else { BLOCKS as u32 };
    let clock = Clock::monotonic();
    let (mut drive, counters) = drive(clock, spec, vec![setup], window(depth, way.batch));
    let with = OpenWith {
        depth,
        files: 1,
        memory: drive.memory.span(),
        clock,
        settings: way.settings.clone(),
        sync_range: SyncRangeFlags(2),
    };
    let mut engine = (way.engine.open)(&with, Accounting::Full)
        .unwrap_or_else(|error| panic!("{}: {error:?}", way.words));
    prepare(&mut drive);
    engine.open(&mut drive, FileId(0)).unwrap();
    let ended = engine.run(&mut drive);
    FinishedRun { ended, drive, counters, engine }
}

fn directions(op: Op) -> Directions {
    let (read, write, trim) = (op == Op::Read, op == Op::Write, op == Op::Trim);
    Directions { read, write, trim, ..Directions::default() }
}

fn job(op: Op, blocks: usize) -> SourceSpec {
    spec(directions(op), BLOCK as u32, (blocks * BLOCK) as u64, 1)
}

/// A byte that differs at each place of each buffer.
fn mark(slot: usize, at: usize, salt: usize) -> u8 {
    (slot * 37 + at / 16 + at * 3 + salt) as u8
}

/// Folders to test in, with whether O_DIRECT works there.
fn places() -> Vec<(PathBuf, bool)> {
    let mut places: Vec<(PathBuf, bool)> = vec![];
    for place in [std::env::temp_dir(), "/dev/shm".into()] {
        if !place.is_dir() {
            iosonde_testing::skip_part!("there is no {}", place.display());
            continue;
        }
        let folder = Folder::within(&place, "probe");
        let path = folder.join("direct");
        std::fs::write(&path, [0; BLOCK]).unwrap();
        let mut probe = iosonde_engine::Files::new(vec![setup(&path, BLOCK as u64, true)]);
        let direct = probe.open(FileId(0)).is_ok();
        places.push((place.clone(), false));
        if direct {
            places.push((place, true));
        } else {
            iosonde_testing::skip_part!("no O_DIRECT in {}", place.display());
        }
    }
    places
}

#[test]
fn what_an_engine_writes_it_reads_back() {
    for (place, direct) in places() {
        let folder = Folder::within(&place, "back");
        for (salt, way) in ways().into_iter().enumerate() {
            let words = format!("{} direct={direct} in {}", way.words, place.display());
            let path = folder.join("file");
            std::fs::File::create(&path).unwrap().set_len((BLOCKS * BLOCK) as u64).unwrap();
            let depth = if way.engine.caps.sync { 1 } else { BLOCKS };

            let setup = || setup(&path, (BLOCKS * BLOCK) as u64, direct);
            let mut wrote = run(&way, &job(Op::Write, BLOCKS), setup(), |drive| {
                for slot in 0..depth {
                    let bytes = drive.memory.bytes(slot as u32, STRIDE as u32);
                    let marks = (0..).map(|at| mark(slot, at, salt));
                    bytes.iter_mut().zip(marks).for_each(|(byte, mark)| *byte = mark);
                }
            });
            assert!(matches!(wrote.ended, Ended::Done), "{words}: {:?}", wrote.ended);
            assert_eq!(wrote.counters.lanes[1].ios.get(), BLOCKS as u64, "{words}");
            wrote.engine.close(&mut wrote.drive, FileId(0)).unwrap();
            let file = std::fs::read(&path).unwrap();
            assert_eq!(file.len(), BLOCKS * BLOCK, "{words}");
            for (block, bytes) in file.chunks(BLOCK).enumerate() {
                // With as many slots as blocks, each block has its own.
                let slot = if depth == 1 { 0 } else { block };
                let good = bytes.iter().enumerate().all(|(at, &byte)| byte == mark(slot, at, salt));
                assert!(good, "{words}: block {block} is not what was written");
            }

            let file: Vec<u8> =
                (0..BLOCKS * BLOCK).map(|at| mark(at / BLOCK, at, salt + 50)).collect();
            std::fs::write(&path, &file).unwrap();
            let mut read = run(&way, &job(Op::Read, BLOCKS), setup(), |_| {});
            assert!(matches!(read.ended, Ended::Done), "{words}: {:?}", read.ended);
            assert_eq!(read.counters.lanes[0].bytes.get(), file.len() as u64, "{words}");
            for slot in 0..depth {
                let block = if depth == 1 { BLOCKS - 1 } else { slot };
                let bytes = read.drive.memory.bytes(slot as u32, BLOCK as u32);
                assert_eq!(bytes, &file[block * BLOCK..][..BLOCK], "{words}: block {block}");
            }
            let lane = &read.counters.lanes[0];
            assert_eq!(lane.clat.snapshot().n, BLOCKS as u64, "{words}");
            assert_eq!((lane.errors.get(), lane.short.get()), (0, 0), "{words}");
        }
    }
}

#[test]
fn random_mixes_keep_every_engine_whole() {
    let folder = Folder::temporary("mix");
    let path = folder.join("file");
    std::fs::write(&path, vec![7; 100 * BLOCK]).unwrap();
    for way in ways() {
        let mut spec = job(Op::Write, 100);
        spec.directions = Directions { read: true, write: true, random: true, ..spec.directions };
        spec.loops = 3;
        spec.sync_every.fdatasync = 40;
        spec.sync_every.range = 30;
        let mut run = run(&way, &spec, setup(&path, 100 * BLOCK as u64, false), |_| {});
        while let Ended::Pass = run.ended {
            run.drive.source.next_pass();
            run.ended = run.engine.run(&mut run.drive);
        }
        assert!(matches!(run.ended, Ended::Done), "{}: {:?}", way.words, run.ended);
        let plan = plan(&spec);
        for op in [Op::Read, Op::Write] {
            let lane = &run.counters.lanes[op as usize];
            let counted = (lane.ios.get(), lane.bytes.get());
            assert_eq!(counted, tally(&plan, op), "{} {op:?}", way.words);
        }
        let syncs = tally(&plan, Op::DataSync).0 + tally(&plan, Op::SyncRange).0;
        assert!(syncs > 0);
        assert_eq!(run.counters.sync.ios.get(), syncs, "{}", way.words);
    }
}

#[test]
fn a_file_shorter_than_the_job_ends_it_with_the_place() {
    let folder = Folder::temporary("eof");
    let path = folder.join("file");
    std::fs::write(&path, [1; 10_000]).unwrap();
    for way in ways() {
        let run = run(&way, &job(Op::Read, BLOCKS), setup(&path, 65_536, false), |_| {});
        if !way.engine.caps.sync {
            // As in fio, a queue counts a read with what it moved, if only nothing.
            assert!(matches!(run.ended, Ended::Done), "{}: {:?}", way.words, run.ended);
            let lane = &run.counters.lanes[0];
            let counts = (lane.ios.get(), lane.bytes.get(), lane.issued.get());
            assert_eq!(counts, (16, 10_000, 16), "{}", way.words);
            continue;
        }
        let failure = run.failure();
        assert_eq!((failure.doing, failure.errno), ("read", Errno::EIO), "{}", way.words);
        assert!(failure.detail.unwrap().starts_with("end of file"), "{}", way.words);
        // A mapping has pages, not bytes.
        let exact = way.engine.name != "mmap";
        let at = failure.offset.unwrap();
        assert!(if exact { at == 10_000 } else { at >= 8192 }, "{}: at {at}", way.words);
        assert!(run.counters.lanes[0].ios.get() >= 1, "{}", way.words);
        let lane = &run.counters.lanes[0];
        assert_eq!(lane.ios.get() + lane.errors.get(), lane.issued.get(), "{}", way.words);
    }
}

#[test]
fn a_full_file_system_ends_the_job_with_its_reason() {
    let folder = Folder::temporary("full");
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "iosonde-test"])
        .arg(folder.path())
        .output();
    if !mount.is_ok_and(|mount| mount.status.success()) {
        iosonde_testing::skip!("may not mount a tmpfs");
    }
    let outcome = std::panic::catch_unwind(|| {
        for way in ways() {
            let path = folder.join("file");
            // Sparse, as a mapping does not extend a file.
            std::fs::File::create(&path).unwrap().set_len(64 * BLOCK as u64).unwrap();
            let run =
                run(&way, &job(Op::Write, 64), setup(&path, 64 * BLOCK as u64, false), |_| {});
            let failure = run.failure();
            assert_eq!((failure.doing, failure.errno), ("write", Errno::ENOSPC), "{}", way.words);
            let lane = &run.counters.lanes[1];
            assert!((1..64).contains(&lane.ios.get()), "{}", way.words);
            assert_eq!(lane.ios.get() + lane.errors.get(), lane.issued.get(), "{}", way.words);
            drop(run);
            std::fs::remove_file(&path).unwrap();
        }
    });
    let unmounted = Command::new("umount").arg(folder.path()).status().unwrap();
    assert!(unmounted.success());
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

#[test]
fn trims_reach_a_loop_device() {
    let folder = Folder::temporary("loop");
    let image = folder.join("image");
    std::fs::write(&image, vec![9; 1 << 20]).unwrap();
    let made = Command::new("losetup").args(["--find", "--show"]).arg(&image).output();
    let Some(made) = made.ok().filter(|made| made.status.success()) else {
        iosonde_testing::skip!("may not make a loop device");
    };
    let device = PathBuf::from(String::from_utf8(made.stdout).unwrap().trim());
    let outcome = std::panic::catch_unwind(|| {
        for way in ways() {
            let setup = || FileSetup { block_device: true, ..setup(&device, 1 << 20, false) };
            let done = run(&way, &job(Op::Write, BLOCKS), setup(), |drive| {
                for slot in 0..drive.window.depth {
                    drive.memory.bytes(slot, BLOCK as u32).fill(9);
                }
            });
            assert!(matches!(done.ended, Ended::Done), "{}: {:?}", way.words, done.ended);
            done.drive.files.sync_all().unwrap();
            let trimmed = run(&way, &job(Op::Trim, BLOCKS), setup(), |_| {});
            assert!(matches!(trimmed.ended, Ended::Done), "{}: {:?}", way.words, trimmed.ended);
            let lane = &trimmed.counters.lanes[2];
            let counted = (lane.ios.get(), lane.bytes.get());
            assert_eq!(counted, (BLOCKS as u64, (BLOCKS * BLOCK) as u64), "{}", way.words);
            let bytes = std::fs::read(&image).unwrap();
            assert!(bytes[..BLOCKS * BLOCK].iter().all(|&byte| byte == 0), "{}", way.words);
            assert!(bytes[BLOCKS * BLOCK..].iter().all(|&byte| byte == 9), "{}", way.words);
        }
    });
    assert!(Command::new("losetup").arg("--detach").arg(&device).status().unwrap().success());
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

#[test]
fn a_trim_of_a_plain_file_says_what_is_trimmed() {
    let folder = Folder::temporary("trim");
    let path = folder.join("file");
    std::fs::write(&path, [1; BLOCKS * BLOCK]).unwrap();
    for way in ways() {
        let run = run(&way, &job(Op::Trim, BLOCKS), setup(&path, 65_536, false), |_| {});
        let failure = run.failure();
        assert_eq!((failure.doing, failure.errno.0), ("trim", 25), "{}: ENOTTY", way.words);
        assert_eq!(failure.detail, Some("only block devices are trimmed"), "{}", way.words);
    }
    assert_eq!(std::fs::read(&path).unwrap(), [1; BLOCKS * BLOCK]);
}

#[test]
fn the_other_errors_are_tolerated_and_counted() {
    let folder = Folder::temporary("tolerated");
    let path = folder.join("file");
    std::fs::write(&path, vec![1; 8 * BLOCK]).unwrap();
    // With a queue, a read past the end is no error.
    for way in ways().into_iter().filter(|way| way.engine.caps.sync) {
        let run = run(&way, &job(Op::Read, BLOCKS), setup(&path, 65_536, false), |drive| {
            drive.tolerance.go_on = vec![ErrorKind::Read];
        });
        assert!(matches!(run.ended, Ended::Done), "{}: {:?}", way.words, run.ended);
        let lane = &run.counters.lanes[0];
        assert_eq!((lane.ios.get(), lane.errors.get()), (8, 8), "{}", way.words);
        assert_eq!(run.drive.tolerance.tolerated, 8, "{}", way.words);
    }
}

#[test]
fn flags_that_the_kernel_refuses_are_explained() {
    let folder = Folder::temporary("flags");
    let path = folder.join("file");
    std::fs::write(&path, [1; BLOCKS * BLOCK]).unwrap();
    // Buffered writes are never atomic.
    let atomic = [
        ("pvsync2", EngineSettings::new(Pvsync2Settings { atomic: true, ..Default::default() })),
        ("libaio", EngineSettings::new(LibaioSettings { atomic: true, ..Default::default() })),
        ("io_uring", EngineSettings::new(UringSettings { atomic: true, ..Default::default() })),
    ];
    for (name, settings) in atomic {
        let way = way(name, "atomic", 4, settings);
        let run = run(&way, &job(Op::Write, BLOCKS), setup(&path, 65_536, false), |_| {});
        assert!(run.failure().detail.unwrap().contains("atomic"), "{}", way.words);
    }
    // Uncached I/O is taken or refused, depending on the file system; polled
    // I/O of a file that cannot be polled is refused by io_uring alone.
    let uncached = Pvsync2Settings { uncached: true, ..Default::default() };
    let polled = Pvsync2Settings { polled_percent: 100, ..Default::default() };
    let flagged = [
        ("pvsync2", EngineSettings::new(uncached)),
        ("pvsync2", EngineSettings::new(polled)),
        ("io_uring", EngineSettings::new(UringSettings { uncached: true, ..Default::default() })),
        ("io_uring", EngineSettings::new(UringSettings { hipri: true, ..Default::default() })),
    ];
    for (name, settings) in flagged {
        let way = way(name, "flagged", 4, settings);
        let run = run(&way, &job(Op::Read, BLOCKS), setup(&path, 65_536, false), |_| {});
        if let Ended::Failed(failure) = &run.ended {
            assert!(failure.detail.unwrap().contains("leave out"), "{}", way.words);
        }
    }
}

#[test]
fn an_engine_that_cannot_be_had_says_why_and_what_to_do() {
    let with = |depth| OpenWith {
        depth,
        files: 1,
        memory: (std::ptr::null_mut(), 0),
        clock: Clock::monotonic(),
        settings: EngineSettings::default(),
        sync_range: SyncRangeFlags::default(),
    };
    for (name, depth, word) in [("io_uring", 40_000, "iodepth"), ("libaio", 1 << 30, "iodepth")] {
        let refused = (find(name).unwrap().open)(&with(depth), Accounting::Full);
        let error = refused.err().unwrap();
        assert!(error.message.contains(&depth.to_string()), "{}", error.message);
        assert!(error.help.unwrap_or_default().contains(word), "{}", error.message);
    }
}

#[test]
fn every_engine_says_whether_this_machine_can_run_it() {
    for def in CATALOGUE {
        match (def.available)() {
            Ok(()) => {}
            Err(error) => assert!(error.help.is_some(), "{}: {}", def.name, error.message),
        }
    }
}

#[test]
fn an_engine_dropped_with_io_in_flight_waits_for_it() {
    let folder = Folder::temporary("drop");
    let path = folder.join("file");
    std::fs::write(&path, vec![5; 64 * BLOCK]).unwrap();
    for way in ways().into_iter().filter(|way| !way.engine.caps.sync) {
        let mut spec = job(Op::Read, 64);
        spec.loops = 1000;
        let run = run(&way, &spec, setup(&path, 64 * BLOCK as u64, false), |drive| {
            drive.control.stop();
        });
        assert!(matches!(run.ended, Ended::Time), "{}", way.words);
        let FinishedRun { engine, drive, .. } = run;
        drop(engine);
        drop(drive);
    }
}
