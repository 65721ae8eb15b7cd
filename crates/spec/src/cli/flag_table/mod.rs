//! Every flag of the program: fio's 39, and those that are ours alone.

use crate::cli::flags::{FlagError, FlagGroup, Flags, GivenFlag, InfoRequest};
use crate::cli::getopt::TakesValue;
use FlagAction::{Ask, Named, On, Text, Unsupported, With};
use values::some;

/// One flag.
#[derive(Clone, Copy, Debug)]
pub struct FlagDef {
    /// Without dashes.
    pub name: &'static str,
    /// Whether a value goes with it.
    pub takes: TakesValue,
    /// What help calls the value; empty without one.
    pub value: &'static str,
    /// One line of help.
    pub doc: &'static str,
    /// Who can honour it.
    pub group: FlagGroup,
    /// Whether help shows it.
    pub shown: Shown,
    work: FlagAction,
}

/// Whether help shows a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// In `--help`.
    InHelp,
    /// Nowhere; fio does not show it either.
    Hidden,
}

/// What a flag does to the flags of a command line.
#[derive(Clone, Copy, Debug)]
enum FlagAction {
    /// Turn something on.
    On(fn(&mut Flags) -> &mut bool),
    /// Set a text; none if it is empty.
    Text(fn(&mut Flags) -> &mut Option<String>),
    /// Set the name of a file or directory; these words about an empty one.
    Named(fn(&mut Flags) -> &mut Option<String>, &'static str),
    /// Ask for information; the first question holds.
    Ask(fn(&str) -> InfoRequest),
    /// Anything else.
    With(fn(&mut Flags, &str) -> Result<(), FlagError>),
    /// Refused, with what to do instead.
    Unsupported(&'static str),
}

impl FlagDef {
    /// Take the flag, with its value if it was given one.
    ///
    /// # Errors
    /// A value that is refused, or a flag that this program does not have.
    pub fn apply(&self, flags: &mut Flags, value: Option<&str>) -> Result<(), FlagError> {
        let text = value.unwrap_or("");
        flags.given.push(GivenFlag { name: self.name, group: self.group });
        match self.work {
            On(field) => *field(flags) = true,
            Text(field) => *field(flags) = some(text),
            Named(_, empty) if text.is_empty() => return Err(FlagError::fatal(empty)),
            Named(field, _) => *field(flags) = some(text),
            Ask(question) => {
                flags.info.get_or_insert(question(text));
            }
            With(set) => set(flags, text)?,
            Unsupported(instead) => {
                let why = format!("--{} is not supported: {instead}", self.name);
                return Err(FlagError::fatal(why));
            }
        }
        Ok(())
    }

    /// Why the flag is refused, if it is whatever its value.
    pub fn unsupported(&self) -> Option<&'static str> {
        if let Unsupported(instead) = self.work { Some(instead) } else { None }
    }
}

/// Rows of a table: who can honour it, the flag and its value, a line of help, what it does;
/// `Hidden` where help does not show it.
macro_rules! flags {
    ($($group:ident $name:literal $takes:ident $value:literal $doc:literal
       => $work:expr $(, $shown:ident)?;)*) => {
        &[$(FlagDef {
            name: $name,
            takes: TakesValue::$takes,
            value: $value,
            doc: $doc,
            group: FlagGroup::$group,
            shown: flags!(@shown $($shown)?),
            work: $work,
        }),*]
    };
    (@shown Hidden) => { Shown::Hidden };
    (@shown) => { Shown::InHelp };
}

mod rows;
mod values;

pub use rows::{FIO, LEDGER, OURS};

/// The flag of that name; of two, that of the later table.
pub fn find<'t>(tables: &[&'t [FlagDef]], name: &str) -> Option<&'t FlagDef> {
    tables.iter().rev().copied().flatten().find(|flag| flag.name == name)
}

