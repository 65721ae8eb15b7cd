//! The command line of `iosonde matrix`, and its help.

use crate::cell::{self, Kind};
use iosonde_options::nearest;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What `--help` prints.
pub const HELP: &str = "\
iosonde matrix [TARGET] [OPTIONS]

Measures how fast TARGET takes writes of each block size, for each way of making them durable
(BUFFERED, AMORTIZED_FDATASYNC, AMORTIZED_FSYNC, FDATASYNC, FSYNC, O_DSYNC, O_SYNC; each plain,
from ALIGNED buffers, and with O_DIRECT), and how fast it reads (cold, warm, direct).

TARGET is a file to be made, a directory, a block device, or an existing file; without it, a
temporary file here. Files that iosonde makes are removed at the end, also after Ctrl-C, which
prints what is known. Nothing that exists is written to without --erase.

  --bs=SIZES             block sizes: a list (4k,64k,1m), a range of powers of two (4k..32m),
                         or both; 4k..32m unless given
  --modes=LIST           measure these only: names of modes (fsync,o_dsync), READ, or one
                         line's name ('FSYNC + O_DIRECT'), parted by commas; READ alone writes
                         to nothing that exists
  --size=SIZE            bytes from the start of TARGET that are used; 128m unless given
  --time-per-cell=TIME   the most time for one cell (500ms, 2s), 1s unless given; a cell ends
                         sooner, after a fifth of it at least, once its median is known within
                         5 %. Amortized modes may take twice as much
  --quick                seven sizes, --size=64m, --time-per-cell=200ms, where not given
  --erase                agree that what an existing file holds is lost
  --erase=WORD           the same for a block device: WORD repeats its model or its serial
                         number, or its size if it has neither
  --format=FORMAT        what is printed: table (default), lines, json, csv or svg
  --json                 the same as --format=json
  --output=FILE          write FILE too, in the format that its name ends in: .txt, .lines,
                         .json, .csv or .svg; may be given several times
  --progress             tell each cell on standard error, also where that is no terminal
  --help                 this

Exit code: 0 all measured or known to be impossible, 1 refused or an error, 128 stopped by a signal.
docs/matrix.md has what each cell does, how it is measured, and the formats.
";

/// The forms in which a sheet is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Table,
    /// One line a cell, as the benchmark of @ronomon/direct-io prints them.
    Lines,
    /// docs/matrix.md has the keys.
    Json,
    /// One line a cell with all its figures.
    Csv,
    /// A heat map.
    Svg,
}

impl Format {
    const NAMES: [(&str, Format); 5] = [
        ("table", Format::Table),
        ("lines", Format::Lines),
        ("json", Format::Json),
        ("csv", Format::Csv),
        ("svg", Format::Svg),
    ];

    fn named(text: &str) -> Result<Format, String> {
        let found = Format::NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        found.map(|&(_, format)| format).ok_or_else(|| {
            format!("--format: {text:?} is none: use table, lines, json, csv or svg")
        })
    }

    /// By the ending of a file's name.
    fn of_file(path: &Path) -> Result<Format, String> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "txt" => Ok(Format::Table),
            "table" => Err(()),
            other => Format::named(other).map_err(drop),
        }
        .map_err(|()| {
            let path = path.display();
            format!("--output: {path} says no format: end it in .txt, .lines, .json, .csv or .svg")
        })
    }
}

/// Leave to write to what exists.
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

/// What was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// What to measure; a temporary file here if `None`.
    pub target: Option<PathBuf>,
    /// Block sizes in bytes, ascending, none twice.
    pub sizes: Vec<u32>,
    /// The rows.
    pub kinds: Vec<Kind>,
    /// Bytes to write and read.
    pub span: u64,
    /// The most time for a cell.
    pub time_a_cell: Duration,
    /// `--erase`.
    pub erase: Erase,
    /// What goes to standard output.
    pub format: Format,
    /// What goes to files.
    pub outputs: Vec<(PathBuf, Format)>,
    /// Progress is told even where nobody seems to look on.
    pub progress: bool,
}

