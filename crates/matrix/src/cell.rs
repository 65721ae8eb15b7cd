//! What is measured: a block size with a way to write it and make it durable,
//! or a way to read it.

/// When written data has to be on storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Never: the clock stops when the system has taken the data.
    Buffered,
    /// One fdatasync(2) after a whole group of writes, inside the time.
    AmortizedFdatasync,
    /// One fsync(2) after a whole group of writes, inside the time.
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

impl Mode {
    /// In the order in which they are measured and printed.
    pub const ALL: [Mode; 7] = [
        Mode::Buffered,
        Mode::AmortizedFdatasync,
        Mode::AmortizedFsync,
        Mode::Fdatasync,
        Mode::Fsync,
        Mode::ODsync,
        Mode::OSync,
    ];

    /// As lines print it.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Buffered => "BUFFERED",
            Mode::AmortizedFdatasync => "AMORTIZED_FDATASYNC",
            Mode::AmortizedFsync => "AMORTIZED_FSYNC",
            Mode::Fdatasync => "FDATASYNC",
            Mode::Fsync => "FSYNC",
            Mode::ODsync => "O_DSYNC",
            Mode::OSync => "O_SYNC",
        }
    }

    /// One sync for many writes.
    pub const fn is_amortized(self) -> bool {
        matches!(self, Mode::AmortizedFdatasync | Mode::AmortizedFsync)
    }

    /// Each write is durable before the next begins.
    pub const fn syncs_each(self) -> bool {
        !self.is_amortized() && !matches!(self, Mode::Buffered)
    }
}

/// Where the data are on their way: the buffer they come from, and whether
/// they pass through the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Through the page cache, from a buffer that starts one byte past a page.
    Plain,
    /// Through the page cache, from a buffer that starts at a page.
    Aligned,
    /// Around the page cache (`O_DIRECT`), from a buffer that starts at a page.
    Direct,
}

impl Way {
    /// In the order in which they are measured and printed.
    pub const ALL: [Way; 3] = [Way::Plain, Way::Aligned, Way::Direct];

    /// As lines print it after the mode; nothing for the first.
    pub const fn name(self) -> &'static str {
        match self {
            Way::Plain => "",
            Way::Aligned => "ALIGNED",
            Way::Direct => "O_DIRECT",
        }
    }
}

/// Where reads find their data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Through the page cache, which has nothing of them.
    Cold,
    /// In the page cache.
    Warm,
    /// Around the page cache (`O_DIRECT`).
    Direct,
}

/// A row: all block sizes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Writes.
    Write(Mode, Way),
    /// Reads.
    Read(Reading),
}

impl Kind {
    /// The 21 ways to write, then the 3 to read.
    pub fn all() -> Vec<Kind> {
        let writes =
            Mode::ALL.into_iter().flat_map(|mode| Way::ALL.map(|way| Kind::Write(mode, way)));
        let reads = [Reading::Cold, Reading::Warm, Reading::Direct].map(Kind::Read);
        writes.chain(reads).collect()
    }

    /// As lines print it: `FSYNC + ALIGNED`; direct writes without any sync
    /// are `O_DIRECT` alone.
    pub fn name(self) -> String {
        match self {
            Kind::Write(Mode::Buffered, Way::Direct) => "O_DIRECT".into(),
            Kind::Write(mode, Way::Plain) => mode.name().into(),
            Kind::Write(mode, way) => format!("{} + {}", mode.name(), way.name()),
            Kind::Read(Reading::Direct) => "READ + O_DIRECT".into(),
            Kind::Read(Reading::Cold) => "READ_COLD".into(),
            Kind::Read(Reading::Warm) => "READ_WARM".into(),
        }
    }

    /// The name of the group that `--modes` picks it by, besides its own.
    pub const fn group(self) -> &'static str {
        match self {
            Kind::Write(mode, _) => mode.name(),
            Kind::Read(_) => "READ",
        }
    }

    /// It writes.
    pub const fn writes(self) -> bool {
        matches!(self, Kind::Write(..))
    }

    /// It opens with `O_DIRECT`.
    pub const fn is_direct(self) -> bool {
        matches!(self, Kind::Write(_, Way::Direct) | Kind::Read(Reading::Direct))
    }

    /// What it measures is the speed of memory, at least in part: nothing has
    /// to reach storage, or to come from there, before the clock stops.
    pub const fn is_memory(self) -> bool {
        let taken_only = matches!(self, Kind::Write(Mode::Buffered, Way::Plain | Way::Aligned));
        taken_only || matches!(self, Kind::Read(Reading::Warm))
    }

    /// All that it moved was durable when its clock stopped.
    pub const fn is_durable(self) -> bool {
        match self {
            Kind::Write(mode, _) => !matches!(mode, Mode::Buffered),
            Kind::Read(_) => false,
        }
    }
}

/// A size as a person says it: `4 KiB`, `1.5 MiB`, `1000 B`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    let mut value = bytes as f64;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    match value.fract() == 0.0 {
        true => format!("{value:.0} {}", UNITS[unit]),
        false => format!("{value:.1} {}", UNITS[unit]),
    }
}

/// A size in few letters, for heads of columns: `4K`, `1M`, `1000`.
pub fn short(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 30 && bytes.is_multiple_of(1 << 30) => format!("{}G", bytes >> 30),
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{}M", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{}K", bytes >> 10),
        _ => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_twenty_one_ways_to_write_with_the_names_of_the_lines() {
        let names: Vec<String> =
            Kind::all().into_iter().filter(|kind| kind.writes()).map(Kind::name).collect();
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
        for kind in Kind::all() {
            assert!(!(kind.is_memory() && kind.is_durable()), "{kind:?}");
        }
        assert!(!Kind::Write(Mode::Buffered, Way::Direct).is_memory());
    }

    #[test]
    fn sizes_are_said_in_the_largest_unit_that_fits() {
        assert_eq!(bytes(4096), "4 KiB");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(
            (short(4096), short(1 << 20), short(1000)),
            ("4K".into(), "1M".into(), "1000".into())
        );
    }
}
