//! Priorities of a thread: for the processor, and for I/O.

use std::io;

use crate::platform;

/// The class of an I/O priority; the numbers are the kernel's and fio's
/// `prioclass`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum IoClass {
    /// As the nice value says.
    #[default]
    None = 0,
    /// Before all others; takes CAP_SYS_ADMIN or CAP_SYS_NICE.
    RealTime = 1,
    /// The ordinary class.
    BestEffort = 2,
    /// Only when no other process uses the device.
    Idle = 3,
}

impl IoClass {
    /// The class numbered `number`.
    pub const fn from_number(number: u8) -> Option<IoClass> {
        match number {
            0 => Some(IoClass::None),
            1 => Some(IoClass::RealTime),
            2 => Some(IoClass::BestEffort),
            3 => Some(IoClass::Idle),
            _ => None,
        }
    }
}

/// An I/O priority (ioprio_set(2)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IoPriority {
    class: IoClass,
    level: u8,
    hint: u16,
}

impl IoPriority {
    /// Level 0 (first) to 7 (last) of `class`, with a hint of 0 (none) to 1023
    /// for the device (Linux 6.5 and later); `None` for others.
    pub const fn new(class: IoClass, level: u8, hint: u16) -> Option<IoPriority> {
        if level > 7 || hint > 1023 {
            return None;
        }
        Some(IoPriority { class, level, hint })
    }

    /// As the kernel takes it, in system calls and in io_uring and libaio
    /// requests.
    pub const fn raw(self) -> u16 {
        (self.class as u16) << 13 | self.hint << 3 | self.level as u16
    }

    /// Give it to the calling thread.
    ///
    /// # Errors
    /// If the thread may not have it, or the kernel knows no such priority.
    pub fn set(self) -> io::Result<()> {
        platform::set_io_priority(self.raw())
    }
}

/// Add `increment` (-20 to 19) to the calling thread's nice value and return
/// the new one, which the system keeps within -20 and 19.
///
/// # Errors
/// If the thread may not be made less nice.
pub fn add_nice(increment: i32) -> io::Result<i32> {
    platform::add_nice(increment)
}

/// Let the calling thread run only when no other wants its processor.
///
/// # Errors
/// The error of the system.
pub fn run_only_when_idle() -> io::Result<()> {
    platform::run_only_when_idle()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_keeps_the_class_above_the_hint_above_the_level() {
        let raw = |class, level, hint| IoPriority::new(class, level, hint).unwrap().raw();
        assert_eq!(raw(IoClass::None, 0, 0), 0);
        assert_eq!(raw(IoClass::RealTime, 4, 0), 0x2004);
        assert_eq!(raw(IoClass::Idle, 7, 1023), 0x7fff);
        assert_eq!(IoPriority::default().raw(), 0);
    }

    #[test]
    fn levels_and_hints_have_an_end() {
        assert!(IoPriority::new(IoClass::BestEffort, 7, 1023).is_some());
        assert!(IoPriority::new(IoClass::BestEffort, 8, 0).is_none());
        assert!(IoPriority::new(IoClass::BestEffort, 0, 1024).is_none());
        assert_eq!(IoClass::from_number(3), Some(IoClass::Idle));
        assert_eq!(IoClass::from_number(4), None);
    }

    #[test]
    fn a_thread_may_become_nicer_by_itself() {
        let before = add_nice(0).unwrap();
        let after = std::thread::spawn(|| add_nice(1).unwrap()).join().unwrap();
        assert_eq!(after, (before + 1).min(19));
        assert_eq!(add_nice(0).unwrap(), before, "this thread is as it was");
    }

    #[test]
    fn a_thread_may_ask_for_less_io() {
        std::thread::spawn(|| IoPriority::new(IoClass::Idle, 0, 0).unwrap().set().unwrap())
            .join()
            .unwrap();
    }
}
