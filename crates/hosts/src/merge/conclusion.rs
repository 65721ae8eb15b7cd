//! The conclusions of several hosts as one.

use super::MergedHost;
use iosonde_base::text::counted;
use iosonde_report::conclusion::{
    Certainty, Conclusion, FailedPart, LimitedBy, Outcome, RunEnding, Usable, conclude,
};
use iosonde_report::{Report, hosts::HostRow};

/// Hosts that are named at most.
const NAMED_MOST: usize = 3;

/// The conclusion of a merged report; the hosts as they stand in it.
pub(super) fn of(report: &Report, rows: &[HostRow], each: &[Option<Conclusion>]) -> Conclusion {
    let is = |outcome: Outcome| {
        let named = rows.iter().zip(each);
        let named =
            named.filter(move |(_, one)| one.as_ref().is_some_and(|one| one.outcome == outcome));
        named.map(|(row, _)| row)
    };
    // Results of other programs have no conclusion, but may have a failure.
    let failed = rows.iter().zip(each).filter(|(row, one)| {
        let stopped = one.as_ref().is_some_and(|one| one.outcome == Outcome::Stopped);
        row.failure.is_some() && !stopped
    });
    let ending = RunEnding {
        jobs: rows.len() as u64,
        failed: failed
            .map(|(row, _)| FailedPart {
                name: row.name.clone(),
                why: row.failure.clone().unwrap_or_default(),
            })
            .collect(),
        of_hosts: true,
        ..RunEnding::default()
    };
    let concluded = conclude(report, &ending);
    let stopped: Vec<&HostRow> = is(Outcome::Stopped).collect();
    match concluded.outcome {
        Outcome::Failed | Outcome::Nothing => concluded,
        _ if !stopped.is_empty() => Conclusion {
            outcome: Outcome::Stopped,
            usable: Usable::No,
            text: format!(
                "Stopped on {} of {}: {}.",
                stopped.len(),
                counted(rows.len() as u64, "host"),
                named(&stopped)
            ),
            ..Conclusion::default()
        },
        _ => limits(rows, each),
    }
}

fn named(rows: &[&HostRow]) -> String {
    let one = |row: &&HostRow| match &row.failure {
        Some(why) => format!("{} ({why})", row.name),
        None => row.name.clone(),
    };
    let named: Vec<String> = rows.iter().take(NAMED_MOST).map(one).collect();
    match rows.len().saturating_sub(NAMED_MOST) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Of hosts that all did what they were to do.
fn limits(rows: &[HostRow], each: &[Option<Conclusion>]) -> Conclusion {
    let mut limits: Vec<(&LimitedBy, u64)> = Vec::new();
    for one in each.iter().flatten() {
        match limits.iter_mut().find(|(limit, _)| **limit == one.limit) {
            Some((_, hosts)) => *hosts += 1,
            None => limits.push((&one.limit, 1)),
        }
    }
    iosonde_base::sort_by_key(&mut limits, |(_, hosts)| std::cmp::Reverse(*hosts));
    let all = counted(rows.len() as u64, "host");
    let text = match limits.as_slice() {
        [] => format!("Completed on {all}; not judged, as their results have no ledger."),
        several => {
            let parts: Vec<String> = several
                .iter()
                .map(|(limit, hosts)| format!("{} on {hosts}", limit.word()))
                .collect();
            format!(
                "Limited by {} of {all}; what the figures of each may be used for is in its own result.",
                parts.join(", by ")
            )
        }
    };
    let judged = || each.iter().flatten();
    let worst = |usable: &Usable| judged().any(|one| one.usable == *usable);
    let usable = [Usable::No, Usable::Unknown, Usable::Warnings, Usable::Yes];
    Conclusion {
        usable: usable.into_iter().find(worst).unwrap_or_default(),
        limit: match limits.as_slice() {
            [] => LimitedBy::Unknown,
            [(limit, _)] => (*limit).clone(),
            _ => LimitedBy::Mixed,
        },
        certainty: judged().map(|one| one.certainty.clone()).min().unwrap_or(Certainty::Unknown),
        text,
        ..Conclusion::default()
    }
}

/// The conclusions that the hosts came with, in their order.
pub(super) fn taken(hosts: &mut [MergedHost]) -> Vec<Option<Conclusion>> {
    hosts.iter_mut().map(|host| host.conclusion.take()).collect()
}
