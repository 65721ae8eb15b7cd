//! What was tested: the machine, the disk, the file system, the program, the job.

use crate::command_line::command;
use crate::figures::ledger;
use crate::parts::program;
use iosonde_base::text::{bytes, counted};
use iosonde_report::ledger::{DeviceLedger, Ledger};
use iosonde_report::scale::timestamp_with_zone;
use iosonde_report::{Report, RunSettings};
use maud::{Markup, html};

/// Sections of a job that are printed at most.
const SECTIONS_MOST: usize = 24;

/// The table, always open: it belongs to the figures.
pub(crate) fn section(report: &Report) -> Markup {
    let mut rows = report_rows(report);
    let settings = report.ours.settings.as_ref();
    rows.extend(settings.map(|settings| ("command", settings.command())));
    table(&rows, settings)
}

/// What a report knows about what it is of.
pub(crate) fn report_rows(report: &Report) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if let Some(ledger) = ledger(report) {
        rows = tested_rows(ledger);
    } else {
        let disks: Vec<&str> = report.disks.iter().map(|disk| disk.name.as_str()).collect();
        if !disks.is_empty() {
            rows.push(("disks", disks.join(", ")));
        }
    }
    rows.push(("program", program(report).to_owned()));
    rows.push(("date", timestamp_with_zone(report.time_unix_ms, report.utc_offset_s)));
    rows
}

/// The table of these rows, then of the variables and the job, where they are known.
pub(crate) fn table(rows: &[(&'static str, String)], settings: Option<&RunSettings>) -> Markup {
    html! {
        section.tested {
            h2 { "What was tested" }
            table { tbody {
                @for (name, value) in rows {
                    tr { th scope="row" { (name) } td.words {
                        @if *name == "command" { (command(value)) } @else { (value) }
                    } }
                }
                @if let Some(settings) = settings {
                    @if !settings.environment.is_empty() {
                        tr { th scope="row" { "environment" } td.words { code { (environment(settings)) } } }
                    }
                    tr { th scope="row" { "job" } td.words { pre { code { (job_text(settings)) } } } }
                }
            } }
        }
    }
}

/// The machine, its disks and file systems, as far as a ledger knows them.
pub fn tested_rows(ledger: &Ledger) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    let environment = &ledger.environment;
    if let Some(host) = &environment.host {
        rows.push(("host", host.clone()));
    }
    let model = environment.cpu_model.as_deref().unwrap_or("unknown model");
    let mut machine = vec![
        format!("{}, {model}", counted(environment.cpus.into(), "processor")),
        format!("{} of memory", bytes(environment.memory_bytes)),
    ];
    machine.extend(
        environment.virtual_machine.as_ref().map(|kind| format!("virtual machine ({kind})")),
    );
    machine.extend(environment.container.as_ref().map(|kind| format!("container ({kind})")));
    rows.push(("machine", machine.join(", ")));
    rows.extend(ledger.devices.iter().map(|device| ("disk", device_words(device))));
    for place in &environment.filesystems {
        let words = format!(
            "{} on {} ({}), {}, options {}",
            place.kind,
            place.mount_point,
            place.source,
            bytes(place.bytes),
            place.options
        );
        rows.push(("file system", words));
    }
    rows.push(("kernel", environment.kernel.clone()));
    rows
}

/// `nvme0n1: EXAMPLE SSD, firmware 1.0, scheduler none, write cache write back`.
fn device_words(device: &DeviceLedger) -> String {
    let facts = &device.facts;
    let mut words = vec![facts.model.clone().unwrap_or_else(|| device.kind.clone())];
    words.extend(facts.firmware.as_ref().map(|firmware| format!("firmware {firmware}")));
    words.extend(facts.scheduler.as_ref().map(|scheduler| format!("scheduler {scheduler}")));
    words.extend(facts.write_cache.as_ref().map(|cache| format!("write cache {cache}")));
    if !device.made_of.is_empty() {
        words.push(format!("made of {}", device.made_of.join(", ")));
    }
    format!("{}: {}", device.name, words.join(", "))
}

/// `SIZE=4g, DEPTH is not set`: the variables that the job files refer to.
fn environment(settings: &RunSettings) -> String {
    let words = settings.environment.iter().map(|one| match &one.value {
        Some(value) => format!("{}={value}", one.name),
        None => format!("{} is not set", one.name),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// The job as a job file: every section with the options that were set, without those that
/// follow from others.
fn job_text(settings: &RunSettings) -> String {
    let mut text = String::new();
    for (at, job) in settings.jobs.iter().take(SECTIONS_MOST).enumerate() {
        text.push_str(if at > 0 { "\n" } else { "" });
        text.push_str(&format!("[{}]\n", job.name));
        for option in job.options.iter().filter(|option| !option.is_implied()) {
            text.push_str(&format!("{}={}\n", option.name, option.value));
        }
    }
    if settings.jobs.len() > SECTIONS_MOST {
        text.push_str(&format!("; and {} more sections\n", settings.jobs.len() - SECTIONS_MOST));
    }
    text
}
