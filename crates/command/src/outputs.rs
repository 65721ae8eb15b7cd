//! One way to choose a form and a place for what a command prints: `--format`, `--output`.
//! Commands with such arguments of their own keep them.

use crate::new_file;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The arguments that are added here have these ids, which no command's own have.
const FORMAT: &str = "shared_format";
const OUTPUT: &str = "shared_output";
const FORCE: &str = "shared_force";

/// Where what is printed goes, and whether it may replace a file.
static TARGET: OnceLock<(PathBuf, bool)> = OnceLock::new();

fn has(command: &Command, long: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_long() == Some(long))
}

/// Add what a command that prints a result lacks: one that has `--json`, `--format` or `--html`.
pub(crate) fn complete(mut command: Command) -> Command {
    if !["json", "format", "html"].iter().any(|long| has(&command, long)) {
        return command;
    }
    if has(&command, "json") && !has(&command, "format") {
        let help = "Print the result as text or json [default: text]";
        let format = Arg::new(FORMAT).long("format").value_name("FORMAT").help(help);
        command = command
            .arg(format.value_parser(["text", "json"]))
            .mut_arg("json", |json| json.help("The same as --format=json"));
    }
    if !has(&command, "output") {
        let output = Arg::new(OUTPUT).long("output").value_name("FILE");
        let output = output.value_parser(clap::value_parser!(PathBuf));
        let help = "Write what is printed to FILE instead";
        command = command.arg(output.value_hint(ValueHint::FilePath).help(help));
        if !has(&command, "force") {
            let force = Arg::new(FORCE).long("force").action(ArgAction::SetTrue);
            command = command.arg(force.help("Overwrite FILE if it exists"));
        }
    }
    command
}

/// `--format=json` as the `--json` that the command knows.
pub(crate) fn in_own_words(command: &Command, words: &[String]) -> Vec<String> {
    let is_shared = command.get_arguments().any(|argument| argument.get_id() == FORMAT);
    let mut own = words.to_vec();
    let is_json = words.iter().any(|word| word == "--format=json")
        || words.windows(2).any(|pair| pair == ["--format", "json"]);
    if is_shared && is_json {
        own.push("--json".to_owned());
    }
    own
}

/// Note where what is printed goes, if that is a file.
///
/// # Errors
/// It cannot be written.
pub(crate) fn choose(matches: &ArgMatches) -> Result<(), String> {
    let Ok(Some(path)) = matches.try_get_one::<PathBuf>(OUTPUT) else { return Ok(()) };
    let given = |id| matches.try_get_one::<bool>(id).ok().flatten().copied().unwrap_or_default();
    let may_replace = given(FORCE) || given("force");
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(format!("--output: {} is not a directory", folder.display()));
    }
    new_file::check(path, may_replace).map_err(|why| format!("--output: {why}"))?;
    if TARGET.set((path.clone(), may_replace)).is_ok() {
        standard_output::keep();
    }
    Ok(())
}

/// Write what was kept for a file, if anything is to be; the exit code where that fails.
pub fn finish(code: u8) -> u8 {
    let (Some((path, may_replace)), Some(text)) = (TARGET.get(), standard_output::take_kept())
    else {
        return code;
    };
    if text.is_empty() {
        return code;
    }
    match new_file::write(path, &text, *may_replace) {
        Ok(()) => {
            print_error(&format!("iosonde: wrote {}", path.display()));
            code
        }
        Err(why) => {
            print_error(&format!("iosonde: --output: {why}"));
            code.max(iosonde_base::exit::REFUSED)
        }
    }
}
