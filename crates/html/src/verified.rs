//! What jobs that verify checked: how many blocks, which were wrong, why some were not checked,
//! and the command that shows more.

use crate::command_line::command;
use iosonde_report::conclusion::diagnose;
use iosonde_report::{Report, VerifyReport};
use maud::{Markup, html};

/// A block for each job that was to verify.
pub(crate) fn section(report: &Report) -> Markup {
    let names = report.job_names();
    let several = names.len() > 1;
    let jobs = report.ours.jobs.iter().zip(&report.jobs).zip(&names);
    html! {
        @for ((ours, job), name) in jobs {
            @if let Some(verify) = &ours.verify {
                (block(verify, several.then_some(name), job.failure.is_some(), report))
            }
        }
    }
}

fn block(
    verify: &VerifyReport,
    name: Option<&String>,
    has_failed: bool,
    report: &Report,
) -> Markup {
    let wrong = &verify.wrong_blocks;
    let places: Vec<_> = match (&wrong.first, &wrong.last) {
        (Some(first), Some(last)) if first != last => vec![("first", first), ("last", last)],
        (Some(first), _) => vec![("", first)],
        _ => Vec::new(),
    };
    html! {
        div class={ "verify " @if verify.counts.wrong > 0 { "wrong" } @else { "good" } } {
            p {
                strong { "verify" } " " @if let Some(name) = name { "of job " (name) ": " }
                (verify.words())
            }
            @if let Some(reason) = &verify.unchecked_reason { p.note { "Not checked: " (reason) "." } }
            @if has_failed && verify.counts.wrong > 0 {
                p.note {
                    "The job ended there: the blocks after it were not read. "
                    code { "continue_on_error=verify" } " checks all of them."
                }
            }
            @if !places.is_empty() {
                div.scroll tabindex="0" {
                    table {
                        thead { tr {
                            th scope="col" { "wrong block" }
                            @for head in ["offset", "bytes", "kind"] { th scope="col" { (head) } }
                        } }
                        tbody { @for (which, place) in &places {
                            tr {
                                td.words { (which) " " (place.file) }
                                td { (place.offset) }
                                td { (place.bytes) }
                                td { (place.kind) }
                            }
                            // Below, since it is too long to stand next to them on a narrow screen.
                            tr { td.words.said colspan="4" { (place.words) } }
                        } }
                    }
                }
                @if wrong.kinds.len() > 1 {
                    p.note {
                        "All wrong blocks: "
                        (wrong.kinds.iter().map(|(kind, number)| format!("{number} {kind}"))
                            .collect::<Vec<_>>().join(", ")) "."
                    }
                }
                @if let Some(first) = &wrong.first {
                    p { "To see more:" }
                    pre { (command(&diagnose(report, &first.file, first.offset))) }
                }
            }
        }
    }
}
