//! `iosonde cache PATH...`: what the page cache holds of files, and getting it
//! out or in. docs/tools.md tells all.

mod ask;
mod files;
mod stayed;
mod tell;

use crate::exit;
use crate::output::{complain, say};
use ask::{Act, Ask, Wish};
use files::{File, Found};
use iosonde_direct::cache::{drop_cached, warm};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

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
    let found = files::find(&ask);
    for (path, why) in &found.failed {
        complain(&format!("iosonde: {}: {why}", path.display()));
    }
    if found.files.is_empty() {
        if found.failed.is_empty() {
            return refuse("there is no file in what was named");
        }
        return exit::REFUSED;
    }
    let stop = match Stop::listen() {
        Ok(stop) => stop,
        Err(error) => return refuse(&format!("listen for signals: {error}")),
    };
    let code = if found.failed.is_empty() { exit::OK } else { exit::REFUSED };
    match ask.act {
        Act::Watch => watch(&ask, &found, &stop),
        act => match change(act, found, &stop) {
            Changed { found, stopped: true } => {
                say(&tell::told(&ask, &found));
                exit::SIGNALLED
            }
            Changed { found, stopped: false } => {
                say(&tell::told(&ask, &found));
                let worse = found.files.iter().any(|file| file.failed.is_some());
                if worse { exit::REFUSED } else { code }
            }
        },
    }
}

fn refuse(why: &str) -> u8 {
    complain(&format!("iosonde: cache: {why}"));
    exit::REFUSED
}

/// Whether a signal asks for the end.
struct Stop(Arc<AtomicBool>);

impl Stop {
    /// A second signal ends the program at once.
    fn listen() -> io::Result<Stop> {
        let asked: Arc<AtomicBool> = Arc::default();
        for signal in [SIGINT, SIGTERM] {
            let code = i32::from(exit::SIGNALLED);
            signal_hook::flag::register_conditional_shutdown(signal, code, asked.clone())?;
            signal_hook::flag::register(signal, asked.clone())?;
        }
        Ok(Stop(asked))
    }

    fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Sleep, but not past a signal.
    fn sleep_until(&self, moment: Instant) {
        const LOOK: Duration = Duration::from_millis(20);
        while !self.is_asked() {
            let left = moment.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(LOOK));
        }
    }
}

struct Changed {
    found: Found,
    stopped: bool,
}

/// Do to each file what is asked, and look at it afterwards.
fn change(act: Act, mut found: Found, stop: &Stop) -> Changed {
    let mut stopped = false;
    for file in &mut found.files {
        let done = match act {
            _ if stopped => Ok(()),
            Act::Show | Act::Watch => Ok(()),
            Act::Drop => drop_one(file),
            Act::Warm => warm_one(file, stop),
        };
        file.failed = done.err().map(|error| error.to_string());
        file.look();
        if act == Act::Drop {
            file.stayed = stayed::why(file);
        }
        stopped |= act != Act::Show && stop.is_asked();
    }
    Changed { found, stopped }
}

fn drop_one(file: &mut File) -> io::Result<()> {
    let dropped = drop_cached(&file.open()?, 0, 0)?;
    file.before = Some(dropped.before.map(|before| before.cached_bytes()));
    Ok(())
}

/// Read a file piece by piece, and tell how far it is, if a person looks on.
fn warm_one(file: &mut File, stop: &Stop) -> io::Result<()> {
    const PIECE: u64 = 8 << 20;
    let open = file.open()?;
    file.before = Some(file.found.clone().map(|before| before.cached_bytes()));
    let terminal = io::stderr().is_terminal();
    let mut at = 0;
    while at < file.bytes && !stop.is_asked() {
        let most = PIECE.min(file.bytes - at);
        let got = warm(&open, at, most)?;
        at += got;
        if terminal {
            eprint!("\r{}", tell::progress(file, at));
        }
        if got < most {
            // It was cut meanwhile.
            break;
        }
    }
    if terminal {
        eprint!("\r{:79}\r", "");
    }
    Ok(())
}

/// A line each second until a signal comes, or nobody reads any more.
fn watch(ask: &Ask, found: &Found, stop: &Stop) -> u8 {
    let began = Instant::now();
    let mut files = found.files.clone();
    let mut out = io::stdout();
    for second in 0.. {
        files.iter_mut().for_each(File::look);
        let line = tell::second(ask, &files, second);
        let written = out.write_all(line.as_bytes()).and_then(|()| out.flush());
        if written.is_err() {
            break;
        }
        stop.sleep_until(began + Duration::from_secs(second + 1));
        if stop.is_asked() {
            break;
        }
    }
    exit::OK
}
