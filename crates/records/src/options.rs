//! The options, one entry each: name, value, default, description.

use clap::{Arg, ArgAction, Command};

/// Where an option comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionGroup {
    /// Every run of SBK.
    Core,
    /// SBK's loggers.
    Logger,
    /// A driver of SBK.
    Driver,
    /// SBK's Java machine; here accepted, and said to do nothing.
    Java,
    /// Only we.
    Ours,
}

/// The value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// The next word, of this kind.
    Value(&'static str),
    /// Nothing, or a word after `=`.
    Flag,
}

/// One option.
#[derive(Debug)]
pub struct SbkOption {
    /// Its name, without dashes.
    pub name: &'static str,
    /// Its value.
    pub takes: Takes,
    /// Its default, as text.
    pub default: &'static str,
    /// Where it comes from.
    pub group: OptionGroup,
    /// Its description.
    pub doc: &'static str,
}

const fn option(
    name: &'static str,
    value: &'static str,
    default: &'static str,
    group: OptionGroup,
    doc: &'static str,
) -> SbkOption {
    SbkOption { name, takes: Takes::Value(value), default, group, doc }
}

const fn flag(name: &'static str, group: OptionGroup, doc: &'static str) -> SbkOption {
    SbkOption { name, takes: Takes::Flag, default: "false", group, doc }
}

/// Every option, in the order of help.
pub static OPTIONS: &[SbkOption] = &[
    option(
        "class",
        "NAME",
        "",
        OptionGroup::Core,
        "what is driven: file, filestream, asyncfile, csv, null",
    ),
    option(
        "writers",
        "N",
        "0",
        OptionGroup::Core,
        "writers; class file takes one, unless each has its own file (--files)",
    ),
    option(
        "readers",
        "N",
        "0",
        OptionGroup::Core,
        "readers; each reads from the start of the file (see --readers-split)",
    ),
    option(
        "size",
        "BYTES|A-B",
        "0",
        OptionGroup::Core,
        "bytes of a record; A-B (iosonde only): each record's size is drawn evenly between the two",
    ),
    option(
        "records",
        "N",
        "0",
        OptionGroup::Core,
        "records of all workers together; with -seconds: records a second of all workers together",
    ),
    option(
        "seconds",
        "N",
        "",
        OptionGroup::Core,
        "run this long; without it and without -records: until Ctrl-C",
    ),
    option(
        "sync",
        "N",
        "0",
        OptionGroup::Core,
        "make durable after every N records of a writer; 0: only at the end",
    ),
    option("flush", "N", "0", OptionGroup::Core, "what -sync was called until SBK 0.77"),
    option(
        "throughput",
        "MB/s",
        "-1",
        OptionGroup::Core,
        "MiB a second of all workers together, fractions too; -1: as fast as it goes",
    ),
    option("wstep", "N", "1", OptionGroup::Core, "start this many writers at a time"),
    option("wsec", "N", "0", OptionGroup::Core, "seconds between two such starts"),
    option("rstep", "N", "1", OptionGroup::Core, "start this many readers at a time"),
    option("rsec", "N", "0", OptionGroup::Core, "seconds between two such starts"),
    option(
        "out",
        "NAME",
        "SystemLogger",
        OptionGroup::Logger,
        "SystemLogger, Sl4jLogger, CSVLogger, PrometheusLogger; JSON (iosonde only): the common result file",
    ),
    option(
        "time",
        "ms|mcs|ns|SECONDS",
        "ms",
        OptionGroup::Logger,
        "unit of latencies; a number is the run time, as in SBK 0.77",
    ),
    option(
        "minlatency",
        "N",
        "0",
        OptionGroup::Logger,
        "latencies below are left out of percentiles; in the unit of -time",
    ),
    option(
        "maxlatency",
        "N",
        "",
        OptionGroup::Logger,
        "latencies above are left out of percentiles; 180000 ms if not given",
    ),
    option(
        "wq",
        "true|false",
        "false",
        OptionGroup::Logger,
        "count write requests apart from completions",
    ),
    option(
        "rq",
        "true|false",
        "false",
        OptionGroup::Logger,
        "count read requests apart from completions",
    ),
    option(
        "csvfile",
        "FILE|no",
        "no",
        OptionGroup::Logger,
        "a row for every line; the file is replaced",
    ),
    option(
        "context",
        "[HOST:]PORT/PATH|no",
        "9718/metrics",
        OptionGroup::Logger,
        "where PrometheusLogger answers; on 127.0.0.1 if no host is given",
    ),
    option(
        "file",
        "FILE",
        "",
        OptionGroup::Driver,
        "the file; writers create it again unless -append",
    ),
    option(
        "append",
        "true|false",
        "false",
        OptionGroup::Driver,
        "filestream: write on at the file's end",
    ),
    option(
        "recreate",
        "true|false",
        "true",
        OptionGroup::Driver,
        "filestream: remove the file before it is written",
    ),
    option(
        "buffer",
        "true|false",
        "false",
        OptionGroup::Driver,
        "filestream: through a buffer in memory, 1 MiB for writers, 8 KiB for readers",
    ),
    option(
        "asyncthreads",
        "N",
        "0",
        OptionGroup::Driver,
        "file: reads in flight for each reader, on io_uring (in SBK: threads)",
    ),
    option(
        "n",
        "N",
        "0",
        OptionGroup::Driver,
        "null: turns of an empty loop; here each record completes at once",
    ),
    option("timeout", "MS", "2147483647", OptionGroup::Driver, "null: accepted; nothing waits"),
    option(
        "ro",
        "true|false",
        "false",
        OptionGroup::Java,
        "needs writers and readers together, which file drivers refuse",
    ),
    option("millisecsleep", "N", "0", OptionGroup::Java, "how SBK's statistics thread sleeps"),
    option(
        "idletimeoutseconds",
        "N",
        "600",
        OptionGroup::Java,
        "how long SBK's statistics thread waits for a record",
    ),
    option("thread", "p|f|v", "v", OptionGroup::Java, "kind of Java thread"),
    option("mpscqueue", "true|false", "true", OptionGroup::Java, "queue between SBK's threads"),
    option(
        "format",
        "0.77|10",
        "",
        OptionGroup::Ours,
        "layout of the lines: today's, or the one of 0.77 (the default with -flush and with a numeric -time)",
    ),
    flag(
        "direct",
        OptionGroup::Ours,
        "past the page cache (O_DIRECT); -size must be a multiple of the device's block",
    ),
    option(
        "ioengine",
        "NAME",
        "",
        OptionGroup::Ours,
        "any engine of iosonde's that moves bytes of files: psync, io_uring, libaio, mmap, ...",
    ),
    option(
        "iodepth",
        "N",
        "",
        OptionGroup::Ours,
        "records in flight for each worker; asyncfile: 32 if not given",
    ),
    option(
        "erase",
        "WORD",
        "",
        OptionGroup::Ours,
        "write to a block device that holds data: WORD repeats its serial number, model or size",
    ),
    flag("files", OptionGroup::Ours, "each worker has its own file: FILE.0, FILE.1, ..."),
    flag("readers-split", OptionGroup::Ours, "readers share the file: each reads its part of it"),
    flag(
        "sync-in-latency",
        OptionGroup::Ours,
        "a record that is followed by a sync has the sync's time in its latency",
    ),
    option(
        "f",
        "FILE",
        "",
        OptionGroup::Ours,
        "arguments from a YAML file, as sbk-yal reads them; others given here go before",
    ),
    flag("help", OptionGroup::Core, "print this page"),
    flag("h", OptionGroup::Core, "print this page"),
    flag("version", OptionGroup::Core, "print the version"),
    flag("v", OptionGroup::Core, "print the version"),
];

