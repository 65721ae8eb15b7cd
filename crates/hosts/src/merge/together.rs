//! What all hosts did in the time in which all of them ran, and the verdict on that time.

use super::{MergedGroup, MergedHost};
use iosonde_base::text::{duration, percent};
use iosonde_base::{DIRS, Dir, PerDir};
use iosonde_report::LatencyTotal;
use iosonde_report::hosts::{DirRates, GroupTogether, SlowestHost, TotalDir, WholeWork};

/// Below this share of the longest run there is no total.
pub const OVERLAP_LEAST: f64 = 0.5;

/// A group on all hosts.
pub(super) fn of(
    group: u32,
    hosts: &[MergedHost],
    latencies: Option<&PerDir<LatencyTotal>>,
) -> GroupTogether {
    let members: Vec<(&MergedHost, &MergedGroup)> = hosts
        .iter()
        .filter_map(|host| {
            let own = host.groups.iter().find(|own| own.group == group)?;
            Some((host, own))
        })
        .collect();
    let began = || members.iter().map(|(_, own)| own.span.began_ns);
    let ended = || members.iter().map(|(_, own)| own.span.ended_ns);
    let (first, last) = (began().min().unwrap_or(0), began().max().unwrap_or(0));
    let (first_end, last_end) = (ended().min().unwrap_or(0), ended().max().unwrap_or(0));
    let length = |own: &MergedGroup| own.span.ended_ns.saturating_sub(own.span.began_ns);
    let longest = members.iter().map(|(_, own)| length(own)).max().unwrap_or(0);
    let common_ns = first_end.saturating_sub(last);
    let overlap = if longest == 0 { 0.0 } else { common_ns as f64 / longest as f64 };
    let from_series = members.iter().all(|(_, own)| own.curve.is_some());
    let total = if overlap >= OVERLAP_LEAST {
        Ok(total(&members, (last, first_end), from_series, latencies))
    } else {
        Err(refusal(&members, common_ns, longest))
    };
    GroupTogether {
        group,
        common_ns,
        overlap,
        start_skew_ns: last - first,
        end_skew_ns: last_end - first_end,
        clock_error_ns: clock_error(&members),
        whole: whole(&members, (first, last_end), latencies),
        total,
        from_series,
        slowest: slowest(&members),
    }
}

/// All work over all the time.
fn whole(
    members: &[(&MergedHost, &MergedGroup)],
    (from, to): (u64, u64),
    latencies: Option<&PerDir<LatencyTotal>>,
) -> WholeWork {
    let ns = to.saturating_sub(from);
    let seconds = ns.max(1) as f64 / 1e9;
    let of = |dir: Dir| {
        let sum = |part: fn(&DirRates) -> u64| -> u64 {
            members.iter().map(|(_, own)| part(&own.dirs[dir])).sum()
        };
        let (bytes, ios) = (sum(|own| own.bytes), sum(|own| own.ios));
        let rates = (bytes as f64 / seconds, ios as f64 / seconds);
        rates_of((bytes, ios), rates, dir, latencies).0
    };
    WholeWork { ns, dirs: PerDir(DIRS.map(of)) }
}

/// Counts and rates with the latencies of all values; the 99.9th percentile beside them.
fn rates_of(
    (bytes, ios): (u64, u64),
    (bytes_per_s, iops): (f64, f64),
    dir: Dir,
    latencies: Option<&PerDir<LatencyTotal>>,
) -> (DirRates, Option<u64>) {
    let latency = latencies.map(|all| all[dir].report()).unwrap_or_default();
    let rates = DirRates {
        bytes,
        ios,
        bytes_per_s,
        iops,
        p50_ns: latency.at(50.0),
        p99_ns: latency.at(99.0),
        max_ns: latency.max_ns,
    };
    (rates, latency.at(99.9))
}

