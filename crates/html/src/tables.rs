//! Tables at the end of a run: all latencies, the system, the settings.

use crate::figures::ledger;
use iosonde_base::text::{bytes, counted, duration, percent};
use iosonde_report::fingerprint::Fingerprint;
use iosonde_report::ledger::{DeviceLedger, Fact, Ledger};
use iosonde_report::{JobReport, LatencyReport, Report};
use maud::{Markup, html};

/// Jobs in the tables of latencies and settings at most: more are in the table of jobs.
const JOBS_MOST: usize = 64;

/// Latencies next to each other at most: as many as a sheet of paper has room for.
const BESIDE_MOST: usize = 8;

/// Every percentile that was reported, for each job and direction: a column each.
pub(crate) fn latency(report: &Report) -> Markup {
    let names = report.job_names();
    let jobs = report.jobs.iter().zip(&names).take(JOBS_MOST);
    let all: Vec<(String, &LatencyReport)> =
        jobs.flat_map(|(job, name)| of_job(job, name)).collect();
    let mut percents: Vec<f64> = all
        .iter()
        .flat_map(|(_, latency)| latency.percentiles.as_deref().unwrap_or_default())
        .map(|&(percent, _)| percent)
        .collect();
    percents.sort_by(f64::total_cmp);
    percents.dedup();
    if all.is_empty() {
        return Markup::default();
    }
    html! {
        details {
            summary { "All latencies" }
            @for some in all.chunks(BESIDE_MOST) { (latencies(some, &percents)) }
            @if report.jobs.len() > JOBS_MOST {
                p.note { "The first " (JOBS_MOST) " jobs; the result has all." }
            }
        }
    }
}

fn latencies(all: &[(String, &LatencyReport)], percents: &[f64]) -> Markup {
    let ns = |ns: f64| duration(ns.round() as u64);
    let row = |name: &str, text: &dyn Fn(&LatencyReport) -> String| {
        html! { tr {
            th scope="row" { (name) }
            @for (_, latency) in all { td { (text(latency)) } }
        } }
    };
    html! {
        div.scroll tabindex="0" {
            table.copied {
                thead { tr {
                    th scope="col" { "" }
                    @for (name, _) in all { th.wrapped scope="col" { (name) } }
                } }
                tbody {
                    (row("I/Os", &|one| one.n.to_string()))
                    (row("mean", &|one| ns(one.mean_ns)))
                    (row("deviation", &|one| ns(one.stddev_ns)))
                    (row("min", &|one| duration(one.min_ns)))
                    @for percent in percents {
                        (row(&format!("p{percent}"),
                            &|one| one.at(*percent).map_or("-".to_owned(), duration)))
                    }
                    (row("max", &|one| duration(one.max_ns)))
                }
            }
        }
    }
}

/// Submission, completion and total latency of each direction, and syncs.
fn of_job<'a>(job: &'a JobReport, job_name: &str) -> Vec<(String, &'a LatencyReport)> {
    let mut rows = Vec::new();
    for (name, dir) in job.shown() {
        let kinds = [("slat", &dir.slat), ("clat", &dir.clat), ("lat", &dir.lat)];
        rows.extend(kinds.map(|(kind, latency)| (format!("{job_name} {name} {kind}"), latency)));
    }
    rows.push((format!("{job_name} sync"), &job.sync.lat));
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

/// The options with their origin.
pub(crate) fn settings(report: &Report) -> Markup {
    let Some(settings) = &report.ours.settings else { return options(report) };
    html! {
        details {
            summary { "Settings, and where each was set" }
            @for job in settings.jobs.iter().take(JOBS_MOST) {
                h3 { (job.name) ", seed " (job.seed) }
                div.scroll tabindex="0" {
                    table {
                        thead { tr {
                            th scope="col" { "option" }
                            th.words scope="col" { "value" }
                            th scope="col" { "set by" }
                        } }
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
