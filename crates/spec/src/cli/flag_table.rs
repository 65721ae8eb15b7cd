//! Every flag of the program: fio's 39, and those that are ours alone.

use crate::cli::flags::{
    DebugWord, FlagError, FlagGroup, Flags, GivenFlag, IdleProf, InfoRequest, LiveFlag,
    OutputFormat, ShowWhen, milliseconds,
};
use crate::cli::getopt::TakesValue;
use crate::cli::metrics_address;

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

use FlagAction::{Ask, Named, On, Text, Unsupported, With};

const NO_SERVER: &str = "jobs on many machines run under mpirun or srun";

/// fio's flags, in the order of its help, then the hidden ones.
pub const FIO: &[FlagDef] = flags! {
    Run "debug" Value "WORDS" "print debug output for WORDS (comma-separated), or all" => With(debug);
    Run "parse-only" Nothing "" "check job files and options, run nothing"
        => On(|flags| &mut flags.run.parse_only);
    Run "merge-blktrace-only" Nothing "" "merge blktrace files, run nothing"
        => On(|flags| &mut flags.run.merge_only);
    Output "output" Value "FILE" "write the report to FILE"
        => Named(|flags| &mut flags.output.file, "output file open error: the file has no name");
    Run "bandwidth-log" Maybe "PREFIX" "log the aggregate bandwidth of all jobs"
        => With(|flags, text| {
            flags.run.bandwidth_log = Some(some(text).unwrap_or_else(|| "agg".to_owned()));
            Ok(())
        });
    Output "minimal" Nothing "" "short for --output-format=terse"
        => With(|flags, _| formats(flags, "terse"));
    Output "output-format" Value "LIST" "comma-separated list of normal, terse, json, json+"
        => With(formats);
    Output "terse-version" Value "N" "version of the terse format, 2 to 5" => With(terse_version);
    Info "version" Nothing "" "print the version and exit" => Ask(|_| InfoRequest::Version);
    Info "help" Nothing "" "print this help and exit" => Ask(|_| InfoRequest::Help);
    Info "cpuclock-test" Nothing "" "test the CPU clock"
        => Unsupported("the clock is checked at every start");
    Info "crctest" Maybe "TYPES" "measure the checksums, or those listed"
        => Ask(|text| InfoRequest::ChecksumSpeed(some(text)));
    Info "cmdhelp" Maybe "OPTION" "print help for a job option, or all"
        => Ask(|text| InfoRequest::CommandHelp(some(text)));
    Info "enghelp" Maybe "ENGINE[,OPTION]" "list engines, or show the options of one"
        => Ask(|text| InfoRequest::EngineHelp(some(text)));
    Run "showcmd" Nothing "" "print job files as command lines, run nothing"
        => On(|flags| &mut flags.run.showcmd);
    // fio treats any other word as auto.
    Live "eta" Value "WHEN" "show the ETA line: always, never or auto"
        => With(|flags, text| {
            flags.live.eta = when(text).unwrap_or(ShowWhen::Auto);
            Ok(())
        });
    Live "eta-newline" Value "TIME" "start a new ETA line every TIME"
        => With(|flags, text| {
            let span = time(text, "eta time", (1, "eta new line time too short"))?;
            flags.live.eta_newline_ms = Some(span);
            Ok(())
        });
    Output "status-interval" Value "TIME" "print a full report every TIME"
        => With(|flags, text| {
            let span = time(text, "time", (1, "status interval too small"))?;
            flags.output.status_interval_ms = Some(span);
            Ok(())
        });
    Jobs "readonly" Nothing "" "refuse jobs that change files or devices"
        => On(|flags| &mut flags.jobs.readonly);
    Jobs "section" Value "NAME" "run only this section of job files; may be repeated"
        => With(|flags, text| match text {
            "global" => Err(FlagError::fatal("can't use global as only section")),
            name => {
                flags.jobs.sections.push(name.to_owned());
                Ok(())
            }
        });
    Jobs "alloc-size" Value "KIB" "accepted without effect"
        => With(|flags, text| {
            flags.jobs.alloc_size_kib = Some(leading_number(text));
            Ok(())
        });
    Jobs "warnings-fatal" Nothing "" "treat warnings as errors"
        => On(|flags| &mut flags.jobs.warnings_fatal);
    Jobs "max-jobs" Value "N" "accepted without effect: there is no limit"
        => With(|flags, text| {
            flags.jobs.max_jobs = Some(leading_number(text));
            Ok(())
        });
    Hosts "server" Maybe "ARGS" "run as a server for remote jobs" => Unsupported(NO_SERVER);
    Hosts "daemonize" Value "PIDFILE" "run the server in the background" => Unsupported(NO_SERVER);
    Hosts "client" Value "HOST" "send the jobs to another machine"
        => With(|_, hosts| {
            Err(FlagError::fatal(format!(
                "--client is not supported: without servers it is mpirun -H {hosts} iosonde --mpi \
                 JOBFILE (docs/hosts.md)"
            )))
        }), Hidden;
    Hosts "remote-config" Value "FILE" "a job file on the server" => Unsupported(NO_SERVER);
    Run "idle-prof" Value "KIND" "report CPU idleness: system, percpu, calibrate" => With(idle);
    Info "inflate-log" Value "FILE" "print a compressed log"
        => Ask(|text| InfoRequest::InflateLog(text.to_owned()));
    Run "trigger-file" Value "FILE" "end the run and save verify states when FILE appears"
        => Text(|flags| &mut flags.run.trigger.file);
    Run "trigger-timeout" Value "TIME" "end the run and save verify states after TIME"
        => With(|flags, text| {
            flags.run.trigger.timeout_ms = Some(time(text, "time", (0, ""))?);
            Ok(())
        });
    Run "trigger" Value "COMMAND" "run COMMAND once a trigger has ended the run"
        => Text(|flags| &mut flags.run.trigger.command);
    Run "trigger-remote" Value "COMMAND" "the trigger on the server"
        => Unsupported("there is no server; use --trigger for a command on this machine");
    Jobs "aux-path" Value "PATH" "directory for state files of a run"
        => Text(|flags| &mut flags.jobs.aux_path);
    // The program puts the profile's jobs in its place before the line is read.
    Jobs "profile" Value "NAME" "run a built-in workload"
        => Unsupported("not here; run it by itself, as in iosonde --profile=tiobench"), Hidden;
    Jobs "latency-log" Value "FILE" "removed from fio"
        => With(|_, _| {
            let instead = "--latency-log is deprecated. Use per-job latency log options.";
            Err(FlagError::fatal(instead))
        }), Hidden;
    Output "append-terse" Nothing "" "add the terse format to the others"
        => On(|flags| &mut flags.output.append_terse), Hidden;
    Live "eta-interval" Value "TIME" "update the ETA line every TIME, at least 250 ms"
        => With(|flags, text| {
            // A time that cannot be read is too short to fio.
            let span = milliseconds(text).unwrap_or(0);
            if span < 250 {
                return Err(FlagError::fatal("eta interval time too short (250msec min)"));
            }
            flags.live.eta_interval_ms = span;
            Ok(())
        }), Hidden;
    Info "memcpytest" Maybe "TYPES" "measure copies of memory, or those listed"
        => Ask(|text| InfoRequest::CopySpeed(some(text))), Hidden;
};

