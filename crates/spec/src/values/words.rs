//! Closed sets of words that options take.

use iosonde_options::words;

words! {
    /// What `k` means in sizes.
    pub enum KbBase {
        /// `k` is 1024 and `kib` is 1000, for the sake of old job files.
        Binary = "1024" : "k is 1024 and kib is 1000; reports prefer powers of two",
        /// `k` is 1000 and `kib` is 1024.
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
        /// As the engine counts.
        Auto = "0" : "as the engine counts",
        /// Bytes.
        Bytes = "8" : "bytes",
        /// Bits.
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
        /// Each goes on where the last one ended.
        Sequential = "sequential" : "continue after the last offset",
        /// Each repeats the last place.
        Identical = "identical" : "repeat the last offset",
    }
}

words! {
    /// Random generator for offsets.
    pub enum RandomGenerator {
        /// 32 bits.
        Tausworthe = "tausworthe" : "combined Tausworthe generator of 32 bits",
        /// A shift register: each block once, without a map.
        Lfsr = "lfsr" : "linear feedback shift register: each block once, without a map",
        /// 64 bits.
        Tausworthe64 = "tausworthe64" : "combined Tausworthe generator of 64 bits",
    }
}

words! {
    /// How space for new files is allocated.
    pub enum FallocateMode {
        /// Not at all.
        None = "none" | "0" : "no allocation",
        /// By the system's own call, if it has one.
        Native = "native" : "the system's call; failures are ignored",
        /// By posix_fallocate(3).
        Posix = "posix" | "1" : "posix_fallocate(3)",
        /// By fallocate(2), leaving the size.
        Keep = "keep" : "fallocate(2) with FALLOC_FL_KEEP_SIZE",
        /// By setting the size.
        Truncate = "truncate" : "ftruncate(2) to the full size",
    }
}

words! {
    /// Access pattern hint for the kernel.
    pub enum FadviseHint {
        /// Nothing.
        None = "0" | "none" : "no hint",
        /// What the job does.
        Pattern = "1" | "on" : "by the job's pattern: random or sequential",
        /// Random.
        Random = "random" : "POSIX_FADV_RANDOM",
        /// Sequential.
        Sequential = "sequential" : "POSIX_FADV_SEQUENTIAL",
        /// Do not reuse.
        NoReuse = "noreuse" : "POSIX_FADV_NOREUSE",
    }
}

words! {
    /// How long what is written will live (fcntl(2) F_SET_RW_HINT).
    pub enum WriteHint {
        /// Unknown.
        None = "none" : "no hint",
        /// Short.
        Short = "short" : "short lifetime",
        /// Medium.
        Medium = "medium" : "medium lifetime",
        /// Long.
        Long = "long" : "long lifetime",
        /// Extreme.
        Extreme = "extreme" : "extreme lifetime",
    }
}

words! {
    /// Whether each write is on stable storage before it returns.
    pub enum SyncMode {
        /// No.
        None = "none" | "0" : "no",
        /// Data and metadata.
        Sync = "sync" | "1" : "O_SYNC: data and metadata",
        /// Data, and what metadata reading it takes.
        Dsync = "dsync" : "O_DSYNC: data, and the metadata needed to read it",
    }
}

words! {
    /// How submission and completion are done.
    pub enum SubmitMode {
        /// By the job itself.
        Inline = "inline" : "from the job's thread",
        /// By a pool of threads.
        Offload = "offload" : "from a pool of threads",
    }
}

words! {
    /// How files are locked while I/O to them flies.
    pub enum LockFile {
        /// Not at all.
        None = "none" : "no lock",
        /// One at a time.
        Exclusive = "exclusive" : "one I/O at a time",
        /// Many reads or one write.
        ReadWrite = "readwrite" : "many reads or one write",
    }
}

words! {
    /// Type of a file.
    pub enum FileType {
        /// Not given.
        None = "none" : "not given",
        /// What stat(2) says.
        Auto = "auto" : "as stat(2) reports",
        /// A regular file.
        File = "file" : "a regular file",
        /// A block device.
        Block = "block" : "a block device",
        /// A character device.
        Char = "char" : "a character device",
    }
}

words! {
    /// How zones are used.
    pub enum ZoneMode {
        /// There are none.
        None = "none" : "no zones",
        /// I/O stays in one zone, then skips to the next.
        Strided = "strided" : "sequential zones of zonesize, zoneskip bytes apart",
        /// A zoned block device.
        Zbd = "zbd" : "a zoned block device: writes follow each zone's write pointer",
    }
}

words! {
    /// How `thinktime_blocks` counts.
    pub enum ThinkBlocksType {
        /// Completed I/Os.
        Complete = "complete" : "count I/Os as they complete",
        /// Issued I/Os.
        Issue = "issue" : "count I/Os as they are issued",
    }
}

words! {
    /// Distribution of the gaps between rate-limited I/Os.
    pub enum RateProcess {
        /// Even gaps.
        Linear = "linear" : "even gaps",
        /// A Poisson process.
        Poisson = "poisson" : "gaps of a Poisson process",
    }
}

words! {
    /// How processors are handed to the clones of a job.
    pub enum CpusAllowedPolicy {
        /// All of them to each.
        Shared = "shared" : "each clone may run on all of them",
        /// One to each.
        Split = "split" : "each clone gets one of them",
    }
}

