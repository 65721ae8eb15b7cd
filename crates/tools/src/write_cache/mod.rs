//! `iosonde write-cache DEVICE`: show, change or compare the kernel's setting for
//! a device's write cache; described in docs/tools.md.

mod arguments;
mod compare;
mod comparison;
mod device;
mod text;
mod workload;

use arguments::WriteCacheAction;
use arguments::WriteCacheArgs;
use clap::Args;
use device::WriteCacheSetting;
use iosonde_command::CommandAnswer;
use iosonde_command::definition::CommandEntry;
use iosonde_direct::WriteCache;
use serde_json::Value;
use std::path::Path;
use text::Change;

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "write-cache",
    summary: "check that fsync flushes the device; set write back or through",
    details: arguments::DETAILS,
    usage: Some(arguments::USAGE),
    arguments: WriteCacheArgs::augment_args,
    takes_jobs: false,
    run: |words| answer(words).print(),
};

/// What the words after `write-cache` ask for. A comparison prints as it goes.
pub fn answer(words: &[String]) -> CommandAnswer {
    let arguments = match arguments::parse(&COMMAND, words) {
        Ok(arguments) => arguments,
        Err(answer) => return answer,
    };
    let path = &arguments.path;
    let done = match arguments.action() {
        WriteCacheAction::Show => device::below(path).map(|(stack, disks)| {
            if arguments.json {
                document(&text::all_document(path, &disks))
            } else {
                text::all(path, &stack, &disks)
            }
        }),
        WriteCacheAction::Preview(mode) => {
            preview(path, mode).map(|change| format_change(&change, &arguments))
        }
        WriteCacheAction::Set(mode) => {
            set(path, mode).map(|change| format_change(&change, &arguments))
        }
        WriteCacheAction::Compare { rounds, job } => {
            let code = compare::run(path, &job, rounds, arguments.json);
            return CommandAnswer { code, ..CommandAnswer::default() };
        }
    };
    match done {
        Ok(text) => CommandAnswer::of(text),
        Err(why) => CommandAnswer::refused(COMMAND.name, &why),
    }
}

fn refuse(why: &str) -> u8 {
    CommandAnswer::refused(COMMAND.name, why).print()
}

fn document(value: &Value) -> String {
    format!("{value:#}\n")
}

fn format_change(change: &Change, arguments: &WriteCacheArgs) -> String {
    if arguments.json {
        document(&change.document(&arguments.path))
    } else {
        change.text(&arguments.path)
    }
}

fn preview(path: &Path, requested: WriteCache) -> Result<Change, String> {
    let (before, _) = device::disk_at(path)?;
    Ok(Change { before, requested, now: None, flushed: None })
}

fn set(path: &Path, requested: WriteCache) -> Result<Change, String> {
    let (setting, before) = WriteCacheSetting::open(path)?;
    setting.set(requested)?;
    let was_through = before.kernel.get() == Some(WriteCache::Through);
    let flushed = (requested == WriteCache::Back && was_through)
        .then(|| setting.flush().map_err(|error| format!("flush {}: {error}", before.disk)));
    Ok(Change { before, requested, now: setting.now(), flushed })
}
