//! `iosonde cache PATH...`: show, drop or preload page-cache contents; described
//! in docs/tools.md.

mod arguments;
mod files;
mod still_cached;
mod text;

use arguments::CacheAction;
use arguments::CacheArgs;
use clap::Args;
use files::{CachedFile, CachedFiles};
use iosonde_base::exit;
use iosonde_command::CommandAnswer;
use iosonde_command::definition::{CommandEntry, arguments};
use iosonde_direct::cache::{drop_cached, warm};
use iosonde_sys::signals;
use iosonde_sys::standard_output::try_print;
use iosonde_sys::status_line;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "cache",
    summary: "show, drop or preload page-cache contents",
    details: arguments::DETAILS,
    usage: None,
    arguments: CacheArgs::augment_args,
    takes_jobs: false,
    run: |words| answer(words).print(),
};

/// What the words after `cache` ask for. A watch prints as it goes.
pub fn answer(words: &[String]) -> CommandAnswer {
    let arguments: CacheArgs = match arguments(&COMMAND, words) {
        Ok(arguments) => arguments,
        Err(answer) => return answer,
    };
    let refuse = |why: &str| CommandAnswer::refused(COMMAND.name, why);
    let found = files::find(&arguments);
    let failed = |(path, why): &(PathBuf, String)| format!("iosonde: {}: {why}", path.display());
    let mut answer = CommandAnswer::default();
    answer.errors.extend(found.failed.iter().map(failed));
    if !answer.errors.is_empty() {
        answer.code = exit::REFUSED;
    } else if found.files.is_empty() {
        return refuse("no files below the named paths");
    }
    if found.files.is_empty() {
        return answer;
    }
    let stop = match StopFlag::listen() {
        Ok(stop) => stop,
        Err(error) => return refuse(&format!("cannot listen for signals: {error}")),
    };
    if arguments.action() == CacheAction::Watch {
        answer.print();
        return CommandAnswer {
            code: watch(&arguments, &found, &stop),
            ..CommandAnswer::default()
        };
    }
    let ActionResult { found, stopped } = change(arguments.action(), found, &stop);
    answer.text = text::report(&arguments, &found);
    if stopped {
        answer.code = exit::SIGNALLED;
    } else if found.files.iter().any(|file| file.failed.is_some()) {
        answer.code = exit::REFUSED;
    }
    answer
}

/// Set by a signal.
struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A second signal ends the program at once.
    fn listen() -> io::Result<StopFlag> {
        let flag: Arc<AtomicBool> = Arc::default();
        let code = i32::from(exit::SIGNALLED);
        signals::flag_then_end_on(&[signals::INTERRUPT, signals::TERMINATE], &flag, code)?;
        Ok(StopFlag(flag))
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Sleep, but not past a signal.
    fn sleep_until(&self, moment: Instant) {
        const LOOK: Duration = Duration::from_millis(20);
        while !self.is_set() {
            let left = moment.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(LOOK));
        }
    }
}

struct ActionResult {
    found: CachedFiles,
    stopped: bool,
}

/// Drop or read each file, and read its cache state afterwards.
fn change(action: CacheAction, mut found: CachedFiles, stop: &StopFlag) -> ActionResult {
    let mut stopped = false;
    for file in &mut found.files {
        let done = match action {
            _ if stopped => Ok(()),
            CacheAction::Show | CacheAction::Watch => Ok(()),
            CacheAction::Drop => drop_one(file),
            CacheAction::Warm => warm_one(file, stop),
        };
        file.failed = done.err().map(|error| error.to_string());
        file.look();
        if action == CacheAction::Drop {
            file.still_cached = still_cached::reason(file);
        }
        stopped |= action != CacheAction::Show && stop.is_set();
    }
    ActionResult { found, stopped }
}

fn drop_one(file: &mut CachedFile) -> io::Result<()> {
    let dropped = drop_cached(&file.open()?, 0, 0)?;
    file.before = Some(dropped.before.map(|before| before.cached_bytes()));
    Ok(())
}

/// Read a file piece by piece, with the progress on a terminal.
fn warm_one(file: &mut CachedFile, stop: &StopFlag) -> io::Result<()> {
    const PIECE: u64 = 8 << 20;
    let open = file.open()?;
    file.before = Some(file.found.clone().map(|before| before.cached_bytes()));
    let mut at = 0;
    while at < file.bytes && !stop.is_set() {
        let most = PIECE.min(file.bytes - at);
        let got = warm(&open, at, most)?;
        at += got;
        status_line::draw(&text::progress(file, at));
        if got < most {
            // The file was truncated meanwhile.
            break;
        }
    }
    status_line::clear();
    Ok(())
}

/// A line each second until a signal arrives or the reader closes the pipe.
fn watch(arguments: &CacheArgs, found: &CachedFiles, stop: &StopFlag) -> u8 {
    let began = Instant::now();
    let mut files = found.files.clone();
    for second in 0.. {
        files.iter_mut().for_each(CachedFile::look);
        let line = text::second(arguments, &files, second);
        if !try_print(&line) {
            break;
        }
        stop.sleep_until(began + Duration::from_secs(second + 1));
        if stop.is_set() {
            break;
        }
    }
    exit::OK
}
