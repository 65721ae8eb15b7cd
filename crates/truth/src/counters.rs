//! Counters of the kernel, read from outside before a job, while it runs and after it.

use crate::places::Place;
use crate::value::Truths;
use std::fs;
use std::time::{Duration, Instant, SystemTime};

/// Truths that the bench counts itself begin with one of these.
pub(crate) const COUNTED: [&str; 8] =
    ["disk.", "below.", "process.", "calls.", "file.", "pressure.", "peak-dirty", "took-s"];

/// What the devices of a place counted so far.
pub(crate) struct Counters {
    disks: Vec<(&'static str, Option<[f64; 17]>)>,
    processor_us: f64,
}

const SECTOR: f64 = 512.0;

impl Counters {
    pub(crate) fn read(place: &Place) -> Counters {
        let disks = [("disk", &place.device), ("below", &place.below)];
        let read = |(name, device): (&'static str, &String)| (name, stat(device));
        Counters { disks: disks.map(read).to_vec(), processor_us: waited_us() }
    }

    /// What was counted since: `disk.read`, `disk.written`, `disk.flushes`, ...
    pub(crate) fn since(&self, before: &Counters, truths: &mut Truths) {
        for ((name, now), (_, then)) in self.disks.iter().zip(&before.disks) {
            let (Some(now), Some(then)) = (now, then) else { continue };
            for (key, at, unit) in [
                ("reads", 0, 1.0),
                ("read", 2, SECTOR),
                ("writes", 4, 1.0),
                ("written", 6, SECTOR),
                ("flushes", 15, 1.0),
                // Of all requests together: their mean number is this by the time.
                ("queue-ns", 10, 1e6),
            ] {
                truths.insert(format!("{name}.{key}"), (now[at] - then[at]) * unit);
            }
        }
    }

    /// Time in which somebody waited for a processor.
    pub(crate) fn waited_us_since(&self, before: &Counters) -> f64 {
        self.processor_us - before.processor_us
    }
}

/// `/sys/class/block/NAME/stat`: see Documentation/block/stat.rst.
fn stat(device: &str) -> Option<[f64; 17]> {
    let text = fs::read_to_string(format!("/sys/class/block/{device}/stat")).ok()?;
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.get(..17)?.try_into().ok()
}

/// `some avg10=... total=MICROSECONDS` of all processors.
fn waited_us() -> f64 {
    let text = fs::read_to_string("/proc/pressure/cpu").unwrap_or_default();
    let total = text.lines().next().and_then(|line| line.split_once("total="));
    total.and_then(|(_, total)| total.trim().parse().ok()).unwrap_or(0.0)
}

/// When a device did something, by the clock of the bench.
pub(crate) struct Activity {
    device: String,
    sectors: Option<[f64; 2]>,
    span: Option<(Instant, Instant)>,
}

impl Activity {
    pub(crate) fn of(place: &Place) -> Activity {
        let device = place.device.clone();
        let sectors = Activity::sectors(&device);
        Activity { device, sectors, span: None }
    }

    fn sectors(device: &str) -> Option<[f64; 2]> {
        stat(device).map(|counted| [counted[2], counted[6]])
    }

    /// To be called again and again.
    pub(crate) fn look(&mut self) {
        let before = self.sectors;
        if before.is_none() {
            return;
        }
        self.sectors = Activity::sectors(&self.device);
        if self.sectors != before {
            let now = Instant::now();
            let first = self.span.map_or(now, |(first, _)| first);
            self.span = Some((first, now));
        }
    }

    /// `disk.seconds`: from the first look that saw it busy to the last one.
    pub(crate) fn end(self, truths: &mut Truths) {
        if let Some((first, last)) = self.span {
            truths.insert("disk.seconds".to_owned(), (last - first).as_secs_f64());
        }
    }
}

/// `/proc/PID/io` of a process that has ended and is not waited for yet: all of its threads,
/// and processes that it waited for.
pub(crate) fn count_process(process: u32, truths: &mut Truths) {
    let text = fs::read_to_string(format!("/proc/{process}/io")).unwrap_or_default();
    for (key, name) in [
        ("rchar", "process.read"),
        ("wchar", "process.written"),
        ("read_bytes", "process.disk-read"),
        ("write_bytes", "process.disk-written"),
    ] {
        let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        if let Some(value) = value.and_then(|value| value.parse().ok()) {
            truths.insert(name.to_owned(), value);
        }
    }
}

/// stat(2) of a file: `file.bytes`, and `file.allocated`, the bytes of its blocks.
pub(crate) fn count_file(path: &str, truths: &mut Truths) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    let status = fs::metadata(path).map_err(|error| format!("{path}: {error}"))?;
    truths.insert("file.bytes".to_owned(), status.len() as f64);
    truths.insert("file.allocated".to_owned(), status.blocks() as f64 * SECTOR);
    Ok(())
}

/// How often each call is in a trace of strace(1): `calls.fsync`.
pub(crate) fn count_calls(trace: &std::path::Path, names: &str, truths: &mut Truths) {
    let text = fs::read_to_string(trace).unwrap_or_default();
    for name in names.split(',') {
        // A call that another thread interrupts has a second line, "resumed".
        let begins = format!("{name}(");
        let calls = text.lines().filter(|line| line.contains(&begins)).count();
        truths.insert(format!("calls.{name}"), calls as f64);
    }
}

/// The time of day in milliseconds.
pub(crate) fn now_ms() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or(Duration::ZERO).as_secs_f64() * 1e3
}
