//! The page of a search for the highest rate that keeps a promise.

use crate::charts::probes::{self, SearchedProbe};
use crate::page::PageParts;
use crate::sweep::about;
use crate::tables;
use iosonde_report::Report;
use maud::{Markup, html};

/// A search, ready to be shown.
#[derive(Debug, Default)]
pub struct SearchPage<'a> {
    /// The jobs in words.
    pub jobs: String,
    /// The promises, as typed.
    pub promises: Vec<String>,
    /// The option that was searched.
    pub option: String,
    /// How it ended.
    pub answer: String,
    /// The rate that was found.
    pub rate: Option<f64>,
    /// The runs, in order.
    pub probes: Vec<SearchedProbe>,
    /// A result, for the settings and the system.
    pub result: Option<&'a Report>,
    /// The command that does it again.
    pub command: String,
    /// The search as JSON, to be downloaded from the page.
    pub json: Option<String>,
}

/// The page of a search.
pub fn search_page(search: &SearchPage<'_>) -> String {
    let mut parts = PageParts::new();
    parts.add("the conclusion", headline(search));
    let chart = probes::chart(&search.option, &search.probes, search.rate);
    parts.add("the probes", chart.unwrap_or_default());
    if let Some(report) = search.result {
        parts.add(
            "the settings",
            html! {
                h2 { "Settings and system" }
                p.note { "Of the first probe; the rate differs between the probes." }
                (tables::system(report))
                (tables::settings(report))
            },
        );
    }
    parts.add("about", about(&search.command, search.json.as_deref(), "sweep.json.gz"));
    parts.finish(&format!("iosonde sweep: {}", search.promises.join(" and ")))
}

fn headline(search: &SearchPage<'_>) -> Markup {
    html! {
        header {
            h1 { "The highest " (search.option) " that keeps a promise" }
            p.what { (search.jobs) }
            p { "Promise: " strong { (search.promises.join(" and ")) } }
            p.conclusion { (search.answer) }
        }
    }
}
