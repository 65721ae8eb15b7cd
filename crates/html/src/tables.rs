//! Tables at the end of a run: all latencies, the system, the settings.

use crate::figures::ledger;
use iosonde_base::text::{bytes, counted, duration, percent};
use iosonde_report::fingerprint::Fingerprint;
use iosonde_report::ledger::{DeviceLedger, Fact, Ledger};
use iosonde_report::{JobReport, LatencyReport, Report};
use maud::{Markup, html};

/// Rows of the table of latencies at most: more jobs are in the table of jobs.
const JOBS_MOST: usize = 64;

/// Every percentile that was reported, for each job and direction.
pub(crate) fn latency(report: &Report) -> Markup {
    let rows: Vec<(String, &LatencyReport)> =
        report.jobs.iter().take(JOBS_MOST).flat_map(rows).collect();
    let mut percents: Vec<f64> = rows
        .iter()
        .flat_map(|(_, latency)| latency.percentiles.as_deref().unwrap_or_default())
        .map(|&(percent, _)| percent)
        .collect();
    percents.sort_by(f64::total_cmp);
    percents.dedup();
    if rows.is_empty() {
        return Markup::default();
    }
    html! {
        details {
            summary { "All latencies" }
            div.scroll tabindex="0" {
                table.sortable {
                    thead { tr {
                        @for head in ["", "I/Os", "min", "mean", "deviation"] { th scope="col" { (head) } }
                        @for percent in &percents { th scope="col" { "p" (percent) } }
                        th scope="col" { "max" }
                    } }
                    tbody { @for (name, latency) in &rows { (latency_row(name, latency, &percents)) } }
                }
            }
            @if report.jobs.len() > JOBS_MOST {
                p.note { "The first " (JOBS_MOST) " jobs; the result has all." }
            }
        }
    }
}

fn latency_row(name: &str, latency: &LatencyReport, percents: &[f64]) -> Markup {
    html! {
        tr {
            th scope="row" { (name) }
            td { (latency.n) }
            td { (duration(latency.min_ns)) }
            td { (duration(latency.mean_ns.round() as u64)) }
            td { (duration(latency.stddev_ns.round() as u64)) }
            @for percent in percents {
                td { (latency.at(*percent).map_or("-".to_owned(), duration)) }
            }
            td { (duration(latency.max_ns)) }
        }
    }
}

/// Submission, completion and total latency of each direction, and syncs.
fn rows(job: &JobReport) -> Vec<(String, &LatencyReport)> {
    let mut rows = Vec::new();
    for (name, dir) in job.shown() {
        let kinds = [("slat", &dir.slat), ("clat", &dir.clat), ("lat", &dir.lat)];
        rows.extend(kinds.map(|(kind, latency)| (format!("{} {name} {kind}", job.name), latency)));
    }
    rows.push((format!("{} sync", job.name), &job.sync.lat));
    rows.retain(|(_, latency)| latency.n > 0);
    rows
}

/// Devices, file systems, machine, fingerprint.
pub(crate) fn system(report: &Report) -> Markup {
    let Some(ledger) = ledger(report) else { return disks(report) };
    let environment = &ledger.environment;
    let processors = counted(environment.cpus.into(), "processor");
    let model = environment.cpu_model.as_deref().unwrap_or("unknown model");
    let facts = [
        ("kernel", environment.kernel.clone()),
        ("processors", format!("{processors}, {model}")),
        ("governor", environment.governor.clone().unwrap_or_default()),
        ("memory", bytes(environment.memory_bytes)),
        ("virtual machine", environment.virtual_machine.clone().unwrap_or_default()),
        ("container", environment.container.clone().unwrap_or_default()),
        ("limits of I/O", environment.cgroup_io.join(", ")),
        (
            "processor time taken by the hypervisor",
            known(&ledger.machine.steal_share, |s| percent(*s)),
        ),
        ("traffic of others", known(&ledger.other_traffic.share, |share| percent(*share))),
    ];
    html! {
        details {
            summary { "System: devices, file systems, machine" }
            div.scroll tabindex="0" {
                table { tbody {
                    @for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
                        tr { th scope="row" { (name) } td.words { (value) } }
                    }
                    @for facts in &environment.filesystems {
                        tr { th scope="row" { "file system" } td.words {
                            (facts.kind) " on " (facts.mount_point) " (" (facts.source) "), "
                            (bytes(facts.bytes)) ", " (known(&facts.fill_share, |fill| percent(*fill)))
                            " full, " (facts.options)
                        } }
                    }
                } }
            }
            (devices(ledger))
            (fingerprint(&ledger.fingerprint))
        }
    }
}

