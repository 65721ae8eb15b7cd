//! `iosonde probe PATH|DEVICE`: all that bears on a test there, before any
//! test. docs/tools.md tells all.

mod ask;
mod document;
mod picture;
mod rings;
mod spoilers;
mod tell;
mod trials;

use crate::exit;
use crate::output::{complain, say};
use ask::{Ask, Wish};
use picture::Picture;

/// Do what the arguments ask.
pub fn run(arguments: &[String]) -> u8 {
    let ask = match ask::read(arguments) {
        Ok(Wish::Help) => {
            say(ask::HELP);
            return exit::OK;
        }
        Ok(Wish::Do(ask)) => ask,
        Err(why) => return refuse(&why),
    };
    match Picture::take(&ask) {
        Ok(picture) => {
            let Ask { json, .. } = ask;
            say(&if json { document::write(&picture) } else { tell::told(&picture) });
            exit::OK
        }
        Err(why) => refuse(&why),
    }
}

fn refuse(why: &str) -> u8 {
    complain(&format!("iosonde: probe: {why}"));
    exit::REFUSED
}
