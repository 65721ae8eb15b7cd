//! Options of io_uring, and what they mean for a ring.

use crate::platform::cmdprio::{CommandPriorities, options_with_priorities};
use crate::{EngineOptionTable, EngineSettings, JobContext, OwnOptions, OwnSettings};
use iosonde_options::{Built, Category, Diagnostic};

/// For the catalogue.
pub(super) static OPTIONS: EngineOptionTable =
    EngineOptionTable::of::<UringOptions>(UringOptions::OPTIONS);

/// Why an option changes nothing here.
const OF_COMMANDS: &str =
    "it is of the commands of io_uring_cmd; fio takes it here without effect, too";

options_with_priorities! {
    /// io_uring
    pub(super) struct UringOptions in Category::Engine
    {
        /// Poll for completions rather than wait for interrupts (IORING_SETUP_IOPOLL).
        ///
        /// Direct I/O only.
        hipri: bool = "0" as "hipri" {
            bare: Some("1"),
        }
        /// Register the buffers once, rather than map them for every I/O.
        fixedbufs: bool = "0" as "fixedbufs" {
            bare: Some("1"),
        }
        /// Register the files once, rather than look them up for every I/O.
        registerfiles: bool = "0" as "registerfiles" {
            bare: Some("1"),
        }
        /// Let a thread of the kernel submit the I/O (IORING_SETUP_SQPOLL).
        sqthread_poll: bool = "0" as "sqthread_poll" {
            bare: Some("1"),
        }
        /// The processor that thread runs on.
        sqthread_poll_cpu: Option<u32> = "" as "sqthread_poll_cpu" {
            good: &["0"],
        }
        /// Use plain reads and writes (1), vectored ones (0), or what the kernel has (-1).
        nonvectored: i32 = "-1" as "nonvectored" {
            min: Some(-1),
            good: &["0", "1"],
        }
        /// Drop pages from the page cache once they are read or written (RWF_DONTCACHE).
        uncached: u32 = "0" as "uncached" {
            good: &["0", "1"],
        }
        /// Fail with EAGAIN rather than wait (RWF_NOWAIT).
        nowait: bool = "0" as "nowait" {
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Hand every so many-th I/O to a thread of the kernel at once (IOSQE_ASYNC).
        force_async: u32 = "0" as "force_async" {
            good: &["0", "8"],
        }
    }
    {
        /// Bytes of metadata that go with each I/O.
        md_per_io_size: u32 = "0" as "md_per_io_size" {
            built: Built::Ignored(OF_COMMANDS),
            good: &["0", "64"],
        }
        /// Let the device make and strip protection information.
        pi_act: bool = "1" as "pi_act" {
            built: Built::Ignored(OF_COMMANDS),
            good: &["0", "1"],
            bad: &["2"],
        }
        /// What protection information is checked: GUARD, REFTAG, APPTAG, parted by commas.
        pi_chk: Option<String> = "" as "pi_chk" {
            built: Built::Ignored(OF_COMMANDS),
            good: &["GUARD,APPTAG"],
        }
        /// Application tag of the protection information.
        apptag: u32 = "0x1234" as "apptag" {
            built: Built::Ignored(OF_COMMANDS),
            good: &["0x1234"],
        }
        /// Bits of the application tag that are checked.
        apptag_mask: u32 = "0xffff" as "apptag_mask" {
            built: Built::Ignored(OF_COMMANDS),
            good: &["0xffff"],
        }
        /// The kind of command: nvme.
        cmd_type: Option<String> = "" as "cmd_type" {
            built: Built::Ignored(OF_COMMANDS),
            good: &["nvme"],
        }
        /// Set Force Unit Access on reads.
        readfua: bool = "0" as "readfua" {
            built: Built::Ignored(OF_COMMANDS),
            good: &["0", "1"],
            bad: &["2"],
        }
        /// Set Force Unit Access on writes.
        writefua: bool = "0" as "writefua" {
            built: Built::Ignored(OF_COMMANDS),
            good: &["0", "1"],
            bad: &["2"],
        }
        /// The command that writes: write, uncor, zeroes or verify.
        write_mode: Option<String> = "" as "write_mode" {
            built: Built::Ignored(OF_COMMANDS),
            good: &["zeroes"],
        }
        /// The command that verifies: read or compare.
        verify_mode: Option<String> = "" as "verify_mode" {
            built: Built::Ignored(OF_COMMANDS),
            good: &["compare"],
        }
        /// The command that reads.
        read_mode: Option<String> = "" as "read_mode" {
            built: Built::Ignored(OF_COMMANDS),
            good: &["read"],
        }
        /// Bytes of a SCSI command block.
        cdb_len: u32 = "0" as "cdb_len" {
            built: Built::Ignored(OF_COMMANDS),
            good: &["0", "16"],
            bad: &["some"],
        }
        /// Deallocate on write zeroes.
        deac: bool = "0" as "deac" {
            built: Built::Ignored(OF_COMMANDS),
            good: &["0", "1"],
            bad: &["2"],
        }
        /// The data that a SCSI verify command compares.
        verify_bytchk: Option<String> = "" as "verify_bytchk" {
            built: Built::Ignored(OF_COMMANDS),
            good: &["0"],
        }
    }
}

/// Settings of a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UringSettings {
    /// Completions are polled for (IORING_SETUP_IOPOLL).
    pub hipri: bool,
    /// Buffers are registered with the ring.
    pub fixedbufs: bool,
    /// Files are registered with the ring.
    pub registerfiles: bool,
    /// A kernel thread polls the submission ring.
    pub sqthread_poll: bool,
    /// The processor that thread is bound to.
    pub sqthread_poll_cpu: Option<u32>,
    /// READ and WRITE rather than READV and WRITEV.
    pub nonvectored: bool,
    /// Every n-th request goes straight to a kernel worker; 0: none.
    pub force_async: u32,
    /// I/O is buffered: kernel workers do what would have to wait.
    pub buffered: bool,
    /// A sync waits for all requests before it, and those after it wait for
    /// the sync. fio's syncs do not.
    pub drained_syncs: bool,
    /// RWF_NOWAIT: fail with EAGAIN rather than wait.
    pub nowait: bool,
    /// RWF_DONTCACHE: drop pages from the page cache after use.
    pub uncached: bool,
    /// RWF_ATOMIC: writes are atomic (the core option `atomic`).
    pub atomic: bool,
    /// Priorities of single I/Os (`cmdprio_*`).
    pub priorities: Option<CommandPriorities>,
}

