//! The page: head, style, the runs, script.

use crate::PageRun;
use crate::run;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A page is not larger than this: mail and tickets take it.
pub const PAGE_BYTES_MOST: usize = 500 << 10;

/// Nothing is loaded from anywhere, and nothing is sent.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      script-src 'unsafe-inline'";

/// Ours, and not escaped: both are files of this crate.
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Room that is kept for what follows the runs.
const TAIL_BYTES: usize = 24 << 10;

/// The page of some runs. Those that would make it larger than
/// [`PAGE_BYTES_MOST`] have a row in the table and no part of their own.
pub fn page(title: &str, runs: &[PageRun<'_>]) -> String {
    let overview = if runs.len() > 1 { run::overview(runs).into_string() } else { String::new() };
    let fixed = STYLE.len() + SCRIPT.len() + overview.len() + TAIL_BYTES;
    let mut room = PAGE_BYTES_MOST.saturating_sub(fixed);
    let mut parts: Vec<Markup> = Vec::new();
    let mut left_out: Vec<&str> = Vec::new();
    for (number, one) in runs.iter().enumerate() {
        match run::part(one, number, room) {
            Some(part) => {
                room = room.saturating_sub(part.0.len());
                parts.push(part);
            }
            None => left_out.push(one.name),
        }
    }
    let body = html! {
        main {
            (PreEscaped(&overview))
            @for part in &parts { (part) }
            @if !left_out.is_empty() {
                p.note {
                    "Left out, as the page would be larger than 500 KiB: "
                    (left_out.iter().take(20).copied().collect::<Vec<_>>().join(", "))
                    @if left_out.len() > 20 { " and " (left_out.len() - 20) " more" }
                    ". Make a page of each."
                }
            }
        }
    };
    document(title, &body).into_string()
}

fn document(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="iosonde";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (body)
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}