words! {
    /// The clock that times I/Os.
    pub enum ClockWord {
        /// gettimeofday(2).
        Gettimeofday = "gettimeofday" : "gettimeofday(2)",
        /// clock_gettime(2).
        ClockGettime = "clock_gettime" : "clock_gettime(2)",
        /// The processor's counter.
        Cpu = "cpu" : "the processor's counter",
    }
}

words! {
    /// Whom `exitall` ends.
    pub enum ExitWhat {
        /// The jobs of the group.
        Group = "group" : "the jobs of the group",
        /// The jobs up to the next stonewall.
        Stonewall = "stonewall" : "the running jobs; those after the next stonewall still run",
        /// All jobs.
        All = "all" : "all jobs",
    }
}

words! {
    /// How blocks are checked.
    pub enum Verify {
        /// They are not.
        Off = "0" : "do not verify",
        /// MD5.
        Md5 = "md5" : "MD5",
        /// CRC-64.
        Crc64 = "crc64" : "CRC-64",
        /// CRC-32.
        Crc32 = "crc32" : "CRC-32",
        /// CRC-32C by the processor.
        Crc32cIntel = "crc32c-intel" : "CRC-32C, in hardware if available",
        /// CRC-32C.
        Crc32c = "crc32c" : "CRC-32C, in hardware if available",
        /// CRC-16.
        Crc16 = "crc16" : "CRC-16",
        /// CRC-7.
        Crc7 = "crc7" : "CRC-7",
        /// SHA-1.
        Sha1 = "sha1" : "SHA-1",
        /// SHA-256.
        Sha256 = "sha256" : "SHA-256",
        /// SHA-512.
        Sha512 = "sha512" : "SHA-512",
        /// SHA3-224.
        Sha3_224 = "sha3-224" : "SHA3-224",
        /// SHA3-256.
        Sha3_256 = "sha3-256" : "SHA3-256",
        /// SHA3-384.
        Sha3_384 = "sha3-384" : "SHA3-384",
        /// SHA3-512.
        Sha3_512 = "sha3-512" : "SHA3-512",
        /// xxHash.
        XxHash = "xxhash" : "xxHash of 32 bits",
        /// The header alone.
        Meta = "meta" : "the header only, which the other types check too",
        /// A pattern.
        Pattern = "pattern" : "the verify_pattern, without a header",
        /// A pattern behind a header.
        PatternHdr = "pattern_hdr" : "the verify_pattern after a header",
        /// Nothing, at full cost.
        Null = "null" : "run the verify code without a check",
    }
}

words! {
    /// Which writes a verification after a crash looks at.
    pub enum VerifyPolicy {
        /// All that completed.
        Completed = "completed" : "all writes that completed",
        /// Those followed by an fsync.
        Fsynced = "fsynced" : "writes that an fsync followed",
    }
}

words! {
    /// A kind of I/O that a replay can leave out.
    pub enum ReplayKind {
        /// Reads.
        Read = "read" : "reads",
        /// Writes.
        Write = "write" : "writes",
        /// Trims.
        Trim = "trim" : "trims",
        /// Syncs.
        Sync = "sync" | "flush" : "syncs",
    }
}

words! {
    /// How duplicate buffers are made.
    pub enum DedupeMode {
        /// The last one again.
        Repeat = "repeat" : "repeat the last buffer",
        /// One out of a set.
        WorkingSet = "working_set" : "a buffer of the set sized by dedupe_working_set_percentage",
    }
}

words! {
    /// Whether directions are reported as one.
    pub enum UnifiedReporting {
        /// Each by itself.
        None = "none" | "0" : "each direction separately",
        /// All as one.
        Mixed = "mixed" | "1" : "all directions as one",
        /// Both ways.
        Both = "both" | "2" : "each direction, then all as one",
    }
}

words! {
    /// After which errors a job goes on.
    pub enum ContinueOnError {
        /// None.
        None = "none" | "0" : "none",
        /// Reads.
        Read = "read" : "errors of reads",
        /// Writes.
        Write = "write" : "errors of writes",
        /// Reads, writes and trims.
        Io = "io" : "errors of any I/O",
        /// Verification.
        Verify = "verify" : "verification failures",
        /// All.
        All = "all" | "1" : "all of these",
    }
}

words! {
    /// Value that is logged for a window.
    pub enum LogWindowValue {
        /// The mean.
        Average = "avg" | "0" : "the mean of the window",
        /// The largest.
        Max = "max" | "1" : "the largest of the window",
        /// Both.
        Both = "both" : "the mean, then the largest",
    }
}

words! {
    /// A way to place data on a device.
    pub enum DataPlacement {
        /// Not at all.
        None = "none" : "the device decides",
        /// NVMe Flexible Data Placement.
        Fdp = "fdp" : "NVMe Flexible Data Placement",
        /// NVMe streams.
        Streams = "streams" : "NVMe streams",
    }
}

words! {
    /// How a placement identifier is selected.
    pub enum PlacementSelect {
        /// At random.
        Random = "random" : "at random",
        /// In turn.
        RoundRobin = "roundrobin" : "in turn",
        /// By offset, after a file.
        Scheme = "scheme" : "by offset, from dp_scheme",
    }
}

words! {
    /// A ready-made workload.
    pub enum Profile {
        /// Aerospike's certification tool.
        Act = "act" : "like Aerospike's certification tool",
        /// tiobench.
        Tiobench = "tiobench" : "like tiobench",
    }
}
