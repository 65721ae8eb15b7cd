//! What is in the files after a run: shares of blocks that repeat and of bytes
//! that compress, patterns; and where buffers live meanwhile.

use crate::support::running::{PATIENCE, Running, wait_until};
use crate::support::{Who, words};
use iosonde_testing::{Folder, has_fio_for_part, skip};
use std::collections::HashSet;
use std::io::Write;
use std::process::{Command, Stdio};

/// How far a share may be from what was asked, in percent of the whole.
const POINTS: f64 = 2.0;

/// Run a job named `j` that must end well; all its files, one after another.
fn run(options: &str) -> Vec<u8> {
    run_words(Who::AsFio, &words(options))
}

fn run_words(who: Who, options: &[String]) -> Vec<u8> {
    let folder = Folder::new("buffers");
    let always = words("--name=j --output=/dev/null");
    who.run(&folder, &[always, options.to_vec()].concat()).well();
    let files = folder.names().into_iter().filter(|name| name.starts_with("j."));
    files.flat_map(|name| std::fs::read(folder.join(&name)).unwrap()).collect()
}

/// How many blocks in a hundred repeat others.
fn repeats(bytes: &[u8], block: usize) -> f64 {
    let blocks = bytes.chunks(block);
    let count = blocks.len() as f64;
    100.0 * (1.0 - blocks.collect::<HashSet<_>>().len() as f64 / count)
}

/// How many bytes in a hundred zstd saves; `None` where there is no zstd.
fn saved(bytes: &[u8]) -> Option<f64> {
    let mut zstd = Command::new("zstd");
    zstd.args(["-1", "-q", "-c"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut zstd) = zstd.spawn() else {
        skip::test(format_args!("zstd is not installed (apt-get install zstd)"));
        return None;
    };
    let mut input = zstd.stdin.take().unwrap();
    let packed = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(bytes).unwrap());
        zstd.wait_with_output().unwrap()
    });
    assert!(packed.status.success());
    Some(100.0 * (1.0 - packed.stdout.len() as f64 / bytes.len() as f64))
}

/// The first of each distinct block.
fn unique(bytes: &[u8], block: usize) -> Vec<u8> {
    let mut seen = HashSet::new();
    bytes.chunks(block).filter(|block| seen.insert(*block)).flatten().copied().collect()
}

#[track_caller]
fn near(found: f64, asked: f64, what: &str) {
    assert!((found - asked).abs() <= POINTS, "{what}: {found:.2} for {asked}");
}

/// Block sizes in KiB, how many of them a file has, and percentages.
const SIZES: [(usize, usize, &[u32]); 4] = [
    (4, 512, &[0, 1, 10, 25, 50, 75, 90, 99, 100]),
    (16, 200, &[0, 33, 66, 100]),
    (64, 128, &[25, 50, 99]),
    (128, 128, &[10, 50, 80]),
];

/// Writing jobs, and one with a file that is laid out first.
const WAYS: [&str; 3] = ["write", "randwrite", "randread"];

/// Every size with every percentage, and the ways in turn; one in three for each
/// of `variants`, in turn as well.
fn each_case(variants: &[&str], mut check: impl FnMut(usize, u32, &str)) {
    let mut number = 0;
    for (kib, blocks, percentages) in SIZES {
        for percentage in percentages {
            // The ways go round before the variants do, so that each meets each.
            let rw = WAYS[number % WAYS.len()];
            let variant = variants[number / WAYS.len() % variants.len()];
            let job = format!("--rw={rw} --bs={kib}k --size={}k {variant}", kib * blocks);
            check(kib * 1024, *percentage, &job);
            number += 1;
        }
    }
    assert!(number >= WAYS.len() * variants.len());
}

#[test]
fn blocks_repeat_by_the_share_asked() {
    each_case(&[""], |block, percentage, job| {
        let job = format!("{job} --dedupe_percentage={percentage}");
        let found = repeats(&run(&job), block);
        near(found, f64::from(percentage), &job);
    });
}

