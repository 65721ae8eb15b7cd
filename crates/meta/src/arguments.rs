//! The command line of `iosonde meta`.

use crate::live::LiveMode;
use crate::mix::{self, Mix, MixPart};
use crate::phase::{ALWAYS, BY_NAME, PHASES, REMOVING};
use crate::values::{
    ListedTree, PhaseList, VisitOrder, count, list_of, live, order, phases, sizes, sizes_of,
};
use clap::Args;
use iosonde_base::part_of;
use iosonde_base::text::time;
use iosonde_command::CommandAnswer;
use iosonde_command::definition::{self, CommandEntry};
use iosonde_engine::tree::{FindMatch, TreeFileSizes, TreeOperation, TreeShape};
use iosonde_options::command_line;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

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

--limit ends create after a time, as stonewalling in IOR and mdtest. --mix does several operations \
beside each other.

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

    /// Print the phases as a job file, for --client or changes by hand, and do nothing else
    #[arg(long, conflicts_with_all = ["mpi", "clean"])]
    print: bool,

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

    /// Make the tree that FILE lists: a line `f SIZE PATH` for each file, `d PATH` for a directory;
    /// all threads work in it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["files", "dirs", "depth", "fanout", "size", "sizes_from"])]
    tree_file: Option<PathBuf>,

    /// Create files for TIME at most; then each thread goes on until it has made as many as the
    /// fastest had, and all other phases are done to those
    #[arg(long, value_name = "TIME", value_parser = time)]
    limit: Option<Duration>,

    /// Create and read files with O_DIRECT
    #[arg(long)]
    direct: bool,

    /// Write content that says where it belongs, and check it as it is read
    #[arg(long)]
    verify: bool,

    /// Do these beside each other for --mix-time, a thread each: shares (stat/70:read/30), or rates
    /// a second (stat@500:churn@20)
    #[arg(long, value_name = "MIX", value_parser = mix::parse)]
    mix: Option<Mix>,

    /// How long --mix lasts
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    mix_time: Duration,

    /// What the phase find looks for: a part of the name [default: any]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    find_name: String,

    /// And the size of the file [default: any]
    #[arg(long, value_name = "SIZE", value_parser = command_line::size)]
    find_size: Option<u64>,

    /// Show what has been done while a phase runs: line (on a terminal), plain (a line each second,
    /// under --mpi too) or no
    #[arg(long, value_name = "HOW", value_parser = live)]
    live: Option<LiveMode>,

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
    /// find, chmod, utimens, setxattr, getxattr, link, symlink, readlink, churn, or all; mkdir, create, unlink and
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
    /// Files are removed that the thread so many further made, too.
    pub removes_shifted: bool,
    /// What runs left that were killed is removed, and nothing else done.
    pub clean: bool,
    /// The phases are printed as a job file, and nothing else done.
    pub print: bool,
    /// All threads work in one tree.
    pub shared: bool,
    /// The tree is that of a list.
    pub list: Option<ListedTree>,
    /// How long files are created at most.
    pub limit: Option<Duration>,
    /// Files are opened with O_DIRECT to write and read them.
    pub direct: bool,
    /// Content is checked.
    pub verify: bool,
    /// What is done beside each other, if anything is.
    pub mix: Vec<MixPart>,
    /// For how long.
    pub mix_time: Duration,
    /// What the phase find looks for.
    pub matched: FindMatch,
    /// How counts are shown while a phase runs.
    pub live: LiveMode,
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
            removes_shifted: false,
            clean: false,
            print: false,
            shared: false,
            list: None,
            limit: None,
            direct: false,
            verify: false,
            mix: Vec::new(),
            mix_time: Duration::from_secs(10),
            matched: FindMatch::default(),
            live: LiveMode::Auto,
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
        if let Some(list) = &self.list {
            return list.bytes;
        }
        let trees = if self.shared { 1 } else { self.threads };
        (0..trees).map(|thread| self.sizes.total(self.shape_of(thread).files)).sum()
    }
}

/// What to do where servers were asked for.
const SERVERS_RUN_JOB_FILES: &str = "servers run phases as a job file: iosonde meta DIR ... --print > phases.fio, \
     then iosonde --client=HOST phases.fio; or start the ranks with mpirun and use --mpi";

