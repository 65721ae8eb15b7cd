//! Jobs as fio's arguments say them, and what our source makes of them.

#![allow(dead_code)] // Each test file uses its own part.

pub mod zoned;

use iosonde_base::{Op, PerDir, Ring};
use iosonde_workload::*;

/// The parameters of a job of the vectors, read from fio's arguments.
pub fn spec(arguments: &[String]) -> SourceSpec {
    let mut spec = SourceSpec { total_bytes: 0, ..SourceSpec::default() };
    let (mut size, mut file_size, mut files, mut offset, mut name, mut io_size) =
        (0, 0, 1, 0, None, None);
    for argument in arguments {
        let (option, value) =
            argument.trim_start_matches("--").split_once('=').unwrap_or((&argument[2..], "1"));
        match option {
            "ioengine" | "do_verify" => {}
            "filename" => name = Some(value.to_owned()),
            "filesize" => file_size = bytes(value),
            "size" => size = bytes(value),
            "offset" => offset = bytes(value),
            "nrfiles" => files = value.parse().unwrap(),
            "number_ios" => spec.number_ios = value.parse().unwrap(),
            "io_size" => io_size = Some(bytes(value)),
            "openfiles" => spec.open_files = value.parse().unwrap(),
            "loops" => spec.loops = value.parse().unwrap(),
            "rw" => direction(value, &mut spec),
            "bs" | "bsrange" | "bssplit" => spec.sizes = sizes(option, value),
            "bs_unaligned" => spec.bs_unaligned = true,
            "rwmixread" => spec.rwmixread = value.parse().unwrap(),
            "norandommap" => spec.map = MapMode::Off,
            "random_generator" => {
                assert_eq!(value, "lfsr");
                spec.generator = Generator::Lfsr;
            }
            "percentage_random" => spec.percentage_random = PerDir::all(value.parse().unwrap()),
            "random_distribution" => spec.distribution = distribution(value),
            "rw_sequencer" => {
                assert_eq!(value, "identical");
                spec.sequencer = Sequencer::Identical;
            }
            "fsync" => spec.sync_every.fsync = value.parse().unwrap(),
            "fdatasync" => spec.sync_every.fdatasync = value.parse().unwrap(),
            "file_service_type" => spec.file_service = file_service(value),
            "zonemode" => {
                assert_eq!(value, "strided");
                spec.strided.get_or_insert(Strided { size: 0, range: 0, skip: 0 });
            }
            "zonesize" => spec.strided.as_mut().unwrap().size = bytes(value),
            "zonerange" => spec.strided.as_mut().unwrap().range = bytes(value),
            "zoneskip" => spec.strided.as_mut().unwrap().skip = bytes(value),
            "verify" => spec.verify = true,
            other => panic!("what does {other} mean?"),
        }
    }
    // A filesize overrides what size gives each file: from offset to its end.
    let share = size / files;
    let file = |i| SourceFile {
        name: name.clone().unwrap_or_else(|| format!("v.0.{i}")),
        offset,
        size: if file_size > 0 { file_size - offset } else { share },
        end: file_size.max(offset + share),
        later_offset: None,
    };
    spec.files = (0..files).map(file).collect();
    spec.size_bytes = size;
    (spec.total_bytes, spec.io_size_given) = (io_size.unwrap_or(size), io_size.is_some());
    spec
}

/// `bs=4k,8k`, `bsrange=4k-64k`, `bssplit=4k/60:16k/40`.
fn sizes(option: &str, value: &str) -> PerDir<Sizes> {
    match option {
        "bs" => {
            let mut last = 0;
            let mut parts = value.split(',');
            PerDir::all(()).map(|()| {
                last = parts.next().map_or(last, |part| bytes(part) as u32);
                Sizes::Fixed(last)
            })
        }
        "bsrange" => {
            let (min, max) = value.split_once('-').unwrap();
            PerDir::all(Sizes::Range { min: bytes(min) as u32, max: bytes(max) as u32 })
        }
        _ => {
            let share = |part: &str| {
                let (size, percent) = part.split_once('/').unwrap();
                Share { bytes: bytes(size) as u32, percent: percent.parse().unwrap() }
            };
            PerDir::all(Sizes::Split(value.split(':').map(share).collect()))
        }
    }
}

fn file_service(value: &str) -> FileService {
    let (pick, every) = value.split_once(':').unwrap_or((value, "1"));
    let pick = if pick == "sequential" { FilePick::Sequential } else { FilePick::RoundRobin };
    FileService { pick, every: every.parse().unwrap() }
}

fn bytes(text: &str) -> u64 {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'k') => (&text[..text.len() - 1], 1 << 10),
        Some(b'm') => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    digits.parse::<u64>().unwrap() * unit
}

fn direction(value: &str, spec: &mut SourceSpec) {
    let (word, add) = value.split_once(':').map_or((value, None), |(word, add)| (word, Some(add)));
    let random = word.starts_with("rand");
    let plain = word.trim_start_matches("rand");
    spec.directions = Directions {
        read: matches!(plain, "read" | "rw"),
        write: matches!(plain, "write" | "rw" | "trimwrite"),
        trim: matches!(plain, "trim" | "trimwrite"),
        random,
        trim_then_write: plain == "trimwrite",
    };
    match add {
        Some(add) if random => spec.seq_nr = add.parse().unwrap(),
        Some(add) => {
            let size = bytes(add.trim_start_matches('-')) as i64;
            spec.seq_add = if add.starts_with('-') { -size } else { size };
        }
        None => {}
    }
}

fn distribution(value: &str) -> Distribution {
    let (word, rest) = value.split_once(':').unwrap();
    match word {
        "zipf" => Distribution::Zipf { theta: rest.parse().unwrap(), center: None },
        "pareto" => Distribution::Pareto { h: rest.parse().unwrap(), center: None },
        "normal" => Distribution::Normal { deviation: rest.parse().unwrap(), center: None },
        "zoned" => {
            let zone = |part: &str| {
                let (percent, size) = part.split_once('/').unwrap();
                Zone { percent: percent.parse().unwrap(), size: size.parse().unwrap() }
            };
            Distribution::Zoned(PerDir::all(rest.split(':').map(zone).collect()))
        }
        other => panic!("what does {other} mean?"),
    }
}

/// All entries of a job, as fio's log has them.
pub fn lines(spec: SourceSpec) -> Vec<String> {
    let names: Vec<String> = spec.files.iter().map(|file| file.name.clone()).collect();
    let mut source = Source::new(spec).unwrap();
    let mut ring = Ring::default();
    let mut lines = Vec::new();
    loop {
        match source.refill(&mut ring) {
            Refill::Planned => {}
            Refill::PassDone => source.next_pass(),
            Refill::Done | Refill::Broken => return lines,
        }
        while let Some(entry) = ring.pop() {
            let action = match entry.op {
                Op::Read => "read",
                Op::Write => "write",
                Op::Trim => "trim",
                Op::Sync => "sync",
                Op::DataSync => "datasync",
                Op::SyncRange => "sync_file_range",
                Op::Open | Op::Close | Op::Invalidate => {
                    lines.push(
                        format!("{} {:?}", names[entry.file.0 as usize], entry.op).to_lowercase(),
                    );
                    continue;
                }
                command => panic!("{command:?} without zones"),
            };
            lines.push(format!(
                "{} {action} {} {}",
                names[entry.file.0 as usize], entry.offset, entry.len
            ));
        }
    }
}