#[test]
fn blocks_repeat_those_of_a_working_set_by_the_share_asked() {
    // Each percentage meets each size of the set in one of the ways.
    for (at, percentage) in [1, 25, 50, 75, 90].into_iter().enumerate() {
        for (which, set) in [2, 5, 10].into_iter().enumerate() {
            let rw = WAYS[(at + which) % WAYS.len()];
            let job = format!(
                "--rw={rw} --bs=4k --size=4m --dedupe_mode=working_set \
                 --dedupe_percentage={percentage} --dedupe_working_set_percentage={set}"
            );
            let bytes = run(&job);
            near(repeats(&bytes, 4096), f64::from(percentage), &job);
            if rw == "write" {
                let set = &bytes[..bytes.len() / 4096 * set / 100 * 4096];
                assert_eq!(repeats(set, 4096), 0.0, "{job}");
                let set: HashSet<&[u8]> = set.chunks(4096).collect();
                // What comes twice after the set is of the set.
                let mut seen = HashSet::new();
                let twice = bytes.chunks(4096).filter(|block| !seen.insert(*block));
                assert!(twice.into_iter().all(|block| set.contains(block)), "{job}");
            }
        }
    }
}

#[test]
fn writes_of_several_sizes_repeat_by_the_share_asked() {
    for sizes in ["--bssplit=4k/50:16k/50", "--bsrange=4k-64k", "--bs=64k,4k --rw=randrw"] {
        for (mode, percentage) in [("repeat", 25), ("repeat", 50), ("working_set", 50)] {
            let job = format!(
                "--rw=randwrite --size=8m --dedupe_mode={mode} --dedupe_percentage={percentage} \
                 --buffer_compress_percentage=30 {sizes} --rwmixwrite=100"
            );
            let bytes = run(&job);
            near(repeats(&bytes, 4096), f64::from(percentage), &job);
            let Some(saved) = saved(&unique(&bytes, 4096)) else { return };
            near(saved, 30.0, &job);
        }
    }
}

#[test]
fn a_later_pass_has_the_same_share_of_repeats() {
    for mode in ["repeat", "working_set"] {
        let job = format!(
            "--rw=write --bs=4k --size=4m --loops=3 --dedupe_percentage=50 --dedupe_mode={mode}"
        );
        near(repeats(&run(&job), 4096), 50.0, &job);
    }
}

#[test]
fn jobs_share_a_working_set() {
    for rw in ["write", "randwrite", "read"] {
        for percentage in [20, 50, 80] {
            let job = format!(
                "--rw={rw} --bs=4k --size=2m --numjobs=4 --dedupe_mode=working_set \
                 --dedupe_working_set_percentage=10 --dedupe_percentage={percentage}"
            );
            let alone = run(&job);
            let shared = run(&format!("{job} --dedupe_global=1"));
            for bytes in [&alone, &shared] {
                near(repeats(bytes, 4096), f64::from(percentage), &job);
            }
            // Which blocks two files have in common.
            let common = |bytes: &[u8]| {
                let set = |file: usize| -> HashSet<Vec<u8>> {
                    bytes[file * (2 << 20)..][..2 << 20].chunks(4096).map(<[u8]>::to_vec).collect()
                };
                set(0).intersection(&set(1)).count()
            };
            assert_eq!(common(&alone), 0, "{job}");
            assert!(common(&shared) > 20, "{job}: {}", common(&shared));
        }
    }
}

#[test]
fn a_share_that_cannot_be_reached_is_refused() {
    let folder = Folder::new("buffers");
    let set = "--name=j --rw=write --size=1m --dedupe_mode=working_set";
    let ran = Who::AsFio.run(&folder, &words(&format!("{set} --dedupe_percentage=96")));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("impossible to reach expected dedupe percentage 96"), "{ran:?}");
    Who::AsFio.run(&folder, &words(&format!("{set} --dedupe_percentage=95"))).well();
}

#[test]
fn bytes_compress_by_the_share_asked() {
    let chunks = ["", "--buffer_compress_chunk=0", "--buffer_compress_chunk=4k"];
    each_case(&chunks, |block, percentage, job| {
        let job = format!("{job} --buffer_compress_percentage={percentage}");
        let bytes = run(&job);
        let Some(saved) = saved(&bytes) else { return };
        near(saved, f64::from(percentage), &job);
        // All that compresses wholly is alike; nothing else is.
        if percentage < 100 {
            assert_eq!(repeats(&bytes, block), 0.0, "{job}");
        }
    });
}

#[test]
fn both_shares_hold_together() {
    for (repeated, compressed) in [(50, 50), (25, 75), (75, 25), (50, 100), (50, 0)] {
        for rw in WAYS {
            let job = format!(
                "--rw={rw} --bs=8k --size=4m --dedupe_percentage={repeated} \
                 --buffer_compress_percentage={compressed}"
            );
            let bytes = run(&job);
            near(repeats(&bytes, 8192), f64::from(repeated), &job);
            let Some(saved) = saved(&unique(&bytes, 8192)) else { return };
            near(saved, f64::from(compressed), &job);
        }
    }
}