/// Flags of the native personality: those that fio does not have, and those that mean more
/// than fio's of the same name.
pub const OURS: &[FlagDef] = flags! {
    Output "output-format" Value "LIST" "list of normal, terse, json, json+, csv, markdown"
        => With(|flags, text| set_formats(flags, OutputFormat::own_list(text)?));
    Output "color" Value "WHEN" "colour the report and messages: auto, always or never"
        => With(|flags, text| {
            let wrong = || invalid("color", text, "use auto, always or never");
            flags.output.color = when(text).ok_or_else(wrong)?;
            Ok(())
        });
    Jobs "erase" Value "WORD" "allow writing to a device that holds data: its serial, model or size"
        => With(|flags, text| match text {
            "" => Err(invalid("erase", "", "repeat the serial number, model or size of a device")),
            word => {
                flags.jobs.erase.push(word.to_owned());
                Ok(())
            }
        });
    Jobs "extend" Nothing "" "let jobs that only read extend files that are too short"
        => On(|flags| &mut flags.jobs.extend);
    Jobs "no-exec" Nothing "" "refuse jobs that start programs or load objects"
        => On(|flags| &mut flags.jobs.no_exec);
    Output "verbose" Nothing "" "report all figures, and findings with what to do"
        => On(|flags| &mut flags.output.verbose);
    Output "html" Value "FILE" "also write the report as one HTML page to FILE"
        => Named(|flags| &mut flags.output.html, "--html: the file has no name");
    Output "force" Nothing "" "let --html, --live-file and --metrics-file overwrite"
        => On(|flags| &mut flags.output.force);
    Live "live" Value "HOW" "show the run: auto, line, screen, plain, json or no"
        => With(|flags, text| {
            let found = LiveFlag::WORDS.into_iter().find(|(word, _)| *word == text);
            let wrong = || invalid("live", text, "use auto, line, screen, plain, json or no");
            flags.live.show = found.ok_or_else(wrong)?.1;
            Ok(())
        });
    Live "live-file" Value "FILE" "write the objects of --live=json to FILE"
        => Named(|flags| &mut flags.live.file, "--live-file: the file has no name");
    Live "metrics-listen" Maybe "[HOST:]PORT" "serve metrics for Prometheus over HTTP"
        => With(|flags, text| {
            flags.live.metrics_listen = Some(metrics_address::parse(text)?);
            Ok(())
        });
    Live "metrics-file" Value "FILE" "keep metrics in FILE, such as DIR/iosonde.prom"
        => Named(|flags| &mut flags.live.metrics_file, "--metrics-file: the file has no name");
};

