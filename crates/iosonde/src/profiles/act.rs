//! `--profile=act`: Aerospike's certification test, small reads beside large
//! writes at fixed rates.

use super::{ProfileOption, is_count};

/// The options of act.
pub(super) static OPTIONS: [ProfileOption; 7] = [
    ProfileOption {
        name: "device-names",
        doc: "Devices to use",
        takes_value: true,
        accepts: |text| text.split(',').all(|name| !name.is_empty()),
        accepted: "paths, with commas between them",
    },
    ProfileOption {
        name: "load",
        doc: "ACT load multipler (default 1x)",
        takes_value: true,
        accepts: is_count,
        accepted: "a number, at least 1",
    },
    ProfileOption {
        name: "test-duration",
        doc: "How long the entire test takes to run",
        takes_value: true,
        accepts: is_duration,
        accepted: "a duration, such as 24h or 30m; a number alone is seconds",
    },
    ProfileOption {
        name: "threads-per-queue",
        doc: "Number of read IO threads per device",
        takes_value: true,
        accepts: is_count,
        accepted: "a number, at least 1",
    },
    ProfileOption {
        name: "read-req-num-512-blocks",
        doc: "Number of 512B blocks to read at the time",
        takes_value: true,
        accepts: |text| text.parse().is_ok_and(|blocks: u64| (1..1 << 22).contains(&blocks)),
        accepted: "a number of blocks of 512 bytes, 1 to 4194303",
    },
    ProfileOption {
        name: "large-block-op-kbytes",
        doc: "Size of large block ops in KiB (writes)",
        takes_value: true,
        accepts: |text| text.parse().is_ok_and(|bytes: u64| (512..1 << 31).contains(&bytes)),
        accepted: "bytes, in spite of the name, as in fio: at least 512, such as 131072",
    },
    ProfileOption {
        name: "prep",
        doc: "Set to run ACT prep phase",
        takes_value: false,
        accepts: |text| matches!(text, "0" | "1"),
        accepted: "0 or 1, or no value",
    },
];

fn is_duration(text: &str) -> bool {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    is_count(digits) && ["", "s", "m", "h", "d"].contains(&&text[digits.len()..])
}

/// Whether a switch is on.
pub(super) fn is_on(value: Option<&str>) -> bool {
    value == Some("1")
}

/// What holds for all jobs of act.
const GLOBAL: &str =
    "--direct=1 --ioengine=sync --random_generator=lfsr --group_reporting=1 --thread";

/// fio's jobs of act, for as long as requested. `others` hold for all jobs.
///
/// # Errors
/// No device is named: the reason, in fio's words.
pub(super) fn jobs<'a>(
    value: impl Fn(&str) -> Option<&'a str>,
    others: Vec<String>,
) -> Result<Vec<String>, &'static str> {
    let devices = value("device-names")
        .ok_or("act: you need to set IO target(s) with the device-names option.")?;
    let mut words: Vec<String> = GLOBAL.split_whitespace().map(str::to_owned).collect();
    let prepares = is_on(value("prep"));
    if !prepares {
        words.push(format!("--runtime={}", value("test-duration").unwrap_or("24h")));
        words.push("--time_based=1".to_owned());
    }
    words.extend(others);
    let rates = Rates::new(value);
    for device in devices.split(',') {
        let file = device.replace(':', "\\:");
        words.extend(if prepares { preparation(device, &file) } else { rates.test(device, &file) });
    }
    Ok(words)
}

/// How much is read and written.
struct Rates {
    threads: u64,
    read_bytes: u64,
    /// Reads of each thread in a second.
    reads: u64,
    write_bytes: u64,
    /// Writes in a second.
    writes: u64,
}

impl Rates {
    fn new<'a>(value: impl Fn(&str) -> Option<&'a str>) -> Rates {
        let number =
            |name, default| value(name).and_then(|text| text.parse().ok()).unwrap_or(default);
        let (load, threads) = (number("load", 1), number("threads-per-queue", 8));
        let read_bytes = number("read-req-num-512-blocks", 3) * 512;
        let write_bytes = number("large-block-op-kbytes", 131_072);
        // fio divides whole numbers.
        let reads_of_a_write = (write_bytes / read_bytes).max(1);
        Rates {
            threads,
            read_bytes,
            reads: (load.saturating_mul(2000) / threads).max(1),
            write_bytes,
            writes: load.saturating_mul(1000).div_ceil(reads_of_a_write),
        }
    }

    fn test(&self, device: &str, file: &str) -> Vec<String> {
        let Rates { threads, read_bytes, reads, write_bytes, writes } = self;
        vec![
            format!("--name=act-read-{device}"),
            format!("--filename={file}"),
            "--rw=randread".to_owned(),
            format!("--numjobs={threads}"),
            format!("--rate_iops={reads}"),
            format!("--bs={read_bytes}"),
            format!("--name=act-write-{device}"),
            format!("--filename={file}"),
            "--rw=randwrite".to_owned(),
            format!("--rate_iops={writes}"),
            format!("--bs={write_bytes}"),
        ]
    }
}

/// The device is filled with zeroes, and then with random data in random order.
fn preparation(device: &str, file: &str) -> Vec<String> {
    let words = [
        &format!("--name=act-prep-zeroes-{device}"),
        &format!("--filename={file}"),
        "--bs=1048576",
        "--zero_buffers",
        "--rw=write",
        &format!("--name=act-prep-salt-{device}"),
        "--stonewall",
        &format!("--filename={file}"),
        "--bs=4096",
        "--ioengine=libaio",
        "--iodepth=64",
        "--rw=randwrite",
    ];
    words.map(str::to_owned).to_vec()
}
