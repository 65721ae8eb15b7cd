//! Resources that a thread or the process has used (getrusage(2)).

use std::io;

use iosonde_direct::sysfs;

use crate::platform;

/// Use of the machine since the thread or process began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time in its own code, in nanoseconds (whole microseconds on Linux).
    pub user_ns: u64,
    /// Time in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// How often it waited for something.
    pub voluntary_switches: u64,
    /// How often the processor was taken from it.
    pub involuntary_switches: u64,
    /// Page faults that read from storage.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
}

/// How long the calling thread was ready to run and had no processor, since it began:
/// nanoseconds (`/proc/.../schedstat`, its second number: kernel,
/// Documentation/scheduler/sched-stats.rst).
///
/// # Errors
/// If the kernel keeps no such counter.
pub fn run_delay_of_thread() -> io::Result<u64> {
    let text = sysfs::text("proc/thread-self/schedstat")?;
    let delay = text.split_whitespace().nth(1).and_then(|word| word.parse().ok());
    delay.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no counter in it"))
}

impl Usage {
    /// Of the calling thread.
    ///
    /// # Errors
    /// The error of the system.
    pub fn of_thread() -> io::Result<Usage> {
        platform::usage_of_thread()
    }

    /// Of this process's thread with the number `thread`
    /// ([`crate::process::thread_id`]). Times are in steps of the kernel's
    /// clock, most often 10 ms.
    ///
    /// # Errors
    /// If there is no such thread (any more), or /proc is not there.
    pub fn of(thread: u32) -> io::Result<Usage> {
        let read = |name| sysfs::text(&format!("proc/self/task/{thread}/{name}"));
        Usage::parse(&read("stat")?, &read("status")?, platform::clock_ticks_per_second())
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no counters in it"))
    }

    /// From proc_pid_stat(5) and proc_pid_status(5).
    fn parse(stat: &str, status: &str, ticks_per_s: u64) -> Option<Usage> {
        // The name, in parentheses, may hold anything; the state follows it.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        let ns = |at: usize| Some(number(at)? * (1_000_000_000 / ticks_per_s.max(1)));
        let switches = |wanted: &str| -> Option<u64> {
            let mut pairs = status.lines().filter_map(|line| line.split_once(':'));
            pairs.find(|(name, _)| *name == wanted)?.1.trim().parse().ok()
        };
        Some(Usage {
            minor_faults: number(7)?,
            major_faults: number(9)?,
            user_ns: ns(11)?,
            system_ns: ns(12)?,
            voluntary_switches: switches("voluntary_ctxt_switches")?,
            involuntary_switches: switches("nonvoluntary_ctxt_switches")?,
        })
    }

    /// Of all threads of this process, ended ones too.
    ///
    /// # Errors
    /// The error of the system.
    pub fn of_process() -> io::Result<Usage> {
        platform::usage_of_process()
    }

    /// The difference since `earlier`.
    pub fn since(&self, earlier: &Usage) -> Usage {
        self.each(earlier, u64::saturating_sub)
    }

    /// The sum of both.
    pub fn plus(&self, other: &Usage) -> Usage {
        self.each(other, u64::saturating_add)
    }

    fn each(&self, other: &Usage, f: impl Fn(u64, u64) -> u64) -> Usage {
        Usage {
            user_ns: f(self.user_ns, other.user_ns),
            system_ns: f(self.system_ns, other.system_ns),
            voluntary_switches: f(self.voluntary_switches, other.voluntary_switches),
            involuntary_switches: f(self.involuntary_switches, other.involuntary_switches),
            major_faults: f(self.major_faults, other.major_faults),
            minor_faults: f(self.minor_faults, other.minor_faults),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_memory_and_sleeping_are_counted() {
        let before = Usage::of_thread().unwrap();
        // malloc(3) maps so much anew (past DEFAULT_MMAP_THRESHOLD_MAX), so that
        // the first write to it is a fault whatever the size of a page.
        let mut pages = vec![0_u8; 64 << 20];
        std::hint::black_box(&mut pages)[1] = 1;
        // So long that the thread gives its processor up before the time is over.
        std::thread::sleep(std::time::Duration::from_millis(100));
        let used = Usage::of_thread().unwrap().since(&before);
        assert!(used.minor_faults > 0, "{used:?}");
        assert!(used.voluntary_switches > 0, "{used:?}");
    }

    #[test]
    fn the_process_has_used_at_least_what_this_thread_has() {
        let thread = Usage::of_thread().unwrap();
        let process = Usage::of_process().unwrap();
        assert!(process.minor_faults >= thread.minor_faults);
    }

    #[test]
    fn a_difference_never_goes_below_zero() {
        let some = Usage { user_ns: 5, ..Usage::default() };
        assert_eq!(Usage::default().since(&some), Usage::default());
        assert_eq!(some.plus(&some).since(&some), some);
    }

    #[test]
    fn thread_facts_in_proc_are_read_past_any_name() {
        let stat = "7 (a) b) R 1 2 3 4 5 6 70 8 90 10 11 12 13 14 15 16\n";
        let status = "Name:\ta\nvoluntary_ctxt_switches:\t21\nnonvoluntary_ctxt_switches:\t22\n";
        let usage = Usage::parse(stat, status, 100).unwrap();
        let times = [usage.user_ns, usage.system_ns];
        assert_eq!(times, [110_000_000, 120_000_000]);
        assert_eq!([usage.minor_faults, usage.major_faults], [70, 90]);
        assert_eq!([usage.voluntary_switches, usage.involuntary_switches], [21, 22]);
        assert_eq!(Usage::parse("7 (a", status, 100), None);
    }

    #[test]
    fn another_threads_facts_equal_those_that_it_reads_itself() {
        let thread = crate::process::thread_id();
        let (itself, reported) = (Usage::of_thread().unwrap(), Usage::of(thread).unwrap());
        assert!(
            reported.voluntary_switches >= itself.voluntary_switches,
            "{itself:?} {reported:?}"
        );
        assert!(reported.minor_faults >= itself.minor_faults, "{itself:?} {reported:?}");
        assert!(Usage::of(u32::MAX).is_err());
    }
}
