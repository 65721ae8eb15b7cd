//! `iosonde meta DIR`: operations on many files and directories, phase by phase.
//!
//! A separate personality, as `matrix` is: `arguments` reads its command line,
//! `jobs` makes jobs of the engine `tree` out of phases, `run` conducts them one
//! after the other, and `formats` print the result.

#![forbid(unsafe_code)]

mod arguments;
mod formats;
pub mod io500;
mod jobs;
mod leftovers;
mod live;
mod mix;
mod phase;
mod ranks;
mod result;
mod root;
mod run;
mod runner;
mod values;
mod watch;

use arguments::MetaArguments;
use clap::Args;
use iosonde_base::exit;
use iosonde_command::CommandAnswer;
use iosonde_command::definition::CommandEntry;
use iosonde_command::page_file::PageFile;
use iosonde_sys::standard_output::print as say;
use ranks::Ranks;

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "meta",
    summary: "measure operations on many files: create, stat, read, rename, remove",
    details: arguments::DETAILS,
    usage: None,
    arguments: MetaArguments::augment_args,
    takes_jobs: false,
    run,
};

/// Run with the words after `iosonde meta`; the exit code.
pub fn run(words: &[String]) -> u8 {
    if !arguments::asks_for_ranks(words) {
        return with_ranks(words, None);
    }
    let mut ranks = match Ranks::begin(arguments::asks_for_live(words)) {
        Ok(ranks) => ranks,
        Err(why) => return refuse(&why),
    };
    let code = with_ranks(words, Some(&mut ranks));
    ranks.end(code);
    code
}

fn with_ranks(words: &[String], mut ranks: Option<&mut Ranks>) -> u8 {
    // Each rank knows; one says it.
    let speaks = ranks.as_ref().is_none_or(|ranks| ranks.speaks());
    let place = ranks.as_ref().map(|ranks| ranks.place());
    let options = match arguments::parse(&COMMAND, words, place) {
        Ok(options) => options,
        Err(answer) if speaks => return answer.print(),
        Err(_) => return exit::REFUSED,
    };
    if options.clean {
        return leftovers::clean(&options.dir).map_or_else(|why| refuse(&why), |()| exit::OK);
    }
    if options.print {
        let printed = jobs::job_file(&options).map(|text| say(&text));
        return printed.map_or_else(|why| refuse(&why), |()| exit::OK);
    }
    if let Some(systems) = iosonde_engine::elsewhere("tree") {
        let why =
            format!("its engine tree is an engine of {systems}, which this system does not have");
        return if speaks { refuse(&why) } else { exit::REFUSED };
    }
    let file = match PageFile::at(options.html.as_deref(), options.force) {
        Ok(file) => file,
        Err(why) if speaks => return refuse(&why),
        Err(_) => return exit::REFUSED,
    };
    let (result, root) = match run::measure(&options, words, &mut ranks) {
        Ok(result) => result,
        Err(error) if speaks => return refuse(&error),
        Err(_) => return exit::REFUSED,
    };
    if speaks {
        say(&formats::write(&result, options.format));
        // What was measured is out: the tree may take long to remove.
        drop(root);
        if let Some(Err(why)) = file.map(|file| file.write(&formats::page::write(&result))) {
            return refuse(&why);
        }
    }
    match &result.error {
        _ if result.stopped => exit::SIGNALLED,
        Some(error) if speaks => refuse(error),
        Some(_) => exit::REFUSED,
        None => exit::OK,
    }
}

fn refuse(error: &str) -> u8 {
    CommandAnswer::refused(COMMAND.name, error).print()
}