#[test]
fn what_does_not_compress_repeats_the_pattern() {
    let job = "--rw=write --bs=4k --size=64k --buffer_compress_percentage=75 \
               --buffer_compress_chunk=1024 --buffer_pattern=0xabcd";
    for chunk in run(job).chunks(1024) {
        assert!(chunk[256..].chunks(2).all(|pair| pair == [0xab, 0xcd]));
        assert!(chunk[..256].chunks(2).filter(|pair| *pair == [0xab, 0xcd]).count() < 8);
    }
}

#[test]
fn plain_buffers_are_as_asked() {
    let job = |more: &str| run(&format!("--rw=write --bs=4k --size=1m {more}"));
    // Alike by default but for a few bytes in each sector.
    assert_eq!(repeats(&job(""), 512), 0.0);
    assert!(repeats(&job("--scramble_buffers=0"), 4096) > 99.0);
    assert!(job("--zero_buffers").iter().all(|byte| *byte == 0));
    assert!(job("--zero_buffers --refill_buffers").iter().all(|byte| *byte == 0));
    let refilled = job("--refill_buffers");
    assert_eq!(repeats(&refilled, 8), 0.0);
    // Asked for, even zeroes differ, by at most 16 bytes of a sector.
    let scrambled = job("--zero_buffers --scramble_buffers=1");
    assert_eq!(repeats(&scrambled, 512), 0.0);
    assert!(scrambled[..512].iter().filter(|byte| **byte != 0).count() <= 16);
    // A refusal to fill anew goes before what compresses.
    let once = job("--buffer_compress_percentage=50 --refill_buffers=0");
    assert!(repeats(&once, 4096) > 99.0);
}

#[test]
fn a_file_laid_out_for_reads_does_not_compress() {
    let bytes = run("--rw=read --bs=4k --size=1m");
    assert_eq!(repeats(&bytes, 8), 0.0);
    assert!(run("--rw=read --bs=4k --size=1m --zero_buffers").iter().all(|byte| *byte == 0));
}

/// A job with a pattern, which no shell has to quote.
fn pattern(who: Who, pattern: &str, rw: &str) -> Vec<u8> {
    let mut words = words(&format!("--rw={rw} --bs=4k --size=64k --scramble_buffers=0"));
    words.push(format!("--buffer_pattern={pattern}"));
    run_words(who, &words)
}

#[test]
fn every_form_of_pattern_is_written() {
    let folder = Folder::new("patterns");
    let short = folder.write("short", b"from a file");
    let long: Vec<u8> = (0..1000u32).map(|i| (i * 7 % 251) as u8).collect();
    let long_path = folder.write("long", &long);
    let cases: [(String, &[u8]); 10] = [
        ("0xdeadbeef".into(), &[0xde, 0xad, 0xbe, 0xef]),
        ("0xabc".into(), &[0x0a, 0xbc]),
        ("\"abcd\"".into(), b"abcd"),
        ("300".into(), &[0x2c, 1]),
        ("-12".into(), &[0xf4, 0xff, 0xff, 0xff]),
        (format!("'{short}'"), b"from a file"),
        (format!("'{long_path}'"), &long),
        ("0xaabbcc\"hello\"-12".into(), b"\xaa\xbb\xcchello\xf4\xff\xff\xff"),
        (format!("0x01'{short}'\"x\""), b"\x01from a filex"),
        (format!("\"{}\"'{long_path}'", "y".repeat(500)), b""),
    ];
    for (text, expected) in &cases {
        let mut expected = expected.to_vec();
        if expected.is_empty() {
            expected = [&[b'y'; 500][..], &long].concat();
        }
        for rw in ["write", "read"] {
            let bytes = pattern(Who::AsFio, text, rw);
            for block in bytes.chunks(4096) {
                let same = block.iter().eq(expected.iter().cycle().take(4096));
                assert!(same, "{text} {rw}: {:?}", &block[..32]);
            }
            // fio 3.33 cuts a pattern after 512 bytes, 3.42 does not.
            if expected.len() <= 512 && has_fio_for_part() {
                assert!(pattern(Who::Fio, text, rw) == bytes, "{text} {rw}");
            }
        }
    }
}

