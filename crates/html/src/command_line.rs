//! Command lines on a page.

use maud::{Markup, html};

/// A command line whose lines end between its words, and not behind their hyphens.
pub(crate) fn command(line: &str) -> Markup {
    html! {
        code.command { @for word in line.split(' ') { span { (word) } " " } }
    }
}
