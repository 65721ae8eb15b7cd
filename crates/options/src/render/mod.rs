//! Pages made from the table.

mod cmdhelp;
mod markdown;

pub use cmdhelp::{cmdhelp_all, cmdhelp_one};
pub use markdown::{markdown, names, section};
