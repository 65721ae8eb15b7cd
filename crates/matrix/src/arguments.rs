//! The command line of `iosonde matrix`.

use crate::cell::Access;
use crate::values::{
    AccessList, BlockSizes, ResultFile, ResultFormat, block_sizes, cell_time, kinds, output, size,
};
use clap::Args;
use iosonde_base::text;
use iosonde_command::CommandAnswer;
use iosonde_command::definition::{self, CommandEntry};
use std::path::PathBuf;
use std::time::Duration;

const SPAN: u64 = 128 << 20;
const CELL_TIME: Duration = Duration::from_secs(1);

/// What `--help` says below the summary.
pub const DETAILS: &str = "\
Measure how fast TARGET completes writes of each block size, for each way of making them durable \
(BUFFERED, AMORTIZED_FDATASYNC, AMORTIZED_FSYNC, FDATASYNC, FSYNC, O_DSYNC, O_SYNC; each plain, \
from ALIGNED buffers, and with O_DIRECT), and how fast it reads (cold, warm, direct).

Files that iosonde creates are removed at the end, also after Ctrl-C, which prints the results so \
far. Nothing that exists is written to without --erase.

Exit code: 0 every cell is measured or known to be impossible, 1 an error, 128 stopped by a signal.
docs/matrix.md describes each cell, how it is measured, and the formats.";

// The arguments as typed. A doc comment would take the place of the command's help.
#[derive(Args, Debug)]
pub struct MatrixArguments {
    /// A file to create, a directory, a block device or an existing file; without it, a temporary
    /// file in the current directory
    target: Option<PathBuf>,

    /// Block sizes: a list (4k,64k,1m), a range of powers of two (4k..32m), or both [default:
    /// 4k..32m]
    #[arg(long = "bs", value_name = "SIZES", value_parser = block_sizes)]
    block_sizes: Option<BlockSizes>,

    /// Measure only these: names of modes (fsync,o_dsync), READ, WRITE, or the name of one row
    /// ('FSYNC + O_DIRECT'), separated by commas; READ alone writes to nothing that exists
    #[arg(long = "modes", value_name = "LIST", value_parser = kinds)]
    kinds: Option<AccessList>,

    /// Use this many bytes from the start of TARGET [default: 128m]
    #[arg(long = "size", value_name = "SIZE", value_parser = size)]
    span: Option<u64>,

    /// The most time for one cell (500ms, 2s); a cell ends sooner, after at least a fifth of it,
    /// once its median is known within 5 %. Amortized modes may take twice as long [default: 1s]
    #[arg(long = "time-per-cell", value_name = "TIME", value_parser = cell_time)]
    cell_time: Option<Duration>,

    /// Use seven block sizes, --size=64m and --time-per-cell=200ms, where not given
    #[arg(long)]
    quick: bool,

    /// Allow overwriting an existing file; for a block device, WORD repeats its model or serial
    /// number, or its size if it has neither
    #[arg(long, value_name = "WORD", require_equals = true, value_parser = erase_word)]
    erase: Option<Option<String>>,

    /// Print the results as table, lines, json, csv, svg or html [default: table]
    #[arg(long, value_name = "FORMAT", value_parser = ResultFormat::named, overrides_with = "json")]
    format: Option<ResultFormat>,

    /// The same as --format=json
    #[arg(long, overrides_with = "format")]
    json: bool,

    /// Also write FILE, in the format its name ends in: .txt, .lines, .json, .csv, .svg or .html;
    /// may be given several times
    #[arg(long = "output", value_name = "FILE", value_parser = output)]
    outputs: Vec<ResultFile>,

    /// Show each cell on standard error, even if that is no terminal
    #[arg(long)]
    progress: bool,
}

/// Permission to write to a target that exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Erase {
    /// Not given.
    #[default]
    No,
    /// `--erase`.
    Yes,
    /// `--erase=WORD`.
    Word(String),
}