/// Ours, in both personalities: where the bytes went, and several hosts.
pub const LEDGER: &[FlagDef] = flags! {
    Run "ledger" Maybe "yes|no" "print the ledger: where bytes went, and findings"
        => With(|flags, text| {
            flags.run.ledger = Some(match text {
                "" | "1" | "yes" => true,
                "0" | "no" => false,
                _ => return Err(invalid("ledger", text, "use yes or no")),
            });
            Ok(())
        });
    Run "strict" Nothing ""
        "exit with 3 if a finding is more than a note, with 4 if something could not be seen"
        => On(|flags| &mut flags.run.strict);
    Hosts "mpi" Nothing "" "run on all hosts that mpirun or srun has started it on"
        => On(|flags| &mut flags.hosts.mpi);
    Hosts "mpi-timeout" Value "TIME" "take a silent host for lost after TIME (30 s)"
        => With(|flags, text| {
            let span = milliseconds(text).filter(|&span| span >= 1000);
            let wrong = || invalid("mpi-timeout", text, "use a time of at least 1s");
            flags.hosts.silence_ms = Some(span.ok_or_else(wrong)?);
            Ok(())
        });
    Hosts "rank" Value "I" "this host's place among several, from 0"
        => With(|flags, text| {
            flags.hosts.rank = Some(host_number("rank", text)?);
            Ok(())
        });
    Hosts "ranks" Value "N" "how many hosts there are"
        => With(|flags, text| {
            flags.hosts.ranks = Some(host_number("ranks", text)?);
            Ok(())
        });
    Hosts "start-at" Value "TIME" "start the jobs at TIME, in seconds since 1970"
        => With(|flags, text| {
            flags.hosts.start_at = Some(text.to_owned());
            Ok(())
        });
    Hosts "results" Value "DIR" "directory of the ranks' result.RANK.json (.)"
        => Named(|flags| &mut flags.hosts.results, "--results: the directory has no name");
    Hosts "split" Nothing "" "split files of one name between the hosts, in ranges of blocks"
        => On(|flags| &mut flags.hosts.split);
    Hosts "reorder" Nothing "" "jobs that only read take the part of the next host"
        => On(|flags| &mut flags.hosts.reorder);
};

/// A time in milliseconds, `what` in words, not below the least.
fn time(text: &str, what: &str, (least, short): (u64, &str)) -> Result<u64, FlagError> {
    let unread = || FlagError::fatal(format!("failed parsing {what} {text}"));
    match milliseconds(text).ok_or_else(unread)? {
        span if span < least => Err(FlagError::fatal(short)),
        span => Ok(span),
    }
}

