//! What a thread or the process has used of the machine (getrusage(2)).

use std::io;

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

impl Usage {
    /// Of the calling thread.
    ///
    /// # Errors
    /// What the system says.
    pub fn of_thread() -> io::Result<Usage> {
        platform::usage_of_thread()
    }

    /// Of all threads of this process, ended ones too.
    ///
    /// # Errors
    /// What the system says.
    pub fn of_process() -> io::Result<Usage> {
        platform::usage_of_process()
    }

    /// What was used between `earlier` and this.
    pub fn since(&self, earlier: &Usage) -> Usage {
        self.each(earlier, u64::saturating_sub)
    }

    /// What both used together.
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
        let pages = iosonde_direct::AlignedBuf::new(4 << 20, 4096).unwrap();
        let sum: u64 = pages.iter().step_by(4096).map(|&byte| u64::from(byte)).sum();
        std::thread::sleep(std::time::Duration::from_micros(1));
        let used = Usage::of_thread().unwrap().since(&before);
        assert_eq!(sum, 0);
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
}
