//! `--profile=tiobench`: sequential and random writes, then reads, of four files.

use super::{ProfileOption, is_count};
use iosonde_options::command_line::size;

/// The options of tiobench.
pub(super) static OPTIONS: [ProfileOption; 5] = [
    ProfileOption {
        name: "size",
        doc: "Size in MiB",
        takes_value: true,
        accepts: is_count,
        accepted: "a number of MiB, at least 1",
    },
    ProfileOption {
        name: "block",
        doc: "Block size in bytes",
        takes_value: true,
        accepts: |text| size(text).is_ok_and(|bytes| bytes > 0),
        accepted: "a number of bytes, such as 4096 or 4k",
    },
    ProfileOption {
        name: "numruns",
        doc: "Number of runs",
        takes_value: true,
        accepts: is_count,
        accepted: "a number, at least 1",
    },
    ProfileOption {
        name: "dir",
        doc: "Test directory",
        takes_value: true,
        accepts: |text| !text.is_empty(),
        accepted: "a directory",
    },
    ProfileOption {
        name: "threads",
        doc: "Number of Threads",
        takes_value: true,
        accepts: is_count,
        accepted: "a number, at least 1",
    },
];

/// What holds for all jobs of tiobench.
const GLOBAL: &str = "--timeout=600 --group_reporting --thread --overwrite=1 \
                      --filename=.fio.tio.1:.fio.tio.2:.fio.tio.3:.fio.tio.4 --ioengine=sync";

/// Its jobs, one after the other.
const JOBS: &str = "--name=seqwrite --rw=write --end_fsync=1 \
                    --name=randwrite --stonewall --rw=randwrite --end_fsync=1 \
                    --name=seqread --stonewall --rw=read \
                    --name=randread --stonewall --rw=randread";

/// fio's jobs of tiobench, with its options, which fio reads and then leaves
/// at their defaults. `others` hold for all jobs.
pub(super) fn jobs<'a>(
    value: impl Fn(&str) -> Option<&'a str>,
    others: Vec<String>,
) -> Vec<String> {
    let size = match value("size") {
        Some(mebibytes) => format!("{mebibytes}m"),
        // fio's four times the memory, in MiB.
        None => format!("{}m", 4 * (iosonde_sys::memory::total_bytes() >> 20)),
    };
    let mut words = vec![
        "--buffered=0".to_owned(),
        format!("--size={size}"),
        format!("--bs={}", value("block").unwrap_or("4096")),
        format!("--loops={}", value("numruns").unwrap_or("1")),
        format!("--directory={}", value("dir").unwrap_or("./")),
        format!("--numjobs={}", value("threads").unwrap_or("1")),
    ];
    words.extend(GLOBAL.split_whitespace().map(str::to_owned));
    words.extend(others);
    words.extend(JOBS.split_whitespace().map(str::to_owned));
    words
}