#[test]
fn a_pattern_may_tell_where_its_block_is() {
    for rw in ["write", "randwrite", "read"] {
        let bytes = pattern(Who::AsFio, "\"at\"%o0xff", rw);
        for (index, block) in (0u64..).zip(bytes.chunks(4096)) {
            let period = [b"at", &(index * 4096).to_le_bytes()[..], b"\xff"].concat();
            assert!(block.iter().eq(period.iter().cycle().take(4096)), "{rw} {index}");
        }
    }
}

#[test]
fn a_pattern_from_a_file_that_is_not_there_or_empty_is_refused() {
    let folder = Folder::new("patterns");
    let empty = folder.write("empty", b"");
    for path in ["/no/such/file", &empty] {
        let mut options = words("--name=j --rw=write --size=64k");
        options.push(format!("--buffer_pattern='{path}'"));
        let ran = Who::AsFio.run(&folder, &options);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("buffer_pattern"), "{ran:?}");
    }
}

#[test]
fn memory_of_every_kind_carries_the_bytes() {
    for mem in ["malloc", "mmap", "mmap:own", "mmapshared", "mmapshared:own", "mmaphuge:own", "shm"]
    {
        for engine in ["psync", "libaio --iodepth=8", "io_uring --iodepth=8"] {
            for align in [0, 4096, 1 << 20] {
                let job = format!(
                    "--rw=randwrite --bs=4k --size=256k --buffer_pattern=0xa5 --mem={mem} \
                     --ioengine={engine} --iomem_align={align}"
                );
                assert!(run(&job) == [0xa5; 256 << 10], "{job}");
            }
        }
    }
}

#[test]
fn huge_pages_are_used_or_the_remedy_is_shown() {
    for mem in ["mmaphuge", "shmhuge"] {
        for page in ["", "--hugepage-size=2m", "--hugepage-size=0"] {
            let folder = Folder::new("buffers");
            let job = format!("--name=j --rw=write --size=64k --mem={mem} {page}");
            let ran = Who::AsFio.run(&folder, &words(&job));
            if ran.code != Some(0) {
                assert_eq!(ran.code, Some(1), "{ran:?}");
                assert!(ran.stderr.contains("nr_hugepages"), "{ran:?}");
            }
        }
    }
    let folder = Folder::new("buffers");
    let job = "--name=j --rw=write --size=64k --mem=shmhuge --hugepage-size=3m";
    let ran = Who::AsFio.run(&folder, &words(job));
    assert!(ran.code == Some(1) && ran.stderr.contains("no power of two"), "{ran:?}");
}

/// Wait until a job that runs shows `sign` in a file of /proc.
#[track_caller]
fn shows(options: &str, file: &str, sign: impl Fn(&str) -> bool) {
    let folder = Folder::new("buffers");
    let job = format!(
        "--name=j --output=/dev/null --rw=randread --size=64k --time_based --runtime=1d {options}"
    );
    let mut job = Running::start(Who::AsFio, &folder, &job);
    let path = format!("/proc/{}/{file}", job.id());
    wait_until(&format!("{file} shows it with {options}"), || {
        sign(&std::fs::read_to_string(&path).unwrap_or_default()) || !job.is_running()
    });
    assert!(job.is_running(), "{:?}", job.end_within(PATIENCE));
    job.signal(rustix::process::Signal::INT);
    job.end_within(PATIENCE);
}

#[test]
fn buffers_live_where_they_were_asked_to() {
    shows("--mem=shm", "maps", |maps| maps.contains("/SYSV"));
    shows("--mem=mmap:buffers", "maps", |maps| {
        maps.lines().any(|line| line.contains("rw-p") && line.ends_with("/buffers"))
    });
    shows("--mem=mmapshared:buffers", "maps", |maps| {
        maps.lines().any(|line| line.contains("rw-s") && line.ends_with("/buffers"))
    });
}

#[test]
fn memory_is_locked_while_the_job_runs() {
    let locked = |status: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix("VmLck:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    };
    // 64 KiB each is what the smallest limit in use allows in all.
    shows("--lockmem=32k --numjobs=2", "status", |status| locked(status) == Some(64));
    let folder = Folder::new("buffers");
    let ran = Who::AsFio.run(&folder, &words("--name=j --rw=read --size=4k --lockmem=1p"));
    assert!(ran.code == Some(1) && ran.stderr.contains("lockmem"), "{ran:?}");
}
