//! Pages made from the table.

mod cmdhelp;
mod markdown;

pub use cmdhelp::{HelpForm, cmdhelp_all, cmdhelp_one};
pub use markdown::{markdown, names, section};
