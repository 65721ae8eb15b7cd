//! Flags that print something and end the program: `--version`, `--cmdhelp`,
//! `--enghelp`, `--crctest`, `--memcpytest`, `--inflate-log`,
//! `--idle-prof=calibrate`.

use crate::{clock_test, debug, speed};
use iosonde_base::exit;
use iosonde_engine::{CATALOGUE, EngineDef};
use iosonde_options::render::{self, HelpForm};
use iosonde_options::{OptionDef, nearest};
use iosonde_run::account::cpu_idle::Unit;
use iosonde_session::Personality;
use iosonde_spec::cli::flags::InfoRequest;
use iosonde_spec::engine_options;
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::{print, try_print};
use std::fmt::Write;
use std::io;

/// Print the information that a flag requests; the exit code.
pub fn run(personality: Personality, request: &InfoRequest, no_exec: bool) -> u8 {
    let (text, code) = match request {
        InfoRequest::ChecksumSpeed(list) => return speed::checksums(personality, list.as_deref()),
        InfoRequest::CopySpeed(list) => return speed::copies(personality, list.as_deref()),
        InfoRequest::Version => (format!("{}\n", personality.version()), exit::OK),
        // The caller has the page.
        InfoRequest::Help => (String::new(), exit::OK),
        InfoRequest::CommandHelp(name) => command_help(personality, name.as_deref()),
        InfoRequest::EngineHelp(words) => engine_help(personality, words.as_deref(), no_exec),
        InfoRequest::InflateLog(path) => return inflate(path),
        InfoRequest::Calibrate => calibrate(),
        InfoRequest::ClockTest => clock_test::run(),
        InfoRequest::DebugWords => (debug::words(personality), exit::OK),
    };
    print(&text);
    code
}

/// How long a unit of the work takes that `--idle-prof` measures by.
fn calibrate() -> (String, u8) {
    match iosonde_run::account::cpu_idle::calibrate() {
        Ok(Unit { mean_us, stddev_us }) => {
            let unit = format!("mean={mean_us:.2}us, stddev={stddev_us:.2}");
            (format!("CPU idleness:\n  unit work: {unit}\n"), exit::OK)
        }
        Err(error) => {
            print_error(&format!("idle-prof: {error}"));
            (String::new(), exit::REFUSED)
        }
    }
}

/// The text of a compressed log, as far as it can be read.
fn inflate(path: &str) -> u8 {
    // As it comes: of a few bytes there may be gigabytes of text.
    match iosonde_run::logs::inflate::inflate(path.as_ref(), &mut Printed) {
        Ok(()) => exit::OK,
        Err(error) => {
            print_error(&format!("cannot inflate {path}: {error}"));
            exit::REFUSED
        }
    }
}

/// Standard output, until it takes no more.
struct Printed;

impl io::Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if try_print(&String::from_utf8_lossy(bytes)) {
            Ok(bytes.len())
        } else {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Scripts read what fio prints, people what we do.
fn help_form(personality: Personality) -> HelpForm {
    match personality {
        Personality::Fio => HelpForm::Fio,
        Personality::Native => HelpForm::Words,
    }
}

fn command_help(personality: Personality, name: Option<&str>) -> (String, u8) {
    let rows: Vec<&OptionDef> = iosonde_spec::all().collect();
    let Some(name) = name.filter(|&name| name != "all") else {
        return (render::cmdhelp_all(&rows), exit::OK);
    };
    let page = |row: &'static OptionDef| render::cmdhelp_one(row, help_form(personality));
    if let Some(row) = iosonde_spec::lookup(name) {
        return (format!("{}\n", page(row)), exit::OK);
    }
    let closest = nearest(name, rows.iter().map(|row| row.name)).and_then(iosonde_spec::lookup);
    if personality == Personality::Native {
        let meant = closest.map_or(String::new(), |row| format!("; did you mean {}?", row.name));
        print_error(&format!("iosonde: error: unknown option {name:?}{meant}"));
        return (String::new(), exit::REFUSED);
    }
    let closest = match closest {
        Some(row) => format!(" - showing closest match\n{}", page(row)),
        None => String::new(),
    };
    (format!("No such command: {name}\n{closest}\n"), exit::OK)
}

fn engine_help(personality: Personality, words: Option<&str>, no_exec: bool) -> (String, u8) {
    let Some(words) = words else {
        let names = CATALOGUE.iter().map(|def| format!("\t{}\n", def.name));
        return (format!("Available IO engines:\n{}", names.collect::<String>()), exit::OK);
    };
    if let Some(path) = words.strip_prefix("external:").or(words.contains('/').then_some(words)) {
        if no_exec {
            print_error(
                "--enghelp loads an object and runs its code, which --no-exec does not allow",
            );
            return (String::new(), exit::REFUSED);
        }
        // It has no options, and a path may contain a comma.
        return external_help(path);
    }
    let (name, option) = match words.split_once(',') {
        Some((name, option)) => (name, Some(option)),
        None => (words, None),
    };
    let Some(def) = iosonde_engine::find(name) else {
        return (format!("IO engine {name} not found\n"), exit::REFUSED);
    };
    let text = match option {
        None => one_engine(def),
        Some(option) => match engine_options::find(def.name, option) {
            Some(row) => render::cmdhelp_one(row, help_form(personality)),
            None => format!("No such command: {option}\n"),
        },
    };
    (text, exit::OK)
}

/// The description of an engine from a shared object.
fn external_help(path: &str) -> (String, u8) {
    match iosonde_engine::external(path) {
        Ok(def) => (one_engine(def), exit::OK),
        Err(error) => {
            print_error(&error.message);
            (String::new(), exit::REFUSED)
        }
    }
}

/// An engine: its description, whether it can run here, its own options.
fn one_engine(def: &EngineDef) -> String {
    let mut text = format!("{}: {}\n", def.name, def.doc);
    match (def.available)() {
        Ok(()) => text.push_str("It can run on this machine.\n"),
        Err(error) => {
            let _ = writeln!(text, "It cannot run on this machine: {}", error.message);
            if let Some(help) = error.help {
                let _ = writeln!(text, "{help}");
            }
        }
    }
    for row in engine_options::rows(def.name) {
        let _ = writeln!(text, "{:<24}: {}", row.name, row.summary());
    }
    text
}
