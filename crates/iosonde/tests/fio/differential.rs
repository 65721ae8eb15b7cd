//! Jobs without chance in them, run by the installed fio and by us: the same
//! exit codes, files, sizes, contents, counts and I/Os.

use crate::support::{Who, at_once, iolog_ios, with, words};
use iosonde_testing::{Folder, Mounted, has_fio, is_root, skip};
use serde_json::Value;

/// What every job has before its own options.
const ALWAYS: &str = "--output-format=json --name=v";

/// A job, and what of it is compared besides counts and sizes.
pub(crate) struct DifferentialJob {
    /// Sizes of files that are there before, by name.
    pub(crate) before: &'static [(&'static str, usize)],
    options: &'static str,
    /// What is written does not depend on the moment.
    contents: bool,
    /// Syncs that we issue and fio does not: after the last write.
    last_syncs: u64,
}

const PLAIN: DifferentialJob =
    DifferentialJob { before: &[], options: "", contents: false, last_syncs: 0 };

pub(crate) fn job(options: &'static str) -> DifferentialJob {
    DifferentialJob { options, ..PLAIN }
}

/// The results of a run, equal in both programs.
#[derive(Debug, PartialEq)]
struct ComparedOutcome {
    code: Option<i32>,
    counts: Vec<String>,
    syncs: u64,
    files: Vec<(String, u64)>,
    ios: Vec<String>,
    contents: Vec<Vec<u8>>,
}

impl DifferentialJob {
    fn run(&self, who: Who) -> ComparedOutcome {
        let folder = Folder::new("differential");
        for (name, bytes) in self.before {
            folder.write(name, vec![b'x'; *bytes]);
        }
        // Clones would all write to one log.
        let logged = !self.options.contains("numjobs");
        let log = if logged { "--write_iolog=v.log" } else { "" };
        let arguments = [words(ALWAYS), words(log), words(self.options)].concat();
        let ran = who.run(&folder, &arguments);
        let ios = if logged && folder.join("v.log").exists() {
            iolog_ios(&folder, "v.log")
        } else {
            Vec::new()
        };
        let mut files = folder.sizes();
        files.retain(|(name, _)| name != "v.log");
        let contents = if self.contents {
            files.iter().map(|(name, _)| std::fs::read(folder.join(name)).unwrap()).collect()
        } else {
            Vec::new()
        };
        // fio prints nothing where it stops before the jobs start.
        let report = if ran.stdout.contains('{') { ran.json() } else { Value::Null };
        let jobs = report["jobs"].as_array().cloned().unwrap_or_default();
        let syncs = jobs.iter().map(|job| job["sync"]["total_ios"].as_u64().unwrap()).sum();
        let mut counts: Vec<String> = jobs.iter().flat_map(counts).collect();
        let mut syncs = syncs;
        if self.options.contains("fdatasync") || self.options.contains("sync_file_range") {
            // fio 3.33 takes these for short I/Os of another direction; 3.42
            // counts them where it counts every sync.
            counts.retain(|count| !count.starts_with("read 0 "));
            counts.iter_mut().for_each(|count| *count = without_shorts(count));
            syncs = 0;
        }
        let ios = ios.into_iter().map(without_sync_place).collect();
        ComparedOutcome { code: ran.code, counts, syncs, files, ios, contents }
    }

    /// The difference between the programs as text, if there is any.
    pub(crate) fn difference(&self) -> Option<String> {
        let theirs = self.run(Who::Fio);
        let mut ours = self.run(Who::AsFio);
        ours.syncs -= self.last_syncs.min(ours.syncs);
        for _ in 0..self.last_syncs.min(ours.ios.len() as u64) {
            let dropped = ours.ios.pop().unwrap();
            assert!(dropped.contains("sync"), "{}: {dropped} is no sync", self.options);
        }
        (ours != theirs).then(|| {
            let DifferentialJob { options, .. } = self;
            let at = ours.ios.iter().zip(&theirs.ios).take_while(|(one, other)| one == other);
            let at = at.count();
            let described = |of: &ComparedOutcome| {
                let io = of.ios.get(at);
                format!(
                    "exit {:?}, {:?}, {} syncs, {:?}, {} I/Os, at {at} {io:?}",
                    of.code,
                    of.counts,
                    of.syncs,
                    of.files,
                    of.ios.len(),
                )
            };
            format!("{options}\n  ours {}\n  fio  {}", described(&ours), described(&theirs))
        })
    }
}

