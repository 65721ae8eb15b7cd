//! The rows: who can honour a flag, its name and value, a line of help, what it does.

use super::FlagAction::{Ask, Named, On, Text, Unsupported, With};
use super::values::{
    debug, formats, host_number, idle, invalid, leading_number, set_formats, some, terse_version,
    time, when,
};
use super::{FlagDef, Shown};
use crate::cli::flags::{
    FileSplit, FlagError, FlagGroup, InfoRequest, LiveFlag, OutputFormat, ShowWhen, milliseconds,
};
use crate::cli::getopt::TakesValue;
use crate::cli::metrics_address;

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
        => Ask(|_| InfoRequest::ClockTest);
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
    Hosts "server" Maybe "ADDRESS" "run the jobs that clients send; PORT 8765"
        => With(|flags, text| {
            flags.hosts.server = Some(text.to_owned());
            Ok(())
        });
    Hosts "daemonize" Value "PIDFILE" "run the server in the background"
        => Named(|flags| &mut flags.hosts.daemonize, "--daemonize: the file has no name");
    Hosts "client" Value "HOST" "run the jobs on a server at HOST[,PORT], or on those a file lists"
        => With(|flags, text| {
            flags.hosts.clients.push(text.to_owned());
            Ok(())
        });
    Hosts "remote-config" Value "FILE" "a job file on the server"
        => Named(|flags| &mut flags.hosts.remote_config, "--remote-config: the file has no name");
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
        => Unsupported("a server starts no program for a client but what a job names");
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
    // The version that may follow is not looked at: --terse-version is.
    Output "append-terse" Maybe "N" "add the terse format to the others"
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
    Output "verbose" Nothing "" "report all figures, and findings with what to do"
        => On(|flags| &mut flags.output.verbose);
    Output "html" Value "FILE" "also write the report as one HTML page to FILE"
        => Named(|flags| &mut flags.output.html, "--html: the file has no name");
    Output "force" Nothing "" "let --html, --live-file, --metrics-file overwrite; ignore locks"
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

/// Ours, in both personalities: where the bytes went, several hosts, and what a server allows.
pub const LEDGER: &[FlagDef] = flags! {
    Jobs "no-exec" Nothing "" "refuse jobs that start programs or load objects"
        => On(|flags| &mut flags.jobs.no_exec);
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
    Hosts "split" Maybe "interleaved" "split files of one name between the hosts: a range each, or in turns"
        => With(|flags, text| {
            flags.hosts.split = Some(match text {
                "" | "ranges" => FileSplit::Ranges,
                "interleaved" => FileSplit::Interleaved,
                other => {
                    return Err(FlagError::fatal(format!(
                        "--split={other}: use interleaved, or --split alone for a range of blocks each"
                    )));
                }
            });
            Ok(())
        });
    Hosts "reorder" Nothing "" "jobs that only read take the part of the next host"
        => On(|flags| &mut flags.hosts.reorder);
    Hosts "shift" Value "N" "jobs that only read take the part of the host N further"
        => With(|flags, text| {
            flags.hosts.shift = Some(host_number("shift", text)?);
            Ok(())
        });
    Hosts "hosts-table" Value "FILE" "lines HOST = PATHS: what {paths} in a job stands for on each host"
        => Named(|flags| &mut flags.hosts.table, "--hosts-table: the file has no name");
    Hosts "secret-file" Value "FILE" "the secret that a server and its clients share"
        => Named(|flags| &mut flags.hosts.secret_file, "--secret-file: the file has no name");
};
