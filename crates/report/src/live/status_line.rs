//! One line about a run in progress: fio's, and ours.

use crate::report::TextUnits;
use crate::scale::{PrefixBase, PrefixedUnit, human};
use iosonde_base::PerDir;

/// The state of a job; fio's letters (fio(1), OUTPUT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// `P`: not started yet.
    Pending,
    /// `C`: created.
    Created,
    /// `I`: initialised, waits or prepares.
    Initialized,
    /// `p`: reads its files in before the run.
    PreReading,
    /// `/`: in its ramp period.
    Ramping,
    /// `R`: reads in sequence.
    Reading,
    /// `r`: reads at random.
    RandomReading,
    /// `W`: writes in sequence.
    Writing,
    /// `w`: writes at random.
    RandomWriting,
    /// `M`: reads and writes in sequence.
    Mixing,
    /// `m`: reads and writes at random.
    RandomMixing,
    /// `D`: trims in sequence.
    Trimming,
    /// `d`: trims at random.
    RandomTrimming,
    /// `F`: waits for fsync.
    Syncing,
    /// `V`: verifies.
    Verifying,
    /// `f`: finishes.
    Finishing,
    /// `E`: has ended, and is not collected.
    Exited,
    /// `_`: has ended.
    Reaped,
    /// `X`: has failed.
    Failed,
    /// `K`: was ended by a signal.
    Killed,
}

impl JobState {
    /// fio's letter for it.
    pub fn letter(self) -> char {
        match self {
            JobState::Pending => 'P',
            JobState::Created => 'C',
            JobState::Initialized => 'I',
            JobState::PreReading => 'p',
            JobState::Ramping => '/',
            JobState::Reading => 'R',
            JobState::RandomReading => 'r',
            JobState::Writing => 'W',
            JobState::RandomWriting => 'w',
            JobState::Mixing => 'M',
            JobState::RandomMixing => 'm',
            JobState::Trimming => 'D',
            JobState::RandomTrimming => 'd',
            JobState::Syncing => 'F',
            JobState::Verifying => 'V',
            JobState::Finishing => 'f',
            JobState::Exited => 'E',
            JobState::Reaped => '_',
            JobState::Failed => 'X',
            JobState::Killed => 'K',
        }
    }
}

/// The rate that jobs are held to, for the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusRate {
    /// Bytes per second: least allowed, most allowed.
    Bytes(u64, u64),
    /// I/Os per second: least allowed, most allowed.
    Ios(u64, u64),
}

/// A run at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// Jobs running.
    pub running: u32,
    /// Files open.
    pub open_files: u32,
    /// Rates asked for, if any.
    pub rate: Option<StatusRate>,
    /// Every job's state, in order.
    pub states: Vec<JobState>,
    /// How much is done, 0 to 1, where that is known.
    pub done: Option<f64>,
    /// Bytes per second since the last line; `None` for directions not used.
    pub bytes_per_s: PerDir<Option<u64>>,
    /// I/Os per second since the last line.
    pub iops: PerDir<Option<u64>>,
    /// Seconds left, where that is known.
    pub eta_s: Option<u64>,
    /// Seconds since the start.
    pub elapsed_s: u64,
    /// 99th percentile of latency since the last line, for our own line.
    pub p99_ns: Option<u64>,
    /// Errors so far, for our own line.
    pub errors: u64,
    /// Of how many hosts the rates are, and how many there are; for our own line.
    pub hosts: Option<(u32, u32)>,
    /// Units of the rates.
    pub units: TextUnits,
}

const DIR_LETTERS: [char; 3] = ['r', 'w', 't'];

/// fio's line, without the carriage return that ends it:
/// `Jobs: 1 (f=1): [R(1)][50.0%][r=20.5MiB/s][r=82 IOPS][eta 01m:31s]`.
/// While the time left is not known it ends after the number of jobs.
pub fn fio_status_line(status: &Status) -> String {
    let Status { running, open_files, units, .. } = status;
    let mut line = format!("Jobs: {running} (f={open_files})");
    let base = PrefixBase::of(units.kb_base);
    let rate_unit =
        if units.bits { PrefixedUnit::BitsPerSecond } else { PrefixedUnit::BytesPerSecond };
    let rate = |bytes_per_s: u64| human(bytes_per_s, 4, base, rate_unit);
    match status.rate {
        Some(StatusRate::Bytes(least, most)) => {
            let [least, most] =
                [least, most].map(|bytes| human(bytes, 4, base, PrefixedUnit::BytesPerSecond));
            line.push_str(&format!(", {least}-{most}"));
        }
        Some(StatusRate::Ios(least, most)) => line.push_str(&format!(", {least}-{most} IOPS")),
        None => {}
    }
    let Some(eta_s) = status.eta_s else { return line };
    line.push_str(&format!(": [{}]", states(&status.states)));
    match status.done {
        Some(done) => line.push_str(&format!("[{:.1}%]", done.clamp(0.0, 1.0) * 100.0)),
        None => line.push_str("[-.-%]"),
    }
    // A run in its ramp has no rates yet.
    if let Some(rates) = per_dir(&status.bytes_per_s, rate) {
        line.push_str(&format!("[{rates}]"));
    }
    if let Some(iops) =
        per_dir(&status.iops, |iops| human(iops, 4, PrefixBase::Decimal, PrefixedUnit::Plain))
    {
        line.push_str(&format!("[{iops} IOPS]"));
    }
    line.push_str(&format!("[eta {}]", eta(eta_s)));
    line
}

