//! `iosonde dedupe FILE`: how much of a file or device is the same block again, with the output
//! of fio's `fio-dedupe`; described in docs/tools.md.

mod extents;

use crate::genzipf::whole_number;
use clap::{ArgAction, Args, ValueHint};
use extents::{Extents, Scan, hash_text};
use iosonde_command::CommandAnswer;
use iosonde_command::definition::{CommandEntry, arguments};
use std::fmt::Write;
use std::path::PathBuf;

/// What `--help` says below the summary.
const DETAILS: &str = "\
Reads FILE and counts extents with the same content: what dedupe_percentage
has written, or what a storage that deduplicates would save. FILE is not
changed. The same command as fio-dedupe.";

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "dedupe",
    summary: "count the blocks of a file or device that exist more than once",
    details: DETAILS,
    usage: None,
    arguments: DedupeArgs::augment_args,
    takes_jobs: false,
    run: |words| answer(words).print(),
};

/// The command line of `iosonde dedupe`. Switches are numbers, as those of fio-dedupe are.
#[derive(Args, Clone, Debug)]
struct DedupeArgs {
    /// The file or block device
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// Size of an extent in bytes
    #[arg(short = 'b', long, value_name = "BYTES", default_value_t = 4096, value_parser = whole_number)]
    block_size: u64,
    /// Threads that read; 0 for one on each processor
    #[arg(short = 't', long, value_name = "THREADS", default_value_t = 0, value_parser = whole_number)]
    threads: u64,
    /// 1: print each extent, with its hash and offsets
    #[arg(short = 'd', long, value_name = "0|1", default_value = "0", action = ArgAction::Set, value_parser = switch)]
    debug: bool,
    /// 1: read with O_DIRECT
    #[arg(short = 'o', long, value_name = "0|1", default_value = "0", action = ArgAction::Set, value_parser = switch)]
    direct: bool,
    /// 1: compare extents with equal hashes byte by byte
    #[arg(short = 'c', long, value_name = "0|1", default_value = "0", action = ArgAction::Set, value_parser = switch)]
    collision_check: bool,
    /// 0: also print how many extents exist more than once, as with -c, -C and -d
    #[arg(short = 'B', long, value_name = "0|1", default_value = "1", action = ArgAction::Set, value_parser = switch)]
    bloom: bool,
    /// 0: show no progress on a terminal
    #[arg(short = 'p', long, value_name = "0|1", default_value = "1", action = ArgAction::Set, value_parser = switch)]
    progress: bool,
    /// 1: also print how large the unique extents are when compressed
    #[arg(short = 'C', long, value_name = "0|1", default_value = "0", action = ArgAction::Set, value_parser = switch)]
    compressible: bool,
}

fn switch(text: &str) -> Result<bool, String> {
    match text {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err("use 0 or 1".to_owned()),
    }
}

impl DedupeArgs {
    /// Whether fio-dedupe would estimate the number of unique extents by a Bloom filter.
    fn is_estimate(&self) -> bool {
        self.bloom && !(self.debug || self.collision_check || self.compressible)
    }
}

/// What the words after `dedupe` ask for: the exact numbers.
pub fn answer(words: &[String]) -> CommandAnswer {
    counted(words, |_, unique| unique)
}

/// The same, called as `fio-dedupe`: its filter takes the first extent for one that it has seen.
pub fn answer_as_fio(words: &[String]) -> CommandAnswer {
    counted(words, |arguments, unique| unique - u64::from(arguments.is_estimate()))
}

fn counted(words: &[String], shown: fn(&DedupeArgs, u64) -> u64) -> CommandAnswer {
    let arguments: DedupeArgs = match arguments(&COMMAND, words) {
        Ok(arguments) => arguments,
        Err(answer) => return answer,
    };
    let scan = Scan {
        file: &arguments.file,
        extent_bytes: usize::try_from(arguments.block_size).unwrap_or(usize::MAX),
        // More than there are processors in any machine change nothing.
        threads: arguments.threads.min(4096) as usize,
        direct: arguments.direct,
        compare: arguments.collision_check,
        compress: arguments.compressible,
        keep_offsets: arguments.debug,
        progress: arguments.progress,
    };
    match scan.run() {
        Ok(extents) => {
            let unique = shown(&arguments, extents.unique);
            CommandAnswer::of(text(&arguments, &extents, unique))
        }
        Err(why) => CommandAnswer::refused(COMMAND.name, &why),
    }
}

fn text(arguments: &DedupeArgs, found: &Extents, unique: u64) -> String {
    let Extents { total, threads, .. } = *found;
    let bytes = total * arguments.block_size;
    let mut out = format!(
        "Will check <{}>, size <{bytes}>, using {threads} threads\nThreads({threads}): {total} items processed\n",
        arguments.file.display()
    );
    for (hash, offsets) in &found.offsets {
        _ = writeln!(out, "c hash {}, count {}", hash_text(hash), offsets.len());
        offsets.iter().for_each(|offset| _ = writeln!(out, "\toffset {offset}"));
    }
    _ = write!(out, "Extents={total}, Unique extents={unique}");
    if !arguments.is_estimate() {
        _ = write!(out, " Duplicated extents={}", found.duplicated);
    }
    let again = total - unique;
    match unique {
        0 => out.push_str("\nDe-dupe ratio: 1:infinite\n"),
        _ => _ = writeln!(out, "\nDe-dupe ratio: 1:{:.2}", again as f64 / unique as f64),
    }
    if !arguments.is_estimate() && found.duplicated > 0 {
        let share = 100.0 * found.duplicated as f64 / total as f64;
        _ = writeln!(out, "De-dupe working set at least: {share:.2}%");
    }
    let percentage = (100.0 * again as f64 / total as f64).round();
    _ = writeln!(out, "Fio setting: dedupe_percentage={percentage}");
    if arguments.compressible {
        _ = writeln!(out, "Unique capacity {}", capacity(found.compressed_bytes));
    }
    if found.collisions > 0 {
        _ = writeln!(out, "Collisions: {} extents differ and have one hash", found.collisions);
    }
    out
}

/// Bytes in the largest unit of which there is at least one, cut.
fn capacity(bytes: u64) -> String {
    let units = ["b", "KB", "MB", "GB", "TB"];
    let unit = (0..units.len()).rev().find(|at| bytes >> (10 * at) > 0).unwrap_or(0);
    format!("{}{}", bytes >> (10 * unit), units[unit])
}
