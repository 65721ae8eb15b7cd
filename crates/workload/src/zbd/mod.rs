//! `zonemode=zbd`: writes go to the write pointers of zones, reads to what is below them.
//!
//! An I/O is drawn as without zones; what was drawn selects the zone. [`ZoneTable`] is what is
//! known of the zones of one target, [`ZoneShare`] the same shared by all jobs on it, and the
//! placement of a job's I/Os (`write`, `read`, `trim`) a function of the table and the I/O that
//! was drawn. Commands to the target (reset, finish) are entries of the ring like any other:
//! the loop executes them, and reports that they are done.
//!
//! The rules are those of fio 3.42 (`crates/iosonde/tests/runs/zones.rs` compares with recordings).

mod job;
mod range;
mod read;
mod share;
mod step;
mod table;
mod write;

pub(crate) use job::ZbdJob;
pub use range::{RangeError, RoundedRange, round_range};
pub use share::ZoneShare;
pub use step::ZoneAtHand;
pub(crate) use step::ZoneStep;
pub use table::{ZoneLimits, ZoneTable, ZoneTableError};

/// `zonemode=zbd` of one job.
#[derive(Clone, Debug, PartialEq)]
pub struct ZbdSpec {
    /// The zones of each file, in the order of the files.
    pub files: Vec<ZoneShare>,
    /// Reads are not held to what is written.
    pub read_beyond_wp: bool,
    /// Zones that the job has open at most; 0 for no limit.
    pub job_open_max: usize,
    /// The last bytes of a zone get a smaller write instead of being left.
    pub write_remainder: bool,
    /// Bytes left out after each zone of a sequential job.
    pub skip: u64,
    /// Zones are reset before they are full.
    pub reset: Option<ResetRule>,
    /// After a failed write the pointer is read, and the rest written.
    pub recover: bool,
    /// Nothing is written: the job only goes over its writes, on tables of its own.
    pub imagined: bool,
}

/// `zone_reset_threshold` and `zone_reset_frequency`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResetRule {
    /// From this share of the job's size below write pointers on.
    pub threshold: f64,
    /// Resets per write.
    pub frequency: f64,
}

impl ZbdSpec {
    /// The same on copies of the tables, which no other job sees.
    pub fn private_copy(&self) -> ZbdSpec {
        ZbdSpec { files: self.files.iter().map(ZoneShare::private_copy).collect(), ..self.clone() }
    }
}
