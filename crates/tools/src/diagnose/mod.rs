//! `iosonde diagnose FILE --offset N`: the contents of a verified block, what it
//! should hold, and how it is wrong; described in docs/tools.md.

mod arguments;
mod block;
mod compared;
mod medium;
mod planned;
mod text;

use arguments::DiagnoseArgs;
use block::BlockFound;
use clap::Args;
use compared::Compared;
use iosonde_base::exit;
use iosonde_command::CommandAnswer;
use iosonde_command::definition::CommandEntry;
use medium::Medium;
use planned::PlannedBlock;

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "diagnose",
    summary: "show what a verified block holds, and how it is wrong",
    details: arguments::DETAILS,
    usage: Some(arguments::USAGE),
    arguments: DiagnoseArgs::augment_args,
    takes_jobs: false,
    run: |words| answer(words).print(),
};

/// What the words after `diagnose` ask for.
pub fn answer(words: &[String]) -> CommandAnswer {
    let arguments = match arguments::parse(&COMMAND, words) {
        Ok(arguments) => arguments,
        Err(answer) => return answer,
    };
    match diagnose(&arguments) {
        Ok(compared) => {
            let text = if arguments.json {
                format!("{:#}\n", text::document(&arguments.path, &compared))
            } else {
                text::page(&arguments.path, &compared)
            };
            let code = if compared.is_right() { exit::OK } else { exit::MISLEADING };
            CommandAnswer { code, ..CommandAnswer::of(text) }
        }
        Err(errors) => CommandAnswer { errors, code: exit::REFUSED, ..CommandAnswer::default() },
    }
}

fn diagnose(arguments: &DiagnoseArgs) -> Result<Compared, Vec<String>> {
    let refuse = |why: String| vec![format!("iosonde: diagnose: {why}")];
    let medium = Medium::open(&arguments.path, arguments.offset).map_err(refuse)?;
    let thread = medium.thread_number();
    let planned = PlannedBlock::of(&arguments.job, &arguments.path, arguments.offset, thread)?;
    let found = BlockFound::read(&medium, planned.as_ref()).map_err(refuse)?;
    Ok(Compared::new(found, planned))
}