/// Runs of the same letter, counted: `R(10),W(10)`.
fn states(states: &[JobState]) -> String {
    let runs = states.chunk_by(|a, b| a == b);
    runs.map(|run| format!("{}({})", run[0].letter(), run.len())).collect::<Vec<_>>().join(",")
}

fn per_dir(values: &PerDir<Option<u64>>, show: impl Fn(u64) -> String) -> Option<String> {
    let pairs = DIR_LETTERS.into_iter().zip(values.0);
    let known: Vec<_> =
        pairs.filter_map(|(letter, value)| Some(format!("{letter}={}", show(value?)))).collect();
    (!known.is_empty()).then(|| known.join(","))
}

/// `01m:31s`, `02h:00m:00s`, `02d:07h:33m:17s`.
fn eta(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    let mut text = String::new();
    if days > 0 {
        text.push_str(&format!("{days:02}d:"));
    }
    if days > 0 || hours > 0 {
        text.push_str(&format!("{hours:02}h:"));
    }
    text + &format!("{minutes:02}m:{seconds:02}s")
}

/// Our own line, within `columns`: a bar, rates, p99, time left.
pub fn native_status_line(status: &Status, columns: usize) -> String {
    let mut parts = Vec::new();
    if let Some(done) = status.done {
        let done = done.clamp(0.0, 1.0);
        let full = (done * 10.0) as usize;
        let bar = format!("[{}{}]", "#".repeat(full), ".".repeat(10 - full));
        parts.push(format!("{bar} {:3.0} %", done * 100.0));
    }
    for (at, name) in ["read", "write", "trim"].into_iter().enumerate() {
        if let Some(bytes_per_s) = status.bytes_per_s.0[at] {
            let iops =
                human(status.iops.0[at].unwrap_or(0), 4, PrefixBase::Decimal, PrefixedUnit::Plain);
            let rate = human(bytes_per_s, 4, PrefixBase::Binary, PrefixedUnit::BytesPerSecond);
            parts.push(format!("{name} {iops} IOPS {rate}"));
        }
    }
    if let Some(p99_ns) = status.p99_ns {
        parts.push(format!("p99 {}", iosonde_base::text::duration(p99_ns)));
    }
    if status.errors > 0 {
        parts.push(iosonde_base::text::counted(status.errors, "error"));
    }
    if let Some((heard, hosts)) = status.hosts {
        parts.push(format!("{heard} of {}", iosonde_base::text::counted(u64::from(hosts), "host")));
    }
    match status.eta_s {
        Some(left) => parts.push(format!("{} left", eta(left))),
        None => parts.push(format!("{} gone", eta(status.elapsed_s))),
    }
    // What does not fit is left out whole, from the middle: progress and time
    // left stay.
    while parts.join("  ").chars().count() > columns && parts.len() > 2 {
        parts.remove(parts.len() - 2);
    }
    parts.join("  ").chars().take(columns).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixed() -> Status {
        Status {
            running: 1,
            open_files: 1,
            states: vec![JobState::Reaped, JobState::Mixing],
            done: Some(0.248),
            bytes_per_s: PerDir([Some(21_495_808), Some(24_641_536), None]),
            iops: PerDir([Some(82), Some(94), None]),
            eta_s: Some(91),
            ..Status::default()
        }
    }

    #[test]
    fn fios_line_is_that_of_its_manual() {
        assert_eq!(
            fio_status_line(&mixed()),
            "Jobs: 1 (f=1): [_(1),M(1)][24.8%][r=20.5MiB/s,w=23.5MiB/s][r=82,w=94 IOPS]\
             [eta 01m:31s]"
        );
    }

    #[test]
    fn fios_line_tells_rates_asked_for_and_stops_where_nothing_is_known() {
        let paced = Status { rate: Some(StatusRate::Ios(0, 2100)), eta_s: None, ..mixed() };
        assert_eq!(fio_status_line(&paced), "Jobs: 1 (f=1), 0-2100 IOPS");
        let ramp = Status {
            rate: Some(StatusRate::Bytes(1024, 10_590_618)),
            states: vec![JobState::Ramping; 3],
            done: None,
            bytes_per_s: PerDir::default(),
            iops: PerDir::default(),
            eta_s: Some(200_000),
            ..mixed()
        };
        assert_eq!(
            fio_status_line(&ramp),
            "Jobs: 1 (f=1), 1024B/s-10.1MiB/s: [/(3)][-.-%][eta 02d:07h:33m:20s]"
        );
    }

    #[test]
    fn times_left_are_those_of_fio() {
        let etas = [3, 91, 4997, 199_997, 4_294_967_294].map(eta);
        let expected =
            ["00m:03s", "01m:31s", "01h:23m:17s", "02d:07h:33m:17s", "49710d:06h:28m:14s"];
        assert_eq!(etas, expected);
    }

    #[test]
    fn our_line_never_passes_its_width() {
        let status = Status { p99_ns: Some(1_240_000), errors: 3, ..mixed() };
        assert_eq!(
            native_status_line(&status, 200),
            "[##........]  25 %  read 82 IOPS 20.5MiB/s  write 94 IOPS 23.5MiB/s  p99 1.24 ms  \
             3 errors  01m:31s left"
        );
        for columns in 0..120 {
            assert!(native_status_line(&status, columns).chars().count() <= columns);
        }
        assert!(native_status_line(&status, 40).ends_with("01m:31s left"));
        let hosts = Status { hosts: Some((1, 2)), ..mixed() };
        assert!(native_status_line(&hosts, 200).ends_with("  1 of 2 hosts  01m:31s left"));
    }
}
