//! The command line of `iosonde meta`.

use crate::phase::{ALWAYS, BY_NAME, PHASES, REMOVING, also};
use clap::Args;
use iosonde_base::part_of;
use iosonde_command::CommandAnswer;
use iosonde_command::definition::{self, CommandEntry};
use iosonde_engine::tree::{TreeFileSizes, TreeOperation, TreeShape};
use iosonde_options::{command_line, nearest};
use std::ops::Range;
use std::path::{Path, PathBuf};

const FILES: u64 = 10_000;
const FILES_PER_DIR: u64 = 100;
/// A thread is a job; more than these measure the scheduler.
const THREADS_MOST: u32 = 4096;

/// What `--help` says below the summary.
pub const DETAILS: &str = "\
Measure operations on many files: make directories, create files, stat, open, read, rename, fsync \
directories, remove files and directories, phase by phase, with a time for each operation.

Everything happens in a new directory inside DIR, which is removed at the end, also after Ctrl-C, \
which prints the results so far. Nothing else in DIR is touched. What killed runs left is \
named at the next run, and --clean removes it.

With --mpi each rank that mpirun or srun started has its --threads: a tree each, or one tree of all \
with --shared (one directory of all: --shared --dirs=1). Phases start together on all ranks.

Exit code: 0 every phase is measured, 1 an error, 128 stopped by a signal.
docs/meta.md describes the phases, the columns and the formats.";

// The arguments as typed. A doc comment would take the place of the command's help.
#[derive(Args, Debug)]
pub struct MetaArguments {
    /// The directory to work in; it must exist
    dir: PathBuf,

    /// Run on all hosts that mpirun or srun has started it on; --threads are those of each rank
    #[arg(long)]
    mpi: bool,

    /// Stat, open and read what the rank N further made (without --mpi: the thread N further)
    #[arg(long, value_name = "N", default_value_t = 0)]
    shift: u32,

    /// Remove what killed runs left in DIR, and do nothing else
    #[arg(long, conflicts_with_all = ["mpi", "keep"])]
    clean: bool,

    /// How many files, over all threads [default: 10k]
    #[arg(long, value_name = "N", value_parser = count)]
    files: Option<u64>,

    /// How many directories hold them, over all threads [default: one for 100 files]
    #[arg(long, value_name = "N", value_parser = count)]
    dirs: Option<u64>,

    /// Bytes of a file: a size, or sizes with weights (4k/3:1m/1) [default: 4k]
    #[arg(long, value_name = "SIZES", value_parser = sizes, conflicts_with = "sizes_from")]
    size: Option<TreeFileSizes>,

    /// Take sizes and how often each comes from FILE: a line `SIZE COUNT` for each
    #[arg(long, value_name = "FILE")]
    sizes_from: Option<PathBuf>,

    /// How many threads [default: one for each processor, or one with --mpi]
    #[arg(long, value_name = "N")]
    threads: Option<u32>,

    /// All threads work in one tree; without it each has its own
    #[arg(long)]
    shared: bool,

    /// Levels of directories
    #[arg(long, value_name = "N", default_value_t = 1)]
    depth: u32,

    /// Subdirectories of a directory: with --depth it decides how many directories there are
    #[arg(long, value_name = "N", conflicts_with = "dirs")]
    fanout: Option<u64>,

    /// Do these phases: of statdir, stat, open, read, rename, syncdir (all six by default), readdir,
    /// chmod, utimens, setxattr, getxattr, link, symlink, readlink, or all; mkdir, create, unlink and
    /// rmdir are always done
    #[arg(long, value_name = "LIST", value_parser = phases)]
    phases: Option<PhaseList>,

    /// The order in which files are read, looked up, renamed and removed: random or sequential
    #[arg(long, value_name = "ORDER", default_value = "random", value_parser = order)]
    order: VisitOrder,

    /// Empty the page cache, dentries and inodes of the machine before each phase (needs root)
    #[arg(long)]
    cold: bool,

    /// fsync(2) each file before it is closed
    #[arg(long)]
    fsync: bool,

