//! A run from what was typed.

use super::output::output;
use super::{Benchmark, Class, Creation, End, MB, RecordPace, Size, WorkerRole};
use crate::words::{OptionValues, UsageError};
use std::path::PathBuf;

impl Benchmark {
    /// The run that the arguments describe.
    pub fn of(words: &OptionValues) -> Result<Benchmark, UsageError> {
        let mut notes = Vec::new();
        if !words.without_effect.is_empty() {
            let names: Vec<String> =
                words.without_effect.iter().map(|name| format!("-{name}")).collect();
            notes.push(format!("{}: of SBK's Java machine, without effect here", names.join(", ")));
        }
        let class = class(words)?;
        only_for(words, class)?;
        let (action, workers) = workers(words, class)?;
        let size = size(words, &mut notes)?;
        let seconds = seconds(words)?;
        let (end, pace) = end_and_pace(words, seconds, size)?;
        let sync_every = sync_every(words, class, action, &mut notes)?;
        let bench = Benchmark {
            class,
            action,
            workers,
            size,
            end,
            pace,
            sync_every,
            ramp: ramp(words, action)?,
            file: file(words, class)?,
            creation: creation(words, class)?,
            files: words.yes("files")?,
            split: words.yes("readers-split")?,
            direct: words.yes("direct")?,
            engine: words.get("ioengine").map(str::to_owned),
            depth: depth(words, class, action)?,
            sync_in_latency: words.yes("sync-in-latency")?,
            erase: words.get("erase").map(str::to_owned).into_iter().collect(),
            output: output(words)?,
            notes,
        };
        bench.check()?;
        Ok(bench)
    }

    fn check(&self) -> Result<(), UsageError> {
        let refuse = |message: &str| Err(UsageError::because(message));
        let writes = self.action == WorkerRole::Write;
        if writes && self.workers > 1 && !self.files && self.class != Class::Null {
            return Err(UsageError::because(format!(
                "Writers should be only 1 for File writing; with --files each writer writes \
                 its own file ({file}.0, {file}.1, ...)",
                file = self.file.display()
            )));
        }
        if self.split && writes {
            return refuse("--readers-split is for -readers: writers share files by --files");
        }
        if self.split && self.files {
            return refuse("--readers-split shares one file, --files gives each its own; take one");
        }
        if self.split && self.class == Class::Csv {
            return refuse(
                "--readers-split needs records of one length, and rows of a csv file have none",
            );
        }
        if self.size.varies() && self.class == Class::Csv {
            return refuse("class csv takes records of one size: -size N");
        }
        if self.sync_in_latency && (!writes || self.sync_every == 0) {
            return refuse("--sync-in-latency needs -writers and -sync N");
        }
        if self.sync_in_latency && self.depth.unwrap_or(1) > 1 {
            return refuse("--sync-in-latency needs records one at a time: --iodepth=1");
        }
        if self.output.requests && self.size.varies() {
            return refuse("-wq and -rq count requests of one size: -size N");
        }
        if self.output.csv.as_ref() == Some(&self.file) {
            return refuse("-csvfile and -file name the same file");
        }
        self.engine.iter().try_for_each(|name| moves_files(name, writes))?;
        let own_engine =
            matches!(self.class, Class::Csv | Class::FileStream { buffered: true } | Class::Null);
        if own_engine && (self.engine.is_some() || self.direct || self.depth.unwrap_or(1) > 1) {
            return Err(UsageError::because(format!(
                "--ioengine, --iodepth and --direct are for class file, asyncfile and filestream \
                 without -buffer, not for {}",
                self.class.storage()
            )));
        }
        Ok(())
    }
}

/// Options of one driver are not known to the others, as in SBK.
fn only_for(words: &OptionValues, class: Class) -> Result<(), UsageError> {
    let stream = matches!(class, Class::FileStream { .. });
    let owners = [
        ("append", "filestream", stream),
        ("recreate", "filestream", stream),
        ("buffer", "filestream", stream),
        ("asyncthreads", "file", class == Class::File),
        ("n", "null", class == Class::Null),
        ("timeout", "null", class == Class::Null),
    ];
    match owners.iter().find(|(name, _, is_its)| words.has(name) && !is_its) {
        Some((name, owner, _)) => Err(UsageError {
            code: 2,
            message: format!(
                "Unrecognized option: -{name}: it is for -class {owner}, not for {}",
                class.storage()
            ),
        }),
        None => Ok(()),
    }
}