/// Whether the words ask for several hosts.
pub fn asks_for_ranks(words: &[String]) -> bool {
    words.iter().any(|word| word == "--mpi")
}

/// Whether the words ask for a line of counts.
pub fn asks_for_live(words: &[String]) -> bool {
    words.iter().any(|word| word.starts_with("--live") && !word.ends_with("no"))
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
    let asks_for_servers =
        |word: &String| ["--client", "--server"].iter().any(|of| word.starts_with(of));
    if let Some(word) = words.iter().find(|word| asks_for_servers(word)) {
        return Err(CommandAnswer::refused(
            command.name,
            &format!("{word}: {SERVERS_RUN_JOB_FILES}"),
        ));
    }
    let arguments: MetaArguments = definition::arguments(command, words)?;
    arguments.options(ranks).map_err(|why| CommandAnswer::refused(command.name, &why))
}

impl MetaArguments {
    fn options(self, place: Option<(u32, u32)>) -> Result<MetaOptions, String> {
        let (rank, ranks) = place.unwrap_or((0, 1));
        let listed = self.tree_file.as_deref().map(list_of).transpose()?;
        let files = match &listed {
            Some((list, _)) => list.files().len() as u64,
            None => self.files.unwrap_or(FILES),
        };
        if !(1..=32).contains(&self.depth) {
            return Err(format!("--depth={}: from 1 to 32 levels", self.depth));
        }
        if self.repeat == 0 {
            return Err("--repeat=0: nothing would be measured; use 1 or more".to_owned());
        }
        let dirs = match &listed {
            Some((list, _)) => Some(list.dirs().len() as u64),
            None => self.dirs_asked_for()?,
        };
        let threads = self.threads_asked_for(files)?;
        let (own, shift) = own_threads(self.mpi, threads, self.shift, (rank, ranks));
        let threads = threads.saturating_mul(ranks);
        let dirs =
            dirs.unwrap_or_else(|| (files / FILES_PER_DIR).max(u64::from(threads)).min(files));
        let shared = self.shared || listed.is_some();
        if listed.is_none() {
            fits(files, dirs, threads, shared)?;
        }
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
            removes_shifted: false,
            clean: self.clean,
            print: self.print,
            shared,
            list: listed.map(|(_, list)| list),
            limit: self.limit,
            direct: self.direct,
            verify: self.verify,
            mix: self.mix.map_or(Vec::new(), |mix| mix.0),
            mix_time: self.mix_time,
            matched: FindMatch { name: self.find_name, bytes: self.find_size },
            live: self.live.unwrap_or(LiveMode::Auto),
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

impl MetaArguments {
    /// By their number, or by how they branch.
    fn dirs_asked_for(&self) -> Result<Option<u64>, String> {
        Ok(match (self.dirs, self.fanout) {
            (Some(dirs), _) => Some(dirs),
            (None, Some(0)) => return Err("--fanout=0: use 1 or more".to_owned()),
            (None, Some(fanout)) => Some(fanout.checked_pow(self.depth).ok_or_else(|| {
                format!("--fanout={fanout} --depth={}: too many directories", self.depth)
            })?),
            (None, None) => None,
        })
    }

    /// Threads of a rank: without a number as many as have a file.
    fn threads_asked_for(&self, files: u64) -> Result<u32, String> {
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        match self.threads {
            Some(0) => Err("--threads=0: use 1 or more".to_owned()),
            Some(threads) if threads > THREADS_MOST => {
                Err(format!("--threads={threads}: at most {THREADS_MOST}"))
            }
            Some(threads) => Ok(threads),
            None if self.mpi => Ok(1),
            None => {
                let most = u32::try_from(files).unwrap_or(u32::MAX);
                Ok(processors.min(THREADS_MOST).min(most))
            }
        }
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
            ("/tmp --tree-file=/dev/zero", "not a file of lines"),
            ("/tmp --mix=unlink/1", "cannot be mixed"),
            ("/tmp --live=yes", "line, plain or no"),
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

    #[test]
    fn servers_are_refused_with_the_way_to_run_phases_on_them() {
        let words = ["/mnt/test".to_owned(), "--client=h1".to_owned()];
        let refused = parse(&crate::COMMAND, &words, None).unwrap_err();
        let text = format!("{refused:?}");
        assert!(text.contains("--client=h1: servers run phases as a job file"), "{text}");
    }
}
