//! Random mixes of options, drawn from a seed, by the installed fio and by us: the
//! same exit codes, counts, files and I/Os.
//!
//! `make test` runs a few. More, or others:
//! `IOSONDE_MIXES=300 IOSONDE_MIXES_SEED=7 cargo test -p iosonde --test fio mixes::`.
//!
//! The recordings of `exact.rs` are of fio 3.42, the standard. An older fio draws
//! other places and directions, so that only jobs without chance are drawn here, and
//! none of the mixes that it is known to do otherwise: syncs among reads, through a
//! queue or with `loops`, `loops` over several files through a queue, `io_size` above
//! `size`, sizes that are no multiple of all files' blocks.

use crate::differential::{DifferentialJob, job};
use crate::support::at_once;
use iosonde_testing::has_fio;

/// How many jobs, and from which seed, if the environment does not say.
const JOBS: u64 = 24;
const SEED: u64 = 12;

#[test]
fn random_mixes_of_options_are_those_of_the_installed_fio() {
    if !has_fio() {
        return;
    }
    let number = |name, usual| match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")),
        Err(_) => usual,
    };
    let (jobs, seed) = (number("IOSONDE_MIXES", JOBS), number("IOSONDE_MIXES_SEED", SEED));
    let jobs: Vec<DifferentialJob> = (0..jobs).map(|n| OptionMix::new(seed, n).job()).collect();
    let wrong: Vec<String> =
        at_once(&jobs, DifferentialJob::difference).into_iter().flatten().collect();
    assert!(wrong.is_empty(), "seed {seed}: {} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Files that are there before some of the jobs.
const THERE: [&[(&str, usize)]; 4] =
    [&[("f", 65536)], &[("f", 100_000)], &[("f", 1 << 20)], &[("f", 4096)]];

/// A job that is being drawn.
struct OptionMix {
    state: u64,
    options: Vec<&'static str>,
}

impl OptionMix {
    fn new(seed: u64, number: u64) -> OptionMix {
        OptionMix { state: seed << 32 | number, options: Vec::new() }
    }

    /// The next draw, below `n`. Steele, Lea and Flood (SplitMix64).
    fn below(&mut self, n: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 33) as usize % n
    }

    fn one(&mut self, choices: &[&'static str]) -> &'static str {
        let choice = choices[self.below(choices.len())];
        self.options.push(choice);
        choice
    }

    /// One of the choices in `percent` of the jobs.
    fn maybe(&mut self, percent: usize, choices: &[&'static str]) -> Option<&'static str> {
        (self.below(100) < percent).then(|| self.one(choices))
    }

    fn job(mut self) -> DifferentialJob {
        let queued = self.below(100) < 35;
        let engine = if queued {
            self.one(&["--ioengine=libaio", "--ioengine=io_uring", "--ioengine=posixaio"])
        } else {
            self.one(&[
                "--ioengine=psync",
                "--ioengine=sync",
                "--ioengine=pvsync",
                "--ioengine=pvsync2",
                "--ioengine=mmap",
            ])
        };
        let mmap = engine.ends_with("mmap");
        let rw = self.one(&["--rw=read", "--rw=write", "--rw=read", "--rw=write", "--rw=write:8k"]);
        let writes = rw.starts_with("--rw=write");
        if mmap {
            self.one(&["--bs=4k", "--bs=8k", "--bs=16k"])
        } else {
            self.one(&["--bs=4k", "--bs=8k", "--bs=1k", "--bs=512", "--bs=16k", "--bs=3k"])
        };
        // Of these each of 2 and 4 files has whole blocks.
        self.one(&["--size=192k", "--size=384k", "--size=768k", "--size=1536k"]);
        let there = self.files(writes);
        self.ends(writes, queued);
        if there.is_empty() {
            // fio cuts a file that is there before it reserves space, and we do not.
            self.maybe(20, &["--fallocate=none", "--fallocate=keep", "--fallocate=posix"]);
        }
        if queued {
            self.maybe(70, &["--iodepth=2", "--iodepth=4", "--iodepth=16"]);
            self.maybe(25, &["--iodepth_batch=4", "--iodepth_batch_complete_max=4"]);
        }
        let options: &'static str = self.options.join(" ").leak();
        let mut job = job(options);
        job.before = there;
        job
    }

    /// Which files, and which part of them.
    fn files(&mut self, writes: bool) -> &'static [(&'static str, usize)] {
        if self.below(100) < 30 {
            self.options.push("--filename=f");
            self.maybe(40, &["--offset=4k", "--offset=25%"]);
            self.maybe(30, &["--overwrite=1", "--unlink=1"]);
            return if writes { THERE[self.below(4)] } else { THERE[2] };
        }
        if self.maybe(40, &["--nrfiles=2", "--nrfiles=4"]).is_some() {
            self.maybe(
                60,
                &[
                    "--file_service_type=sequential",
                    "--file_service_type=roundrobin",
                    "--file_service_type=roundrobin:2",
                ],
            );
            self.maybe(30, &["--filesize=48k", "--filesize=98304", "--filesize=100000"]);
        } else {
            self.maybe(25, &["--offset=48k", "--offset=4k"]);
            self.maybe(15, &["--zonemode=strided --zonesize=48k --zonerange=96k"]);
            self.maybe(10, &["--numjobs=2", "--numjobs=3"]);
        }
        self.maybe(15, &["--overwrite=1", "--unlink=1", "--create_serialize=0"]);
        &[]
    }

    /// When the job ends, what is synced, and what changes nothing.
    fn ends(&mut self, writes: bool, queued: bool) {
        self.maybe(15, &["--number_ios=7", "--number_ios=1", "--number_ios=100"]);
        self.maybe(15, &["--io_size=48k", "--io_size=50%", "--io_size=100000"]);
        let several = self.options.iter().any(|option| option.starts_with("--nrfiles"));
        let loops = !(queued && several) && self.maybe(15, &["--loops=2", "--loops=3"]).is_some();
        if !loops {
            self.maybe(15, &["--end_fsync=1", "--fsync_on_close=1"]);
            if writes && !queued {
                self.maybe(30, &["--fsync=2", "--fsync=4", "--fsync=32", "--fdatasync=3"]);
            }
        }
        self.maybe(25, &["--refill_buffers=1", "--zero_buffers=1", "--invalidate=0", "--thread"]);
        self.maybe(10, &["--randseed=7", "--fadvise_hint=0", "--startdelay=0", "--ramp_time=0"]);
    }
}
