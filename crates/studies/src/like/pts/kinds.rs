//! The four tests: their cells, and what is tracked.
//!
//! Cells and rounds are those of SNIA's Solid State Storage Performance Test
//! Specification as TKperf runs them (src/DeviceTests.py, src/StdyState.py).

/// A test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PtsKind {
    /// IOPS: seven mixes of random reads and writes, eight block sizes.
    Iops,
    /// Throughput: sequential reads and writes of 1024 KiB.
    Throughput,
    /// Latency: three mixes, three block sizes, one I/O at a time.
    Latency,
    /// Write saturation: random writes of 4 KiB, to 4 times the capacity.
    WriteSaturation,
}

/// A combination of a mix and a block size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtsCell {
    /// Percent of reads.
    pub reads: u32,
    /// Bytes of an I/O.
    pub block: u64,
    /// One I/O behind the other, not at random.
    pub is_sequential: bool,
    /// I/Os in flight.
    pub depth: u32,
}

const KIB: u64 = 1 << 10;
/// I/Os in flight where a test does not ask for one; SNIA leaves it to the tester.
const DEPTH: u32 = 32;

impl PtsKind {
    /// All of them.
    pub const ALL: [PtsKind; 4] =
        [PtsKind::Iops, PtsKind::Throughput, PtsKind::Latency, PtsKind::WriteSaturation];

    /// Of a name in `iosonde like`.
    pub fn of(name: &str) -> Option<PtsKind> {
        PtsKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The name in `iosonde like`.
    pub fn name(self) -> &'static str {
        match self {
            PtsKind::Iops => "pts-iops",
            PtsKind::Throughput => "pts-tp",
            PtsKind::Latency => "pts-lat",
            PtsKind::WriteSaturation => "pts-wsat",
        }
    }

    /// For the list.
    pub fn summary(self) -> &'static str {
        match self {
            PtsKind::Iops => "SNIA PTS: IOPS of 56 cells in the steady state; a device",
            PtsKind::Throughput => "SNIA PTS: sequential throughput in the steady state; a device",
            PtsKind::Latency => "SNIA PTS: latency at depth 1 in the steady state; a device",
            PtsKind::WriteSaturation => "SNIA PTS: random writes to 4 times the capacity; a device",
        }
    }

    /// The cells of a round, in the order in which they run.
    pub fn cells(self) -> Vec<PtsCell> {
        let random = |reads: u32, block: u64, depth: u32| PtsCell {
            reads,
            block,
            is_sequential: false,
            depth,
        };
        match self {
            PtsKind::Iops => {
                let blocks = [1024, 128, 64, 32, 16, 8, 4].map(|kib| kib * KIB);
                let blocks: Vec<u64> = blocks.into_iter().chain([512]).collect();
                let mixes = [100, 95, 65, 50, 35, 5, 0];
                let of = |reads| blocks.iter().map(move |&block| random(reads, block, DEPTH));
                mixes.into_iter().flat_map(of).collect()
            }
            PtsKind::Throughput => [100, 0]
                .map(|reads| PtsCell {
                    reads,
                    block: 1024 * KIB,
                    is_sequential: true,
                    depth: DEPTH,
                })
                .to_vec(),
            PtsKind::Latency => {
                let of = |reads| [8 * KIB, 4 * KIB, 512].map(|block| random(reads, block, 1));
                [100, 65, 0].into_iter().flat_map(of).collect()
            }
            PtsKind::WriteSaturation => vec![random(0, 4 * KIB, DEPTH)],
        }
    }

    /// The cell with the figure that shows whether the state is steady.
    pub fn is_tracked(self, cell: &PtsCell) -> bool {
        match self {
            PtsKind::Throughput => cell.reads == 0,
            _ => cell.reads == 0 && cell.block == 4 * KIB,
        }
    }
}

impl PtsCell {
    /// As `randrw` and the like.
    pub fn direction(&self) -> &'static str {
        match (self.is_sequential, self.reads) {
            (true, 100) => "read",
            (true, _) => "write",
            (false, 100) => "randread",
            (false, 0) => "randwrite",
            (false, _) => "randrw",
        }
    }

    /// `65/35`: reads and writes.
    pub fn mix(&self) -> String {
        format!("{}/{}", self.reads, 100 - self.reads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_has_its_cells_and_tracks_one() {
        for (kind, cells) in [
            (PtsKind::Iops, 56),
            (PtsKind::Throughput, 2),
            (PtsKind::Latency, 9),
            (PtsKind::WriteSaturation, 1),
        ] {
            let all = kind.cells();
            assert_eq!(all.len(), cells, "{kind:?}");
            assert_eq!(all.iter().filter(|cell| kind.is_tracked(cell)).count(), 1, "{kind:?}");
            assert_eq!(PtsKind::of(kind.name()), Some(kind));
        }
        assert_eq!(PtsKind::of("pts"), None);
    }
}
