//! What happens beside a job: other programs, moments, counters read from outside.

use crate::places::Place;
use crate::value::Truths;
use iosonde_testing::Undo;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A program beside the job; killed with all that it started when dropped.
pub(crate) struct Beside {
    child: Child,
    kill: Option<Undo>,
}

impl Beside {
    pub(crate) fn start(line: &str, directory: &Path) -> Result<Beside, String> {
        let started = Command::new("sh")
            .args(["-c", line])
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        let child = started.map_err(|error| format!("sh: {error}"))?;
        let kill = Some(Undo::kill_group(&child));
        Ok(Beside { child, kill })
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        drop(self.kill.take());
        let _ = self.child.wait();
    }
}

/// The most dirty bytes that a file had: cachestat(2) every few milliseconds, by perl(1).
pub(crate) struct DirtySampler {
    child: Child,
    kill: Undo,
}

/// The call's number is the same on all architectures; range and result are
/// structures of 64-bit numbers: cached, dirty, under write-back, ...
const CACHESTAT: &str = r#"$| = 1; my ($path) = @ARGV; my $most = 0; my $end = 0;
$SIG{TERM} = sub { $end = 1 };
until ($end) {
    if (open(my $file, "<", $path)) {
        my ($range, $found) = (pack("QQ", 0, 0), pack("Q5", 0, 0, 0, 0, 0));
        if (syscall(451, fileno($file), $range, $found, 0) != 0) { print "none"; exit }
        my (undef, $dirty, $back) = unpack("Q5", $found);
        $most = $dirty + $back if $dirty + $back > $most;
    }
    select(undef, undef, undef, 0.003);
}
print $most * 4096;"#;

impl DirtySampler {
    pub(crate) fn start(file: &str) -> Result<DirtySampler, String> {
        let started = Command::new("perl")
            .args(["-e", CACHESTAT, file])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        let child = started.map_err(|error| format!("perl: {error}"))?;
        let kill = Undo::kill_group(&child);
        Ok(DirtySampler { child, kill })
    }

    /// The most that was seen; `None` where cachestat(2) is missing.
    pub(crate) fn end(mut self) -> Option<f64> {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::TERM);
        let mut text = String::new();
        self.child.stdout.take()?.read_to_string(&mut text).ok()?;
        let _ = self.child.wait();
        self.kill.cancel();
        text.trim().parse().ok()
    }
}

/// Counters of the kernel from outside, before a job and after it.
pub(crate) struct Counters {
    disks: Vec<(&'static str, String, Option<[f64; 17]>)>,
    processor_us: f64,
}

const SECTOR: f64 = 512.0;

impl Counters {
    pub(crate) fn read(place: &Place) -> Counters {
        let disks = [("disk", &place.device), ("below", &place.below)];
        let read = |(name, device): (&'static str, &String)| (name, device.clone(), stat(device));
        Counters { disks: disks.map(read).to_vec(), processor_us: waited_us() }
    }

    /// What was counted since: `disk.read`, `disk.written`, `disk.flushes`, ...
    pub(crate) fn since(&self, before: &Counters, truths: &mut Truths) {
        for ((name, _, now), (_, _, then)) in self.disks.iter().zip(&before.disks) {
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

/// How often each call is in a trace of strace(1): `calls.fsync`.
pub(crate) fn count_calls(trace: &Path, names: &str, truths: &mut Truths) {
    let text = fs::read_to_string(trace).unwrap_or_default();
    for name in names.split(',') {
        // A call that another thread interrupts has a second line, "resumed".
        let begins = format!("{name}(");
        let calls = text.lines().filter(|line| line.contains(&begins)).count();
        truths.insert(format!("calls.{name}"), calls as f64);
    }
}
