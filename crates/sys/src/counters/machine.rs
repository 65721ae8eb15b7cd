//! Counters of the machine: processors (/proc/stat), pages written
//! (/proc/vmstat).

use std::io;

use iosonde_direct::sysfs;

/// Time of all processors together since the machine started, in the kernel's
/// ticks (hundredths of a second on most machines).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// All of it.
    pub total: u64,
    /// Idle, with or without I/O under way.
    pub idle: u64,
    /// Taken by the hypervisor for other machines.
    pub stolen: u64,
}

impl CpuTime {
    /// Now.
    ///
    /// # Errors
    /// If /proc cannot be read.
    pub fn now() -> io::Result<CpuTime> {
        CpuTime::parse(&sysfs::text("proc/stat")?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no processor time in it"))
    }

    /// From the text of /proc/stat.
    pub fn parse(stat: &str) -> Option<CpuTime> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let fields: Vec<u64> =
            line.split_ascii_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
        // user nice system idle iowait irq softirq steal guest guest_nice; the
        // guests' time is in user and nice already.
        let at = |index: usize| fields.get(index).copied().unwrap_or(0);
        (fields.len() >= 4).then(|| CpuTime {
            total: fields.iter().take(8).sum(),
            idle: at(3) + at(4),
            stolen: at(7),
        })
    }

    /// The difference since `earlier`.
    pub fn since(&self, earlier: &CpuTime) -> CpuTime {
        CpuTime {
            total: self.total.saturating_sub(earlier.total),
            idle: self.idle.saturating_sub(earlier.idle),
            stolen: self.stolen.saturating_sub(earlier.stolen),
        }
    }
}

/// Pages of all files since the machine started: only a supporting sign, as
/// they are everybody's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageFlow {
    /// Became dirty.
    pub dirtied_pages: u64,
    /// Left the page cache for a device.
    pub written_pages: u64,
    /// Were taken from the page cache, or from programs, for other uses.
    pub reclaimed_pages: u64,
}

impl PageFlow {
    /// Now.
    ///
    /// # Errors
    /// If /proc cannot be read.
    pub fn now() -> io::Result<PageFlow> {
        PageFlow::parse(&sysfs::text("proc/vmstat")?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no page counts in it"))
    }

    /// From the text of /proc/vmstat.
    pub fn parse(vmstat: &str) -> Option<PageFlow> {
        let field = |name: &str| -> Option<u64> {
            vmstat.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
        };
        Some(PageFlow {
            dirtied_pages: field("nr_dirtied ")?,
            written_pages: field("nr_written ")?,
            reclaimed_pages: by_reclaimer(vmstat),
        })
    }

    /// The difference since `earlier`.
    pub fn since(&self, earlier: &PageFlow) -> PageFlow {
        PageFlow {
            dirtied_pages: self.dirtied_pages.saturating_sub(earlier.dirtied_pages),
            written_pages: self.written_pages.saturating_sub(earlier.written_pages),
            reclaimed_pages: self.reclaimed_pages.saturating_sub(earlier.reclaimed_pages),
        }
    }
}

/// Pages by who took them: kswapd, allocations, groups, DAMON. By their kind
/// (`pgsteal_anon`, `pgsteal_file`) they are counted again.
fn by_reclaimer(vmstat: &str) -> u64 {
    let of = |line: &str| {
        let (who, pages) = line.strip_prefix("pgsteal_")?.split_once(' ')?;
        (!["anon", "file"].contains(&who)).then(|| pages.trim().parse::<u64>().ok())?
    };
    vmstat.lines().filter_map(of).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_are_not_counted_twice() {
        let time = CpuTime::parse("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 1 1 1\n").unwrap();
        assert_eq!(time, CpuTime { total: 36, idle: 9, stolen: 8 });
        let old = CpuTime::parse("cpu 1 2 3 4\n").unwrap();
        assert_eq!(old, CpuTime { total: 10, idle: 4, stolen: 0 });
        for text in ["", "cpu", "cpu 1 2", "cpu a b c d", "cpu0 1 2 3 4"] {
            assert_eq!(CpuTime::parse(text), None, "{text}");
        }
    }

    #[test]
    fn pages_are_found_by_name() {
        let text = "nr_dirty 3\nnr_dirtied 5\nnr_written 7\npgsteal_kswapd 2\npgsteal_direct 1\n\
                    pgsteal_anon 1\npgsteal_file 2\n";
        let flow = PageFlow::parse(text).unwrap();
        assert_eq!(flow, PageFlow { dirtied_pages: 5, written_pages: 7, reclaimed_pages: 3 });
        assert_eq!(PageFlow::parse("nr_written 7\n"), None);
    }

    #[test]
    fn this_machine_has_both() {
        assert!(CpuTime::now().unwrap().total > 0);
        assert!(PageFlow::now().is_ok());
    }
}
