//! The page: head, style, the runs, script.

use crate::overlay;
use crate::run;
use crate::{PageRun, RunNumber};
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
    let runs = &overlay::with_short_names(runs)[..];
    let is_alone = runs.len() == 1;
    let overview =
        if runs.len() > 1 { overlay::section(runs).into_string() } else { String::new() };
    let fixed = assets_bytes() + overview.len() + TAIL_BYTES;
    let mut room = PAGE_BYTES_MOST.saturating_sub(fixed);
    let mut parts: Vec<Markup> = Vec::new();
    let mut left_out: Vec<&str> = Vec::new();
    for (number, one) in runs.iter().enumerate() {
        match run::part(one, RunNumber { at: number, is_alone }, room) {
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

/// Hatches for all charts, so that parts differ without colour.
fn patterns() -> Markup {
    html! {
        svg.patterns width="0" height="0" aria-hidden="true" {
            defs {
                pattern #hatch width="8" height="8" patternUnits="userSpaceOnUse"
                    patternTransform="rotate(45)" {
                    rect.ground width="8" height="8" {}
                    line.stripe x1="0" y1="0" x2="0" y2="8" {}
                }
                pattern #dots width="8" height="8" patternUnits="userSpaceOnUse" {
                    rect.ground width="8" height="8" {}
                    circle.stripe cx="4" cy="4" r="1.6" {}
                }
                pattern #grid width="7" height="7" patternUnits="userSpaceOnUse" {
                    rect.ground width="7" height="7" {}
                    path.mesh d="M0 0H7M0 0V7" {}
                }
                pattern #bars width="6" height="6" patternUnits="userSpaceOnUse" {
                    rect.ground width="6" height="6" {}
                    rect.upright width="3" height="6" {}
                }
            }
        }
    }
}

/// Parts of a page in the order in which they are read, as many as fit.
pub(crate) struct PageParts {
    room: usize,
    parts: Vec<PagePart>,
    left_out: Vec<&'static str>,
}

/// A part of a page. Charts that follow one another stand in columns.
pub(crate) struct PagePart {
    pub is_chart: bool,
    pub markup: Markup,
}

/// The parts, charts in columns.
pub(crate) fn in_columns(parts: &[PagePart]) -> Markup {
    let some: Vec<&PagePart> = parts.iter().filter(|part| !part.markup.0.is_empty()).collect();
    html! {
        @for group in some.chunk_by(|one, next| one.is_chart == next.is_chart) {
            @if group[0].is_chart {
                div.charts { @for part in group { (part.markup) } }
            } @else {
                @for part in group { (part.markup) }
            }
        }
    }
}

impl PageParts {
    /// An empty page.
    pub fn new() -> PageParts {
        let fixed = STYLE.len() + SCRIPT.len() + TAIL_BYTES;
        let room = PAGE_BYTES_MOST - fixed;
        PageParts { room, parts: Vec::new(), left_out: Vec::new() }
    }

    /// Add a part, or note that there is no room for it.
    pub fn add(&mut self, name: &'static str, markup: Markup) {
        self.push(name, PagePart { is_chart: false, markup });
    }

    /// Add a chart, if there is one.
    pub fn add_chart(&mut self, name: &'static str, chart: Option<Markup>) {
        if let Some(markup) = chart {
            self.push(name, PagePart { is_chart: true, markup });
        }
    }

    fn push(&mut self, name: &'static str, part: PagePart) {
        match self.room.checked_sub(part.markup.0.len()) {
            Some(room) => {
                self.room = room;
                self.parts.push(part);
            }
            None => self.left_out.push(name),
        }
    }

    /// The page.
    pub fn finish(self, title: &str) -> String {
        let title: String = title.chars().take(TITLE_LETTERS).collect();
        let body = html! {
            main {
                section.run {
                    (in_columns(&self.parts))
                    @if !self.left_out.is_empty() {
                        p.note {
                            "Left out, as the page would be larger than 500 KiB: "
                            (self.left_out.join(", ")) "."
                        }
                    }
                }
            }
        };
        document(&title, &body).into_string()
    }
}

/// Letters of a title at most.
const TITLE_LETTERS: usize = 200;

/// What style and script take of a page.
pub(crate) fn assets_bytes() -> usize {
    STYLE.len() + SCRIPT.len()
}

pub(crate) fn document(title: &str, body: &Markup) -> Markup {
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
                (patterns())
                (body)
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}