impl Default for UringSettings {
    fn default() -> UringSettings {
        UringSettings {
            hipri: false,
            fixedbufs: false,
            registerfiles: false,
            sqthread_poll: false,
            sqthread_poll_cpu: None,
            nonvectored: true,
            force_async: 0,
            buffered: false,
            drained_syncs: false,
            nowait: false,
            uncached: false,
            atomic: false,
            priorities: None,
        }
    }
}

impl OwnSettings for UringSettings {
    fn kernel_thread_polls(&self) -> bool {
        self.sqthread_poll
    }

    fn uses_other_threads(&self) -> bool {
        self.sqthread_poll || self.force_async > 0 || self.buffered
    }

    fn sets_priorities(&self) -> bool {
        self.priorities.is_some()
    }

    fn with_drained_syncs(&self) -> Option<EngineSettings> {
        Some(EngineSettings::new(UringSettings { drained_syncs: true, ..self.clone() }))
    }
}

impl OwnOptions for UringOptions {
    type Settings = UringSettings;

    fn settings(&self, job: &JobContext) -> Result<UringSettings, Diagnostic> {
        Ok(UringSettings {
            hipri: *self.hipri.get(),
            fixedbufs: *self.fixedbufs.get(),
            registerfiles: *self.registerfiles.get(),
            sqthread_poll: *self.sqthread_poll.get() || self.sqthread_poll_cpu.is_set(),
            sqthread_poll_cpu: *self.sqthread_poll_cpu.get(),
            nonvectored: *self.nonvectored.get() != 0,
            force_async: *self.force_async.get(),
            buffered: !job.direct,
            drained_syncs: false,
            nowait: *self.nowait.get(),
            uncached: *self.uncached.get() != 0,
            atomic: job.atomic,
            priorities: self.priorities().plan(job)?,
        })
    }
}