/// Whether an engine can take the place of a driver's calls; one that is not
/// known at all is refused later, with the names that are.
fn moves_files(name: &str, writes: bool) -> Result<(), UsageError> {
    let Some(engine) = iosonde_engine::find(name) else { return Ok(()) };
    let caps = engine.caps;
    if caps.diskless || caps.by_name || caps.no_io || caps.changes {
        return Err(UsageError::because(format!("--ioengine={name} moves no bytes of files")));
    }
    if caps.no_extend && writes {
        return Err(UsageError::because(format!(
            "--ioengine={name} cannot write past the end of a file, and writers begin with none"
        )));
    }
    Ok(())
}

fn class(words: &OptionValues) -> Result<Class, UsageError> {
    let Some(name) = words.get("class") else {
        return Err(UsageError::because(
            "The option '-class' is not supplied: file, filestream, asyncfile, csv or null",
        ));
    };
    let buffered = words.yes("buffer")?;
    match name.to_ascii_lowercase().as_str() {
        "file" => Ok(Class::File),
        "filestream" => Ok(Class::FileStream { buffered }),
        "asyncfile" => Ok(Class::AsyncFile),
        "csv" => Ok(Class::Csv),
        "null" => Ok(Class::Null),
        _ => Err(UsageError::because(format!(
            "Instantiation of storage class '{name}' failed! iosonde drives files: file, \
             filestream, asyncfile, csv, null"
        ))),
    }
}

fn workers(words: &OptionValues, class: Class) -> Result<(WorkerRole, u32), UsageError> {
    // Each is a thread with a buffer; more are a slip of the finger.
    const MOST: u64 = 4096;
    let (writers, readers) = (words.count("writers", MOST)?, words.count("readers", MOST)?);
    match (writers as u32, readers as u32) {
        (0, 0) => Err(UsageError::because("Error: Must specify the number of writers or readers")),
        (0, n) if class == Class::Null => {
            Err(UsageError::because(format!("class null has nothing to read: give -writers {n}")))
        }
        (0, n) => Ok((WorkerRole::Read, n)),
        (n, 0) => Ok((WorkerRole::Write, n)),
        _ => Err(UsageError::because("Specify either Writer or readers ; both are not allowed")),
    }
}

fn size(words: &OptionValues, notes: &mut Vec<String>) -> Result<Size, UsageError> {
    let text = words.text("size");
    let one = |text: &str, notes: &mut Vec<String>| -> Result<u32, UsageError> {
        let wrong = || {
            UsageError::because(format!("-size: For input string: {text:?}: use a number of bytes"))
        };
        let plain = text.parse::<i64>();
        let bytes = match plain {
            Ok(bytes) => bytes,
            Err(_) => {
                let bytes = with_suffix(text).ok_or_else(wrong)?;
                notes.push(format!(
                    "-size {text} is {bytes} bytes here; SBK would refuse it (For input string: \
                     {text:?})"
                ));
                bytes
            }
        };
        match u32::try_from(bytes).ok().filter(|&bytes| bytes <= 1 << 30) {
            Some(0) | None if bytes <= 0 => {
                Err(UsageError::because("Error: The record 'size' must be greater than zero"))
            }
            Some(bytes) => Ok(bytes),
            None => Err(UsageError::because(format!("-size {text}: a record has at most 1 GiB"))),
        }
    };
    match text.split_once('-').filter(|(least, _)| !least.is_empty()) {
        Some((least, most)) => {
            let (min, max) = (one(least, notes)?, one(most, notes)?);
            if min > max {
                return Err(UsageError::because(format!("-size {text}: {min} is more than {max}")));
            }
            Ok(Size { min, max })
        }
        None => one(text, notes).map(|bytes| Size { min: bytes, max: bytes }),
    }
}

/// `4k`, `1M`, `2GiB`: powers of 1024.
fn with_suffix(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return None,
    };
    digits.parse::<i64>().ok()?.checked_mul(1 << shift)
}

/// The run time, from `-seconds` or from a numeric `-time`.
fn seconds(words: &OptionValues) -> Result<Option<f64>, UsageError> {
    let by_time = words.get("time").and_then(|text| text.parse::<f64>().ok());
    let seconds = match (words.has("seconds"), by_time) {
        (true, Some(_)) => {
            return Err(UsageError::because(
                "-seconds and a numeric -time both give the run time: use one",
            ));
        }
        (true, None) => words.number("seconds")?,
        (false, Some(seconds)) => seconds,
        (false, None) => return Ok(None),
    };
    // A century; past it, moments in nanoseconds would overflow.
    if seconds > 0.0 && seconds < 3.2e9 {
        Ok(Some(seconds))
    } else {
        Err(UsageError::because(format!(
            "a run of {seconds:?} seconds: give a positive number, or leave it out to run until Ctrl-C"
        )))
    }
}

