//! What the figures of a run may be used for.

use super::limit::Limited;
use super::words::target;
use super::{LimitedBy, Usable};
use crate::finding::Severity;
use crate::ledger::Ledger;

/// A rate below this share of the one before is none to use.
const RATE_LEFT: f64 = 0.05;

/// Whether the figures may be used, and in words: a clause without a full stop.
pub(super) fn of(ledger: &Ledger, limited: &Limited) -> (Usable, String) {
    let target = target(ledger);
    let found = |least: Severity| ledger.verdict.iter().find(move |one| one.severity >= least);
    let unknown = !ledger.unknown_statements().is_empty();
    if let Some(finding) = found(Severity::Wrong) {
        let words = match limited.limit {
            LimitedBy::Memory => format!("these are not figures of {target}"),
            _ => format!("not usable as figures of {target} [{}]", finding.id),
        };
        return (Usable::No, words);
    }
    let (usable, words) = match found(Severity::Warning) {
        Some(first) => {
            (Usable::Warnings, with_warnings(ledger, limited, first.id.as_ref(), &target))
        }
        None => (Usable::Yes, without_warnings(ledger, limited, &target)),
    };
    if unknown {
        let also = if usable == Usable::Warnings { format!("; {words}") } else { String::new() };
        let words =
            format!("whether these are figures of {target} is unknown, as stated below{also}");
        return (Usable::Unknown, words);
    }
    (usable, words)
}

fn with_warnings(ledger: &Ledger, limited: &Limited, first: &str, target: &str) -> String {
    let says = |id: &str| ledger.verdict.iter().any(|finding| finding.id == id);
    if limited.limit == LimitedBy::Stall {
        return format!("no figures of {target} at work [{first}]");
    }
    if says("not-steady") && limited.stall.is_none() {
        return changed(ledger);
    }
    if says("not-durable") {
        return "use the durable rate, not the reported one".to_owned();
    }
    match limited.limit {
        LimitedBy::Pace => {
            format!("use the latencies, not the rate, with the warnings below, first {first}")
        }
        LimitedBy::Tester => "an upper bound, not a figure of storage".to_owned(),
        _ => format!("usable with the warnings below, first {first}"),
    }
}

fn without_warnings(ledger: &Ledger, limited: &Limited, target: &str) -> String {
    match limited.limit {
        LimitedBy::Stall => format!("no figures of {target} at work"),
        LimitedBy::Pace => "use the latencies, not the rate".to_owned(),
        LimitedBy::Tester => "an upper bound, not a figure of storage".to_owned(),
        _ if ledger.verdict.iter().any(|finding| finding.id == "short-run") => {
            "a first impression: the run was short".to_owned()
        }
        _ => format!("usable as rate and latency of {target} under this load"),
    }
}

/// Of a run with two rates, which to use.
fn changed(ledger: &Ledger) -> String {
    match ledger.changes.as_slice() {
        [one] if one.after_bytes_per_s >= RATE_LEFT * one.before_bytes_per_s => {
            "the mean covers two rates: use the one after the change".to_owned()
        }
        _ => "the mean covers different rates: see the rate over time".to_owned(),
    }
}
