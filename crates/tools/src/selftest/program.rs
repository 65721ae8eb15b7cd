//! Whether iosonde itself keeps its promises here: it finds changed data, reports
//! errors, and ends with a report.

use super::{Check, CheckOf};
use iosonde_direct::{Facts, Tristate};
use iosonde_sys::files::FileExt;
use iosonde_sys::process;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

type RunChecks = fn(&Path, &Facts) -> Vec<Check>;

/// All of them, in order.
pub(super) const CHECKS: &[RunChecks] = &[changed_data, lost_data, errors, signals];

/// A job that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// The block that is changed, and its length.
const BLOCK: u64 = 37;
const BLOCK_BYTES: u64 = 4096;

/// How a job ended.
pub(super) struct JobEnd {
    pub(super) code: Option<i32>,
    stderr: String,
    report: String,
}

impl JobEnd {
    /// Its engine cannot run on this system.
    pub(super) fn is_not_for_here(&self) -> bool {
        self.stderr.contains("cannot run here")
    }
}

/// Start a job with these options in `own`; it does not read the terminal.
pub(super) fn start(own: &Path, line: &str) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    process::call_it(&mut command, "iosonde");
    command
        .args(line.split_whitespace())
        .args(["--output-format=json", "--output=report"])
        .current_dir(own)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(own.join("messages"))?);
    command.spawn()
}

