//! What an engine must do. One engine is one file; these traits are all it
//! sees of the rest.

use crate::platform::RawFile;
use crate::{EngineOptionTable, EngineSettings, Hint};
use iosonde_base::{Completion, Errno, FileId, Nanos, Op, Slot};
use iosonde_sys::clock::Clock;

/// One I/O as an engine sees it.
///
/// `buffer` points to at least `len` bytes that belong to this I/O's slot and
/// that nobody else touches until its completion is handed back; it stays
/// valid until the engine is dropped.
#[derive(Clone, Copy, Debug)]
pub struct Io {
    /// Byte offset in the file.
    pub offset: u64,
    /// Where data comes from or goes to; unused for syncs and trims.
    pub buffer: *mut u8,
    /// Bytes.
    pub len: u32,
    /// What to do; never a control entry.
    pub op: Op,
    /// Which file, for engines that register files or keep something for each.
    pub file: FileId,
    /// The open descriptor; -1 for engines without files.
    pub fd: RawFile,
}

/// An engine that does one thing at a time.
pub trait OneShot {
    /// Do it, now. The bytes moved, possibly fewer than asked.
    fn perform(&mut self, io: &Io) -> Result<u32, Errno>;

    /// Whether the stamp that ends an I/O begins the next, where the next
    /// follows at once. For an engine that does nothing: what is measured is
    /// then a whole turn of the loop, at half the readings of the clock.
    #[inline(always)]
    fn is_chained(&self) -> bool {
        false
    }

    /// Whether fsync and similar are for [`OneShot::perform`]; else the loop
    /// makes the system call.
    fn syncs(&self) -> bool {
        false
    }

    /// Called after a file was opened, and before the first I/O on it.
    fn opened(&mut self, _file: &Opened) -> Result<(), Errno> {
        Ok(())
    }

    /// Called before a file is closed.
    fn closing(&mut self, _file: FileId) {}

    /// What an error of this operation means here and what to do about it,
    /// where its number says too little.
    fn explain(&self, _op: Op, _errno: Errno) -> Option<&'static str> {
        None
    }

    /// Why nothing that the engine says can be believed any more, if so. The
    /// job then ends, whatever errors it tolerates.
    fn broken(&self) -> Option<&'static str> {
        None
    }
}

/// A file that was just opened.
#[derive(Clone, Copy, Debug)]
pub struct Opened {
    /// Which.
    pub file: FileId,
    /// Its descriptor.
    pub fd: RawFile,
    /// Bytes from its start that the job may touch.
    pub bytes: u64,
    /// Whether the job writes.
    pub writes: bool,
    /// The access order that the kernel was advised of.
    pub hint: Option<Hint>,
}

/// Which completions are to be collected.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// So many are waited for,
    pub min: u32,
    /// and so many are taken at most.
    pub max: u32,
    /// But no wait is longer than this.
    pub patience: Nanos,
}

/// An engine with a queue.
///
/// It is opened for a depth and takes that many without complaint: when the
/// kernel has no room, the engine holds on to the request and tries again.
/// "Busy" never leaves an engine's file.
pub trait Queued {
    /// Take one request. It may start now, or at [`Queued::submit`].
    fn push(&mut self, slot: Slot, io: &Io);

    /// Take several requests, in order, as [`Queued::push`] would one by one.
    #[inline(always)]
    fn push_all(&mut self, ios: impl ExactSizeIterator<Item = (Slot, Io)>)
    where
        Self: Sized,
    {
        for (slot, io) in ios {
            self.push(slot, &io);
        }
    }

    /// Start everything pushed so far. A request that the system refuses comes
    /// back from [`Queued::reap`] with its error; an error here, or there, says
    /// that the queue itself is broken and that nothing will come back.
    fn submit(&mut self) -> Result<(), Errno>;

    /// Collect completions into `done`, which is empty and has room for the
    /// depth. Fewer than wanted come back when patience ends or a signal came.
    fn reap(&mut self, wanted: Wanted, done: &mut Vec<Completion>) -> Result<(), Errno>;

    /// Whether fsync and similar go through the queue; else the loop makes the
    /// system call itself, between two submissions.
    fn queues_syncs(&self) -> bool {
        false
    }

    /// See [`OneShot::opened`].
    fn opened(&mut self, _file: &Opened) -> Result<(), Errno> {
        Ok(())
    }

    /// See [`OneShot::closing`].
    fn closing(&mut self, _file: FileId) {}

    /// See [`OneShot::explain`].
    fn explain(&self, _op: Op, _errno: Errno) -> Option<&'static str> {
        None
    }

    /// Whether an error says nothing of the I/O, which is pushed again.
    fn is_passing(&self, errno: Errno) -> bool {
        errno == Errno::EINTR
    }

    /// See [`OneShot::broken`]; asked where submitting or collecting failed.
    fn broken(&self) -> Option<&'static str> {
        None
    }

    /// The priority that the last request of this slot was given, as
    /// ioprio_set(2) has it; 0 where it has the job's own.
    #[inline(always)]
    fn priority(&self, _slot: Slot) -> u16 {
        0
    }
}

