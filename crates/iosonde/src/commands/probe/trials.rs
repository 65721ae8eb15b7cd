//! What I/O does here, by doing it: on a file without a name, made for it and
//! gone when it is closed. Of a device only its beginning is read.

use super::ask::Ask;
use super::rings;
use crate::commands::words::{bytes, exact};
use iosonde_base::bare;
use iosonde_direct::cache::{drop_cached, residency};
use iosonde_direct::durability::{
    CallError, Keep, WriteFlags, full_barrier, read_with, sync_all, write_with,
};
use iosonde_direct::{
    AlignedBuf, Answer, DirectIo, Facts, FileKind, OpenOptions, Verdict, honoured,
};
use iosonde_sys::counters::TaskIo;
use iosonde_sys::ring_probe::Background;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How much is written and read.
const BYTES: usize = 1 << 20;

/// What was found.
#[derive(Debug)]
pub struct Trials {
    /// On what, in words: `a temporary file without a name in /mnt`.
    pub on: String,
    /// What direct I/O on that needs; `None` if nothing could be asked.
    pub needs: Option<DirectIo>,
    /// Each, in order.
    pub all: Vec<Trial>,
}

/// One kind of I/O.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Its key in documents.
    pub id: &'static str,
    /// Its name in text.
    pub name: &'static str,
    /// Whether it does here what it is for.
    pub verdict: Verdict,
    /// What it did, or why it is not known.
    pub said: String,
}

/// Every trial: key, name.
const KINDS: [(&str, &str); 9] = [
    ("direct_read", "direct reads"),
    ("direct_write", "direct writes"),
    ("unaligned_direct_read", "unaligned"),
    ("dontcache_read", "DONTCACHE reads"),
    ("dontcache_write", "DONTCACHE writes"),
    ("atomic_write", "atomic writes"),
    ("io_uring", "io_uring"),
    ("io_uring_polled", "polled io_uring"),
    ("libaio", "libaio"),
];

impl Trials {
    /// What is known of one.
    pub fn of(&self, id: &str) -> Option<&Trial> {
        self.all.iter().find(|trial| trial.id == id)
    }

    fn unknown(on: String, why: &str) -> Trials {
        let said = |id, name| match id {
            "libaio" => libaio(),
            _ => found(id, name, Verdict::Unknown, why),
        };
        Trials { on, needs: None, all: KINDS.map(|(id, name)| said(id, name)).into() }
    }
}

fn found(id: &'static str, name: &'static str, verdict: Verdict, said: impl Into<String>) -> Trial {
    Trial { id, name, verdict, said: bare(&said.into()) }
}

/// Try everything that may be tried.
pub fn all(ask: &Ask, facts: &Facts) -> Trials {
    if ask.no_touch {
        return Trials::unknown("nothing (--no-touch)".into(), "not tried (--no-touch)");
    }
    let subject = match folder_of(&ask.path, facts.kind) {
        Some(folder) => Subject::temporary(&folder),
        None => Subject::device(&ask.path),
    };
    match subject {
        Ok(subject) => subject.try_all(facts),
        Err((on, error)) => {
            let why = match facts.kind {
                FileKind::BlockDevice => format!("the device cannot be read: {error}"),
                _ => format!("no file can be made there: {error}"),
            };
            Trials::unknown(on, &bare(&why))
        }
    }
}

/// What is tried on.
struct Subject {
    on: String,
    /// Open for reading, and for writing if it is ours.
    plain: File,
    /// Leads to it as long as it is open.
    link: PathBuf,
    /// Ours to write to.
    ours: bool,
    /// How much of it is used.
    bytes: usize,
}

impl Subject {
    /// A new file, whose name is taken away at once.
    fn temporary(folder: &Path) -> Result<Subject, (String, io::Error)> {
        let on = format!("a temporary file of 1 MiB in {}, removed", folder.display());
        let path = folder.join(format!(".iosonde-probe.{}.tmp", std::process::id()));
        let options = OpenOptions::new().read(true).write(true).create(true).exclusive(true);
        let plain = match options.mode(0o600).open(&path) {
            Ok(plain) => plain,
            Err(error) => return Err((on, error.source)),
        };
        if let Err(error) = std::fs::remove_file(&path) {
            return Err((on, error));
        }
        Ok(Subject { link: link(&plain), on, plain, ours: true, bytes: BYTES })
    }