/// What a command line comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// Measure.
    Measure(Box<Asked>),
    /// `--help`.
    Help,
}

/// The largest block, in bytes: what one write(2) moves at most on Linux is
/// just below 2 GiB.
const BLOCK_MOST: u64 = 1 << 30;
const SPAN: u64 = 128 << 20;
const TIME_A_CELL: Duration = Duration::from_secs(1);

const NAMES: [&str; 11] = [
    "--bs",
    "--modes",
    "--size",
    "--time-per-cell",
    "--quick",
    "--erase",
    "--format",
    "--json",
    "--output",
    "--progress",
    "--help",
];

/// Options as they come, before their defaults are known.
#[derive(Default)]
struct Draft {
    target: Option<PathBuf>,
    sizes: Option<Vec<u32>>,
    kinds: Option<Vec<Kind>>,
    span: Option<u64>,
    time: Option<Duration>,
    quick: bool,
    erase: Erase,
    format: Option<Format>,
    outputs: Vec<(PathBuf, Format)>,
    progress: bool,
}

/// Read the words after `iosonde matrix`.
///
/// # Errors
/// The first thing that is wrong, in words.
pub fn parse(words: &[String]) -> Result<Wish, String> {
    let mut draft = Draft::default();
    let mut words = words.iter();
    let mut only_targets = false;
    while let Some(word) = words.next() {
        if only_targets || !word.starts_with('-') || word == "-" {
            if word.is_empty() {
                return Err("the target's name is empty".into());
            }
            if let Some(first) = draft.target.replace(word.into()) {
                return Err(format!(
                    "two targets, {} and {word}: measure one at a time",
                    first.display()
                ));
            }
            continue;
        }
        let (name, mut value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.as_str(), None),
        };
        match name {
            "--" => only_targets = true,
            "--help" | "-h" => return Ok(Wish::Help),
            "--quick" | "--json" | "--progress" if value.is_some() => {
                return Err(format!("{name} takes no value"));
            }
            // Its value must stand in the same word: the next one is the target.
            "--erase" | "--quick" | "--json" | "--progress" => {}
            _ if !NAMES.contains(&name) => return Err(unknown(name)),
            _ => {
                // The value may be the next word.
                let text = value.or_else(|| words.next().map(String::as_str));
                let text = text.filter(|text| !text.is_empty());
                value = Some(text.ok_or_else(|| format!("{name} needs a value"))?);
            }
        }
        if !only_targets {
            draft.take(name, value)?;
        }
    }
    draft.finish().map(|asked| Wish::Measure(Box::new(asked)))
}

fn unknown(name: &str) -> String {
    match nearest(name, NAMES) {
        Some(near) => format!("there is no option {name}; did you mean {near}?"),
        None => format!("there is no option {name}; see iosonde matrix --help"),
    }
}

