//! The engines' own options, as meant: plain values, no text.

use std::path::PathBuf;

/// Options that only some engines have. Each engine names in the catalogue
/// those that it knows; the planner refuses the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knobs {
    /// Polled completions: RWF_HIPRI, IORING_SETUP_IOPOLL.
    pub hipri: bool,
    /// Percentage of I/Os that are polled (`hipri_percentage`).
    pub hipri_percentage: u32,
    /// io_uring: buffers registered with the ring.
    pub fixedbufs: bool,
    /// io_uring: files registered with the ring.
    pub registerfiles: bool,
    /// io_uring: a kernel thread polls the submission ring.
    pub sqthread_poll: bool,
    /// io_uring: the processor that thread is held on.
    pub sqthread_poll_cpu: Option<u32>,
    /// io_uring: READ and WRITE rather than READV and WRITEV.
    pub nonvectored: bool,
    /// io_uring: every n-th request goes straight to a kernel worker; 0: none.
    pub force_async: u32,
    /// io_uring: a sync waits for all requests before it, and those after it
    /// wait for the sync. fio's syncs do not.
    pub drained_syncs: bool,
    /// RWF_NOWAIT: fail with EAGAIN rather than wait.
    pub nowait: bool,
    /// RWF_DONTCACHE: through the page cache and out again.
    pub uncached: bool,
    /// RWF_ATOMIC: torn never (the core option `atomic`).
    pub atomic: bool,
    /// libaio: look into the ring in user space before asking the kernel.
    pub userspace_reap: bool,
    /// libaio: PREADV and PWRITEV rather than PREAD and PWRITE.
    pub vectored: bool,
    /// libaio, io_uring: priorities of single I/Os (`cmdprio_*`).
    pub priorities: Option<CommandPriorities>,
    /// mmap: transparent huge pages by madvise(2).
    pub thp: bool,
    /// filestat, dirstat: the call that asks for attributes.
    pub stat: StatCall,
    /// cpuio's own.
    pub cpu: CpuKnobs,
    /// exec's own.
    pub exec: ExecKnobs,
    /// net's and netsplice's own.
    pub net: NetKnobs,
    /// Of an engine from a shared object.
    pub external: ExternalKnobs,
}

/// An engine from a shared object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalKnobs {
    /// Where the object is.
    pub path: String,
    /// The names of the job's files.
    pub names: Vec<String>,
}

/// Which I/Os have a priority of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandPriorities {
    /// Of reads, then of writes: by size, the first that fits. Empty for none.
    pub of: [Vec<SizePriorities>; 2],
    /// The start of the random draws.
    pub seed: u64,
}

/// Shares of the I/Os of one size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizePriorities {
    /// The size; `None` for all.
    pub bytes: Option<u32>,
    /// Percent, and the priority as ioprio_set(2) has it. What is missing to
    /// 100 has none.
    pub shares: Vec<(u32, u16)>,
}

/// A connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetKnobs {
    /// What it is made of.
    pub protocol: Protocol,
    /// This side waits to be connected to (TCP).
    pub listen: bool,
    /// The job reads: over UDP and sockets in the file system readers wait.
    pub reads: bool,
    /// A name or address; empty for who waits.
    pub host: String,
    /// The port.
    pub port: Option<u16>,
    /// The path of a socket in the file system; empty for that in `host`.
    pub path: String,
    /// TCP_NODELAY.
    pub nodelay: bool,
    /// Each block is sent back before the next.
    pub pingpong: bool,
    /// The address of the interface that multicast goes through; empty: any.
    pub interface: String,
    /// Hops that multicast lives.
    pub ttl: u32,
    /// Size of the socket's buffer; 0: the system's.
    pub window_bytes: u32,
    /// Largest segment of TCP; 0: the system's.
    pub segment_bytes: u32,
}

impl NetKnobs {
    /// Whether this side waits for the other.
    pub fn waits(&self) -> bool {
        match self.protocol {
            Protocol::Tcp | Protocol::TcpV6 => self.listen,
            _ => self.reads,
        }
    }

    /// The path of a socket in the file system.
    pub fn path(&self) -> &str {
        if self.path.is_empty() { &self.host } else { &self.path }
    }
}

/// What a connection is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// TCP over IPv4.
    #[default]
    Tcp,
    /// TCP over IPv6.
    TcpV6,
    /// UDP over IPv4.
    Udp,
    /// UDP over IPv6.
    UdpV6,
    /// A stream through a socket in the file system.
    Unix,
}

impl Protocol {
    /// Whether blocks go as datagrams.
    pub fn datagrams(self) -> bool {
        matches!(self, Protocol::Udp | Protocol::UdpV6)
    }

    /// Whether addresses are of IPv6.
    pub fn v6(self) -> bool {
        matches!(self, Protocol::TcpV6 | Protocol::UdpV6)
    }
}

/// What cpuio burns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuKnobs {
    /// Share of a processor, in percent; more than 100 is 100.
    pub load_percent: u32,
    /// Length of a burn, in microseconds.
    pub chunk_us: u32,
    /// What time is burnt with.
    pub burn: Burn,
}

/// What time is burnt with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Burn {
    /// Nothing in particular.
    #[default]
    Nothing,
    /// Sorting, which takes more of the processor.
    Sort,
}

/// What exec runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecKnobs {
    /// The program.
    pub program: String,
    /// Its arguments, one by one.
    pub arguments: Vec<String>,
    /// Seconds between asking it to end and making it.
    pub grace_s: u32,
    /// Its output goes to files of this name with `.stdout` and `.stderr`
    /// added; `None` for our own output.
    pub output: Option<PathBuf>,
    /// The job goes on after the program has ended.
    pub outlasts: bool,
}

/// A call that asks for a file's attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatCall {
    /// stat(2).
    #[default]
    Stat,
    /// lstat(2).
    Lstat,
    /// statx(2), not waiting for other machines.
    Statx,
}

/// What sync_file_range(2) is asked to do; the bits of its manual page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncRangeFlags(pub u32);