    fn device(path: &Path) -> Result<Subject, (String, io::Error)> {
        let on = "the first MiB of the device, read only".to_owned();
        match OpenOptions::new().read(true).keep_access_time(true).open(path) {
            Ok(plain) => {
                let size = iosonde_direct::device::size(&plain).unwrap_or(0);
                let bytes = BYTES.min(size as usize);
                Ok(Subject { link: path.to_owned(), on, plain, ours: false, bytes })
            }
            Err(error) => Err((on, error.source)),
        }
    }

    fn try_all(self, facts: &Facts) -> Trials {
        let mut buffer = match AlignedBuf::new(BYTES, 4096) {
            Ok(buffer) => buffer,
            Err(error) => return Trials::unknown(self.on, &error.to_string()),
        };
        fill(&mut buffer);
        if self.ours
            && let Err(error) = self.lay_out(&buffer)
        {
            return Trials::unknown(self.on, &format!("no data can be written: {error}"));
        }
        let needs = DirectIo::of(&self.plain).ok();
        let part = &mut buffer[..self.bytes];
        let direct_write = self.direct_write(part);
        let direct_read = self.direct_read(part);
        let direct = direct_read.verdict != Verdict::No;
        let block = u64::from(needs.map_or(4096, |needs| needs.offset_alignment).max(4096));
        let (ring, polled) = self.rings(block, direct, facts);
        let all = vec![
            direct_read,
            direct_write,
            self.unaligned(part),
            self.dontcache_read(part),
            self.dontcache_write(part),
            self.atomic_write(part),
            ring,
            polled,
            libaio(),
        ];
        Trials { on: self.on, needs, all }
    }

    fn lay_out(&self, buffer: &[u8]) -> io::Result<()> {
        self.plain.write_all_at(buffer, 0)?;
        full_barrier(&self.plain)?;
        // Where memory is all there is, nothing goes; the trials tell.
        let _ = drop_cached(&self.plain, 0, 0);
        Ok(())
    }

    fn open_direct(&self, write: bool) -> Result<File, String> {
        let options = OpenOptions::new().read(true).write(write).direct(true);
        options.open(&self.link).map_err(|error| format!("O_DIRECT is refused: {}", error.source))
    }

    fn not_ours(&self) -> Option<String> {
        (!self.ours).then(|| "devices are not written to".to_owned())
    }

    fn direct_read(&self, buffer: &mut [u8]) -> Trial {
        let say = |verdict, said: String| found("direct_read", "direct reads", verdict, said);
        let open = match self.open_direct(false) {
            Ok(open) => open,
            Err(why) => return say(Verdict::No, why),
        };
        let before = TaskIo::of_thread();
        let got = match open.read_at(buffer, 0) {
            Ok(got) => got as u64,
            Err(error) => return say(Verdict::No, format!("a read fails: {error}")),
        };
        let after = TaskIo::of_thread();
        let counted = before.and_then(|before| Ok(after?.since(&before).storage_read_bytes)).ok();
        let told = honoured(&open).ok().and_then(|honoured| honoured.reads);
        let told = told.unwrap_or(UNTOLD);
        match (told.verdict, counted) {
            (Verdict::No, _) => say(Verdict::No, told.why.into()),
            (_, Some(counted)) if counted >= got => {
                say(Verdict::Yes, format!("{} of {} came from the device", bytes(got), bytes(got)))
            }
            (Verdict::Yes, Some(counted)) => say(
                Verdict::No,
                format!("{} of {} came from the device", bytes(counted), bytes(got)),
            ),
            (verdict, _) => say(verdict, told.why.into()),
        }
    }

