//! The page of a search for the highest rate that keeps a promise.

use crate::charts::probes::{self, SearchedProbe};
use crate::page::PageParts;
use crate::study::{self, StudyAnswer};
use crate::sweep::{about, settings};
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
    pub answer: StudyAnswer,
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
    parts.add_chart("the probes", chart);
    let note = "Of the first probe; the rate differs between the probes.";
    parts.add("what was tested", study::tested(search.result, &search.command, note));
    parts.add("the settings", settings(search.result));
    parts.add("about", about(search.json.as_deref(), "sweep.json.gz"));
    parts.finish(&format!("iosonde sweep: {}", search.promises.join(" and ")))
}

fn headline(search: &SearchPage<'_>) -> Markup {
    html! {
        header {
            h1 { "The highest " (search.option) " that keeps a promise" }
            p.what { (search.jobs) }
        }
        (search.answer.markup())
    }
}