/// The option of this name.
pub fn find(name: &str) -> Option<&'static SbkOption> {
    OPTIONS.iter().find(|option| option.name == name)
}

/// The name that comes nearest to a mistyped one.
pub fn nearest(name: &str) -> Option<&'static str> {
    iosonde_options::nearest(name, OPTIONS.iter().map(|option| option.name))
}

/// The sections of help, in order.
const SECTIONS: [(OptionGroup, &str); 5] = [
    (OptionGroup::Core, "Run"),
    (OptionGroup::Driver, "Storage class and file"),
    (OptionGroup::Logger, "Output"),
    (OptionGroup::Ours, "Only in iosonde"),
    (OptionGroup::Java, "Accepted, without effect here"),
];

/// The command line of `iosonde sbk`, for help, completions and the manual page. Parsing is not
/// its task (see [`crate::words`]): SBK's long options take one dash too, which clap's do not.
pub fn command() -> Command {
    let command = Command::new("sbk")
        .bin_name("iosonde sbk")
        .about("Run SBK's file benchmark: records per second, latency percentiles")
        .long_about(LONG_ABOUT)
        .override_usage(
            "iosonde sbk -class NAME -file FILE -size BYTES -writers N | -readers N ...",
        )
        .disable_help_flag(true)
        .disable_version_flag(true);
    let in_section = |group| OPTIONS.iter().filter(move |option| option.group == group);
    SECTIONS.iter().fold(command, |command, &(group, title)| {
        command.next_help_heading(title).args(in_section(group).map(argument))
    })
}

const LONG_ABOUT: &str = "\
Run SBK's file benchmark: records per second, latency percentiles

Writers and readers of records, with a line every five seconds. Also called as sbk. Names take one dash \
or two; a value is the next word or follows =.";

fn argument(option: &'static SbkOption) -> Arg {
    let argument = Arg::new(option.name).long(option.name);
    let argument = match option.takes {
        Takes::Value(value) => argument.value_name(value),
        Takes::Flag => argument.action(ArgAction::SetTrue),
    };
    match (option.takes, option.default) {
        (Takes::Flag, _) | (_, "") => argument.help(option.doc),
        (_, default) => argument.help(format!("{} [default: {default}]", option.doc)),
    }
}

/// The page that `-help` prints.
pub fn help() -> String {
    command().render_long_help().to_string()
}