impl Draft {
    fn take(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        let text = value.unwrap_or_default();
        match name {
            "--bs" => self.sizes = Some(sizes(text)?),
            "--modes" => self.kinds = Some(kinds(text)?),
            "--size" => {
                self.span = Some(size(text).map_err(|error| format!("--size: {error}"))?);
            }
            "--time-per-cell" => self.time = Some(time(text)?),
            "--quick" => self.quick = true,
            "--erase" => {
                self.erase = match value.map(str::trim) {
                    None => Erase::Yes,
                    Some("") => return Err("--erase=: the word is missing".into()),
                    Some(word) => Erase::Word(word.to_owned()),
                };
            }
            "--format" => self.format = Some(Format::named(text)?),
            "--json" => self.format = Some(Format::Json),
            "--output" => {
                let path = PathBuf::from(text);
                let format = Format::of_file(&path)?;
                self.outputs.push((path, format));
            }
            "--progress" => self.progress = true,
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<Asked, String> {
        let range = |low: u32, step: u32, high: u32| {
            (low..=high).step_by(step as usize).map(|power| 1 << power).collect::<Vec<u32>>()
        };
        let (own_sizes, own_span, own_time) = match self.quick {
            true => (range(12, 2, 24), SPAN / 2, TIME_A_CELL / 5),
            false => (range(12, 1, 25), SPAN, TIME_A_CELL),
        };
        let sizes = self.sizes.unwrap_or(own_sizes);
        let largest = sizes.last().copied().map_or(0, u64::from);
        let span = match self.span {
            Some(span) if span < largest => {
                return Err(format!(
                    "--size={span} is less than the largest block, {}: give a larger size or a \
                     smaller --bs",
                    cell::bytes(largest)
                ));
            }
            Some(span) => span,
            // Four of the largest blocks at least, so that there is something to amortize.
            None => own_span.max(4 * largest),
        };
        Ok(Asked {
            target: self.target,
            sizes,
            kinds: self.kinds.unwrap_or_else(Kind::all),
            span,
            time_a_cell: self.time.unwrap_or(own_time),
            erase: self.erase,
            format: self.format.unwrap_or(Format::Table),
            outputs: self.outputs,
            progress: self.progress,
        })
    }
}

/// `4096`, `4k`, `4KiB`, `1m`: powers of 1024.
///
/// # Errors
/// What it is not, in words.
pub fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is no size such as 4096, 64k or 1m");
    let body = text.trim();
    let end = body.find(|c: char| !c.is_ascii_digit()).unwrap_or(body.len());
    let (digits, suffix) = body.split_at(end);
    let count: u64 = digits.parse().map_err(|_| wrong())?;
    let shift = match suffix.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        "t" | "tib" => 40,
        _ => return Err(wrong()),
    };
    count.checked_mul(1 << shift).filter(|&bytes| bytes <= i64::MAX as u64).ok_or_else(wrong)
}

/// `4k,64k`, `4k..1m`, or both.
fn sizes(text: &str) -> Result<Vec<u32>, String> {
    let mut all = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            None => all.push(block(part)?),
            Some((low, high)) => {
                let (low, high) = (block(low)?, block(high)?);
                if low > high {
                    return Err(format!("--bs: {part} runs backwards"));
                }
                let doubled = |&size: &u32| size.checked_mul(2).filter(|&size| size <= high);
                all.extend(std::iter::successors(Some(low), doubled));
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

fn block(text: &str) -> Result<u32, String> {
    let bytes = size(text).map_err(|error| format!("--bs: {error}"))?;
    match u32::try_from(bytes) {
        Ok(block) if (1..=BLOCK_MOST).contains(&bytes) => Ok(block),
        _ => Err(format!("--bs: {text} is not between 1 byte and 1 GiB")),
    }
}

/// `500ms`, `2s`, `0.5`, `1m`.
fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("--time-per-cell: {text:?} is no time such as 500ms or 2s");
    let body = text.trim();
    let end = body.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(body.len());
    let (digits, unit) = body.split_at(end);
    let count: f64 = digits.parse().map_err(|_| wrong())?;
    let seconds = match unit.trim() {
        "" | "s" => count,
        "ms" => count / 1e3,
        "m" | "min" => count * 60.0,
        _ => return Err(wrong()),
    };
    match seconds {
        0.001..=86400.0 => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("--time-per-cell: {text} is not between 1ms and a day")),
    }
}

