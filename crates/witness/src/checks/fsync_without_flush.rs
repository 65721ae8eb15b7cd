//! fsync calls of a system whose fsync(2) leaves the drive's cache as it is.

use super::worst_job;
use iosonde_base::text::counted;
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::{JobLedger, Ledger};

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "fsync-without-flush",
    severity: Severity::Warning,
    condition: "a job synced what it wrote (fsync and similar, O_SYNC, end_fsync) on a system \
                whose call does not ask the drive to empty its volatile cache: fsync(2) on macOS",
    meaning: "On macOS fsync(2) ends when the drive has the data, which may still be in its volatile \
              cache and may be written in another order. Data that was reported as synced can be lost \
              with the power. Only F_FULLFSYNC of fcntl(2) asks the drive to empty the cache, and takes \
              many times as long. On Linux, FreeBSD and Windows a sync ends with a flush of the drive.",
    remedy: "do not compare these syncs with those of another system; quote the durable rate, \
             which includes one F_FULLFSYNC at the end; an application that must not lose data \
             has to call F_FULLFSYNC",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    worst_job(ledger, |job| {
        let call = job.syncs.without_flush.as_ref()?;
        let text =
            format!("{}: {call} does not empty the drive's volatile cache", what_synced(job));
        Some((Severity::Warning, text))
    })
}

fn what_synced(job: &JobLedger) -> String {
    match job.syncs.requested {
        0 if job.options.sync => "each write was to be synced".to_owned(),
        0 => "the data was synced at the end".to_owned(),
        syncs => counted(syncs, "fsync call"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{says, writer};
    use super::*;

    #[test]
    fn a_sync_without_a_flush_is_reported_with_what_asked_for_it() {
        let mut ledger = writer();
        ledger.jobs[0].syncs.requested = 1000;
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.jobs[0].syncs.without_flush = Some("fsync(2)".to_owned());
        let (severity, text) = says(RULE.id, &ledger).unwrap();
        assert_eq!(severity, Severity::Warning);
        assert_eq!(text, "1000 fsync calls: fsync(2) does not empty the drive's volatile cache");
        ledger.jobs[0].syncs.requested = 0;
        assert!(says(RULE.id, &ledger).unwrap().1.starts_with("the data was synced at the end"));
        ledger.jobs[0].options.sync = true;
        assert!(says(RULE.id, &ledger).unwrap().1.starts_with("each write was to be synced"));
    }
}
