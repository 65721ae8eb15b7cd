//! Where and when a run took place that is one of several hosts'.

use super::place::RankPlace;
use iosonde_hosts::member;
use iosonde_report::hosts::{GroupSpan, HostStamp};
use iosonde_run::conductor::RunOutcome;
use iosonde_run::job::Plan;

/// The stamp of a run that has ended; `start` is what started the hosts together, `job` the job as
/// all have it.
pub fn of(place: &RankPlace, start: &str, job: &str, plan: &Plan, ended: &RunOutcome) -> HostStamp {
    let signal = ended.signal.map(|signal| format!("stopped by signal {signal}"));
    HostStamp {
        name: place.name.clone(),
        rank: place.rank,
        ranks: place.ranks,
        machine: member::machine(),
        start: start.to_owned(),
        groups: spans(plan, ended),
        clock: None,
        job: job.to_owned(),
        ended_early: ended.peers_ended.clone().or(signal),
    }
}

/// When the jobs of each reporting group ran.
fn spans(plan: &Plan, ended: &RunOutcome) -> Vec<GroupSpan> {
    let mut groups: Vec<GroupSpan> = Vec::new();
    for (job, span) in plan.jobs.iter().zip(&ended.spans) {
        let Some(span) = span else { continue };
        let (began, end) = (span.began_unix_ns, span.ended_unix_ns);
        match groups.iter_mut().find(|known| known.group == job.group) {
            Some(known) => {
                known.began_unix_ns = known.began_unix_ns.min(began);
                known.first_done_unix_ns = known.first_done_unix_ns.min(end);
                known.ended_unix_ns = known.ended_unix_ns.max(end);
            }
            None => groups.push(GroupSpan {
                group: job.group,
                began_unix_ns: began,
                first_done_unix_ns: end,
                ended_unix_ns: end,
            }),
        }
    }
    groups
}