/// The options of a run, with defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixOptions {
    /// The path to measure; a temporary file in the current directory if `None`.
    pub target: Option<PathBuf>,
    /// Block sizes in bytes, ascending, none twice.
    pub sizes: Vec<u32>,
    /// The rows.
    pub kinds: Vec<Access>,
    /// Bytes to write and read.
    pub span: u64,
    /// The most time for a cell.
    pub cell_time: Duration,
    /// `--erase`.
    pub erase: Erase,
    /// The format of standard output.
    pub format: ResultFormat,
    /// The files of results.
    pub outputs: Vec<ResultFile>,
    /// Show progress even if standard error is no terminal.
    pub progress: bool,
}

/// Read the words after `iosonde matrix`.
///
/// # Errors
/// The first thing that is wrong, or the help to print.
pub fn parse(command: &CommandEntry, words: &[String]) -> Result<MatrixOptions, CommandAnswer> {
    let arguments: MatrixArguments = definition::arguments(command, words)?;
    arguments.options().map_err(|why| CommandAnswer::refused(command.name, &why))
}

impl MatrixArguments {
    fn options(self) -> Result<MatrixOptions, String> {
        let range = |low: u32, step: usize, high: u32| {
            (low..=high).step_by(step).map(|power| 1 << power).collect::<Vec<u32>>()
        };
        let (sizes, default_span, cell_time) = if self.quick {
            (range(12, 2, 24), SPAN / 2, CELL_TIME / 5)
        } else {
            (range(12, 1, 25), SPAN, CELL_TIME)
        };
        let sizes = self.block_sizes.map_or(sizes, |sizes| sizes.0);
        Ok(MatrixOptions {
            target: self.target,
            span: span(self.span, default_span, &sizes)?,
            sizes,
            kinds: self.kinds.map_or_else(Access::all, |kinds| kinds.0),
            cell_time: self.cell_time.unwrap_or(cell_time),
            erase: match self.erase {
                None => Erase::No,
                Some(None) => Erase::Yes,
                Some(Some(word)) => Erase::Word(word),
            },
            format: if self.json {
                ResultFormat::Json
            } else {
                self.format.unwrap_or(ResultFormat::Table)
            },
            outputs: self.outputs,
            progress: self.progress,
        })
    }
}

/// How many bytes are used: `given`, or `default`, but at least four of the largest blocks, so that
/// there is something to amortize.
fn span(given: Option<u64>, default: u64, sizes: &[u32]) -> Result<u64, String> {
    let largest = sizes.last().copied().map_or(0, u64::from);
    match given {
        Some(span) if span < largest => Err(format!(
            "--size={span} is less than the largest block, {}: give a larger --size or a smaller \
             --bs",
            text::bytes(largest)
        )),
        Some(span) => Ok(span),
        None => Ok(default.max(4 * largest)),
    }
}

