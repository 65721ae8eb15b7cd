//! How long tasks blocked for want of something (/proc/pressure).

use std::io;

use iosonde_direct::sysfs;

/// What tasks may wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Processors.
    Cpu,
    /// Memory.
    Memory,
    /// Storage.
    Io,
}

/// Time lost since the machine started, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    /// At least one task blocked.
    pub some_us: u64,
    /// All blocked, so that nothing was done; zero where it is not reported.
    pub full_us: u64,
}

impl Pressure {
    /// Of the whole machine.
    ///
    /// # Errors
    /// If the kernel does not count it (CONFIG_PSI, `psi=1`).
    pub fn of(resource: Resource) -> io::Result<Pressure> {
        let name = match resource {
            Resource::Cpu => "cpu",
            Resource::Memory => "memory",
            Resource::Io => "io",
        };
        Pressure::parse(&sysfs::text(&format!("proc/pressure/{name}"))?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no pressure in it"))
    }

    /// From the text of a pressure file.
    pub fn parse(text: &str) -> Option<Pressure> {
        let total = |kind: &str| -> Option<u64> {
            let line = text.lines().find_map(|line| line.strip_prefix(kind))?;
            let word =
                line.split_ascii_whitespace().find_map(|word| word.strip_prefix("total="))?;
            word.parse().ok()
        };
        Some(Pressure { some_us: total("some ")?, full_us: total("full ").unwrap_or(0) })
    }

    /// The difference since `earlier`.
    pub fn since(&self, earlier: &Pressure) -> Pressure {
        Pressure {
            some_us: self.some_us.saturating_sub(earlier.some_us),
            full_us: self.full_us.saturating_sub(earlier.full_us),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_and_the_rest_left() {
        let text = "some avg10=0.00 avg60=1.10 avg300=0.50 total=123\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=45\n";
        assert_eq!(Pressure::parse(text), Some(Pressure { some_us: 123, full_us: 45 }));
        let old = "some avg10=0.00 avg60=0.00 avg300=0.00 total=9\n";
        assert_eq!(Pressure::parse(old), Some(Pressure { some_us: 9, full_us: 0 }));
        for text in ["", "some", "some total=", "full total=3", "some total=x"] {
            assert_eq!(Pressure::parse(text), None, "{text}");
        }
    }
}