    /// Leave the tree there, and do not measure removing it
    #[arg(long, conflicts_with = "repeat")]
    keep: bool,

    /// Do everything N times, and print the mean, range and deviation of the rates
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: u32,

    /// Print the results as table, json or csv [default: table]
    #[arg(long, value_name = "FORMAT", value_parser = MetaFormat::named, overrides_with = "json")]
    format: Option<MetaFormat>,

    /// The same as --format=json
    #[arg(long, overrides_with = "format")]
    json: bool,

    /// Write the results as an HTML page, too
    #[arg(long, value_name = "FILE", require_equals = true)]
    html: Option<PathBuf>,

    /// Overwrite FILE if it exists
    #[arg(long)]
    force: bool,
}

/// The order in which files are visited, once they are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitOrder {
    /// Each once, in random order: neighbours in a directory do not follow one another.
    Random,
    /// As they were created.
    Sequential,
}

/// The formats of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetaFormat {
    /// For people.
    Table,
    /// docs/meta.md has the keys.
    Json,
    /// One line a phase.
    Csv,
}

impl MetaFormat {
    fn named(text: &str) -> Result<MetaFormat, String> {
        match text.to_ascii_lowercase().as_str() {
            "table" => Ok(MetaFormat::Table),
            "json" => Ok(MetaFormat::Json),
            "csv" => Ok(MetaFormat::Csv),
            _ => Err(format!("unknown format {text:?}: use table, json or csv")),
        }
    }
}

/// Phases, in the order in which they run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PhaseList(Vec<TreeOperation>);

/// The options of a run, with defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaOptions {
    /// The directory to work in.
    pub dir: PathBuf,
    /// Files, over all threads.
    pub files: u64,
    /// Directories that hold files, over all threads.
    pub dirs: u64,
    /// Levels of directories.
    pub depth: u32,
    /// The bytes of files.
    pub sizes: TreeFileSizes,
    /// Threads, of all ranks.
    pub threads: u32,
    /// This rank's, of them.
    pub own: Range<u32>,
    /// Files are looked up, opened and read that the thread so many further made.
    pub shift: u32,
    /// What runs left that were killed is removed, and nothing else done.
    pub clean: bool,
    /// All threads work in one tree.
    pub shared: bool,
    /// What is done, in this order.
    pub phases: Vec<TreeOperation>,
    /// The order of files.
    pub order: VisitOrder,
    /// Caches are emptied before each phase.
    pub cold: bool,
    /// Each file is synced before it is closed.
    pub fsync: bool,
    /// The tree stays.
    pub keep: bool,
    /// How often all is done.
    pub repeat: u32,
    /// The format of standard output.
    pub format: MetaFormat,
    /// Where a page goes.
    pub html: Option<PathBuf>,
    /// It may replace a file.
    pub force: bool,
}

impl Default for MetaOptions {
    fn default() -> MetaOptions {
        MetaOptions {
            dir: PathBuf::from("."),
            files: FILES,
            dirs: FILES / FILES_PER_DIR,
            depth: 1,
            sizes: TreeFileSizes::weighted([(4096, 1)]),
            threads: 1,
            own: 0..1,
            shift: 0,
            clean: false,
            shared: false,
            phases: run_phases(None, false),
            order: VisitOrder::Random,
            cold: false,
            fsync: false,
            keep: false,
            repeat: 1,
            format: MetaFormat::Table,
            html: None,
            force: false,
        }
    }
}

impl MetaOptions {
    /// The shape of a thread's tree, or of the one that all share.
    pub fn shape_of(&self, thread: u32) -> TreeShape {
        let (files, dirs) = if self.shared {
            (self.files, self.dirs)
        } else {
            (
                part_of(self.files, self.threads, thread).1,
                part_of(self.dirs, self.threads, thread).1,
            )
        };
        TreeShape { files, dirs, depth: self.depth }
    }

    /// Whether a phase runs.
    pub fn does(&self, operation: TreeOperation) -> bool {
        self.phases.contains(&operation)
    }