/// `write 16 65536 64 3 0` as `write 16 65536 64`.
fn without_shorts(count: &str) -> String {
    count.split(' ').take(4).collect::<Vec<_>>().join(" ")
}

/// Of a sync only the file and the action: where it is said to be says nothing.
fn without_sync_place(io: String) -> String {
    if io.contains("sync") { io.split(' ').take(2).collect::<Vec<_>>().join(" ") } else { io }
}

/// Name, error and the counts of each direction of one job of a report.
fn counts(job: &Value) -> Vec<String> {
    let mut described = vec![format!("{} {}", job["jobname"], job["error"])];
    for dir in ["read", "write", "trim"] {
        let of = |key: &str| job[dir][key].as_u64().unwrap();
        let [ios, bytes, kib] = ["total_ios", "io_bytes", "io_kbytes"].map(of);
        let [short, dropped] = ["short_ios", "drop_ios"].map(of);
        if ios + bytes + short + dropped > 0 {
            described.push(format!("{dir} {ios} {bytes} {kib} {short} {dropped}"));
        }
    }
    described
}

#[track_caller]
fn all_agree(jobs: &[DifferentialJob]) {
    if !has_fio() {
        return;
    }
    let wrong: Vec<String> =
        at_once(jobs, DifferentialJob::difference).into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn sizes_and_ends_are_those_of_fio() {
    all_agree(&[
        job("--rw=write --bs=4k --size=64k"),
        job("--rw=write --bs=4k --size=70000"),
        job("--rw=read --bs=4k --size=30000"),
        job("--rw=read --bs=64k --size=32k"),
        job("--rw=write --bs=4k --size=64k --io_size=30000"),
        job("--rw=read --bs=4k --size=64k --io_size=150k"),
        job("--rw=write --bs=4k --size=20k --loops=3"),
        job("--rw=write --bs=4k --size=64k --number_ios=5"),
        job("--rw=read --bs=4k --size=16k --number_ios=3 --loops=2"),
        job("--rw=read --bs=4k --filesize=128k --size=32k"),
        job("--rw=read --bs=4k --filesize=1000000"),
        job("--rw=write --bs=3k --filesize=20k-20k --nrfiles=2 --size=1m"),
        job("--rw=write --bs=4k --filesize=128k --size=32k"),
        DifferentialJob { before: &[("f", 65536)], ..job("--filename=f --rw=read --bs=4k") },
        DifferentialJob {
            before: &[("f", 65536)],
            ..job("--filename=f --rw=read --bs=4k --size=50%")
        },
        DifferentialJob {
            before: &[("f", 65536)],
            ..job("--filename=f --rw=read --bs=4k --size=16k")
        },
        DifferentialJob {
            before: &[("f", 65536)],
            ..job("--filename=f --rw=write --bs=4k --size=16k")
        },
        DifferentialJob {
            before: &[("f", 10000)],
            ..job("--filename=f --rw=read --bs=4k --size=64k")
        },
    ]);
}

#[test]
fn places_are_those_of_fio() {
    all_agree(&[
        job("--rw=write:8k --bs=4k --size=64k"),
        job("--rw=read:-4k --bs=4k --size=64k"),
        job("--rw=write --bs=4k --size=64k --offset=16k"),
        DifferentialJob {
            before: &[("f", 65536)],
            ..job("--filename=f --rw=read --bs=4k --size=32k --offset=25%")
        },
        job("--rw=read --bs=4k --filesize=64k --size=16k --offset=10000 --offset_align=4k"),
        job("--rw=write --bs=4k,8k,16k --size=64k"),
        job("--rw=read --bs=,8k --size=64k"),
        job(
            "--rw=read --bs=4k --size=128k --zonemode=strided --zonesize=8k --zonerange=16k --zoneskip=8k",
        ),
        job("--rw=trimwrite --bs=4k --size=64k --ioengine=null"),
        job("--rw=trim --bs=4k --size=64k --ioengine=null"),
        job("--rw=trim --bs=4k --size=64k --ioengine=null --end_fsync=1"),
        job("--rw=trimwrite --bs=4k --size=64k --ioengine=null --end_fsync=1"),
    ]);
}

#[test]
fn several_files_and_jobs_are_those_of_fio() {
    all_agree(&[
        // 3.33 gives a third of 64 KiB to each of three files, 3.42 whole blocks.
        job("--rw=read --bs=4k --size=96k --nrfiles=3"),
        job("--rw=write --bs=4k --size=60k --nrfiles=4 --openfiles=1 --end_fsync=1"),
        job("--rw=write --bs=4k --size=60k --nrfiles=4 --file_service_type=sequential"),
        job("--rw=write --bs=4k --size=60k --nrfiles=4 --openfiles=2"),
        job("--rw=write --bs=4k --size=64k --filename=a:b"),
        job("--rw=write --bs=4k --size=64k --nrfiles=2 --filename_format=$jobname-$filenum"),
        job("--rw=write --bs=4k --size=16k --numjobs=3"),
        job("--rw=write --bs=4k --size=16k --numjobs=3 --thread --group_reporting"),
        job("--rw=write --bs=4k --size=16k --numjobs=3 --filename=f --offset_increment=16k"),
        job(
            "--rw=write --bs=4k --size=16k --filename=f --name=w --rw=read --stonewall --filename=f",
        ),
    ]);
}

#[test]
fn file_life_is_that_of_fio() {
    const THERE: &[(&str, usize)] = &[("f", 32768)];
    all_agree(&[
        DifferentialJob {
            before: THERE,
            ..job("--filename=f --rw=write --bs=4k --size=32k --file_append=1")
        },
        job("--filename=f --rw=write --bs=4k --size=32k --file_append=1"),
        DifferentialJob {
            before: THERE,
            ..job("--filename=f --rw=write --bs=4k --size=64k --overwrite=1")
        },
        job("--rw=write --bs=4k --size=64k --create_only=1"),
        job("--rw=read --bs=4k --size=96k --create_only=1 --nrfiles=3"),
        job("--rw=write --bs=4k --size=64k --create_on_open=1"),
        job("--rw=write --bs=4k --size=64k --unlink=1"),
        job("--rw=write --bs=4k --size=64k --unlink_each_loop=1 --loops=2"),
        job("--rw=read --bs=4k --size=64k --pre_read=1"),
        job("--rw=write --bs=4k --size=64k --number_ios=2 --fallocate=none"),
        job("--rw=write --bs=4k --size=64k --number_ios=2 --fallocate=posix"),
        job("--rw=write --bs=4k --size=64k --number_ios=2 --fallocate=keep"),
        job("--rw=write --bs=4k --size=64k --number_ios=2 --fallocate=truncate"),
        DifferentialJob {
            before: &[("f", 65536)],
            ..job("--filename=f --allow_file_create=0 --rw=write --bs=4k")
        },
    ]);
}

#[test]
fn syncs_are_those_of_fio_and_one_after_the_last_of_each() {
    all_agree(&[
        job("--rw=write --bs=4k --size=64k --fsync=5"),
        job("--rw=write --bs=4k --size=64k --fsync=4"),
        DifferentialJob { last_syncs: 1, ..job("--rw=write --bs=4k --size=16k --fsync=1") },
        DifferentialJob { last_syncs: 1, ..job("--rw=write --bs=4k --size=16k --fdatasync=1") },
        job("--rw=write --bs=4k --size=64k --fdatasync=3 --number_ios=7"),
        job("--rw=write --bs=4k --size=64k --sync_file_range=write:5"),
        job("--rw=write --bs=4k --size=64k --end_fsync=1"),
        job("--rw=write --bs=4k --size=64k --fsync_on_close=1"),
        job("--rw=read --bs=4k --size=64k --fsync=4"),
        job("--rw=write --bs=4k --size=64k --sync=1"),
        job("--rw=write --bs=4k --size=64k --sync=dsync"),
    ]);
}

#[test]
fn every_engine_moves_what_fios_moves() {
    all_agree(&[
        job("--ioengine=sync --rw=write --bs=4k --size=64k"),
        job("--ioengine=vsync --rw=read --bs=4k --size=64k"),
        job("--ioengine=pvsync --rw=write --bs=4k --size=64k"),
        job("--ioengine=pvsync2 --rw=read --bs=4k --size=64k"),
        job("--ioengine=mmap --rw=write --bs=4k --size=64k"),
        job("--ioengine=mmap --rw=read --bs=4k --size=64k"),
        job("--ioengine=libaio --iodepth=4 --direct=1 --rw=write --bs=4k --size=64k"),
        job("--ioengine=libaio --iodepth=4 --rw=read --bs=4k --size=64k"),
        job("--ioengine=io_uring --iodepth=4 --rw=write --bs=4k --size=64k"),
        job("--ioengine=io_uring --iodepth=4 --direct=1 --rw=read --bs=4k --size=64k"),
        job("--ioengine=null --rw=read --bs=4k --size=64k"),
    ]);
}

#[test]
fn what_is_written_is_what_fio_writes() {
    let contents = |options| DifferentialJob { contents: true, ..job(options) };
    all_agree(&[
        contents("--rw=write --bs=4k --size=30000 --zero_buffers"),
        contents("--rw=write --bs=4k --size=30000 --buffer_pattern=0xdeadbeef"),
        contents("--rw=write --bs=4k --size=30000 --buffer_pattern=\"abcde\""),
        contents("--rw=write --bs=4k --size=30000 --buffer_pattern=0xff\"ab\"-12"),
        contents("--rw=write:4k --bs=4k --size=32k --zero_buffers --fallocate=none"),
        contents("--rw=write --bs=4k --size=16k --nrfiles=2 --zero_buffers --offset=4k"),
    ]);
}

/// A small file system in memory, mounted while it is held. Bound to names in
/// this order, it is unmounted before its folder goes.
fn small_tmpfs() -> Option<(Folder, Mounted)> {
    if !is_root("mount a small file system") {
        return None;
    }
    let folder = Folder::new("small");
    let at = folder.path().to_str().unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs", at])
        .status();
    match mounted {
        Ok(status) if status.success() => {
            let mounted = Mounted::at(folder.path().into());
            Some((folder, mounted))
        }
        _ => {
            skip::test(format_args!("tmpfs cannot be mounted here"));
            None
        }
    }
}

/// The results of a job on a full file system: exit code, counts, file sizes.
fn on_a_full_disk(who: Who, options: &str) -> Option<(Option<i32>, Vec<String>, Vec<u64>)> {
    let (folder, _mounted) = small_tmpfs()?;
    let ran = who.run(&folder, &with(ALWAYS, options));
    let report = ran.json();
    let counts = report["jobs"].as_array().unwrap().iter().flat_map(counts).collect();
    let sizes = folder.sizes().into_iter().map(|(_, size)| size).collect();
    Some((ran.code, counts, sizes))
}

#[test]
fn filling_a_device_ends_well_and_a_full_disk_ends_badly() {
    if !has_fio() {
        return;
    }
    for options in [
        "--rw=write --bs=64k --fill_device=1 --fallocate=none",
        "--rw=write --bs=64k --fill_device=1 --size=2m --fallocate=none",
        "--rw=write --bs=64k --size=2m --fallocate=none",
    ] {
        let ours = on_a_full_disk(Who::AsFio, options);
        if ours.is_none() {
            return;
        }
        assert_eq!(ours, on_a_full_disk(Who::Fio, options), "{options}");
    }
}
