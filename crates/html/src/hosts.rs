//! The hosts of a merged result: the total, a row for each, when each ran.

use crate::charts::hosts as charts;
use iosonde_base::text::{count, duration, percent, rate};
use iosonde_base::{DIRS, Dir};
use iosonde_report::hosts::{DirRates, GroupTogether, HostsReport};
use maud::{Markup, html};

/// Rows of a table at most: the page is to stay small.
const ROWS_MOST: usize = 200;

/// The part of the hosts.
pub(crate) fn section(hosts: &HostsReport) -> Markup {
    html! {
        @for group in &hosts.groups {
            h2 { "Hosts" @if hosts.groups.len() > 1 { ", group " (group.group) } }
            (words(group))
            (table(hosts, group))
            (charts::times(hosts, group.group).unwrap_or_default())
            (charts::latency(hosts, group.group).unwrap_or_default())
        }
        @for host in hosts.hosts.iter().filter(|host| host.failure.is_some()) {
            p.finding-line.wrong {
                strong { "failed" } " " (host.name) ": " (host.failure.as_deref().unwrap_or_default())
            }
        }
        @for finding in &hosts.findings {
            p class={ "finding-line " (finding.severity.word()) } {
                strong { (finding.severity.word()) } " " (finding.statement) " [" (finding.id) "], on "
                (finding.hosts.iter().take(8).cloned().collect::<Vec<_>>().join(", "))
                @if finding.hosts.len() > 8 { " and " (finding.hosts.len() - 8) " more" }
            }
        }
    }
}

/// The verdict on the overlap, skew, the slowest.
fn words(group: &GroupTogether) -> Markup {
    html! {
        @match &group.total {
            Ok(_) => p.finding {
                "All hosts ran together for " (duration(group.common_ns)) " (" (percent(group.overlap))
                " of the longest run)."
            },
            Err(why) => p.finding-line.wrong { strong { "no total" } " " (why) },
        }
        @if group.shows_whole() {
            p.finding {
                "Whole: all work of all hosts, over " (duration(group.whole.ns)) " from the first start to the last end."
            }
        }
        p.finding {
            "Skew: start " (duration(group.start_skew_ns)) ", end " (duration(group.end_skew_ns)) "; "
            @match group.clock_error_ns {
                Some(error) => { "clocks compared within " (duration(error)) "." }
                None => "clocks not compared.",
            }
            @if let Some(slowest) = &group.slowest {
                " Slowest: " (slowest.name) ", " (percent(slowest.of_median)) " of the median host's rate."
            }
        }
    }
}

/// A row of the table; none for a direction without I/O.
fn row(name: &str, dir: Dir, rates: &DirRates, [first, last]: [String; 2]) -> Markup {
    let cell = |ns: Option<u64>| ns.map_or("-".to_owned(), duration);
    html! {
        @if rates.ios > 0 {
            tr {
                th scope="row" { (name) }
                td { (dir.name()) }
                td { (count(rates.iops)) }
                td { (rate(rates.bytes_per_s)) }
                td { (cell(rates.p50_ns)) }
                td { (cell(rates.p99_ns)) }
                td { (duration(rates.max_ns)) }
                td { (first) }
                td { (last) }
            }
        }
    }
}

fn table(hosts: &HostsReport, group: &GroupTogether) -> Markup {
    let began = hosts.began_ns(group.group);
    html! {
        div.scroll tabindex="0" {
            table.sortable {
                thead { tr {
                    @for head in ["host", "direction", "IOPS", "bandwidth", "p50", "p99", "max", "first done", "last done"] {
                        th scope="col" { (head) }
                    }
                } }
                tbody {
                    @if let Ok(total) = &group.total {
                        @for dir in DIRS {
                            (row("all", dir, &total[dir].sum, [String::new(), String::new()]))
                        }
                    }
                    @if group.shows_whole() {
                        @for dir in DIRS {
                            (row("whole", dir, &group.whole.dirs[dir], [String::new(), duration(group.whole.ns)]))
                        }
                    }
                    @for host in hosts.hosts.iter().take(ROWS_MOST) {
                        @for own in host.groups.iter().filter(|own| own.group == group.group) {
                            @let done = [own.first_done_ns, own.ended_ns].map(|ns| duration(ns.saturating_sub(began)));
                            @for dir in DIRS {
                                (row(&host.name, dir, &own.dirs[dir], done.clone()))
                            }
                        }
                    }
                }
            }
        }
        @if hosts.hosts.len() > ROWS_MOST {
            p.note { "The first " (ROWS_MOST) " of " (hosts.hosts.len()) " hosts; the result has all." }
        }
    }
}