    /// The bytes of all files.
    pub fn bytes(&self) -> u64 {
        let trees = if self.shared { 1 } else { self.threads };
        (0..trees).map(|thread| self.sizes.total(self.shape_of(thread).files)).sum()
    }
}

/// Whether the words ask for several hosts.
pub fn asks_for_ranks(words: &[String]) -> bool {
    words.iter().any(|word| word == "--mpi")
}

/// Read the words after `iosonde meta`, as the rank of so many has them.
///
/// # Errors
/// The first thing that is wrong, or the help to print.
pub fn parse(
    command: &CommandEntry,
    words: &[String],
    ranks: Option<(u32, u32)>,
) -> Result<MetaOptions, CommandAnswer> {
    let arguments: MetaArguments = definition::arguments(command, words)?;
    arguments.options(ranks).map_err(|why| CommandAnswer::refused(command.name, &why))
}

impl MetaArguments {
    fn options(self, place: Option<(u32, u32)>) -> Result<MetaOptions, String> {
        let (rank, ranks) = place.unwrap_or((0, 1));
        let files = self.files.unwrap_or(FILES);
        if !(1..=32).contains(&self.depth) {
            return Err(format!("--depth={}: from 1 to 32 levels", self.depth));
        }
        if self.repeat == 0 {
            return Err("--repeat=0: nothing would be measured; use 1 or more".to_owned());
        }
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        let dirs = match (self.dirs, self.fanout) {
            (Some(dirs), _) => Some(dirs),
            (None, Some(0)) => return Err("--fanout=0: use 1 or more".to_owned()),
            (None, Some(fanout)) => Some(fanout.checked_pow(self.depth).ok_or_else(|| {
                format!("--fanout={fanout} --depth={}: too many directories", self.depth)
            })?),
            (None, None) => None,
        };
        // As many threads as have a directory to work in.
        let wanted = self.threads.unwrap_or(processors.min(THREADS_MOST));
        let threads = match self.threads {
            Some(0) => return Err("--threads=0: use 1 or more".to_owned()),
            Some(threads) if threads > THREADS_MOST => {
                return Err(format!("--threads={threads}: at most {THREADS_MOST}"));
            }
            Some(threads) => threads,
            None if self.mpi => 1,
            None => wanted.min(u32::try_from(files).unwrap_or(u32::MAX)),
        };
        let (own, shift) = own_threads(self.mpi, threads, self.shift, (rank, ranks));
        let threads = threads.saturating_mul(ranks);
        let dirs =
            dirs.unwrap_or_else(|| (files / FILES_PER_DIR).max(u64::from(threads)).min(files));
        fits(files, dirs, threads, self.shared)?;
        let sizes = match (&self.sizes_from, self.size) {
            (Some(path), _) => sizes_of(path)?,
            (None, Some(sizes)) => sizes,
            (None, None) => TreeFileSizes::weighted([(4096, 1)]),
        };
        let table = self.format.unwrap_or(MetaFormat::Table);
        let format = if self.json { MetaFormat::Json } else { table };
        Ok(MetaOptions {
            dir: self.dir,
            files,
            dirs,
            depth: self.depth,
            sizes,
            threads,
            own,
            shift,
            clean: self.clean,
            shared: self.shared,
            phases: run_phases(self.phases.as_ref(), self.keep),
            order: self.order,
            cold: self.cold,
            fsync: self.fsync,
            keep: self.keep,
            repeat: self.repeat,
            format,
            html: self.html,
            force: self.force,
        })
    }
}

/// Those of the phases that run.
fn run_phases(chosen: Option<&PhaseList>, keep: bool) -> Vec<TreeOperation> {
    let runs = |operation: &TreeOperation| {
        let is_chosen = match chosen {
            None => !BY_NAME.contains(operation),
            Some(chosen) => chosen.0.contains(operation),
        };
        (is_chosen || ALWAYS.contains(operation)) && !(keep && REMOVING.contains(operation))
    };
    PHASES.into_iter().filter(runs).collect()
}