fn end_and_pace(
    words: &OptionValues,
    seconds: Option<f64>,
    size: Size,
) -> Result<(End, RecordPace), UsageError> {
    let records = words.count("records", i64::MAX as u64)?;
    let throughput = words.number("throughput")?;
    // No machine moves a PiB a second, and a rate must fit in 63 bits.
    if throughput > 1e9 {
        return Err(UsageError::because(format!("-throughput {throughput:?}: at most 1e9 MB/s")));
    }
    if records.checked_mul(size.max.into()).is_none_or(|bytes| bytes > i64::MAX as u64 / 2) {
        return Err(UsageError::because(format!(
            "-records {records}: more bytes than a file can hold"
        )));
    }
    let by_throughput =
        if throughput > 0.0 { RecordPace::Bytes(throughput * MB) } else { RecordPace::Free };
    Ok(match (seconds, records) {
        (None, 0) => (End::Never, by_throughput),
        (None, records) => (End::Records(records), by_throughput),
        (Some(seconds), 1..) if throughput < 0.0 => {
            (End::Seconds(seconds), RecordPace::Records(records))
        }
        (Some(seconds), _) => (End::Seconds(seconds), by_throughput),
    })
}

fn sync_every(
    words: &OptionValues,
    class: Class,
    action: WorkerRole,
    notes: &mut Vec<String>,
) -> Result<u32, UsageError> {
    if words.has("sync") && words.has("flush") {
        return Err(UsageError::because("-flush is the old name of -sync: use one"));
    }
    let name = if words.has("flush") { "flush" } else { "sync" };
    let every = words.whole(name)?.max(0);
    let every = u32::try_from(every)
        .map_err(|_| UsageError::because(format!("-{name} {every}: at most {}", u32::MAX)))?;
    if every > 0 && action == WorkerRole::Read {
        notes.push(format!("-{name}: readers have nothing to make durable"));
        return Ok(0);
    }
    if every > 0 && class == Class::Null {
        notes.push(format!("-{name}: class null has nothing to make durable"));
        return Ok(0);
    }
    Ok(every)
}

fn ramp(words: &OptionValues, action: WorkerRole) -> Result<(u32, f64), UsageError> {
    let (step, wait) = match action {
        WorkerRole::Write => ("wstep", "wsec"),
        WorkerRole::Read => ("rstep", "rsec"),
    };
    let at_a_time = words.count(step, u32::MAX.into())? as u32;
    let seconds = words.number(wait)?;
    if at_a_time == 0 || !(0.0..=1e9).contains(&seconds) {
        return Err(UsageError::because(format!(
            "-{step} and -{wait}: start at least one at a time, and wait 0 seconds or more"
        )));
    }
    Ok((at_a_time, seconds))
}

fn file(words: &OptionValues, class: Class) -> Result<PathBuf, UsageError> {
    let default = match class {
        Class::File => "./test.txt",
        Class::FileStream { .. } => "./tmp.txt",
        Class::Csv => "./test.csv",
        Class::Null => "null",
        Class::AsyncFile => "",
    };
    match words.get("file").unwrap_or(default) {
        "" => Err(UsageError::because("Error: Must specify file Name: -file FILE")),
        name if name.contains('\0') => Err(UsageError::because("-file: a name holds no zero byte")),
        name => Ok(PathBuf::from(name)),
    }
}

fn creation(words: &OptionValues, class: Class) -> Result<Creation, UsageError> {
    let (append, recreate) = (words.yes("append")?, words.yes("recreate")?);
    Ok(match class {
        // 0.77 empties the file where it is; only strace shows it.
        Class::File | Class::Csv => Creation::Anew,
        Class::AsyncFile => Creation::Kept,
        Class::FileStream { .. } if append => Creation::Appended,
        Class::FileStream { .. } if recreate => Creation::Anew,
        Class::FileStream { .. } | Class::Null => Creation::Emptied,
    })
}

