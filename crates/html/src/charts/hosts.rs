//! Several hosts: when each ran, and its latency.

use super::frame::{Chart, LEFT, RIGHT, at, cut};
use iosonde_base::text::duration;
use iosonde_report::hosts::{HostGroup, HostRow, HostsReport};
use maud::{Markup, html};

/// Hosts in a drawing at most; the table has more.
const DRAWN_MOST: usize = 48;
/// Height of a host's row.
const ROW: f64 = 20.0;

/// When the jobs of a group began and ended on each host.
pub(crate) fn times(hosts: &HostsReport, group: u32) -> Option<Markup> {
    let rows = rows(hosts, group);
    let most = rows.iter().map(|(_, own)| own.ended_ns).max()?.max(1);
    let least = rows.iter().map(|(_, own)| own.began_ns).min()?;
    let scale = (RIGHT - LEFT) / (most - least).max(1) as f64;
    let x = |ns: u64| LEFT + (ns - least) as f64 * scale;
    let drawing = html! {
        @for (row, (host, own)) in rows.iter().enumerate() {
            @let top = 4.0 + ROW * row as f64;
            text x=(at(LEFT - 8.0)) y=(at(top + 12.0)) text-anchor="end" { (cut(&host.name, 10)) }
            rect.part.level x=(at(x(own.began_ns))) y=(at(top)) height="15"
                width=(at(x(own.first_done_ns) - x(own.began_ns))) {
                title { (host.name) ": all jobs until " (duration(own.first_done_ns.saturating_sub(least))) }
            }
            rect.part.cache x=(at(x(own.first_done_ns))) y=(at(top)) height="15"
                width=(at(x(own.ended_ns) - x(own.first_done_ns))) {
                title { (host.name) ": last job until " (duration(own.ended_ns.saturating_sub(least))) }
            }
        }
        text.name x=(at(RIGHT)) y=(at(16.0 + ROW * rows.len() as f64)) text-anchor="end" {
            (duration(most - least)) " in all"
        }
    };
    let began = hosts.began_ns(group);
    let cells = |(host, own): &(&HostRow, &HostGroup)| {
        let times = [own.began_ns, own.first_done_ns, own.ended_ns]
            .map(|ns| duration(ns.saturating_sub(began)));
        [host.name.clone()].into_iter().chain(times).collect()
    };
    let chart = Chart {
        id: "hosts-times",
        title: "When the hosts ran",
        finding: "From the first job's start to the first job's end, then to the last job's end."
            .to_owned(),
        height: 26.0 + ROW * rows.len() as f64,
        drawing,
        table: (vec!["host", "start", "first done", "last done"], rows.iter().map(cells).collect()),
    };
    Some(chart.markup())
}

/// From the median to the 99th percentile of each host, of the slower direction.
pub(crate) fn latency(hosts: &HostsReport, group: u32) -> Option<Markup> {
    let of = |own: &HostGroup| {
        let known = own.dirs.0.iter().filter_map(|dir| Some((dir.p50_ns?, dir.p99_ns?)));
        known.max_by_key(|&(_, p99)| p99)
    };
    let rows: Vec<(&HostRow, (u64, u64))> =
        rows(hosts, group).into_iter().filter_map(|(host, own)| Some((host, of(own)?))).collect();
    let most = rows.iter().map(|(_, (_, p99))| *p99).max()?.max(1);
    let scale = (RIGHT - LEFT) / most as f64;
    let x = |ns: u64| LEFT + ns as f64 * scale;
    let drawing = html! {
        @for (row, (host, (p50, p99))) in rows.iter().enumerate() {
            @let top = 4.0 + ROW * row as f64;
            text x=(at(LEFT - 8.0)) y=(at(top + 12.0)) text-anchor="end" { (cut(&host.name, 10)) }
            rect.part.level x=(at(x(*p50))) y=(at(top + 3.0)) height="9" width=(at((x(*p99) - x(*p50)).max(2.0))) {
                title { (host.name) ": p50 " (duration(*p50)) ", p99 " (duration(*p99)) }
            }
        }
        text.name x=(at(RIGHT)) y=(at(16.0 + ROW * rows.len() as f64)) text-anchor="end" {
            "0 to " (duration(most))
        }
    };
    let cells = |(host, (p50, p99)): &(&HostRow, (u64, u64))| {
        vec![host.name.clone(), duration(*p50), duration(*p99)]
    };
    let chart = Chart {
        id: "hosts-latency",
        title: "Latency of the hosts",
        finding: "From the median to the 99th percentile.".to_owned(),
        height: 26.0 + ROW * rows.len() as f64,
        drawing,
        table: (vec!["host", "p50", "p99"], rows.iter().map(cells).collect()),
    };
    Some(chart.markup())
}

/// The hosts of a group; of many those that ended last.
fn rows(hosts: &HostsReport, group: u32) -> Vec<(&HostRow, &HostGroup)> {
    let of = |host: &'_ HostRow| host.groups.iter().position(|own| own.group == group);
    let mut rows: Vec<(&HostRow, &HostGroup)> =
        hosts.hosts.iter().filter_map(|host| Some((host, &host.groups[of(host)?]))).collect();
    if rows.len() > DRAWN_MOST {
        iosonde_base::sort_by_key(&mut rows, |(_, own)| std::cmp::Reverse(own.ended_ns));
        rows.truncate(DRAWN_MOST);
    }
    rows
}
