//! Closed sets of words that options take.

use iosonde_options::words;

words! {
    /// What `k` means in sizes.
    pub enum KbBase {
        Binary = "1024" : "k is 1024 and kib is 1000; reports prefer powers of two",
        Decimal = "1000" : "k is 1000 and kib is 1024; reports prefer powers of ten",
    }
}

impl KbBase {
    /// 1024 or 1000.
    pub const fn number(self) -> u16 {
        match self {
            KbBase::Binary => 1024,
            KbBase::Decimal => 1000,
        }
    }
}

words! {
    /// The unit of rates in reports.
    pub enum UnitBase {
        Auto = "0" : "as the engine counts",
        Bytes = "8" : "bytes",
        Bits = "1" : "bits",
    }
}

impl UnitBase {
    /// 0, 8 or 1: bits per unit.
    pub const fn number(self) -> u8 {
        match self {
            UnitBase::Auto => 0,
            UnitBase::Bytes => 8,
            UnitBase::Bits => 1,
        }
    }
}

words! {
    /// Offsets of the I/Os between two draws of `rw=randread:N`.
    pub enum RwSequencer {
        Sequential = "sequential" : "continue after the last offset",
        Identical = "identical" : "repeat the last offset",
    }
}

words! {
    /// Random generator for offsets.
    pub enum RandomGenerator {
        Tausworthe = "tausworthe" : "combined Tausworthe generator of 32 bits",
        Lfsr = "lfsr" : "linear feedback shift register: each block once, without a map",
        Tausworthe64 = "tausworthe64" : "combined Tausworthe generator of 64 bits",
    }
}

words! {
    /// How space for new files is allocated.
    pub enum FallocateMode {
        None = "none" | "0" : "no allocation",
        Native = "native" : "the system's call; failures are ignored",
        Posix = "posix" | "1" : "posix_fallocate(3)",
        Keep = "keep" : "fallocate(2) with FALLOC_FL_KEEP_SIZE",
        Truncate = "truncate" : "ftruncate(2) to the full size",
    }
}

words! {
    /// Access pattern hint for the kernel.
    pub enum FadviseHint {
        None = "0" | "none" : "no hint",
        Pattern = "1" | "on" : "by the job's pattern: random or sequential",
        Random = "random" : "POSIX_FADV_RANDOM",
        Sequential = "sequential" : "POSIX_FADV_SEQUENTIAL",
        NoReuse = "noreuse" : "POSIX_FADV_NOREUSE",
    }
}

words! {
    /// How long what is written will live (fcntl(2) F_SET_RW_HINT).
    pub enum WriteHint {
        None = "none" : "no hint",
        Short = "short" : "short lifetime",
        Medium = "medium" : "medium lifetime",
        Long = "long" : "long lifetime",
        Extreme = "extreme" : "extreme lifetime",
    }
}

words! {
    /// Whether each write is on stable storage before it returns.
    pub enum SyncMode {
        None = "none" | "0" : "no",
        Sync = "sync" | "1" : "O_SYNC: data and metadata",
        Dsync = "dsync" : "O_DSYNC: data, and the metadata needed to read it",
    }
}

words! {
    /// How submission and completion are done.
    pub enum SubmitMode {
        Inline = "inline" : "from the job's thread",
        Offload = "offload" : "from a pool of threads",
    }
}

words! {
    /// How files are locked while I/O to them flies.
    pub enum LockFile {
        None = "none" : "no lock",
        Exclusive = "exclusive" : "one I/O at a time",
        ReadWrite = "readwrite" : "many reads or one write",
    }
}

words! {
    /// Type of a file.
    pub enum FileType {
        None = "none" : "not given",
        Auto = "auto" : "as stat(2) reports",
        File = "file" : "a regular file",
        Block = "block" : "a block device",
        Char = "char" : "a character device",
    }
}

words! {
    /// How zones are used.
    pub enum ZoneMode {
        None = "none" : "no zones",
        Strided = "strided" : "sequential zones of zonesize, zoneskip bytes apart",
        Zbd = "zbd" : "a zoned block device: writes follow each zone's write pointer",
    }
}

words! {
    /// How `thinktime_blocks` counts.
    pub enum ThinkBlocksType {
        Complete = "complete" : "count I/Os as they complete",
        Issue = "issue" : "count I/Os as they are issued",
    }
}