/// What an engine can do, read by the planner so that a job that cannot run
/// is refused before anything is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caps {
    /// One request at a time; `iodepth` is held at 1.
    pub sync: bool,
    /// Touches no storage: files are neither created nor opened.
    pub diskless: bool,
    /// Trims.
    pub trim: bool,
    /// Cannot write past a file's end, so that files are laid out first.
    pub no_extend: bool,
    /// Honours `RWF_ATOMIC`.
    pub atomic: bool,
    /// Reports how long a request took to submit apart from its service.
    pub slat: bool,
    /// Acts on names: the job's table of files opens none for it, and what it
    /// does to a name is timed, not the I/Os.
    pub by_name: bool,
    /// What is there before it runs.
    pub lays_out: LaysOut,
    /// Changes files themselves, not their bytes, even where the job only
    /// reads, and trims by punching holes.
    pub changes: bool,
    /// What it does to the names of its files.
    pub names: NameChange,
    /// It defines itself how a file is trimmed.
    pub trims_files: bool,
    /// Runs beside jobs that do I/O, and ends with them; does none itself.
    pub no_io: bool,
    /// A job of it either reads or writes, in order.
    pub one_way: bool,
    /// Its own threads do the I/O, not the job's.
    pub own_threads: bool,
    /// Its files are opened for I/O that the system completes later, where that is said as a file
    /// is opened (FILE_FLAG_OVERLAPPED).
    pub overlapped: bool,
    /// It simulates a device in memory, with zones and the data of jobs that verify.
    pub simulates: bool,
}

impl Caps {
    /// Whether files are opened for it by the job's table.
    pub fn has_descriptors(&self) -> bool {
        !(self.diskless || self.by_name)
    }

    /// Whether what is written can be read back.
    pub fn keeps_data(&self) -> bool {
        self.has_descriptors() || self.simulates
    }

    /// Nothing out of the ordinary, and nothing special.
    pub const NONE: Caps = Caps {
        sync: false,
        diskless: false,
        trim: false,
        no_extend: false,
        atomic: false,
        slat: false,
        by_name: false,
        lays_out: LaysOut::Files,
        changes: false,
        names: NameChange::Keeps,
        trims_files: false,
        no_io: false,
        one_way: false,
        own_threads: false,
        overlapped: false,
        simulates: false,
    };
}

/// What must be there before an engine's job runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaysOut {
    /// The files, as the job's direction wants them.
    #[default]
    Files,
    /// Directories of the files' names.
    Directories,
    /// Nothing: making it is what the engine is for.
    Nothing,
}

/// What an engine does to the names of its files, even where the job only reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameChange {
    /// Nothing.
    #[default]
    Keeps,
    /// It makes files or directories.
    Makes,
    /// It removes them.
    Removes,
}

/// What an engine is given when it opens.
#[derive(Clone, Debug)]
pub struct OpenWith {
    /// Requests in flight at most.
    pub depth: u32,
    /// Files of the job.
    pub files: u32,
    /// All buffers, as one span: start and bytes. They outlive the engine.
    pub memory: (*mut u8, usize),
    /// The run's clock.
    pub clock: Clock,
    /// The settings from the engine's own options.
    pub settings: EngineSettings,
    /// What sync_file_range(2) is asked to do.
    pub sync_range: SyncRangeFlags,
}

/// What sync_file_range(2) is asked to do; the bits of its manual page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncRangeFlags(pub u32);

impl SyncRangeFlags {
    /// Wait for pages of the range that are being written already.
    pub const WAIT_BEFORE: u32 = 1;
    /// Begin to write the dirty pages of the range.
    pub const WRITE: u32 = 2;
    /// Wait for what was begun.
    pub const WAIT_AFTER: u32 = 4;
}

/// What this system is asked when a job asks for fsync, and what it then does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FsyncCall {
    /// The call.
    pub name: &'static str,
    /// Whether the drive is asked to empty its volatile cache; not so for fsync(2) on macOS.
    pub empties_drive_cache: bool,
}

impl FsyncCall {
    /// That of this system.
    pub const HERE: FsyncCall = crate::platform::FSYNC;
}

/// Why an engine cannot be opened.
#[derive(Clone, Debug)]
pub struct EngineError {
    /// A fragment: what failed and why.
    pub message: String,
    /// How to fix it.
    pub help: Option<String>,
    /// The system's number for it.
    pub errno: Errno,
}

impl EngineError {
    /// An error of the system while `doing` something.
    pub fn system(doing: &str, errno: Errno) -> EngineError {
        EngineError { message: format!("{doing}: {errno}"), help: None, errno }
    }
}

/// One line of the catalogue: all the program knows of an engine that it is
/// not running.
pub struct EngineDef {
    /// The name `ioengine=` takes.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What it is, in a few words: for lists of engines.
    pub summary: &'static str,
    /// What it is, in a sentence or two.
    pub doc: &'static str,
    /// What it can do.
    pub caps: Caps,
    /// Its own options.
    pub options: Option<&'static EngineOptionTable>,
    /// Opens a pool of threads over the engine (`io_submit_mode=offload`), as
    /// many as the depth. None where each file has one position that all
    /// threads would move, or where the engine is more than its I/Os.
    pub offload: Option<Open>,
    /// Why it cannot run on this machine, if it cannot.
    pub available: fn() -> Result<(), EngineError>,
    /// Open it, wrapped in the loop that drives it.
    pub open: Open,
}

/// Opens an engine, wrapped in the loop that drives it, on the thread that
/// will run it.
pub type Open = fn(&OpenWith, crate::Accounting) -> Result<Box<dyn crate::Loop>, EngineError>;

impl std::fmt::Debug for EngineDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EngineDef({})", self.name)
    }
}