fn known<T>(value: &Fact<T>, words: impl Fn(&T) -> String) -> String {
    match value {
        Fact::Known(value) => words(value),
        Fact::Unknown(why) => format!("unknown: {why}"),
    }
}

fn devices(ledger: &Ledger) -> Markup {
    let heads = [
        "device",
        "kind",
        "model",
        "scheduler",
        "write cache",
        "read",
        "written",
        "flushes",
        "depth",
        "busy",
    ];
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let row = |device: &DeviceLedger| {
        let facts = &device.facts;
        let used = |words: fn(&iosonde_report::ledger::DeviceUse) -> String| {
            device.used.known().map_or("-".to_owned(), words)
        };
        [
            format!("{}{}", "\u{a0}\u{a0}".repeat(device.level as usize), device.name),
            device.kind.clone(),
            text(&facts.model),
            text(&facts.scheduler),
            text(&facts.write_cache),
            used(|used| bytes(used.read_bytes)),
            used(|used| bytes(used.write_bytes)),
            used(|used| used.flushes.to_string()),
            used(|used| format!("{:.1}", used.depth)),
            used(|used| percent(used.busy_share)),
        ]
    };
    html! {
        @if !ledger.devices.is_empty() {
            div.scroll tabindex="0" {
                table {
                    thead { tr { @for head in heads { th scope="col" { (head) } } } }
                    tbody { @for device in &ledger.devices {
                        tr { @for cell in row(device) { td { (cell) } } }
                    } }
                }
            }
        }
    }
}

fn fingerprint(fingerprint: &Fingerprint) -> Markup {
    html! {
        @if *fingerprint != Fingerprint::default() {
            h3 { "Fingerprint" }
            div.scroll tabindex="0" {
                table { tbody {
                    @for (name, text) in fingerprint.parts() {
                        tr {
                            th scope="row" { (name) }
                            td { code { (Fingerprint::hash(text)) } }
                            td.words { (text) }
                        }
                    }
                } }
            }
        }
    }
}

/// The kernel's counters, where there is no ledger.
fn disks(report: &Report) -> Markup {
    html! {
        @if !report.disks.is_empty() {
            details {
                summary { "Disks" }
                div.scroll tabindex="0" {
                    table {
                        thead { tr { @for head in ["disk", "reads", "writes", "read", "written", "busy"] {
                            th scope="col" { (head) }
                        } } }
                        tbody { @for disk in &report.disks {
                            @let counts = &disk.counts;
                            tr {
                                th scope="row" { (disk.name) }
                                td { (counts.ios[0]) } td { (counts.ios[1]) }
                                @for at in [0, 1] {
                                    td { (counts.sectors.map_or("-".to_owned(), |sectors| {
                                        bytes(sectors[at].saturating_mul(512))
                                    })) }
                                }
                                td { (percent(counts.util_percent / 100.0)) }
                            }
                        } }
                    }
                }
            }
        }
    }
}

/// The options with their origin, and the command that does it again.
pub(crate) fn settings(report: &Report) -> Markup {
    let Some(settings) = &report.ours.settings else { return options(report) };
    html! {
        details {
            summary { "Settings, and the command to run it again" }
            pre { code { (settings.command()) } }
            @for job in settings.jobs.iter().take(JOBS_MOST) {
                h3 { (job.name) ", seed " (job.seed) }
                div.scroll tabindex="0" {
                    table {
                        thead { tr { @for head in ["option", "value", "set by"] { th scope="col" { (head) } } } }
                        tbody { @for option in &job.options {
                            tr {
                                th scope="row" { (option.name) }
                                td.words { (option.value) }
                                td { (option.origin) }
                            }
                        } }
                    }
                }
            }
        }
    }
}

/// The options of a result that has no settings: fio's.
fn options(report: &Report) -> Markup {
    let globals = report.global_options.iter().map(|options| ("global".to_owned(), options));
    let jobs = report.jobs.iter().take(JOBS_MOST).map(|job| (job.name.clone(), &job.options));
    let all: Vec<_> = globals.chain(jobs).filter(|(_, options)| !options.is_empty()).collect();
    html! {
        @if !all.is_empty() {
            details {
                summary { "Options" }
                @for (name, options) in all {
                    h3 { (name) }
                    pre { code {
                        @for (option, value) in options {
                            (option) @if !value.is_empty() { "=" (value) } "\n"
                        }
                    } }
                }
            }
        }
    }
}