fn total(
    members: &[(&MergedHost, &MergedGroup)],
    (from, to): (u64, u64),
    from_series: bool,
    latencies: Option<&PerDir<LatencyTotal>>,
) -> PerDir<TotalDir> {
    let seconds = (to - from) as f64 / 1e9;
    let mut all: PerDir<TotalDir> = PerDir::default();
    for dir in DIRS {
        let (mut bytes, mut ios) = (0.0, 0.0);
        for (_, own) in members {
            let (began, ended) = (own.span.began_ns, own.span.ended_ns);
            let whole = (own.dirs[dir].bytes, own.dirs[dir].ios);
            let curve = own.curve.as_ref().filter(|_| from_series);
            let part = match curve {
                Some(curve) => curve.between(dir, (from - began, to - began), ended - began, whole),
                None => {
                    let share = (to - from) as f64 / (ended - began).max(1) as f64;
                    (whole.0 as f64 * share, whole.1 as f64 * share)
                }
            };
            bytes += part.0;
            ios += part.1;
        }
        let counts = (bytes.round() as u64, ios.round() as u64);
        let rates = (bytes / seconds, ios / seconds);
        let (sum, p999_ns) = rates_of(counts, rates, dir, latencies);
        all[dir] = TotalDir { sum, p999_ns };
    }
    all
}

/// Why there is no total: how little the hosts ran together, and the two that were the
/// farthest apart.
fn refusal(members: &[(&MergedHost, &MergedGroup)], common_ns: u64, longest_ns: u64) -> String {
    let by = |key: fn(&MergedGroup) -> u64| {
        let order = |one: &&(&MergedHost, &MergedGroup)| key(one.1);
        let (low, high) = (members.iter().min_by_key(order), members.iter().max_by_key(order));
        low.zip(high).map(|(low, high)| {
            let apart = key(high.1) - key(low.1);
            (low.0.row.name.as_str(), high.0.row.name.as_str(), apart)
        })
    };
    let (started, ended) = (by(|own| own.span.began_ns), by(|own| own.span.ended_ns));
    let why = match (started, ended) {
        (Some((early, late, start)), Some((.., end))) if start >= end => {
            format!("{late} began {} after {early}", duration(start))
        }
        (_, Some((early, late, end))) => format!("{early} ended {} before {late}", duration(end)),
        _ => "no host ran".to_owned(),
    };
    format!(
        "the hosts ran together for {} of {} ({}), less than half of the longest run, and rates of different \
         times are not added up: {why}",
        duration(common_ns),
        duration(longest_ns),
        percent(common_ns as f64 / longest_ns.max(1) as f64)
    )
}

/// The largest error, if each clock but one was compared with that one.
fn clock_error(members: &[(&MergedHost, &MergedGroup)]) -> Option<u64> {
    let errors: Option<Vec<u64>> =
        members.iter().map(|(host, _)| Some(host.row.clock?.error_ns)).collect();
    errors?.into_iter().max()
}

/// The host with the lowest rate, of two or more.
fn slowest(members: &[(&MergedHost, &MergedGroup)]) -> Option<SlowestHost> {
    let moves_bytes = members.iter().any(|(_, own)| own.dirs.0.iter().any(|dir| dir.bytes > 0));
    let rate = |own: &MergedGroup| -> f64 {
        let of = own.dirs.0.iter();
        if moves_bytes { of.map(|dir| dir.bytes_per_s).sum() } else { of.map(|dir| dir.iops).sum() }
    };
    let mut rates: Vec<(f64, &str)> =
        members.iter().map(|(host, own)| (rate(own), host.row.name.as_str())).collect();
    if rates.len() < 2 {
        return None;
    }
    iosonde_base::sort_by(&mut rates, |one, other| one.0.total_cmp(&other.0));
    let middle = rates.len() / 2;
    let median = match rates.len() % 2 {
        0 => (rates[middle - 1].0 + rates[middle].0) / 2.0,
        _ => rates[middle].0,
    };
    let (rate, name) = rates[0];
    (median > 0.0).then(|| SlowestHost { name: name.to_owned(), of_median: rate / median })
}
