//! Whether this machine has io_uring and libaio for us, and if not, why.

use std::fmt;
use std::io;

use crate::platform;
use iosonde_base::Errno;

/// A way to have I/O done in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    /// io_uring_setup(2).
    IoUring,
    /// io_setup(2), what the engine `libaio` uses.
    Libaio,
}

impl Background {
    /// Try it: set one up and take it down again.
    ///
    /// # Errors
    /// If it is unavailable.
    pub fn probe(self) -> Result<(), Unavailable> {
        let because = |error| Unavailable {
            what: self,
            why: UnavailableReason::of(
                self,
                error,
                platform::io_uring_disabled(),
                platform::is_filtered(),
            ),
        };
        match self {
            Background::IoUring => platform::try_io_uring(),
            Background::Libaio => platform::try_libaio(),
        }
        .map_err(because)
    }

    const fn name(self) -> &'static str {
        match self {
            Background::IoUring => "io_uring",
            Background::Libaio => "libaio",
        }
    }
}

/// Why background I/O is unavailable.
#[derive(Debug)]
pub struct Unavailable {
    /// Which.
    pub what: Background,
    /// Why.
    pub why: UnavailableReason,
}

/// The reason, as far as it is known.
#[derive(Debug)]
pub enum UnavailableReason {
    /// The kernel was built without it, or is too old for it.
    NotInKernel,
    /// The kernel has it, but a seccomp filter keeps it from this process, as
    /// container runtimes do.
    Filtered,
    /// The sysctl `kernel.io_uring_disabled` is 1 (for most) or 2 (for all).
    Disabled(u32),
    /// All the requests that `fs.aio-max-nr` allows the machine are taken.
    Exhausted,
    /// The process may lock too little memory (`ulimit -l`), which counted
    /// before Linux 5.12.
    LockedMemory,
    /// Something else.
    Other(io::Error),
}

impl UnavailableReason {
    /// The reason for `error`, given the sysctl and whether system calls of
    /// this process are filtered.
    fn of(
        what: Background,
        error: io::Error,
        disabled: Option<u32>,
        filtered: bool,
    ) -> UnavailableReason {
        let has_sysctl = what == Background::IoUring && disabled.is_some();
        let disabled = disabled.filter(|&level| level > 0 && what == Background::IoUring);
        match (Errno::known(&error), disabled) {
            // Both a filter and the sysctl say EPERM. A filter comes first in
            // the kernel, but the sysctl is certain and a filter only likely.
            (Some(Errno::EPERM | Errno::EACCES), Some(level)) => UnavailableReason::Disabled(level),
            (Some(Errno::EPERM | Errno::EACCES), None) => UnavailableReason::Filtered,
            // Filters may pretend that the call does not exist. The sysctl
            // (Linux 6.6) is there only where the call is.
            (Some(Errno::ENOSYS), _) if filtered && has_sysctl => UnavailableReason::Filtered,
            (Some(Errno::ENOSYS), _) => UnavailableReason::NotInKernel,
            (Some(Errno::EAGAIN), _) if what == Background::Libaio => UnavailableReason::Exhausted,
            (Some(Errno::ENOMEM), _) if what == Background::IoUring => {
                UnavailableReason::LockedMemory
            }
            _ => UnavailableReason::Other(error),
        }
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "set up {}: ", self.what.name())?;
        match &self.why {
            UnavailableReason::NotInKernel => {
                write!(f, "the kernel does not have it, or a filter hides it")
            }
            UnavailableReason::Filtered => write!(
                f,
                "a filter of system calls (seccomp) forbids it, as containers often do; \
                 allow it in the container's profile"
            ),
            UnavailableReason::Disabled(level) => {
                write!(f, "kernel.io_uring_disabled is {level}; set it to 0 with sysctl")
            }
            UnavailableReason::Exhausted => write!(
                f,
                "all requests the machine allows are taken; raise fs.aio-max-nr with sysctl"
            ),
            UnavailableReason::LockedMemory => {
                write!(f, "the process may not lock enough memory; raise ulimit -l")
            }
            UnavailableReason::Other(error) => write!(f, "{error}"),
        }?;
        match (self.what, &self.why) {
            (Background::IoUring, _) => write!(f, "; or use ioengine=libaio or psync"),
            (Background::Libaio, _) => write!(f, "; or use ioengine=io_uring or psync"),
        }
    }
}

impl std::error::Error for Unavailable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.why {
            UnavailableReason::Other(error) => Some(error),
            _ => None,
        }
    }
}

/// The version of the running kernel: major, minor, patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelVersion(pub u32, pub u32, pub u32);