fn depth(
    words: &OptionValues,
    class: Class,
    action: WorkerRole,
) -> Result<Option<u32>, UsageError> {
    const MOST: u64 = 65536;
    if words.has("iodepth") {
        let depth = words.count("iodepth", MOST)? as u32;
        return match depth {
            0 => Err(UsageError::because("--iodepth 0: at least one record is in flight")),
            depth => Ok(Some(depth)),
        };
    }
    let threads = words.count("asyncthreads", MOST)? as u32;
    Ok(match (class, action) {
        (Class::AsyncFile, _) => Some(32),
        (Class::File, WorkerRole::Read) if threads > 0 => Some(threads),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{LatencyUnit, LineFormat};
    use super::*;

    fn bench(line: &str) -> Result<Benchmark, UsageError> {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Benchmark::of(&OptionValues::read(&arguments)?)
    }

    fn refusal(line: &str) -> String {
        bench(line).unwrap_err().message
    }

    const WRITE: &str = "-class file -file x -size 100 -writers 1";

    #[test]
    fn both_generations_of_options_mean_what_they_meant() {
        let old = bench("-class file -file x -size 100 -writers 1 -flush 2 -time 30").unwrap();
        assert_eq!((old.sync_every, old.end), (2, End::Seconds(30.0)));
        assert_eq!(old.output.format, LineFormat::Old);
        let today = bench("-class FILE -file x -size 100 -writers 1 -sync 2 -time ns").unwrap();
        assert_eq!((today.sync_every, today.end), (2, End::Never));
        assert_eq!(
            (today.output.format, today.output.unit),
            (LineFormat::Today, LatencyUnit::Nanos)
        );
        assert_eq!(today.output.keep, (0, 180_000_000_000));
        let forced = bench("-class file -size 1 -writers 1 -flush 1 --format=10").unwrap();
        assert_eq!(forced.output.format, LineFormat::Today);
    }

    #[test]
    fn records_are_a_count_or_with_seconds_a_rate() {
        let end = |rest: &str| bench(&format!("{WRITE} {rest}")).map(|b| (b.end, b.pace)).unwrap();
        assert_eq!(end("-records 10"), (End::Records(10), RecordPace::Free));
        assert_eq!(end("-records 10 -seconds 5"), (End::Seconds(5.0), RecordPace::Records(10)));
        assert_eq!(
            end("-records 10 -throughput 0.5"),
            (End::Records(10), RecordPace::Bytes(524_288.0))
        );
        assert_eq!(
            end("-records 10 -seconds 5 -throughput 0"),
            (End::Seconds(5.0), RecordPace::Free)
        );
        assert_eq!(end("-throughput 2"), (End::Never, RecordPace::Bytes(2.0 * MB)));
    }

    #[test]
    fn sizes_take_suffixes_with_a_note_and_ranges() {
        let size = |text: &str| bench(&format!("-class file -writers 1 -size {text}")).unwrap();
        assert_eq!(size("1k").size, Size { min: 1024, max: 1024 });
        assert!(size("1k").notes[0].contains("SBK would refuse it"));
        assert!(size("1024").notes.is_empty());
        assert_eq!(size("100-4096").size, Size { min: 100, max: 4096 });
        for wrong in ["0", "-5", "x", "9-3", "2g", "99999999999999999999"] {
            let message = refusal(&format!("-class file -writers 1 -size {wrong}"));
            assert!(message.contains("size"), "{wrong}: {message}");
        }
    }

    #[test]
    fn what_sbk_refuses_is_refused_in_its_words() {
        let says = [
            ("-class file -size 1 -writers 2", "Writers should be only 1 for File writing"),
            ("-class file -size 1 -writers 1 -readers 1", "both are not allowed"),
            ("-class file -size 1", "Must specify the number of writers or readers"),
            ("-class file -writers 1", "The record 'size' must be greater than zero"),
            ("-class asyncfile -size 1 -writers 1", "Must specify file Name"),
            ("-class kafka -size 1 -writers 1", "'kafka' failed!"),
            ("-size 1 -writers 1", "'-class' is not supplied"),
            ("-class file -size 1 -writers 1 -time us", "valid values [ms, mcs, ns]"),
            ("-class file -size 1 -writers -1", "a number from 0"),
            ("-class file -size 1 -writers 1 -out WebLogger", "not offered"),
            ("-class file -size 1 -writers 1 -out PrometheusLogger -context x/y", "-context"),
            ("-class file -size 1 -writers 1 --sync-in-latency", "-sync N"),
            ("-class csv -size 1 -writers 1 --direct", "--direct"),
            ("-class file -size 1 -writers 1 -seconds 0", "0.0 seconds"),
            ("-class file -size 1 -writers 1 -throughput 1e30", "at most 1e9"),
            ("-class file -size 1 -writers 1 -append true", "it is for -class filestream"),
            ("-class file -size 1 -writers 1 -context 80/m", "-out PrometheusLogger"),
            (
                "-class file -size 1000 -writers 1 -records 9223372036854775807",
                "than a file can hold",
            ),
        ];
        for (line, words) in says {
            assert!(refusal(line).contains(words), "{line}: {}", refusal(line));
        }
        assert!(bench("-class file -size 1 -writers 2 --files").is_ok());
    }
}