/// All flags in the order of the tables, each name once: a later table's instead of an
/// earlier one's.
pub fn merged(tables: &[&'static [FlagDef]]) -> Vec<&'static FlagDef> {
    let mut all: Vec<&FlagDef> = Vec::new();
    for flag in tables.iter().copied().flatten() {
        match all.iter_mut().find(|known| known.name == flag.name) {
            Some(known) => *known = flag,
            None => all.push(flag),
        }
    }
    all
}

/// The flags as `--help` lists them, a line each.
pub fn help(tables: &[&'static [FlagDef]]) -> String {
    let mut out = String::new();
    for flag in merged(tables).into_iter().filter(|flag| flag.shown == Shown::InHelp) {
        let name = match flag.takes {
            TakesValue::Nothing => flag.name.to_string(),
            TakesValue::Maybe | TakesValue::Name => format!("{}[={}]", flag.name, flag.value),
            TakesValue::Value => format!("{}={}", flag.name, flag.value),
        };
        let absent = if flag.unsupported().is_some() { " (not supported)" } else { "" };
        out.push_str(&format!("  --{name:<26} {}{absent}\n", flag.doc));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::flags::{DebugWord, LiveFlag, OutputFormat, ShowWhen};

    fn take(words: &[&str]) -> Result<Flags, FlagError> {
        let mut flags = Flags::default();
        for word in words {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (*word, None),
            };
            find(&[FIO, OURS, LEDGER], name).expect(name).apply(&mut flags, value)?;
        }
        Ok(flags)
    }

    fn refused(word: &str) -> String {
        take(&[word]).expect_err(word).message
    }

    #[test]
    fn all_of_fios_flags_are_there_once() {
        let listed = "append-terse alloc-size aux-path bandwidth-log client cmdhelp cpuclock-test \
            crctest daemonize debug enghelp eta eta-interval eta-newline help idle-prof \
            inflate-log latency-log max-jobs memcpytest merge-blktrace-only minimal output \
            output-format parse-only profile readonly remote-config section server showcmd \
            status-interval terse-version trigger trigger-file trigger-remote trigger-timeout \
            version warnings-fatal";
        let mut wanted: Vec<&str> = listed.split_whitespace().collect();
        let mut found: Vec<&str> = FIO.iter().map(|flag| flag.name).collect();
        wanted.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_flag_takes_a_value_exactly_when_help_names_one() {
        for flag in FIO.iter().chain(OURS).chain(LEDGER) {
            assert_eq!(flag.takes == TakesValue::Nothing, flag.value.is_empty(), "{}", flag.name);
            assert!(!flag.doc.is_empty() && !flag.doc.ends_with('.'), "{}", flag.name);
        }
    }

    #[test]
    fn help_lists_what_is_not_hidden() {
        let help = help(&[FIO, OURS]);
        assert!(
            help.contains("  --output-format=LIST         list of normal, terse, json, json+, csv"),
            "{help}"
        );
        assert!(help.contains("  --cmdhelp[=OPTION]           print help"), "{help}");
        assert!(help.contains("on the server\n"), "{help}");
        assert!(!help.contains("latency-log"));
        assert!(help.lines().all(|line| line.len() < 100), "{help}");
    }

    #[test]
    fn what_is_not_supported_says_so_and_what_to_do() {
        let words = refused("trigger-remote=x");
        assert!(words.starts_with("--trigger-remote is not supported: "), "{words}");
        let absent = FIO.iter().filter(|flag| flag.unsupported().is_some()).count();
        assert_eq!(absent, 2);
    }

    #[test]
    fn servers_and_clients_are_kept_as_they_were_typed() {
        let hosts = take(&["server", "client=a", "client=ip:b,1"]).unwrap().hosts;
        assert_eq!(hosts.server.as_deref(), Some(""));
        assert_eq!(hosts.clients, ["a", "ip:b,1"]);
    }

    #[test]
    fn the_last_form_of_output_holds() {
        assert_eq!(
            take(&["output-format=json", "minimal"]).unwrap().output.formats,
            [OutputFormat::Terse]
        );
        assert_eq!(
            take(&["minimal", "output-format=json"]).unwrap().output.formats,
            [OutputFormat::Json]
        );
    }

    #[test]
    fn csv_is_terse_to_fio_and_comma_separated_in_our_own_name() {
        let own = take(&["output-format=csv,markdown"]).unwrap();
        assert_eq!(own.output.formats, [OutputFormat::Csv, OutputFormat::Markdown]);
        let mut flags = Flags::default();
        let as_fio = find(&[FIO, LEDGER], "output-format").unwrap();
        as_fio.apply(&mut flags, Some("csv")).unwrap();
        assert_eq!(flags.output.formats, [OutputFormat::Terse]);
        assert!(as_fio.apply(&mut flags, Some("markdown")).is_err());
        let unknown = refused("output-format=xml,json");
        assert!(
            unknown.starts_with("unknown output format \"xml\": use normal, terse"),
            "{unknown}"
        );
        assert!(unknown.contains(" or "), "{unknown}");
    }

    #[test]
    fn a_command_that_takes_some_groups_learns_which_flag_is_of_another() {
        let flags = take(&["readonly", "section=a", "mpi", "html=x"]).unwrap();
        let beyond = |groups: &[FlagGroup]| flags.beyond(groups).map(|flag| flag.name);
        assert_eq!(beyond(&[FlagGroup::Jobs]), Some("mpi"));
        assert_eq!(beyond(&[FlagGroup::Jobs, FlagGroup::Hosts]), Some("html"));
        assert_eq!(beyond(&[FlagGroup::Jobs, FlagGroup::Hosts, FlagGroup::Output]), None);
    }

    #[test]
    fn the_first_question_holds() {
        let flags = take(&["cmdhelp=bs", "version"]).unwrap();
        assert_eq!(flags.info, Some(InfoRequest::CommandHelp(Some("bs".into()))));
        assert_eq!(take(&["enghelp"]).unwrap().info, Some(InfoRequest::EngineHelp(None)));
    }

    #[test]
    fn numbers_are_read_as_fio_reads_them() {
        assert_eq!(take(&["terse-version=2x"]).unwrap().output.terse_version, 2);
        for bad in ["terse-version=1", "terse-version=6", "terse-version=v3", "terse-version="] {
            assert_eq!(refused(bad), "bad terse version format");
        }
        assert_eq!(take(&["alloc-size=x", "max-jobs=7z"]).unwrap().jobs.max_jobs, Some(7));
    }

    #[test]
    fn spans_of_time_have_their_least() {
        assert_eq!(take(&["status-interval=1ms"]).unwrap().output.status_interval_ms, Some(1));
        assert_eq!(refused("status-interval=0"), "status interval too small");
        assert_eq!(refused("status-interval=x"), "failed parsing time x");
        assert_eq!(take(&["eta-interval=250ms"]).unwrap().live.eta_interval_ms, 250);
        assert_eq!(refused("eta-interval=249ms"), "eta interval time too short (250msec min)");
        assert_eq!(refused("eta-newline=x"), "failed parsing eta time x");
    }

    #[test]
    fn debug_words_add_up_and_an_unknown_one_is_no_reason_to_stop() {
        let flags = take(&["debug=io,random", "debug=io:3,job:7"]).unwrap();
        assert_eq!(flags.run.debug, [DebugWord::Io, DebugWord::Random]);
        assert_eq!(flags.run.debug_job, Some(7));
        assert_eq!(take(&["debug=all"]).unwrap().run.debug.len(), DebugWord::WORDS.len());
        let unknown = take(&["debug=parse,foo"]).unwrap().run.debug_unknown;
        assert_eq!(unknown.as_deref(), Some("debug mask foo not found"));
        for word in ["debug=?", "debug=io,help"] {
            assert_eq!(take(&[word]).unwrap().info, Some(InfoRequest::DebugWords), "{word}");
        }
    }

    #[test]
    fn global_is_no_section_to_run() {
        assert_eq!(take(&["section=a", "section=b"]).unwrap().jobs.sections, ["a", "b"]);
        assert_eq!(refused("section=global"), "can't use global as only section");
    }

    #[test]
    fn several_devices_may_be_erased_each_by_its_own_word() {
        assert_eq!(take(&["erase=S-1", "erase=16M"]).unwrap().jobs.erase, ["S-1", "16M"]);
        assert!(refused("erase=").contains("serial number, model or size"));
    }

    #[test]
    fn colour_is_ours_and_strict() {
        assert_eq!(take(&["color=never"]).unwrap().output.color, ShowWhen::Never);
        assert_eq!(take(&["ledger", "strict"]).unwrap().run.ledger, Some(true));
        assert_eq!(take(&["ledger=no"]).unwrap().run.ledger, Some(false));
        assert!(refused("ledger=maybe").contains("use yes or no"));
        assert!(refused("color=maybe").contains("use auto, always or never"));
        assert_eq!(take(&["eta=foo"]).unwrap().live.eta, ShowWhen::Auto);
        assert_eq!(take(&["live=json"]).unwrap().live.show, LiveFlag::Json);
        assert!(refused("live=x").contains("use auto, line, screen, plain, json or no"));
    }
}