fn erase_word(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("the word is missing: repeat the device's model, serial number or size".into()),
        word => Ok(word.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::COMMAND;
    use crate::cell::{WritePath, WriteSync};

    fn options(line: &str) -> Result<MatrixOptions, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&COMMAND, &words).map_err(|answer| answer.errors.join("\n"))
    }

    #[test]
    fn the_command_is_consistent_and_its_help_names_every_option() {
        COMMAND.definition().debug_assert();
        for word in ["-h", "--help"] {
            let help = parse(&COMMAND, &[word.to_owned()]).unwrap_err().text;
            for argument in COMMAND.definition().get_arguments() {
                let name =
                    argument.get_long().map_or("[TARGET]".into(), |name| format!("--{name}"));
                assert!(help.contains(&name), "{word} lacks {name}");
            }
        }
    }

    #[test]
    fn without_options_it_is_the_whole_matrix_on_a_temporary_file() {
        let options = options("").unwrap();
        assert_eq!(
            (options.sizes.len(), options.sizes[0], options.sizes[13]),
            (14, 4096, 32 << 20)
        );
        assert_eq!((options.kinds.len(), options.span), (24, 128 << 20));
        assert_eq!((options.target, options.erase), (None, Erase::No));
    }

    #[test]
    fn sizes_are_lists_and_ranges_without_repeats() {
        let sizes = |text: &str| options(&format!("--bs={text}")).map(|options| options.sizes);
        assert_eq!(sizes("4k..16k").unwrap(), [4096, 8192, 16384]);
        assert_eq!(sizes("1m,512,4K,4096").unwrap(), [512, 4096, 1 << 20]);
        assert_eq!(sizes("3k..13k,1m").unwrap(), [3072, 6144, 12288, 1 << 20]);
        for bad in ["", "0", "8k..4k", "4q", "2g", "-4k", "4k..", "4k,,8k", "99999999999999999999"]
        {
            assert!(sizes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_span_holds_four_of_the_largest_blocks() {
        assert_eq!(options("--bs=64m").unwrap().span, 256 << 20);
        assert!(options("--bs=64m --size=63m").unwrap_err().contains("less than the largest"));
        assert_eq!(options("--bs=64m --size=64m").unwrap().span, 64 << 20);
    }

    #[test]
    fn modes_are_groups_or_lines() {
        let kinds = |text: &str| options(&format!("--modes={text}")).map(|options| options.kinds);
        assert_eq!(kinds("fsync").unwrap().len(), 3);
        assert_eq!(
            kinds("fsync+o_direct").unwrap(),
            [Access::Write(WriteSync::Fsync, WritePath::Direct)]
        );
        assert_eq!(
            kinds("o_direct").unwrap(),
            [Access::Write(WriteSync::Buffered, WritePath::Direct)]
        );
        assert_eq!(kinds("read,o_sync").unwrap().len(), 6);
        assert_eq!(kinds("write").unwrap().len(), 21);
        assert!(kinds("fsyn").unwrap_err().contains("did you mean FSYNC?"));
    }

    #[test]
    fn the_word_after_erase_is_the_target() {
        let options = options("--erase /dev/sdz").unwrap();
        assert_eq!((options.erase, options.target), (Erase::Yes, Some("/dev/sdz".into())));
        let word = super::tests::options("--erase=ABC-1 /dev/sdz").unwrap().erase;
        assert_eq!(word, Erase::Word("ABC-1".into()));
        assert!(super::tests::options("--erase=").is_err());
    }

    #[test]
    fn wrong_words_are_refused_with_what_is_wrong() {
        for (line, said) in [
            ("a b", "unexpected argument \"b\""),
            ("--bz=4k", "unknown option --bz: did you mean --bs?"),
            ("--nothing", "unknown option --nothing: see iosonde matrix --help"),
            ("-q", "unknown option -q: see iosonde matrix --help"),
            ("--time-per-cell=0.1ms", "between 1ms"),
            ("--time-per-cell=2d", "between 1ms and a day"),
            (
                "--time-per-cell=1w",
                "--time-per-cell: invalid time \"1w\": use a number with ms, s, m, h or d: 30m",
            ),
            ("--time-per-cell=nan", "invalid time \"nan\""),
            ("--size", "--size needs a value"),
            ("--size=", "--size: invalid size \"\""),
            ("--size=1x", "--size: invalid size \"1x\": use a number with k, m, g or t"),
            ("--quick=1", "--quick takes no value"),
            (
                "--format=xml",
                "--format: unknown format \"xml\": use table, lines, json, csv, svg or html",
            ),
            ("--output=x.png", "unknown format of x.png: end it in .txt"),
            ("--output=x", "unknown format of x: end it in .txt"),
            ("--modes=fsnc", "--modes: unknown mode \"fsnc\": did you mean FSYNC?"),
        ] {
            let error = options(line).unwrap_err();
            assert!(error.contains(said), "{line}: {error}");
        }
    }

    #[test]
    fn the_last_of_two_formats_counts() {
        assert_eq!(options("--json --format=csv").unwrap().format, ResultFormat::Csv);
        assert_eq!(options("--format=csv --json").unwrap().format, ResultFormat::Json);
        assert_eq!(options("--bs=4k --bs 8k").unwrap().sizes, [8192]);
        let outputs = options("--output a.csv --output=b.txt").unwrap().outputs;
        assert_eq!(
            outputs.iter().map(|output| output.format).collect::<Vec<_>>(),
            [ResultFormat::Csv, ResultFormat::Table]
        );
    }

    #[test]
    fn quick_gives_way_to_what_is_asked() {
        let quick = options("--quick").unwrap();
        assert_eq!((quick.sizes.len(), quick.span), (7, 64 << 20));
        assert_eq!(options("--quick --bs=4k").unwrap().sizes, [4096]);
        assert_eq!(options("--quick --time-per-cell=2").unwrap().cell_time.as_secs(), 2);
    }
}
