//! The block on top of a page that is not of one run: how a study came out, its goals, the
//! figures that count, what makes them doubtful.

use crate::tested;
use iosonde_report::Report;
use iosonde_report::finding::Severity;
use maud::{Markup, html};

/// How a study came out: a sentence, goals, what else is to be known.
#[derive(Clone, Debug, Default)]
pub struct StudyAnswer {
    /// The sentence; empty where the goals say it.
    pub sentence: String,
    /// It failed, was stopped, or its figures are not of what was to be measured.
    pub is_bad: bool,
    /// Something else may have made what it says.
    pub is_doubtful: bool,
    /// The goals.
    pub goals: Vec<StudyGoal>,
    /// Sentences below.
    pub lines: Vec<String>,
    /// The figures that count.
    pub cards: Vec<StudyCard>,
    /// The severity of each finding and its words, the worst first.
    pub findings: Vec<(Severity, String)>,
}

/// A goal, and whether it is met.
#[derive(Clone, Debug)]
pub struct StudyGoal {
    /// What was measured, and the goal.
    pub words: String,
    /// `PASS`, `FAIL`, or why there is neither.
    pub outcome: String,
    /// It is met, by figures that count.
    pub is_met: bool,
}

/// Figures in large letters.
#[derive(Clone, Debug, Default)]
pub struct StudyCard {
    /// What they are of.
    pub title: String,
    /// Names and values.
    pub figures: Vec<(String, String)>,
    /// What is to be known about them.
    pub note: String,
}

impl StudyAnswer {
    /// The block.
    pub(crate) fn markup(&self) -> Markup {
        let class = match (self.is_bad, self.is_doubtful) {
            (true, _) => "answer failed",
            (false, true) => "answer doubtful",
            (false, false) => "answer",
        };
        html! {
            section class=(class) {
                @for goal in &self.goals {
                    p class={ "goal " @if goal.is_met { "good" } @else { "wrong" } } {
                        (goal.words) ": " strong { (goal.outcome) }
                    }
                }
                @if !self.sentence.is_empty() { p.conclusion { (self.sentence) } }
                @for line in &self.lines { p { (line) } }
                (cards(&self.cards))
                @for (severity, words) in &self.findings {
                    p class={ "finding-line " (severity.word()) } {
                        strong { (severity.word()) } " " (words)
                    }
                }
            }
        }
    }
}

fn cards(cards: &[StudyCard]) -> Markup {
    html! {
        @if !cards.is_empty() {
            div.numbers { @for card in cards {
                div.direction {
                    h2 { (card.title) }
                    dl { @for (name, value) in &card.figures {
                        div { dt { (name) } dd { (value) } }
                    } }
                    @if !card.note.is_empty() { p.moved { (card.note) } }
                }
            } }
        }
    }
}

/// What a study of runs was of: the machine of one of its results and its job, and the command
/// of all. `note` tells how the others differ from that one.
pub(crate) fn tested(result: Option<&Report>, command: &str, note: &str) -> Markup {
    let mut rows = Vec::new();
    if let Some(report) = result {
        rows = tested::report_rows(report);
    }
    if !command.is_empty() {
        rows.push(("command", command.to_owned()));
    }
    let settings = result.and_then(|report| report.ours.settings.as_ref());
    html! {
        (tested::table(&rows, settings))
        @if !note.is_empty() && result.is_some() { p.note { (note) } }
    }
}