/// Wait until the job's thread, which has its name, has been there for a moment, or
/// until the program has ended.
fn wait_for_work(child: &mut Child) -> io::Result<()> {
    let began = Instant::now();
    // Where the system does not tell, a second is enough for most.
    let patience = match process::has_thread(child, "selftest") {
        Some(_) => PATIENCE,
        None => Duration::from_secs(1),
    };
    while began.elapsed() < patience {
        if process::has_thread(child, "selftest") == Some(true) {
            std::thread::sleep(Duration::from_millis(200));
            break;
        }
        if child.try_wait()?.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

pub(super) fn end(own: &Path, mut child: Child) -> io::Result<JobEnd> {
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if began.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::other("the job did not end within a minute"));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = |name: &str| std::fs::read_to_string(own.join(name)).unwrap_or_default();
    Ok(JobEnd { code: status.code(), stderr: text("messages"), report: text("report") })
}

pub(super) fn job(own: &Path, line: &str) -> io::Result<JobEnd> {
    end(own, start(own, line)?)
}

/// In place of all checks, where the storage does not keep data.
pub(super) fn untried() -> Check {
    let why = "not tried: the storage itself does not keep what is written to it";
    let (id, name) = ("data", "data, errors, signals");
    Check { of: CheckOf::Program, id, name, verdict: Tristate::Unknown, detail: why.to_owned() }
}

/// A check from its result: `Ok(Ok)` holds, `Ok(Err)` does not, `Err` could not be tried.
pub(super) fn check(
    id: &'static str,
    name: &'static str,
    result: io::Result<Result<String, String>>,
) -> Vec<Check> {
    let (verdict, detail) = match result {
        Ok(Ok(detail)) => (Tristate::Yes, detail),
        Ok(Err(detail)) => (Tristate::No, detail),
        Err(error) => (Tristate::Unknown, error.to_string()),
    };
    vec![Check { of: CheckOf::Program, id, name, verdict, detail }]
}

/// Write with verify, change something, check: the change is blamed, and nothing else.
fn verify_finds(
    own: &Path,
    engine: &str,
    change: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<Result<String, String>> {
    let line = format!(
        "--name=selftest --filename=data --rw=randwrite --bs=4k --size=1m --ioengine={engine} \
         --verify=crc32c"
    );
    let wrote = job(own, &line)?;
    if wrote.code != Some(0) {
        if wrote.is_not_for_here() {
            return Err(io::Error::other("it cannot run here"));
        }
        return Ok(Err(format!("a job that only writes and checks fails: {}", first_line(&wrote))));
    }
    let file = File::options().read(true).write(true).open(own.join("data"))?;
    change(&file)?;
    let checked = job(own, &format!("{line} --verify_only=1 --continue_on_error=verify"))?;
    let blamed = checked.stderr.matches("(requested block: offset=").count();
    let mark = format!("(requested block: offset={},", BLOCK * BLOCK_BYTES);
    Ok(match checked.code {
        Some(0) => Err("the change was not found".to_owned()),
        _ if !checked.stderr.contains(&mark) => {
            Err(format!("the changed block is not named: {}", first_line(&checked)))
        }
        _ if blamed != 1 => Err(format!("1 block was changed and {blamed} are named")),
        _ => Ok("found, and no other block blamed".to_owned()),
    })
}

pub(super) fn first_line(ended: &JobEnd) -> String {
    ended.stderr.lines().next().unwrap_or("no message").to_owned()
}

/// Checks by engine, of those that this system has.
pub(super) fn here<const N: usize>(
    checks: [(&'static str, &'static str, &'static str); N],
) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    checks.into_iter().filter(|(_, _, engine)| iosonde_engine::elsewhere(engine).is_none())
}

/// One bit of 8 million, with each engine.
fn changed_data(own: &Path, _: &Facts) -> Vec<Check> {
    let engines = [
        ("flip_psync", "a flipped bit, psync", "psync"),
        ("flip_libaio", "a flipped bit, libaio", "libaio"),
        ("flip_io_uring", "a flipped bit, io_uring", "io_uring"),
        ("flip_posixaio", "a flipped bit, posixaio", "posixaio"),
        ("flip_mmap", "a flipped bit, mmap", "mmap"),
    ];
    let flip = |file: &File| {
        let at = BLOCK * BLOCK_BYTES + 1234;
        let mut byte = [0];
        file.read_exact_at(&mut byte, at)?;
        file.write_all_at(&[byte[0] ^ 4], at)
    };
    here(engines)
        .flat_map(|(id, name, engine)| check(id, name, verify_finds(own, engine, flip)))
        .collect()
}

/// A write that never arrived, and one that arrived elsewhere.
fn lost_data(own: &Path, _: &Facts) -> Vec<Check> {
    let block = usize::try_from(BLOCK_BYTES).expect("4096");
    let lost =
        verify_finds(own, "psync", |file| file.write_all_at(&vec![0; block], BLOCK * BLOCK_BYTES));
    let elsewhere = verify_finds(own, "psync", |file| {
        let mut other = vec![0; block];
        file.read_exact_at(&mut other, (BLOCK + 5) * BLOCK_BYTES)?;
        file.write_all_at(&other, BLOCK * BLOCK_BYTES)
    });
    let torn =
        verify_finds(own, "psync", |file| file.write_all_at(&[0; 512], BLOCK * BLOCK_BYTES + 2048));
    [
        check("lost", "a lost write", lost),
        check("misdirected", "a misdirected write", elsewhere),
        check("torn", "a torn write", torn),
    ]
    .concat()
}

/// An I/O error is the job's, with a report: a mapped file that becomes shorter.
fn errors(own: &Path, _: &Facts) -> Vec<Check> {
    let tried = || -> io::Result<Result<String, String>> {
        let path = own.join("mapped");
        std::fs::write(&path, vec![1; 4 << 20])?;
        let mut running = start(
            own,
            "--name=selftest --filename=mapped --rw=randread --bs=4k --ioengine=mmap \
             --time_based=1 --runtime=50",
        )?;
        wait_for_work(&mut running)?;
        File::options().write(true).open(&path)?.set_len(4096)?;
        let ended = end(own, running)?;
        Ok(match ended.code {
            Some(0) => Err("the job ended as if nothing had happened".to_owned()),
            None => Err("a signal ended the program".to_owned()),
            Some(_) if ended.report.is_empty() => Err("there is no report".to_owned()),
            Some(_) => Ok("the job fails and is reported".to_owned()),
        })
    };
    check("error", "a file that is cut off", tried())
}

/// Ctrl-C ends a job with a report.
fn signals(own: &Path, _: &Facts) -> Vec<Check> {
    let tried = || -> io::Result<Result<String, String>> {
        let mut running = start(
            own,
            "--name=selftest --filename=data --rw=randread --bs=4k --time_based=1 --runtime=50",
        )?;
        wait_for_work(&mut running)?;
        if let Err(error) = process::interrupt(&running) {
            running.kill()?;
            running.wait()?;
            return Err(error);
        }
        let ended = end(own, running)?;
        Ok(match ended.code {
            None => Err("the signal ended it without a report".to_owned()),
            Some(0) => Err("it ended as if it had not been stopped".to_owned()),
            Some(_) if ended.report.is_empty() => Err("there is no report".to_owned()),
            Some(_) => Ok("it ends with a report of what was done".to_owned()),
        })
    };
    check("signal", "Ctrl-C", tried())
}