fn invalid(flag: &str, text: &str, known: &str) -> FlagError {
    FlagError::fatal(format!("invalid --{flag}={text}: {known}"))
}

fn idle(flags: &mut Flags, text: &str) -> Result<(), FlagError> {
    match text {
        "system" => flags.run.idle_prof = Some(IdleProf::System),
        "percpu" => flags.run.idle_prof = Some(IdleProf::PerCpu),
        "calibrate" => {
            flags.info.get_or_insert(InfoRequest::Calibrate);
        }
        _ => return Err(FlagError::fatal(format!("incorrect idle-prof option: {text}"))),
    }
    Ok(())
}

fn host_number(flag: &str, text: &str) -> Result<u32, FlagError> {
    text.parse().map_err(|_| invalid(flag, text, "use a whole number"))
}

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

fn formats(flags: &mut Flags, text: &str) -> Result<(), FlagError> {
    set_formats(flags, OutputFormat::list(text)?)
}

fn set_formats(flags: &mut Flags, formats: Vec<OutputFormat>) -> Result<(), FlagError> {
    flags.output.formats = formats;
    flags.output.formats_given = true;
    // What was added to earlier forms goes with them, as in fio.
    flags.output.append_terse = false;
    Ok(())
}

fn terse_version(flags: &mut Flags, text: &str) -> Result<(), FlagError> {
    flags.output.terse_version = match leading_number(text) {
        2 => 2,
        3 => 3,
        4 => 4,
        5 => 5,
        _ => return Err(FlagError::fatal("bad terse version format")),
    };
    Ok(())
}

fn debug(flags: &mut Flags, text: &str) -> Result<(), FlagError> {
    let mut unknown = None;
    for word in text.split(',') {
        // A word may carry `:N`, as job does; fio takes it after any.
        let (name, number) = match word.split_once(':') {
            Some((name, number)) => (name, Some(number)),
            None => (word, None),
        };
        match (name, number) {
            ("all", _) => flags.run.debug = DebugWord::WORDS.map(|(_, debug)| debug).to_vec(),
            ("help" | "?", _) => {}
            ("job", Some(number)) => flags.run.debug_job = number.trim().parse().ok(),
            ("job", None) => unknown = Some("missing job number".to_string()),
            _ => match DebugWord::WORDS.into_iter().find(|(known, _)| *known == name) {
                Some((_, debug)) if !flags.run.debug.contains(&debug) => {
                    flags.run.debug.push(debug)
                }
                Some(_) => {}
                None => unknown = Some(format!("debug mask {word} not found")),
            },
        }
    }
    match unknown {
        None => Ok(()),
        Some(message) => Err(FlagError { fatal: false, message }),
    }
}

fn when(text: &str) -> Option<ShowWhen> {
    match text {
        "auto" => Some(ShowWhen::Auto),
        "always" => Some(ShowWhen::Always),
        "never" => Some(ShowWhen::Never),
        _ => None,
    }
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_string())
}

/// The number a text begins with, as C's `atoi` has it: 0 without a number.
fn leading_number(text: &str) -> u64 {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(help.contains("on the server (not supported)\n"), "{help}");
        assert!(!help.contains("latency-log"));
        assert!(help.lines().all(|line| line.len() < 100), "{help}");
    }

    #[test]
    fn what_is_not_supported_says_so_and_what_to_do() {
        let words = refused("client=a");
        assert_eq!(
            words,
            "--client is not supported: without servers it is mpirun -H a iosonde --mpi JOBFILE \
             (docs/hosts.md)"
        );
        let absent = FIO.iter().filter(|flag| flag.unsupported().is_some()).count();
        assert_eq!(absent, 6);
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
        assert_eq!(
            unknown,
            "unknown output format \"xml\": use normal, terse, json, json+, csv or markdown"
        );
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
        let error = take(&["debug=parse,foo"]).unwrap_err();
        assert_eq!((error.fatal, error.message.as_str()), (false, "debug mask foo not found"));
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
