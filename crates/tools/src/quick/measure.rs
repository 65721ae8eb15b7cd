//! The tests of a quick look, one after the other.

use super::target::{QuickKind, QuickTarget};
use iosonde_base::Dir;
use iosonde_report::finding::FindingCounts;
use iosonde_report::ledger::Ledger;
use iosonde_report::{DirReport, Quick, Report};
use iosonde_session::jobs::checked;
use iosonde_session::{RunEnd, RunLine, Session, give_up};
use std::path::PathBuf;

/// One test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuickTest {
    /// In words, without the direction.
    pub name: &'static str,
    /// Reads or writes.
    pub dir: Dir,
    /// Queue depth.
    pub depth: u32,
    rw: &'static str,
    bs: &'static str,
    /// Each write is durable when it completes (O_DSYNC).
    pub durable: bool,
}

const fn test(
    name: &'static str,
    dir: Dir,
    depth: u32,
    rw: &'static str,
    bs: &'static str,
) -> QuickTest {
    QuickTest { name, dir, depth, rw, bs, durable: false }
}

/// All tests, those that only read first: they leave the device's cache as it is.
const TESTS: [QuickTest; 9] = [
    test("seq. 1 MiB, depth 1", Dir::Read, 1, "read", "1m"),
    test("seq. 1 MiB, depth 32", Dir::Read, 32, "read", "1m"),
    test("random 4 KiB, depth 1", Dir::Read, 1, "randread", "4k"),
    test("random 4 KiB, depth 32", Dir::Read, 32, "randread", "4k"),
    test("seq. 1 MiB, depth 1", Dir::Write, 1, "write", "1m"),
    test("seq. 1 MiB, depth 32", Dir::Write, 32, "write", "1m"),
    test("random 4 KiB, depth 1", Dir::Write, 1, "randwrite", "4k"),
    test("random 4 KiB, depth 32", Dir::Write, 32, "randwrite", "4k"),
    QuickTest { durable: true, ..test("durable 4 KiB (dsync)", Dir::Write, 1, "write", "4k") },
];

/// Seconds at most for filling the temporary file.
const FILL_SECONDS: u64 = 6;

/// The result of a test.
#[derive(Clone, Debug)]
pub struct QuickFigures {
    /// The test.
    pub test: QuickTest,
    /// I/Os a second.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_s: u64,
    /// Percentiles; `None` where nothing was done.
    pub latency: Option<Quick>,
}

/// Everything that was found.
#[derive(Debug, Default)]
pub struct QuickLook {
    /// The path as it was named.
    pub path: PathBuf,
    /// `directory`, `file` or `device`.
    pub kind: &'static str,
    /// Bytes that the I/Os fell on; 0 for a whole device.
    pub bytes: u64,
    /// Direct I/O was used.
    pub direct: bool,
    /// The engine of the deep tests.
    pub engine: &'static str,
    /// The tests, in order.
    pub tests: Vec<QuickFigures>,
    /// Warnings and worse, each rule once, worst first, with how many tests it
    /// was found in.
    pub findings: FindingCounts,
    /// The ledger of the last test: devices, file systems, machine.
    pub ledger: Option<Box<Ledger>>,
    /// A signal ended it before all was done.
    pub stopped: bool,
}

/// Findings that are true of any short look, and said once in the text.
const EXPECTED: [&str; 3] = ["short-run", "small-span", "closed-loop"];

/// Run all tests that suit the target.
///
/// # Errors
/// The first reason of what could not be done.
pub fn all(target: &QuickTarget, seconds: u64, session: Session) -> Result<QuickLook, String> {
    let mut run =
        QuickRunner { target, bytes: target.bytes, direct: true, engine: deep_engine(), session };
    if target.kind == QuickKind::Directory {
        run.fill()?;
    } else {
        run.direct = run.takes_direct();
    }
    let writes = target.kind == QuickKind::Directory;
    let mut measured = QuickLook {
        path: target.path.clone(),
        kind: target.kind.word(),
        bytes: run.bytes,
        direct: run.direct,
        engine: run.engine,
        ..QuickLook::default()
    };
    for test in TESTS.into_iter().filter(|test| writes || test.dir == Dir::Read) {
        let Some(done) = run.one(&test, seconds)? else { break };
        measured.tests.push(figures(test, &done));
        measured.ledger = done.ours.ledger;
        let found = measured.ledger.iter().flat_map(|ledger| &ledger.verdict);
        measured.findings.add(found.filter(|finding| !EXPECTED.contains(&&*finding.id)));
    }
    measured.stopped = run.session.is_stopped();
    Ok(measured)
}