/// This rank's threads of those of all; and by how many a shift is, which counts ranks or, in a
/// run of one, threads.
fn own_threads(
    is_among_ranks: bool,
    threads: u32,
    shift: u32,
    (rank, ranks): (u32, u32),
) -> (Range<u32>, u32) {
    if is_among_ranks {
        let first = rank.saturating_mul(threads);
        (first..first.saturating_add(threads), (shift % ranks.max(1)).saturating_mul(threads))
    } else {
        (0..threads, shift % threads.max(1))
    }
}

/// Whether each directory has a file, and each thread a directory of its tree.
fn fits(files: u64, dirs: u64, threads: u32, shared: bool) -> Result<(), String> {
    if dirs > files {
        return Err(format!("{dirs} directories for {files} files: some would be empty"));
    }
    if !shared && dirs < u64::from(threads) {
        return Err(format!(
            "{dirs} directories for {threads} threads with a tree each: use more --dirs, fewer \
             --threads, or --shared"
        ));
    }
    Ok(())
}

/// A number, with a suffix for thousands (k, m, g).
fn count(text: &str) -> Result<u64, String> {
    let refused =
        || format!("{text:?} is no count: use a number from 1 up, or one such as 10k or 1m");
    let lower = text.trim().to_ascii_lowercase();
    let (digits, unit) = match lower.strip_suffix(['k', 'm', 'g']) {
        Some(digits) if lower.ends_with('k') => (digits, 1_000),
        Some(digits) if lower.ends_with('m') => (digits, 1_000_000),
        Some(digits) => (digits, 1_000_000_000),
        None => (lower.as_str(), 1),
    };
    let number: u64 = digits.parse().map_err(|_| refused())?;
    number.checked_mul(unit).filter(|&count| count > 0).ok_or_else(refused)
}

fn sizes(text: &str) -> Result<TreeFileSizes, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let weighted: Result<Vec<(u64, u64)>, String> = parts
        .iter()
        .map(|part| match part.split_once('/') {
            Some((size, weight)) => Ok((command_line::size(size)?, count(weight)?)),
            None if parts.len() == 1 => Ok((command_line::size(part)?, 1)),
            None => Err(format!("{part:?} has no weight: write sizes as in 4k/3:1m/1")),
        })
        .collect();
    weighted.map(TreeFileSizes::weighted)
}

/// Sizes and their counts from a file.
fn sizes_of(path: &Path) -> Result<TreeFileSizes, String> {
    /// A longer file is no histogram.
    const BYTES_MOST: u64 = 16 << 20;
    let refused = |why: String| format!("--sizes-from={}: {why}", path.display());
    let about = std::fs::metadata(path).map_err(|error| refused(error.to_string()))?;
    if !about.is_file() || about.len() > BYTES_MOST {
        return Err(refused("it is not a file of lines `SIZE COUNT`".to_owned()));
    }
    let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let mut weighted = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let wrong = |why: &str| format!("{}:{number}: {why}", path.display());
        let (size, times) = line
            .split_once(|letter: char| letter.is_whitespace() || letter == ',')
            .ok_or_else(|| wrong("a line is a size and how often it comes: `4k 1200`"))?;
        let size = command_line::size(size.trim()).map_err(|why| wrong(&why))?;
        let times: u64 = times.trim().parse().map_err(|_| wrong("the count is not a number"))?;
        weighted.push((size, times));
    }
    if weighted.iter().all(|&(_, times)| times == 0) {
        return Err(refused("it holds no size that comes at all".to_owned()));
    }
    Ok(TreeFileSizes::weighted(weighted))
}

fn phases(text: &str) -> Result<PhaseList, String> {
    let mut chosen = Vec::new();
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        match TreeOperation::from_word(word) {
            _ if word == "all" => chosen.extend(PHASES),
            Some(operation) => chosen.extend(also(operation).iter().chain([&operation])),
            None => {
                let words = PHASES.map(TreeOperation::word);
                let near = nearest(word, words.iter().copied());
                let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
                return Err(format!("there is no phase {word:?}: {}{near}", words.join(", ")));
            }
        }
    }
    Ok(PhaseList(PHASES.into_iter().filter(|operation| chosen.contains(operation)).collect()))
}