impl KernelVersion {
    /// Of this machine; 0.0.0 if it calls itself something unheard of.
    pub fn of_this_machine() -> KernelVersion {
        KernelVersion::parse(&platform::kernel_release()).unwrap_or(KernelVersion(0, 0, 0))
    }

    /// Read the beginning of `6.1.0-18-amd64`. What is left out counts as 0.
    pub fn parse(release: &str) -> Option<KernelVersion> {
        let number = |text: &str| {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            text[..digits].parse::<u32>().ok()
        };
        let mut parts = release.trim().splitn(3, '.');
        let major = number(parts.next()?)?;
        let minor = parts.next().map_or(Some(0), number)?;
        Some(KernelVersion(major, minor, parts.next().and_then(number).unwrap_or(0)))
    }
}

impl fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Background::{IoUring, Libaio};
    use proptest::prelude::*;

    fn why(
        what: Background,
        errno: Errno,
        disabled: Option<u32>,
        filtered: bool,
    ) -> UnavailableReason {
        UnavailableReason::of(what, errno.into(), disabled, filtered)
    }

    #[test]
    fn a_refusal_is_traced_to_the_sysctl_or_a_filter() {
        assert!(matches!(
            why(IoUring, Errno::EPERM, Some(2), true),
            UnavailableReason::Disabled(2)
        ));
        assert!(matches!(why(IoUring, Errno::EPERM, Some(0), true), UnavailableReason::Filtered));
        assert!(matches!(why(IoUring, Errno::EPERM, None, false), UnavailableReason::Filtered));
        assert!(matches!(why(Libaio, Errno::EPERM, Some(2), true), UnavailableReason::Filtered));
    }

    #[test]
    fn a_call_that_is_missing_is_missing_from_the_kernel() {
        assert!(matches!(why(IoUring, Errno::ENOSYS, None, false), UnavailableReason::NotInKernel));
        assert!(matches!(why(IoUring, Errno::ENOSYS, None, true), UnavailableReason::NotInKernel));
        assert!(matches!(
            why(Libaio, Errno::ENOSYS, Some(0), true),
            UnavailableReason::NotInKernel
        ));
    }

    #[test]
    fn a_call_that_only_pretends_to_be_missing_is_filtered() {
        assert!(matches!(why(IoUring, Errno::ENOSYS, Some(0), true), UnavailableReason::Filtered));
    }

    #[test]
    fn what_ran_out_is_named() {
        assert!(matches!(why(Libaio, Errno::EAGAIN, None, false), UnavailableReason::Exhausted));
        assert!(matches!(
            why(IoUring, Errno::ENOMEM, None, false),
            UnavailableReason::LockedMemory
        ));
        assert!(matches!(why(IoUring, Errno::EMFILE, None, false), UnavailableReason::Other(_)));
    }

    #[test]
    fn each_reason_names_the_alternative() {
        let reported = |what, why| Unavailable { what, why }.to_string();
        let disabled = reported(IoUring, UnavailableReason::Disabled(1));
        assert!(disabled.contains("kernel.io_uring_disabled is 1"), "{disabled}");
        assert!(disabled.contains("ioengine=libaio"), "{disabled}");
        assert!(reported(Libaio, UnavailableReason::Exhausted).contains("fs.aio-max-nr"));
        assert!(reported(Libaio, UnavailableReason::NotInKernel).contains("ioengine=io_uring"));
    }

    #[test]
    fn a_release_begins_with_its_version() {
        assert_eq!(KernelVersion::parse("6.18.44-fc-v669"), Some(KernelVersion(6, 18, 44)));
        assert_eq!(KernelVersion::parse("6.1-rc3"), Some(KernelVersion(6, 1, 0)));
        assert_eq!(KernelVersion::parse("5"), Some(KernelVersion(5, 0, 0)));
        assert_eq!(KernelVersion::parse("4.9.337.1"), Some(KernelVersion(4, 9, 337)));
        for text in ["", "x.y", "-1.2", "5.x", "99999999999.0.0"] {
            assert_eq!(KernelVersion::parse(text), None, "{text}");
        }
        assert!(KernelVersion(6, 2, 0) > KernelVersion(6, 1, 99));
    }

    proptest! {
        #[test]
        fn no_release_makes_the_parser_panic(text in ".{0,20}") {
            let _ = KernelVersion::parse(&text);
        }
    }

    #[test]
    fn this_machine_answers_for_itself() {
        assert!(KernelVersion::of_this_machine() > KernelVersion(2, 6, 0));
        for what in [IoUring, Libaio] {
            match what.probe() {
                Ok(()) => {}
                Err(Unavailable { why: UnavailableReason::Other(error), .. }) => {
                    panic!("{what:?}: {error}")
                }
                Err(unavailable) => iosonde_testing::skip_part!("{unavailable}"),
            }
        }
    }
}
