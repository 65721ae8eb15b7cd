//! Every flag of the program: fio's 39, and those that are ours alone.

use crate::cli::flags::{
    DebugWord, FlagError, Flags, IdleProf, InfoRequest, LiveFlag, OutputFormat, ShowWhen,
    milliseconds,
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

#[derive(Clone, Copy, Debug)]
enum FlagAction {
    Set(fn(&mut Flags, &str) -> Result<(), FlagError>),
    /// Refused, with what to do instead.
    Unsupported(&'static str),
}

impl FlagDef {
    /// Take the flag, with its value if it was given one.
    ///
    /// # Errors
    /// A value that is refused, or a flag that this program does not have.
    pub fn apply(&self, flags: &mut Flags, value: Option<&str>) -> Result<(), FlagError> {
        match self.work {
            FlagAction::Set(set) => set(flags, value.unwrap_or("")),
            FlagAction::Unsupported(instead) => {
                Err(FlagError::fatal(format!("--{} is not supported: {instead}", self.name)))
            }
        }
    }

    /// Why the flag is refused, if it is whatever its value.
    pub fn unsupported(&self) -> Option<&'static str> {
        match self.work {
            FlagAction::Set(_) => None,
            FlagAction::Unsupported(instead) => Some(instead),
        }
    }

    const fn hidden(self) -> Self {
        FlagDef { shown: Shown::Hidden, ..self }
    }
}

const fn bare(
    name: &'static str,
    doc: &'static str,
    set: fn(&mut Flags, &str) -> Result<(), FlagError>,
) -> FlagDef {
    FlagDef {
        name,
        takes: TakesValue::Nothing,
        value: "",
        doc,
        shown: Shown::InHelp,
        work: FlagAction::Set(set),
    }
}

const fn valued(
    name: &'static str,
    value: &'static str,
    doc: &'static str,
    set: fn(&mut Flags, &str) -> Result<(), FlagError>,
) -> FlagDef {
    FlagDef {
        name,
        takes: TakesValue::Value,
        value,
        doc,
        shown: Shown::InHelp,
        work: FlagAction::Set(set),
    }
}

const fn maybe(
    name: &'static str,
    value: &'static str,
    doc: &'static str,
    set: fn(&mut Flags, &str) -> Result<(), FlagError>,
) -> FlagDef {
    FlagDef {
        name,
        takes: TakesValue::Maybe,
        value,
        doc,
        shown: Shown::InHelp,
        work: FlagAction::Set(set),
    }
}

const fn absent(
    name: &'static str,
    takes: TakesValue,
    value: &'static str,
    doc: &'static str,
    instead: &'static str,
) -> FlagDef {
    FlagDef {
        name,
        takes,
        value,
        doc,
        shown: Shown::InHelp,
        work: FlagAction::Unsupported(instead),
    }
}

fn idle(flags: &mut Flags, text: &str) -> Result<(), FlagError> {
    match text {
        "system" => flags.idle_prof = Some(IdleProf::System),
        "percpu" => flags.idle_prof = Some(IdleProf::PerCpu),
        "calibrate" => {
            flags.info.get_or_insert(InfoRequest::Calibrate);
        }
        _ => return Err(FlagError::fatal(format!("incorrect idle-prof option: {text}"))),
    }
    Ok(())
}

const MPI: &str = "jobs on many machines run under mpirun or srun";

/// fio's flags, in the order of its help, then the hidden ones.
pub const FIO: &[FlagDef] = &[
    valued("debug", "WORDS", "print debug output for WORDS (comma-separated), or all", debug),
    bare("parse-only", "check job files and options, run nothing", |flags, _| {
        flags.parse_only = true;
        Ok(())
    }),
    bare("merge-blktrace-only", "merge blktrace files, run nothing", |flags, _| {
        flags.merge_only = true;
        Ok(())
    }),
    valued("output", "FILE", "write the report to FILE", |flags, text| {
        if text.is_empty() {
            return Err(FlagError::fatal("output file open error: the file has no name"));
        }
        flags.output = Some(text.to_string());
        Ok(())
    }),
    maybe("bandwidth-log", "PREFIX", "log the aggregate bandwidth of all jobs", |flags, text| {
        flags.bandwidth_log = Some(if text.is_empty() { "agg" } else { text }.to_string());
        Ok(())
    }),
    bare("minimal", "short for --output-format=terse", |flags, _| formats(flags, "terse")),
    valued("output-format", "LIST", "comma-separated list of normal, terse, json, json+", formats),
    valued("terse-version", "N", "version of the terse format, 2 to 5", terse_version),
    bare("version", "print the version and exit", |flags, _| inform(flags, InfoRequest::Version)),
    bare("help", "print this help and exit", |flags, _| inform(flags, InfoRequest::Help)),
    absent(
        "cpuclock-test",
        TakesValue::Nothing,
        "",
        "test the CPU clock",
        "the clock is checked at every start",
    ),
    maybe("crctest", "TYPES", "measure the checksums, or those listed", |flags, text| {
        inform(flags, InfoRequest::ChecksumSpeed(some(text)))
    }),
    maybe("cmdhelp", "OPTION", "print help for a job option, or all", |flags, text| {
        inform(flags, InfoRequest::CommandHelp(some(text)))
    }),
    maybe(
        "enghelp",
        "ENGINE[,OPTION]",
        "list engines, or show the options of one",
        |flags, text| inform(flags, InfoRequest::EngineHelp(some(text))),
    ),
    bare("showcmd", "print job files as command lines, run nothing", |flags, _| {
        flags.showcmd = true;
        Ok(())
    }),
    // fio treats any other word as auto.
    valued("eta", "WHEN", "show the ETA line: always, never or auto", |flags, text| {
        flags.eta = when(text).unwrap_or(ShowWhen::Auto);
        Ok(())
    }),
    valued("eta-newline", "TIME", "start a new ETA line every TIME", |flags, text| {
        let span = milliseconds(text)
            .ok_or_else(|| FlagError::fatal(format!("failed parsing eta time {text}")))?;
        if span < 1 {
            return Err(FlagError::fatal("eta new line time too short"));
        }
        flags.eta_newline_ms = Some(span);
        Ok(())
    }),
    valued("status-interval", "TIME", "print a full report every TIME", |flags, text| {
        let span = milliseconds(text)
            .ok_or_else(|| FlagError::fatal(format!("failed parsing time {text}")))?;
        if span < 1 {
            return Err(FlagError::fatal("status interval too small"));
        }
        flags.status_interval_ms = Some(span);
        Ok(())
    }),
    bare("readonly", "refuse jobs that change files or devices", |flags, _| {
        flags.readonly = true;
        Ok(())
    }),
    valued(
        "section",
        "NAME",
        "run only this section of job files; may be repeated",
        |flags, text| {
            if text == "global" {
                return Err(FlagError::fatal("can't use global as only section"));
            }
            flags.sections.push(text.to_string());
            Ok(())
        },
    ),
    valued("alloc-size", "KIB", "accepted without effect", |flags, text| {
        flags.alloc_size_kib = Some(leading_number(text));
        Ok(())
    }),
    bare("warnings-fatal", "treat warnings as errors", |flags, _| {
        flags.warnings_fatal = true;
        Ok(())
    }),
    valued("max-jobs", "N", "accepted without effect: there is no limit", |flags, text| {
        flags.max_jobs = Some(leading_number(text));
        Ok(())
    }),
    absent("server", TakesValue::Maybe, "ARGS", "run as a server for remote jobs", MPI),
    absent("daemonize", TakesValue::Value, "PIDFILE", "run the server in the background", MPI),
    valued("client", "HOST", "send the jobs to another machine", |_, hosts| {
        Err(FlagError::fatal(format!(
            "--client is not supported: without servers it is mpirun -H {hosts} iosonde --mpi JOBFILE \
             (docs/hosts.md)"
        )))
    })
    .hidden(),
    absent("remote-config", TakesValue::Value, "FILE", "a job file on the server", MPI),
    valued("idle-prof", "KIND", "report CPU idleness: system, percpu, calibrate", idle),
    valued("inflate-log", "FILE", "print a compressed log", |flags, text| {
        flags.info.get_or_insert(InfoRequest::InflateLog(text.to_string()));
        Ok(())
    }),
    valued(
        "trigger-file",
        "FILE",
        "end the run and save verify states when FILE appears",
        |flags, text| {
            flags.trigger.file = some(text);
            Ok(())
        },
    ),
    valued(
        "trigger-timeout",
        "TIME",
        "end the run and save verify states after TIME",
        |flags, text| {
            let span = milliseconds(text)
                .ok_or_else(|| FlagError::fatal(format!("failed parsing time {text}")))?;
            flags.trigger.timeout_ms = Some(span);
            Ok(())
        },
    ),
    valued("trigger", "COMMAND", "run COMMAND once a trigger has ended the run", |flags, text| {
        flags.trigger.command = some(text);
        Ok(())
    }),
    absent(
        "trigger-remote",
        TakesValue::Value,
        "COMMAND",
        "the trigger on the server",
        "there is no server; use --trigger for a command on this machine",
    ),
    valued("aux-path", "PATH", "directory for state files of a run", |flags, text| {
        flags.aux_path = some(text);
        Ok(())
    }),
    // The program puts the profile's jobs in its place before the line is read.
    absent(
        "profile",
        TakesValue::Value,
        "NAME",
        "run a built-in workload",
        "not here; run it by itself, as in iosonde --profile=tiobench",
    )
    .hidden(),
    valued("latency-log", "FILE", "removed from fio", |_, _| {
        let instead = "--latency-log is deprecated. Use per-job latency log options.";
        Err(FlagError::fatal(instead))
    })
    .hidden(),
    bare("append-terse", "add the terse format to the others", |flags, _| {
        flags.append_terse = true;
        Ok(())
    })
    .hidden(),
    valued(
        "eta-interval",
        "TIME",
        "update the ETA line every TIME, at least 250 ms",
        |flags, text| {
            // A time that cannot be read is too short to fio.
            let span = milliseconds(text).unwrap_or(0);
            if span < 250 {
                return Err(FlagError::fatal("eta interval time too short (250msec min)"));
            }
            flags.eta_interval_ms = span;
            Ok(())
        },
    )
    .hidden(),
    maybe("memcpytest", "TYPES", "measure copies of memory, or those listed", |flags, text| {
        inform(flags, InfoRequest::CopySpeed(some(text)))
    })
    .hidden(),
];

/// Flags of the native personality: those that fio does not have, and those that mean more
/// than fio's of the same name.
pub const OURS: &[FlagDef] = &[
    valued(
        "output-format",
        "LIST",
        "list of normal, terse, json, json+, csv, markdown",
        |flags, text| set_formats(flags, OutputFormat::own_list(text)?),
    ),
    valued(
        "color",
        "WHEN",
        "colour the report and messages: auto, always or never",
        |flags, text| {
            let wrong =
                || FlagError::fatal(format!("invalid --color={text}: use auto, always or never"));
            flags.color = when(text).ok_or_else(wrong)?;
            Ok(())
        },
    ),
    valued(
        "erase",
        "WORD",
        "allow writing to a device that holds data: its serial, model or size",
        |flags, text| {
            if text.is_empty() {
                let needs = "invalid --erase=: repeat the serial number, model or size of a device";
                return Err(FlagError::fatal(needs));
            }
            flags.erase.push(text.to_string());
            Ok(())
        },
    ),
    bare("extend", "let jobs that only read extend files that are too short", |flags, _| {
        flags.extend = true;
        Ok(())
    }),
    bare("no-exec", "refuse jobs that start programs or load objects", |flags, _| {
        flags.no_exec = true;
        Ok(())
    }),
    bare("verbose", "report all figures, and findings with what to do", |flags, _| {
        flags.verbose = true;
        Ok(())
    }),
    valued("html", "FILE", "also write the report as one HTML page to FILE", |flags, text| {
        if text.is_empty() {
            return Err(FlagError::fatal("--html: the file has no name"));
        }
        flags.html = Some(text.to_string());
        Ok(())
    }),
    bare("force", "let --html, --live-file and --metrics-file overwrite", |flags, _| {
        flags.force = true;
        Ok(())
    }),
    valued("live", "HOW", "show the run: auto, line, screen, plain, json or no", |flags, text| {
        let found = LiveFlag::WORDS.into_iter().find(|(word, _)| *word == text);
        let wrong = || {
            let known = "use auto, line, screen, plain, json or no";
            FlagError::fatal(format!("invalid --live={text}: {known}"))
        };
        flags.live = found.ok_or_else(wrong)?.1;
        Ok(())
    }),
    valued("live-file", "FILE", "write the objects of --live=json to FILE", |flags, text| {
        if text.is_empty() {
            return Err(FlagError::fatal("--live-file: the file has no name"));
        }
        flags.live_file = Some(text.to_string());
        Ok(())
    }),
    maybe(
        "metrics-listen",
        "[HOST:]PORT",
        "serve metrics for Prometheus over HTTP",
        |flags, text| {
            flags.metrics_listen = Some(metrics_address::parse(text)?);
            Ok(())
        },
    ),
    valued(
        "metrics-file",
        "FILE",
        "keep metrics in FILE, such as DIR/iosonde.prom",
        |flags, text| {
            if text.is_empty() {
                return Err(FlagError::fatal("--metrics-file: the file has no name"));
            }
            flags.metrics_file = Some(text.to_string());
            Ok(())
        },
    ),
];

/// Ours, in both personalities: where the bytes went, and several hosts.
pub const LEDGER: &[FlagDef] = &[
    maybe("ledger", "yes|no", "print the ledger: where bytes went, and findings", |flags, text| {
        flags.ledger = Some(match text {
            "" | "1" | "yes" => true,
            "0" | "no" => false,
            _ => return Err(FlagError::fatal(format!("invalid --ledger={text}: use yes or no"))),
        });
        Ok(())
    }),
    bare(
        "strict",
        "exit with 3 if a finding is more than a note, with 4 if something could not be seen",
        |flags, _| {
            flags.strict = true;
            Ok(())
        },
    ),
    bare("mpi", "run on all hosts that mpirun or srun has started it on", |flags, _| {
        flags.hosts.mpi = true;
        Ok(())
    }),
    valued(
        "mpi-timeout",
        "TIME",
        "take a silent host for lost after TIME (30 s)",
        |flags, text| {
            let span = milliseconds(text).filter(|&span| span >= 1000);
            let wrong = || {
                FlagError::fatal(format!("invalid --mpi-timeout={text}: use a time of at least 1s"))
            };
            flags.hosts.silence_ms = Some(span.ok_or_else(wrong)?);
            Ok(())
        },
    ),
    valued("rank", "I", "this host's place among several, from 0", |flags, text| {
        flags.hosts.rank = Some(host_number("rank", text)?);
        Ok(())
    }),
    valued("ranks", "N", "how many hosts there are", |flags, text| {
        flags.hosts.ranks = Some(host_number("ranks", text)?);
        Ok(())
    }),
    valued("start-at", "TIME", "start the jobs at TIME, in seconds since 1970", |flags, text| {
        flags.hosts.start_at = Some(text.to_string());
        Ok(())
    }),
    valued("results", "DIR", "directory of the ranks' result.RANK.json (.)", |flags, text| {
        if text.is_empty() {
            return Err(FlagError::fatal("--results: the directory has no name"));
        }
        flags.hosts.results = Some(text.to_string());
        Ok(())
    }),
    bare("split", "split files of one name between the hosts, in ranges of blocks", |flags, _| {
        flags.hosts.split = true;
        Ok(())
    }),
    bare("reorder", "jobs that only read take the part of the next host", |flags, _| {
        flags.hosts.reorder = true;
        Ok(())
    }),
];

fn host_number(flag: &str, text: &str) -> Result<u32, FlagError> {
    let wrong = || FlagError::fatal(format!("invalid --{flag}={text}: use a whole number"));
    text.parse().map_err(|_| wrong())
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

fn inform(flags: &mut Flags, info: InfoRequest) -> Result<(), FlagError> {
    flags.info.get_or_insert(info);
    Ok(())
}

fn formats(flags: &mut Flags, text: &str) -> Result<(), FlagError> {
    set_formats(flags, OutputFormat::list(text)?)
}

fn set_formats(flags: &mut Flags, formats: Vec<OutputFormat>) -> Result<(), FlagError> {
    flags.formats = formats;
    flags.formats_given = true;
    // What was added to earlier forms goes with them, as in fio.
    flags.append_terse = false;
    Ok(())
}

fn terse_version(flags: &mut Flags, text: &str) -> Result<(), FlagError> {
    flags.terse_version = match leading_number(text) {
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
            ("all", _) => flags.debug = DebugWord::WORDS.map(|(_, debug)| debug).to_vec(),
            ("help" | "?", _) => {}
            ("job", Some(number)) => flags.debug_job = number.trim().parse().ok(),
            ("job", None) => unknown = Some("missing job number".to_string()),
            _ => match DebugWord::WORDS.into_iter().find(|(known, _)| *known == name) {
                Some((_, debug)) if !flags.debug.contains(&debug) => flags.debug.push(debug),
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
            take(&["output-format=json", "minimal"]).unwrap().formats,
            [OutputFormat::Terse]
        );
        assert_eq!(take(&["minimal", "output-format=json"]).unwrap().formats, [OutputFormat::Json]);
    }

    #[test]
    fn csv_is_terse_to_fio_and_comma_separated_in_our_own_name() {
        let own = take(&["output-format=csv,markdown"]).unwrap();
        assert_eq!(own.formats, [OutputFormat::Csv, OutputFormat::Markdown]);
        let mut flags = Flags::default();
        let as_fio = find(&[FIO, LEDGER], "output-format").unwrap();
        as_fio.apply(&mut flags, Some("csv")).unwrap();
        assert_eq!(flags.formats, [OutputFormat::Terse]);
        assert!(as_fio.apply(&mut flags, Some("markdown")).is_err());
        let unknown = refused("output-format=xml,json");
        assert_eq!(
            unknown,
            "unknown output format \"xml\": use normal, terse, json, json+, csv or markdown"
        );
    }

    #[test]
    fn the_first_question_holds() {
        let flags = take(&["cmdhelp=bs", "version"]).unwrap();
        assert_eq!(flags.info, Some(InfoRequest::CommandHelp(Some("bs".into()))));
        assert_eq!(take(&["enghelp"]).unwrap().info, Some(InfoRequest::EngineHelp(None)));
    }

    #[test]
    fn numbers_are_read_as_fio_reads_them() {
        assert_eq!(take(&["terse-version=2x"]).unwrap().terse_version, 2);
        for bad in ["terse-version=1", "terse-version=6", "terse-version=v3", "terse-version="] {
            assert_eq!(refused(bad), "bad terse version format");
        }
        assert_eq!(take(&["alloc-size=x", "max-jobs=7z"]).unwrap().max_jobs, Some(7));
    }

    #[test]
    fn spans_of_time_have_their_least() {
        assert_eq!(take(&["status-interval=1ms"]).unwrap().status_interval_ms, Some(1));
        assert_eq!(refused("status-interval=0"), "status interval too small");
        assert_eq!(refused("status-interval=x"), "failed parsing time x");
        assert_eq!(take(&["eta-interval=250ms"]).unwrap().eta_interval_ms, 250);
        assert_eq!(refused("eta-interval=249ms"), "eta interval time too short (250msec min)");
        assert_eq!(refused("eta-newline=x"), "failed parsing eta time x");
    }

    #[test]
    fn debug_words_add_up_and_an_unknown_one_is_no_reason_to_stop() {
        let flags = take(&["debug=io,random", "debug=io:3,job:7"]).unwrap();
        assert_eq!(flags.debug, [DebugWord::Io, DebugWord::Random]);
        assert_eq!(flags.debug_job, Some(7));
        assert_eq!(take(&["debug=all"]).unwrap().debug.len(), DebugWord::WORDS.len());
        let error = take(&["debug=parse,foo"]).unwrap_err();
        assert_eq!((error.fatal, error.message.as_str()), (false, "debug mask foo not found"));
    }

    #[test]
    fn global_is_no_section_to_run() {
        assert_eq!(take(&["section=a", "section=b"]).unwrap().sections, ["a", "b"]);
        assert_eq!(refused("section=global"), "can't use global as only section");
    }

    #[test]
    fn several_devices_may_be_erased_each_by_its_own_word() {
        assert_eq!(take(&["erase=S-1", "erase=16M"]).unwrap().erase, ["S-1", "16M"]);
        assert!(refused("erase=").contains("serial number, model or size"));
    }

    #[test]
    fn colour_is_ours_and_strict() {
        assert_eq!(take(&["color=never"]).unwrap().color, ShowWhen::Never);
        assert_eq!(take(&["ledger", "strict"]).unwrap().ledger, Some(true));
        assert_eq!(take(&["ledger=no"]).unwrap().ledger, Some(false));
        assert!(refused("ledger=maybe").contains("use yes or no"));
        assert!(refused("color=maybe").contains("use auto, always or never"));
        assert_eq!(take(&["eta=foo"]).unwrap().eta, ShowWhen::Auto);
        assert_eq!(take(&["live=json"]).unwrap().live, LiveFlag::Json);
        assert!(refused("live=x").contains("use auto, line, screen, plain, json or no"));
    }
}
