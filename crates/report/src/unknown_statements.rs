//! Statements that a ledger cannot make.

use crate::ledger::{Fact, JobLedger, Ledger};
use iosonde_base::text::bytes;

impl Ledger {
    /// Statements about the run that the signals of this system do not allow:
    /// fragments that fit after "unknown:". Without them a run that has no findings
    /// is clean; with them, nobody knows.
    pub fn unknown_statements(&self) -> Vec<String> {
        let mut unknown = Vec::new();
        let honoured = |job: &JobLedger| job.direct.honoured == Fact::Known(true);
        if let Some(reads) = &self.reads
            && let Fact::Unknown(why) = &reads.device_bytes
            && !self.jobs.iter().filter(|job| job.reads.is_some()).all(honoured)
        {
            let what = format!("where the {} read came from", bytes(reads.completed_bytes));
            unknown.push(format!("{what} ({why})"));
        }
        if let Some(reads) = &self.reads
            && reads.device_bytes.get().is_some()
            && reads.hole_bytes.get().is_some()
            && let Fact::Unknown(why) = &reads.cache_bytes
        {
            let what = format!("how much of the {} read", bytes(reads.completed_bytes));
            unknown.push(format!("{what} came from the page cache ({why})"));
        }
        if let Some(writes) = &self.writes
            && let Fact::Unknown(why) = &writes.dirty_at_end_bytes
            && self.jobs.iter().any(|job| buffered(job) && !honoured(job))
        {
            let what = format!("whether the {} written had", bytes(writes.completed_bytes));
            unknown.push(format!("{what} left memory at the end of the run ({why})"));
        }
        let of = |job: &JobLedger| match &job.direct.honoured {
            Fact::Unknown(why) if job.direct.requested && moved(job) => Some(why.clone()),
            _ => None,
        };
        if let Some(why) = self.jobs.iter().find_map(of) {
            unknown.push(format!("whether direct I/O was honoured ({why})"));
        }
        unknown
    }
}

/// File systems with pages that are clean here only: a program or another
/// machine has the data, and may keep them in memory.
pub fn is_served(kind: &str) -> bool {
    const SERVED: [&str; 7] = ["9p", "virtiofs", "ceph", "cifs", "smb3", "afs", "vboxsf"];
    kind.starts_with("fuse") || SERVED.contains(&kind)
}

/// Whether the job moved bytes of files or devices.
fn moved(job: &JobLedger) -> bool {
    job.reads.is_some() || job.writes.is_some()
}

/// Whether what the job wrote may be in memory when its clock stops, and its
/// durable rate does not show how much.
fn buffered(job: &JobLedger) -> bool {
    let unclear = |writes: &crate::ledger::Writes| writes.durable_bytes_per_s.get().is_none();
    let served = job.files.filesystems.iter().any(|kind| is_served(kind));
    !job.options.sync && job.writes.as_ref().is_some_and(|writes| served || unclear(writes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{DirectLedger, Reads, Writes};

    fn reader(device: Fact<u64>, honoured: Fact<bool>) -> Ledger {
        let reads = Reads { completed_bytes: 1 << 20, device_bytes: device, ..Reads::default() };
        let job = JobLedger {
            reads: Some(reads.clone()),
            direct: DirectLedger { requested: true, honoured, reason: String::new() },
            ..JobLedger::default()
        };
        Ledger { jobs: vec![job], reads: Some(reads), ..Ledger::default() }
    }

    #[test]
    fn what_is_known_leaves_nothing_unknown() {
        assert_eq!(reader(Fact::Known(1 << 20), Fact::Known(true)).unknown_statements(), [""; 0]);
        // Direct I/O that is known to be honoured comes from no page cache.
        let known = reader(Fact::unknown("why"), Fact::Known(true));
        assert_eq!(known.unknown_statements(), [""; 0]);
        assert_eq!(Ledger::default().unknown_statements(), [""; 0]);
    }

    #[test]
    fn a_source_and_a_direct_flag_that_nobody_sees_are_told_with_the_reason() {
        let hidden = reader(Fact::unknown("fuse"), Fact::unknown("a program serves it"));
        assert_eq!(
            hidden.unknown_statements(),
            [
                "where the 1 MiB read came from (fuse)",
                "whether direct I/O was honoured (a program serves it)"
            ]
        );
    }

    #[test]
    fn buffered_writes_need_their_dirty_pages_or_a_durable_rate() {
        let mut writes = Writes { completed_bytes: 1 << 20, ..Writes::default() };
        let of = |writes: &Writes| Ledger {
            jobs: vec![JobLedger { writes: Some(writes.clone()), ..JobLedger::default() }],
            writes: Some(writes.clone()),
            ..Ledger::default()
        };
        let unknown = of(&writes).unknown_statements();
        assert!(unknown[0].starts_with("whether the 1 MiB written had left memory"), "{unknown:?}");
        writes.durable_bytes_per_s = Fact::Known(1e8);
        assert_eq!(of(&writes).unknown_statements(), [""; 0]);
    }
}
