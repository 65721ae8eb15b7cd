//! Bytes and calls of one thread, as the kernel counts them (/proc/.../io).

use std::io;

use iosonde_direct::sysfs;

/// Counters of a thread, since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskIo {
    /// Bytes its system calls read, from wherever (`rchar`).
    pub called_read_bytes: u64,
    /// Bytes its system calls wrote (`wchar`).
    pub called_write_bytes: u64,
    /// Reading system calls (`syscr`).
    pub read_calls: u64,
    /// Writing system calls (`syscw`).
    pub write_calls: u64,
    /// Bytes it made the storage layer fetch (`read_bytes`).
    pub storage_read_bytes: u64,
    /// Bytes it caused to be sent to the storage layer, counted when a page
    /// becomes dirty (`write_bytes`).
    pub storage_write_bytes: u64,
    /// Of those, bytes that were never sent, because a file was cut or removed
    /// first (`cancelled_write_bytes`).
    pub cancelled_write_bytes: u64,
}

impl TaskIo {
    /// Of the calling thread.
    ///
    /// # Errors
    /// If the kernel keeps no such counters, or the process may not read them.
    pub fn of_thread() -> io::Result<TaskIo> {
        TaskIo::read("proc/thread-self/io")
    }

    /// Of the whole process, threads that have ended included.
    ///
    /// # Errors
    /// As [`TaskIo::of_thread`].
    pub fn of_process() -> io::Result<TaskIo> {
        TaskIo::read("proc/self/io")
    }

    /// Of this process's thread with the number `thread`
    /// ([`crate::process::thread_id`]).
    ///
    /// # Errors
    /// As [`TaskIo::of_thread`], and if there is no such thread (any more).
    pub fn of(thread: u32) -> io::Result<TaskIo> {
        TaskIo::read(&format!("proc/self/task/{thread}/io"))
    }

    fn read(path: &str) -> io::Result<TaskIo> {
        TaskIo::parse(&sysfs::text(path)?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no counters in it"))
    }

    /// The counters as /proc shows them; `None` if one is missing.
    pub fn parse(text: &str) -> Option<TaskIo> {
        let field = |wanted: &str| -> Option<u64> {
            let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
            pairs.find(|(name, _)| *name == wanted)?.1.trim().parse().ok()
        };
        Some(TaskIo {
            called_read_bytes: field("rchar")?,
            called_write_bytes: field("wchar")?,
            read_calls: field("syscr")?,
            write_calls: field("syscw")?,
            storage_read_bytes: field("read_bytes")?,
            storage_write_bytes: field("write_bytes")?,
            cancelled_write_bytes: field("cancelled_write_bytes")?,
        })
    }

    /// The difference since `earlier`.
    pub fn since(&self, earlier: &TaskIo) -> TaskIo {
        let less = u64::saturating_sub;
        TaskIo {
            called_read_bytes: less(self.called_read_bytes, earlier.called_read_bytes),
            called_write_bytes: less(self.called_write_bytes, earlier.called_write_bytes),
            read_calls: less(self.read_calls, earlier.read_calls),
            write_calls: less(self.write_calls, earlier.write_calls),
            storage_read_bytes: less(self.storage_read_bytes, earlier.storage_read_bytes),
            storage_write_bytes: less(self.storage_write_bytes, earlier.storage_write_bytes),
            cancelled_write_bytes: less(self.cancelled_write_bytes, earlier.cancelled_write_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    const TEXT: &str = "rchar: 3\nwchar: 4\nsyscr: 5\nsyscw: 6\nread_bytes: 7\n\
                        write_bytes: 8\ncancelled_write_bytes: 9\n";

    #[test]
    fn each_counter_is_found_by_its_name() {
        let task = TaskIo::parse(TEXT).unwrap();
        assert_eq!(task.called_read_bytes, 3);
        assert_eq!((task.read_calls, task.write_calls), (5, 6));
        assert_eq!((task.storage_read_bytes, task.storage_write_bytes), (7, 8));
        assert_eq!(task.cancelled_write_bytes, 9);
        assert_eq!(task.called_write_bytes, 4);
    }

    #[test]
    fn a_text_cut_anywhere_is_no_counters_and_no_panic() {
        for end in 0..TEXT.len() - 2 {
            assert_eq!(TaskIo::parse(&TEXT[..end]), None, "{end}");
        }
    }

    #[test]
    fn a_read_of_this_thread_is_counted() {
        let Ok(before) = TaskIo::of_thread() else {
            iosonde_testing::skip!("the kernel does not count I/O for each task");
        };
        let mut zeros = [1; 4096];
        std::fs::File::open("/dev/zero").unwrap().read_exact(&mut zeros).unwrap();
        let after = TaskIo::of(crate::process::thread_id()).unwrap();
        assert!(after.since(&before).called_read_bytes >= 4096);
    }
}