fn figures(test: QuickTest, done: &Report) -> QuickFigures {
    let dir: Option<&DirReport> = done.jobs.first().map(|job| &job.dirs[test.dir]);
    QuickFigures {
        test,
        iops: dir.map_or(0.0, DirReport::iops),
        bytes_per_s: dir.map_or(0, DirReport::bw_bytes_per_s),
        latency: dir.and_then(|dir| dir.shown_latency().quick),
    }
}

/// An engine that keeps a queue, the fastest first.
fn deep_engine() -> &'static str {
    let runs = |name: &&&str| {
        iosonde_engine::find(name).is_some_and(|engine| (engine.available)().is_ok())
    };
    ["io_uring", "libaio", "posixaio"].iter().find(runs).copied().unwrap_or("psync")
}

struct QuickRunner<'a> {
    target: &'a QuickTarget,
    bytes: u64,
    direct: bool,
    engine: &'static str,
    session: Session,
}

impl QuickRunner<'_> {
    /// Fill the temporary file, as much of it as there is time for.
    fn fill(&mut self) -> Result<(), String> {
        let mut fill = self.words(&test("fill", Dir::Write, 32, "write", "1m"));
        fill.push(format!("--runtime={FILL_SECONDS}"));
        fill.push("--end_fsync=1".to_owned());
        let done = match self.run(&fill, "filling the temporary file") {
            Ok(Some(done)) => done,
            Ok(None) => return Ok(()),
            // Some file systems refuse direct I/O.
            Err(_) if self.direct => {
                self.direct = false;
                return self.fill();
            }
            Err(why) => return Err(why),
        };
        let written = done.jobs.first().map_or(0, |job| job.dirs[Dir::Write].io_bytes);
        if written < self.bytes {
            self.bytes = (written - written % (1 << 20)).max(1 << 20);
        }
        Ok(())
    }

    /// Whether the target takes direct reads.
    fn takes_direct(&self) -> bool {
        let mut words = self.words(&test("direct", Dir::Read, 1, "read", "4k"));
        words.push("--number_ios=1".to_owned());
        self.run(&words, "").is_ok()
    }

    fn one(&self, test: &QuickTest, seconds: u64) -> Result<Option<Report>, String> {
        let mut words = self.words(test);
        words.extend([format!("--runtime={seconds}"), "--time_based".to_owned()]);
        if test.durable {
            words.push("--sync=dsync".to_owned());
        }
        self.run(&words, &format!("{} {}", test.name, test.dir.name()))
    }

    /// Run a job; nothing if a signal comes.
    fn run(&self, words: &[String], doing: &str) -> Result<Option<Report>, String> {
        let parsed = checked(words).map_err(first)?;
        match self.session.measure_typed(&parsed, &RunLine::new(doing)) {
            Ok(ran) => Ok(Some(ran.report())),
            Err(RunEnd::Stopped { twice: true }) => {
                self.target.remove();
                give_up()
            }
            Err(RunEnd::Stopped { twice: false }) => Ok(None),
            Err(end) => Err(first(vec![end.to_string()])),
        }
    }

    fn words(&self, test: &QuickTest) -> Vec<String> {
        let engine = if test.depth > 1 { self.engine } else { "psync" };
        let mut words = vec![
            "--name=quick".to_owned(),
            format!("--filename={}", escaped(&self.target.file.to_string_lossy())),
            format!("--rw={}", test.rw),
            format!("--bs={}", test.bs),
            format!("--iodepth={}", test.depth),
            format!("--ioengine={engine}"),
            format!("--direct={}", u8::from(self.direct)),
            // The target is there; removed by a second signal, it is not made again.
            "--allow_file_create=0".to_owned(),
            "--norandommap".to_owned(),
            "--refill_buffers".to_owned(),
        ];
        if self.target.kind == QuickKind::Directory {
            // A file of our own, which may not be filled yet.
            words.push("--extend".to_owned());
        }
        if self.bytes > 0 {
            words.push(format!("--size={}", self.bytes));
        }
        words
    }
}

/// A path in the job language: a colon separates files.
fn escaped(path: &str) -> String {
    path.replace('\\', "\\\\").replace(':', "\\:")
}

fn first(reasons: Vec<String>) -> String {
    let reason = reasons.into_iter().next().unwrap_or_default();
    reason.strip_prefix("iosonde: ").unwrap_or(&reason).to_owned()
}

impl QuickKind {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            QuickKind::Directory => "directory",
            QuickKind::File => "file",
            QuickKind::Device => "device",
        }
    }
}