words! {
    /// Distribution of the gaps between rate-limited I/Os.
    pub enum RateProcess {
        Linear = "linear" : "even gaps",
        Poisson = "poisson" : "gaps of a Poisson process",
    }
}

words! {
    /// How processors are handed to the clones of a job.
    pub enum CpusAllowedPolicy {
        Shared = "shared" : "each clone may run on all of them",
        Split = "split" : "each clone gets one of them",
    }
}

words! {
    /// The clock that times I/Os.
    pub enum ClockWord {
        Gettimeofday = "gettimeofday" : "gettimeofday(2)",
        ClockGettime = "clock_gettime" : "clock_gettime(2)",
        Cpu = "cpu" : "the processor's counter",
    }
}

words! {
    /// Whom `exitall` ends.
    pub enum ExitWhat {
        Group = "group" : "the jobs of the group",
        Stonewall = "stonewall" : "the running jobs; those after the next stonewall still run",
        All = "all" : "all jobs",
    }
}

words! {
    /// How blocks are checked.
    pub enum Verify {
        Off = "0" : "do not verify",
        Md5 = "md5" : "MD5",
        Crc64 = "crc64" : "CRC-64",
        Crc32 = "crc32" : "CRC-32",
        Crc32cIntel = "crc32c-intel" : "CRC-32C, in hardware if available",
        Crc32c = "crc32c" : "CRC-32C, in hardware if available",
        Crc16 = "crc16" : "CRC-16",
        Crc7 = "crc7" : "CRC-7",
        Sha1 = "sha1" : "SHA-1",
        Sha256 = "sha256" : "SHA-256",
        Sha512 = "sha512" : "SHA-512",
        Sha3_224 = "sha3-224" : "SHA3-224",
        Sha3_256 = "sha3-256" : "SHA3-256",
        Sha3_384 = "sha3-384" : "SHA3-384",
        Sha3_512 = "sha3-512" : "SHA3-512",
        XxHash = "xxhash" : "xxHash of 32 bits",
        Meta = "meta" : "the header only, which the other types check too",
        Pattern = "pattern" : "the verify_pattern, without a header",
        PatternHdr = "pattern_hdr" : "the verify_pattern after a header",
        Null = "null" : "run the verify code without a check",
    }
}

words! {
    /// Which writes a verification after a crash looks at.
    pub enum VerifyPolicy {
        Completed = "completed" : "all writes that completed",
        Fsynced = "fsynced" : "writes that an fsync followed",
    }
}

words! {
    /// A kind of I/O that a replay can leave out.
    pub enum ReplayKind {
        Read = "read" : "reads",
        Write = "write" : "writes",
        Trim = "trim" : "trims",
        Sync = "sync" | "flush" : "syncs",
    }
}

words! {
    /// How duplicate buffers are made.
    pub enum DedupeMode {
        Repeat = "repeat" : "repeat the last buffer",
        WorkingSet = "working_set" : "a buffer of the set sized by dedupe_working_set_percentage",
    }
}

words! {
    /// Whether directions are reported as one.
    pub enum UnifiedReporting {
        None = "none" | "0" : "each direction separately",
        Mixed = "mixed" | "1" : "all directions as one",
        Both = "both" | "2" : "each direction, then all as one",
    }
}

words! {
    /// After which errors a job goes on.
    pub enum ContinueOnError {
        None = "none" | "0" : "none",
        Read = "read" : "errors of reads",
        Write = "write" : "errors of writes",
        Io = "io" : "errors of any I/O",
        Verify = "verify" : "verification failures",
        All = "all" | "1" : "all of these",
    }
}

words! {
    /// Value that is logged for a window.
    pub enum LogWindowValue {
        Average = "avg" | "0" : "the mean of the window",
        Max = "max" | "1" : "the largest of the window",
        Both = "both" : "the mean, then the largest",
    }
}

words! {
    /// A way to place data on a device.
    pub enum DataPlacement {
        None = "none" : "the device decides",
        Fdp = "fdp" : "NVMe Flexible Data Placement",
        Streams = "streams" : "NVMe streams",
    }
}

words! {
    /// How a placement identifier is selected.
    pub enum PlacementSelect {
        Random = "random" : "at random",
        RoundRobin = "roundrobin" : "in turn",
        Scheme = "scheme" : "by offset, from dp_scheme",
    }
}

words! {
    /// A ready-made workload.
    pub enum Profile {
        Act = "act" : "like Aerospike's certification tool",
        Tiobench = "tiobench" : "like tiobench",
    }
}