/// Names of lines or groups, in any case, with or without blanks.
fn kinds(text: &str) -> Result<Vec<Kind>, String> {
    let plain = |text: &str| text.to_ascii_uppercase().replace(' ', "");
    let mut wanted = Vec::new();
    for part in text.split(',') {
        let word = plain(part);
        let matches = |kind: &Kind| {
            let group = kind.group();
            word == group || word == plain(&kind.name()) || word == "WRITE" && kind.writes()
        };
        // A group's name is also that of its plain line: the whole group is meant.
        let found: Vec<Kind> = Kind::all().into_iter().filter(matches).collect();
        if found.is_empty() {
            let mut names: Vec<String> = Kind::all().into_iter().map(Kind::name).collect();
            names.push("READ".into());
            let near = nearest(&word, names.iter().map(String::as_str));
            let help = near.map_or("see --help".to_owned(), |near| format!("did you mean {near}?"));
            return Err(format!("--modes: {part:?} is no mode; {help}"));
        }
        wanted.extend(found);
    }
    Ok(Kind::all().into_iter().filter(|kind| wanted.contains(kind)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Mode, Way};

    fn asked(line: &str) -> Result<Asked, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        match parse(&words)? {
            Wish::Measure(asked) => Ok(*asked),
            Wish::Help => panic!("help"),
        }
    }

    #[test]
    fn without_options_it_is_the_whole_matrix_on_a_temporary_file() {
        let asked = asked("").unwrap();
        assert_eq!((asked.sizes.len(), asked.sizes[0], asked.sizes[13]), (14, 4096, 32 << 20));
        assert_eq!((asked.kinds.len(), asked.span), (24, 128 << 20));
        assert_eq!((asked.target, asked.erase), (None, Erase::No));
    }

    #[test]
    fn sizes_are_lists_and_ranges_without_repeats() {
        let sizes = |text: &str| asked(&format!("--bs={text}")).map(|asked| asked.sizes);
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
        assert_eq!(asked("--bs=64m").unwrap().span, 256 << 20);
        assert!(asked("--bs=64m --size=63m").unwrap_err().contains("less than the largest"));
        assert_eq!(asked("--bs=64m --size=64m").unwrap().span, 64 << 20);
    }

    #[test]
    fn modes_are_groups_or_lines() {
        let kinds = |text: &str| asked(&format!("--modes={text}")).map(|asked| asked.kinds);
        assert_eq!(kinds("fsync").unwrap().len(), 3);
        assert_eq!(kinds("fsync+o_direct").unwrap(), [Kind::Write(Mode::Fsync, Way::Direct)]);
        assert_eq!(kinds("o_direct").unwrap(), [Kind::Write(Mode::Buffered, Way::Direct)]);
        assert_eq!(kinds("read,o_sync").unwrap().len(), 6);
        assert_eq!(kinds("write").unwrap().len(), 21);
        assert!(kinds("fsyn").unwrap_err().contains("did you mean FSYNC?"));
    }

    #[test]
    fn the_word_after_erase_is_the_target() {
        let asked = asked("--erase /dev/sdz").unwrap();
        assert_eq!((asked.erase, asked.target), (Erase::Yes, Some("/dev/sdz".into())));
        let word = super::tests::asked("--erase=ABC-1 /dev/sdz").unwrap().erase;
        assert_eq!(word, Erase::Word("ABC-1".into()));
        assert!(super::tests::asked("--erase=").is_err());
    }

    #[test]
    fn wrong_words_are_refused_with_what_is_wrong() {
        for (line, said) in [
            ("a b", "two targets"),
            ("--bz=4k", "did you mean --bs?"),
            ("--time-per-cell=0", "between 1ms"),
            ("--time-per-cell=1w", "no time"),
            ("--time-per-cell=nan", "no time"),
            ("--size", "needs a value"),
            ("--quick=1", "takes no value"),
            ("--format=xml", "table, lines"),
            ("--output=x.png", "says no format"),
            ("--output=x", "says no format"),
        ] {
            let error = asked(line).unwrap_err();
            assert!(error.contains(said), "{line}: {error}");
        }
    }

    #[test]
    fn quick_gives_way_to_what_is_asked() {
        let quick = asked("--quick").unwrap();
        assert_eq!((quick.sizes.len(), quick.span), (7, 64 << 20));
        assert_eq!(asked("--quick --bs=4k").unwrap().sizes, [4096]);
        assert_eq!(asked("--quick --time-per-cell=2").unwrap().time_a_cell.as_secs(), 2);
    }
}