    fn direct_write(&self, buffer: &[u8]) -> Trial {
        let say = |verdict, said: String| found("direct_write", "direct writes", verdict, said);
        if let Some(why) = self.not_ours() {
            return say(Verdict::Unknown, why);
        }
        let open = match self.open_direct(true) {
            Ok(open) => open,
            Err(why) => return say(Verdict::No, why),
        };
        let wrote = match open.write_at(buffer, 0) {
            Ok(wrote) => wrote as u64,
            Err(error) => return say(Verdict::No, format!("a write fails: {error}")),
        };
        let unwritten = residency(&open, 0, 0).known().and_then(|now| now.unwritten_bytes().get());
        let told = honoured(&open).ok().and_then(|honoured| honoured.writes);
        let told = told.unwrap_or(UNTOLD);
        match unwritten {
            Some(left) if left > 0 => {
                let said = format!("{} of {} were left in memory", bytes(left), bytes(wrote));
                say(Verdict::No, said)
            }
            _ => say(told.verdict, told.why.into()),
        }
    }

    /// One byte past an alignment: refused, or done through memory.
    fn unaligned(&self, buffer: &mut [u8]) -> Trial {
        let say =
            |verdict, said: String| found("unaligned_direct_read", "unaligned", verdict, said);
        let open = match self.open_direct(false) {
            Ok(open) => open,
            Err(why) => return say(Verdict::No, why),
        };
        if buffer.len() < 8192 {
            return say(Verdict::Unknown, "the device is too small".into());
        }
        match open.read_at(&mut buffer[1..4097], 1) {
            Ok(_) => say(
                Verdict::Yes,
                "a direct read at an odd offset is done, through memory, and not refused".into(),
            ),
            Err(error) => say(Verdict::No, format!("a direct read at an odd offset: {error}")),
        }
    }

    fn dontcache_read(&self, buffer: &mut [u8]) -> Trial {
        let say = |verdict, said: String| found("dontcache_read", "DONTCACHE reads", verdict, said);
        if self.ours && drop_cached(&self.plain, 0, 0).is_err() {
            return say(Verdict::Unknown, "the page cache of the file cannot be dropped".into());
        }
        match read_with(&self.plain, buffer, 0, Keep::Dropped) {
            Ok(got) if self.ours => self.left(got, say),
            Ok(_) => say(Verdict::Yes, "are done; what stays is not looked at on a device".into()),
            Err(error) => say(Verdict::No, why(&error)),
        }
    }

    fn dontcache_write(&self, buffer: &[u8]) -> Trial {
        let say =
            |verdict, said: String| found("dontcache_write", "DONTCACHE writes", verdict, said);
        if let Some(why) = self.not_ours() {
            return say(Verdict::Unknown, why);
        }
        // What is there already would stay.
        if drop_cached(&self.plain, 0, 0).is_err() {
            return say(Verdict::Unknown, "the page cache of the file cannot be dropped".into());
        }
        let flags = WriteFlags::new().dont_cache(true);
        let done = write_with(&self.plain, buffer, 0, flags)
            .and_then(|wrote| Ok(sync_all(&self.plain).map(|()| wrote)?));
        match done {
            Ok(wrote) => self.left(wrote, say),
            Err(error) => say(Verdict::No, why(&error)),
        }
    }

    /// What is in memory after I/O that was to leave nothing.
    fn left(&self, moved: usize, say: impl Fn(Verdict, String) -> Trial) -> Trial {
        // Pages go when the device has answered, by another thread.
        const PATIENCE: Duration = Duration::from_millis(100);
        let began = Instant::now();
        let left = loop {
            let now = residency(&self.plain, 0, 0);
            match now.known().map(|now| now.cached_bytes()) {
                Some(left) if left > 0 && began.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Some(left) => break left,
                None => {
                    let why = now.why().unwrap_or_default().to_owned();
                    return say(Verdict::Unknown, format!("done; what stays is unknown: {why}"));
                }
            }
        };
        match left {
            0 => say(Verdict::Yes, "nothing stays in memory".into()),
            left => say(
                Verdict::No,
                format!(
                    "taken, but {} of {} stay in memory{}",
                    bytes(left),
                    bytes(moved as u64),
                    if moved == self.bytes { "" } else { " (a short one)" }
                ),
            ),
        }
    }