fn order(text: &str) -> Result<VisitOrder, String> {
    match text.to_ascii_lowercase().as_str() {
        "random" => Ok(VisitOrder::Random),
        "sequential" => Ok(VisitOrder::Sequential),
        _ => Err(format!("unknown order {text:?}: use random or sequential")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::COMMAND;

    fn options(line: &str) -> Result<MetaOptions, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&COMMAND, &words, None).map_err(|answer| answer.errors.join("\n"))
    }

    #[test]
    fn the_shape_follows_from_counts_or_from_fanout_and_depth() {
        let given = options("/tmp --files=100k --dirs=100 --size=4k --threads=8").unwrap();
        assert_eq!((given.files, given.dirs, given.threads), (100_000, 100, 8));
        assert_eq!(given.shape_of(0), TreeShape { files: 12_500, dirs: 13, depth: 1 });
        assert_eq!(given.bytes(), 100_000 * 4096);
        let fanned = options("/tmp --fanout=5 --depth=3 --threads=2").unwrap();
        assert_eq!((fanned.dirs, fanned.depth), (125, 3));
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_reason() {
        for (line, part) in [
            ("/tmp --files=0", "no count"),
            ("/tmp --files=ten", "no count"),
            ("/tmp --files=10 --dirs=20", "some would be empty"),
            ("/tmp --files=10 --dirs=2 --threads=4", "--shared"),
            ("/tmp --threads=0", "1 or more"),
            ("/tmp --depth=0", "from 1 to 32"),
            ("/tmp --depth=30 --fanout=1000", "too many"),
            ("/tmp --phases=stat,chown", "no phase \"chown\""),
            ("/tmp --size=4k:1m", "has no weight"),
            ("/tmp --order=backwards", "random or sequential"),
            ("/tmp --repeat=0", "nothing would be measured"),
            ("/tmp --sizes-from=/dev/zero", "not a file of lines"),
            ("", "<DIR>"),
        ] {
            let error = options(line).unwrap_err();
            assert!(error.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn a_list_of_phases_keeps_those_that_make_and_remove_the_tree() {
        let chosen = options("/tmp --phases=stat").unwrap();
        let words: Vec<&str> = chosen.phases.iter().map(|phase| phase.word()).collect();
        let expected = ["mkparents", "mkdir", "create", "stat", "unlink", "rmdir", "rmparents"];
        assert_eq!(words, expected);
        let linked = options("/tmp --phases=readlink,getxattr,link").unwrap();
        let words: Vec<&str> = linked.phases.iter().map(|phase| phase.word()).collect();
        assert_eq!(
            words[3..10],
            ["setxattr", "getxattr", "link", "symlink", "readlink", "rmlink", "rmsymlink"]
        );
        assert_eq!(options("/tmp --phases=all").unwrap().phases, PHASES);
        let usual = options("/tmp").unwrap();
        assert!(usual.does(TreeOperation::SyncDir) && !usual.does(TreeOperation::Link));
        let kept = options("/tmp --phases=stat,link --keep").unwrap();
        assert!(kept.does(TreeOperation::Link) && !kept.does(TreeOperation::RemoveLink));
        assert!(!kept.does(TreeOperation::Unlink));
    }

    #[test]
    fn a_rank_has_its_threads_of_all_and_shifts_by_ranks() {
        let words: Vec<String> =
            ["/tmp", "--mpi", "--threads=2", "--shift=1"].map(str::to_owned).to_vec();
        let options = |place| parse(&COMMAND, &words, Some(place)).map_err(|answer| answer.errors);
        let second = options((1, 3)).unwrap();
        assert_eq!((second.threads, second.own, second.shift), (6, 2..4, 2));
        assert!(asks_for_ranks(&words) && !asks_for_ranks(&[]));
    }
}
