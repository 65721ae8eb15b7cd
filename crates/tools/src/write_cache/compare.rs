//! A job under both settings in turn; the setting is restored whatever happens.

use super::comparison::{Comparison, SettingIndex};
use super::device::{WriteCacheSetting, words_of};
use super::workload::{self, RunSummary, Workload};
use super::{refuse, text};
use iosonde_base::exit;
use iosonde_command::within;
use iosonde_direct::WriteCache;
use iosonde_session::prepare::PrepareError;
use iosonde_session::{RunEnd, Session};
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::print;
use iosonde_sys::status_line;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// Run the job under both settings and print one table.
pub fn run(path: &Path, job: &[String], rounds: u32, json: bool) -> u8 {
    let (setting, before) = match WriteCacheSetting::open(path).and_then(|(setting, facts)| {
        setting.lock()?;
        Ok((setting, facts))
    }) {
        Ok(opened) => opened,
        Err(why) => return refuse(&why),
    };
    let workloads = match workload::read(job, &setting.disk) {
        Ok((workloads, said)) => {
            said.iter().for_each(|line| print_error(line));
            workloads
        }
        Err(PrepareError { code, reasons }) => {
            reasons.iter().for_each(|line| print_error(line));
            return code;
        }
    };
    let Some(original) = before.kernel.get() else {
        return refuse("the kernel's setting is unknown");
    };
    let session = match Session::listening() {
        Ok(session) => session,
        Err(end) => return refuse(&end.to_string()),
    };
    // From here on the setting is restored, also after a panic.
    let restorer = RestoreOnDrop { setting: Some(setting), original };
    let setting = restorer.setting.as_ref().expect("it is taken at the end only");
    let hand = text::by_hand(setting, original);
    let disk = &setting.disk;
    let by = words_of(original);
    // Nothing here may panic because nobody reads standard error.
    let _ = writeln!(
        io::stderr(),
        "iosonde: {disk} is {by} and will be restored; after kill -9 restore it with: {hand}"
    );
    let mut comparison = Comparison::new(path, before.clone(), rounds, &workloads);
    let interrupted = take(&workloads, setting, rounds, &session, &mut comparison).err();
    if interrupted == Some(RunEnd::Stopped { twice: true }) {
        // A job still runs; storage that does not answer may hold us up, too.
        give_up(restorer, &hand);
    }
    let restored = restorer.end();
    if let Err(why) = &restored {
        print_error(&format!("iosonde: write-cache: {why}; restore it with: {hand}"));
    }
    comparison.restored = restored.is_ok();
    let code = match &interrupted {
        Some(end @ RunEnd::Failed(_)) => {
            print_error(&format!("iosonde: write-cache: {end}"));
            exit::REFUSED
        }
        Some(RunEnd::Stopped { .. }) => {
            if !comparison.has_pairs() {
                print_error("iosonde: write-cache: stopped before there were results to compare");
            }
            exit::SIGNALLED
        }
        None if restored.is_err() => exit::REFUSED,
        None => exit::OK,
    };
    comparison.stopped = interrupted.is_some();
    if interrupted.is_none() || comparison.has_pairs() {
        print(&if json { super::document(&comparison.document()) } else { comparison.text() });
    }
    code
}

/// All runs: one that is not counted, so that files are there and laid out,
/// then each workload under both views, in turns, the order changing each round.
fn take(
    workloads: &[Workload],
    setting: &WriteCacheSetting,
    rounds: u32,
    session: &Session,
    comparison: &mut Comparison,
) -> Result<(), RunEnd> {
    const ORDER: [WriteCache; 2] = [WriteCache::Back, WriteCache::Through];
    let all = 1 + workloads.len() as u32 * rounds * 2;
    let mut number = 0;
    let mut once = |workload: &Workload, view: WriteCache| -> Result<RunSummary, RunEnd> {
        if session.is_stopped() {
            return Err(RunEnd::Stopped { twice: false });
        }
        number += 1;
        status_line::draw(&format!("run {number} of {all}: {}, {}", workload.name, words_of(view)));
        setting.set(view).map_err(RunEnd::failed)?;
        // What an earlier run left in the device's cache is not this one's.
        let _ = setting.flush();
        let ran = workload.run(&setting.disk, session);
        status_line::clear();
        ran.map_err(|end| end.about(&format!("{}, {}", workload.name, words_of(view))))
    };
    // Under write back first, so that a device without a cache is reported at once.
    once(&workloads[0], WriteCache::Back)?;
    for round in 0..rounds {
        for (at, workload) in workloads.iter().enumerate() {
            let turned = !round.is_multiple_of(2);
            for mode in if turned { [1, 0] } else { [0, 1] } {
                let ran = once(workload, ORDER[mode])?;
                comparison.add(at, SettingIndex::ALL[mode], ran);
            }
        }
    }
    Ok(())
}

/// The view that was found, put back when this goes.
struct RestoreOnDrop {
    setting: Option<WriteCacheSetting>,
    original: WriteCache,
}

impl RestoreOnDrop {
    /// Put it back, and have the disk flush what was written without flushes.
    fn end(mut self) -> Result<(), String> {
        self.restore()
    }

    fn restore(&mut self) -> Result<(), String> {
        let Some(setting) = self.setting.take() else { return Ok(()) };
        setting.set(self.original).map_err(|why| {
            format!("{} could not be restored to {}: {why}", setting.disk, words_of(self.original))
        })?;
        // A device that takes no flush has no cache; other failures are reported by the jobs.
        let _ = setting.flush();
        Ok(())
    }
}

impl Drop for RestoreOnDrop {
    fn drop(&mut self) {
        if let Err(why) = self.restore() {
            let _ = writeln!(io::stderr(), "iosonde: write-cache: {why}");
        }
    }
}

/// End under jobs that still run, as was asked twice.
fn give_up(restorer: RestoreOnDrop, hand: &str) -> ! {
    const PATIENCE: Duration = Duration::from_secs(2);
    match within(PATIENCE, || restorer.end()) {
        Some(Ok(())) => {}
        Some(Err(why)) => {
            print_error(&format!("iosonde: write-cache: {why}; restore it with: {hand}"))
        }
        None => print_error(&format!(
            "iosonde: write-cache: the storage does not respond, and the setting may not be restored; \
             restore it with: {hand}"
        )),
    }
    std::process::exit(exit::SIGNALLED.into())
}