    fn atomic_write(&self, buffer: &[u8]) -> Trial {
        let say = |verdict, said: String| found("atomic_write", "atomic writes", verdict, said);
        let open = match self.open_direct(self.ours) {
            Ok(open) => open,
            Err(why) => return say(Verdict::No, why),
        };
        let facts = match Facts::of_file(&open) {
            Ok(facts) => facts,
            Err(error) => return say(Verdict::Unknown, error.to_string()),
        };
        let Some(limits) = facts.atomic_write.get() else {
            let why = facts.atomic_write.why().unwrap_or_default();
            return say(Verdict::Unknown, why.to_owned());
        };
        if !limits.is_supported() {
            return say(Verdict::No, "neither device nor file system has them".into());
        }
        let range = format!(
            "from {} to {}",
            exact(u64::from(limits.unit_min)),
            exact(u64::from(limits.unit_max))
        );
        if self.not_ours().is_some() {
            return say(Verdict::Yes, format!("{range}, as the device says"));
        }
        let most = (limits.unit_max as usize).min(buffer.len());
        match write_with(&open, &buffer[..most], 0, WriteFlags::new().atomic(true)) {
            Ok(_) => say(Verdict::Yes, format!("{range}; one of {} was done", exact(most as u64))),
            Err(error) => say(Verdict::No, why(&error)),
        }
    }

    fn rings(&self, block: u64, direct: bool, facts: &Facts) -> (Trial, Trial) {
        let plain = |verdict, said: String| found("io_uring", "io_uring", verdict, said);
        let poll =
            |verdict, said: String| found("io_uring_polled", "polled io_uring", verdict, said);
        if let Err(error) = Background::IoUring.probe() {
            let why = error.to_string();
            return (plain(Verdict::No, why.clone()), poll(Verdict::No, why));
        }
        let how = if direct { "a direct" } else { "a buffered" };
        let read = match rings::read_one(&self.link, block, direct, false) {
            Ok(()) => plain(Verdict::Yes, format!("{how} read was done")),
            Err(why) => plain(Verdict::No, why),
        };
        let queues = facts.disks().iter().all(|disk| disk.polled.get() != Some(false));
        let polled = match (direct, queues) {
            (false, _) => poll(Verdict::No, "it takes direct I/O".into()),
            (true, false) => {
                poll(Verdict::No, "the device has no poll queues (queue/io_poll is 0)".into())
            }
            (true, true) => match rings::read_one(&self.link, block, true, true) {
                Ok(()) => poll(Verdict::Yes, "a polled read was done".into()),
                Err(why) => poll(Verdict::No, why),
            },
        };
        (read, polled)
    }
}

const UNTOLD: Answer = Answer {
    verdict: Verdict::Unknown,
    why: std::borrow::Cow::Borrowed("the system does not tell"),
};

fn libaio() -> Trial {
    match Background::Libaio.probe() {
        Ok(()) => found("libaio", "libaio", Verdict::Yes, "can be set up"),
        Err(error) => found("libaio", "libaio", Verdict::No, error.to_string()),
    }
}

fn why(error: &CallError) -> String {
    match error {
        CallError::Unsupported { why, .. } => why.to_string(),
        other => other.to_string(),
    }
}

fn link(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Bytes that no file system makes smaller (xorshift64, Marsaglia 2003).
fn fill(buffer: &mut [u8]) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for word in buffer.chunks_exact_mut(8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        word.copy_from_slice(&state.to_le_bytes());
    }
}

/// The directory that a temporary file goes to.
fn folder_of(path: &Path, kind: FileKind) -> Option<PathBuf> {
    match kind {
        FileKind::Folder => Some(path.to_owned()),
        FileKind::File => path.canonicalize().ok()?.parent().map(Path::to_owned),
        _ => None,
    }
}
