//! The cells: a block size with a way to write it and make it durable,
//! or a way to read it.

/// When written data has to be on storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteSync {
    /// Never: the clock stops when the system has taken the data.
    Buffered,
    /// One fdatasync(2) after a group of writes, inside the time.
    AmortizedFdatasync,
    /// One fsync(2) after a group of writes, inside the time.
    AmortizedFsync,
    /// An fdatasync(2) after each write.
    Fdatasync,
    /// An fsync(2) after each write.
    Fsync,
    /// Files opened with `O_DSYNC`.
    ODsync,
    /// Files opened with `O_SYNC`.
    OSync,
}

impl WriteSync {
    /// In the order in which they are measured and printed.
    pub const ALL: [WriteSync; 7] = [
        WriteSync::Buffered,
        WriteSync::AmortizedFdatasync,
        WriteSync::AmortizedFsync,
        WriteSync::Fdatasync,
        WriteSync::Fsync,
        WriteSync::ODsync,
        WriteSync::OSync,
    ];

    /// As lines print it.
    pub const fn name(self) -> &'static str {
        match self {
            WriteSync::Buffered => "BUFFERED",
            WriteSync::AmortizedFdatasync => "AMORTIZED_FDATASYNC",
            WriteSync::AmortizedFsync => "AMORTIZED_FSYNC",
            WriteSync::Fdatasync => "FDATASYNC",
            WriteSync::Fsync => "FSYNC",
            WriteSync::ODsync => "O_DSYNC",
            WriteSync::OSync => "O_SYNC",
        }
    }

    /// One sync for many writes.
    pub const fn is_amortized(self) -> bool {
        matches!(self, WriteSync::AmortizedFdatasync | WriteSync::AmortizedFsync)
    }

    /// Each write is durable before the next begins.
    pub const fn syncs_each(self) -> bool {
        !self.is_amortized() && !matches!(self, WriteSync::Buffered)
    }
}

/// Where the data are on their way: the buffer they come from, and whether
/// they pass through the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritePath {
    /// Through the page cache, from a buffer that starts one byte past a page.
    Plain,
    /// Through the page cache, from a buffer that starts at a page.
    Aligned,
    /// Around the page cache (`O_DIRECT`), from a buffer that starts at a page.
    Direct,
}

impl WritePath {
    /// In the order in which they are measured and printed.
    pub const ALL: [WritePath; 3] = [WritePath::Plain, WritePath::Aligned, WritePath::Direct];

    /// As lines print it after the mode; nothing for the first.
    pub const fn name(self) -> &'static str {
        match self {
            WritePath::Plain => "",
            WritePath::Aligned => "ALIGNED",
            WritePath::Direct => "O_DIRECT",
        }
    }
}

/// Where reads find their data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadPath {
    /// Through the page cache, which has nothing of them.
    Cold,
    /// In the page cache.
    Warm,
    /// Around the page cache (`O_DIRECT`).
    Direct,
}

/// A row: all block sizes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Writes.
    Write(WriteSync, WritePath),
    /// Reads.
    Read(ReadPath),
}

impl Access {
    /// The 21 ways to write, then the 3 to read.
    pub fn all() -> Vec<Access> {
        let writes = WriteSync::ALL
            .into_iter()
            .flat_map(|mode| WritePath::ALL.map(|way| Access::Write(mode, way)));
        let reads = [ReadPath::Cold, ReadPath::Warm, ReadPath::Direct].map(Access::Read);
        writes.chain(reads).collect()
    }

    /// As lines print it: `FSYNC + ALIGNED`; direct writes without any sync
    /// are `O_DIRECT` alone.
    pub fn name(self) -> String {
        match self {
            Access::Write(WriteSync::Buffered, WritePath::Direct) => "O_DIRECT".into(),
            Access::Write(mode, WritePath::Plain) => mode.name().into(),
            Access::Write(mode, way) => format!("{} + {}", mode.name(), way.name()),
            Access::Read(ReadPath::Direct) => "READ + O_DIRECT".into(),
            Access::Read(ReadPath::Cold) => "READ_COLD".into(),
            Access::Read(ReadPath::Warm) => "READ_WARM".into(),
        }
    }

    /// The name of the group that `--modes` picks it by, besides its own.
    pub const fn group(self) -> &'static str {
        match self {
            Access::Write(mode, _) => mode.name(),
            Access::Read(_) => "READ",
        }
    }

    /// It writes.
    pub const fn writes(self) -> bool {
        matches!(self, Access::Write(..))
    }

    /// It opens with `O_DIRECT`.
    pub const fn is_direct(self) -> bool {
        matches!(self, Access::Write(_, WritePath::Direct) | Access::Read(ReadPath::Direct))
    }

    /// What it measures is the speed of memory, at least in part: nothing has
    /// to reach storage, or to come from there, before the clock stops.
    pub const fn is_memory(self) -> bool {
        let taken_only = matches!(
            self,
            Access::Write(WriteSync::Buffered, WritePath::Plain | WritePath::Aligned)
        );
        taken_only || matches!(self, Access::Read(ReadPath::Warm))
    }

    /// All that it moved was durable when its clock stopped.
    pub const fn is_durable(self) -> bool {
        match self {
            Access::Write(mode, _) => !matches!(mode, WriteSync::Buffered),
            Access::Read(_) => false,
        }
    }
}

pub use iosonde_base::text::short_size as short;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_twenty_one_ways_to_write_with_the_names_of_the_lines() {
        let names: Vec<String> =
            Access::all().into_iter().filter(|kind| kind.writes()).map(Access::name).collect();
        assert_eq!(names.len(), 21);
        assert_eq!(
            names[..6],
            [
                "BUFFERED",
                "BUFFERED + ALIGNED",
                "O_DIRECT",
                "AMORTIZED_FDATASYNC",
                "AMORTIZED_FDATASYNC + ALIGNED",
                "AMORTIZED_FDATASYNC + O_DIRECT"
            ]
        );
        assert_eq!(names[20], "O_SYNC + O_DIRECT");
    }

    #[test]
    fn what_memory_answers_is_never_called_durable() {
        for kind in Access::all() {
            assert!(!(kind.is_memory() && kind.is_durable()), "{kind:?}");
        }
        assert!(!Access::Write(WriteSync::Buffered, WritePath::Direct).is_memory());
    }

    #[test]
    fn column_heads_have_the_largest_unit_that_fits() {
        assert_eq!(
            (short(4096), short(1 << 20), short(1000)),
            ("4K".into(), "1M".into(), "1000".into())
        );
    }
}
