//! A job under both views in turn, with the view put back whatever happens.

use super::device::{Switch, words_of};
use super::table::{Mode, Sheet};
use super::work::{self, Halt, Ran, Work};
use super::{refuse, tell};
use crate::exit;
use crate::output::{complain, say};
use crate::session::Refused;
use iosonde_direct::WriteCache;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Run the job under both views and print one table.
pub fn run(path: &Path, job: &[String], rounds: u32, json: bool) -> u8 {
    let (switch, before) = match Switch::open(path).and_then(|(switch, told)| {
        switch.lock()?;
        Ok((switch, told))
    }) {
        Ok(opened) => opened,
        Err(why) => return refuse(&why),
    };
    let works = match work::read(job, &switch.disk) {
        Ok((works, said)) => {
            said.iter().for_each(|line| complain(line));
            works
        }
        Err(Refused { code, said }) => {
            said.iter().for_each(|line| complain(line));
            return code;
        }
    };
    let Some(original) = before.kernel.get() else { return refuse("the view is unknown") };
    let stop = match listen() {
        Ok(stop) => stop,
        Err(error) => return refuse(&format!("listen for signals: {error}")),
    };
    // From here on the view is put back, also when something panics.
    let restore = Restore { switch: Some(switch), original };
    let switch = restore.switch.as_ref().expect("it is taken at the end only");
    let hand = tell::by_hand(switch, original);
    let disk = &switch.disk;
    let by = words_of(original);
    // Nothing here may panic because nobody reads standard error.
    let _ = writeln!(
        io::stderr(),
        "iosonde: {disk} is {by} and will be again; if this is killed (kill -9), type: {hand}"
    );
    let mut sheet = Sheet::new(path, before.clone(), rounds, &works);
    let halt = take(&works, switch, rounds, &stop, &mut sheet).err();
    if halt == Some(Halt::Stopped { twice: true }) {
        // A job still runs; storage that does not answer may hold us up, too.
        give_up(restore, &hand);
    }
    let restored = restore.end();
    if let Err(why) = &restored {
        complain(&format!("iosonde: write-cache: {why}; type: {hand}"));
    }
    sheet.restored = restored.is_ok();
    let code = match &halt {
        Some(Halt::Failed(why)) => {
            complain(&format!("iosonde: write-cache: {why}"));
            exit::REFUSED
        }
        Some(Halt::Stopped { .. }) => {
            if !sheet.has_pairs() {
                complain("iosonde: write-cache: stopped before there was anything to compare");
            }
            exit::SIGNALLED
        }
        None if restored.is_err() => exit::REFUSED,
        None => exit::OK,
    };
    sheet.stopped = halt.is_some();
    if halt.is_none() || sheet.has_pairs() {
        say(&if json { super::document(&sheet.document()) } else { sheet.text() });
    }
    code
}

/// All runs: one that is not counted, so that files are there and laid out,
/// then each work under both views, in turns, the order changing each round.
fn take(
    works: &[Work],
    switch: &Switch,
    rounds: u32,
    stop: &AtomicBool,
    sheet: &mut Sheet,
) -> Result<(), Halt> {
    const ORDER: [WriteCache; 2] = [WriteCache::Back, WriteCache::Through];
    let all = 1 + works.len() as u32 * rounds * 2;
    let mut number = 0;
    let mut once = |work: &Work, view: WriteCache| -> Result<Ran, Halt> {
        if stop.load(Ordering::Relaxed) {
            return Err(Halt::Stopped { twice: false });
        }
        number += 1;
        progress(&format!("run {number} of {all}: {}, {}", work.name, words_of(view)));
        switch.set(view).map_err(Halt::Failed)?;
        // What an earlier run left in the device's cache is not this one's.
        let _ = switch.flush();
        let ran = work.run(&switch.disk, stop);
        progress("");
        ran.map_err(|halt| match halt {
            Halt::Failed(why) => Halt::Failed(format!("{}, {}: {why}", work.name, words_of(view))),
            halt => halt,
        })
    };
    // Under write back first, so that a device without a cache is told at once.
    once(&works[0], WriteCache::Back)?;
    for round in 0..rounds {
        for (at, work) in works.iter().enumerate() {
            let turned = !round.is_multiple_of(2);
            for mode in if turned { [1, 0] } else { [0, 1] } {
                let ran = once(work, ORDER[mode])?;
                sheet.add(at, Mode::ALL[mode], ran);
            }
        }
    }
    Ok(())
}

/// A line that stands while something runs, for a person.
fn progress(line: &str) {
    let mut out = io::stderr();
    if out.is_terminal() {
        let _ = write!(out, "\r{:79}\r{line}", "");
    }
}

/// Listen for what would end us with the view changed. The conductor hears
/// SIGINT and SIGTERM by itself while jobs run.
fn listen() -> io::Result<Arc<AtomicBool>> {
    let stop: Arc<AtomicBool> = Arc::default();
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        signal_hook::flag::register(signal, stop.clone())?;
    }
    Ok(stop)
}

/// The view that was found, put back when this goes.
struct Restore {
    switch: Option<Switch>,
    original: WriteCache,
}

impl Restore {
    /// Put it back, and have the disk flush what was written without flushes.
    fn end(mut self) -> Result<(), String> {
        self.put_back()
    }

    fn put_back(&mut self) -> Result<(), String> {
        let Some(switch) = self.switch.take() else { return Ok(()) };
        switch.set(self.original).map_err(|why| {
            format!("{} could not be put back to {}: {why}", switch.disk, words_of(self.original))
        })?;
        // A device that takes no flush has no cache; what else fails is told by the jobs.
        let _ = switch.flush();
        Ok(())
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        if let Err(why) = self.put_back() {
            let _ = writeln!(io::stderr(), "iosonde: write-cache: {why}");
        }
    }
}

/// End under jobs that still run, as was asked twice.
fn give_up(restore: Restore, hand: &str) -> ! {
    const PATIENCE: Duration = Duration::from_secs(2);
    let (done, ended) = std::sync::mpsc::channel();
    let put_back = move || {
        // Nobody waits any more, perhaps.
        let _ = done.send(restore.end());
    };
    let _ = std::thread::Builder::new().spawn(put_back);
    match ended.recv_timeout(PATIENCE) {
        Ok(Ok(())) => {}
        Ok(Err(why)) => complain(&format!("iosonde: write-cache: {why}; type: {hand}")),
        Err(_) => complain(&format!(
            "iosonde: write-cache: the storage does not answer, and the view may not be put back; \
             type: {hand}"
        )),
    }
    std::process::exit(exit::SIGNALLED.into())
}
