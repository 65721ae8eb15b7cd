//! The directory in which runs are kept as they end: each result a file of its
//! own, and a journal with a line for each. Whatever ends the program, what is
//! there is whole.

use serde_json::Value;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The journal's name.
pub const JOURNAL: &str = "journal.jsonl";

/// A directory of runs.
#[derive(Debug)]
pub struct TrialFolder {
    path: PathBuf,
    journal: File,
}

/// A directory of runs that was made before.
pub struct EarlierRuns {
    /// The first line: what is being run.
    pub header: Value,
    /// A line for each run that ended.
    pub runs: Vec<Value>,
}

/// Which directory a command keeps its runs in, and how it begins there.
#[derive(Clone, Copy, Debug)]
pub struct FolderRequest<'a> {
    /// The directory.
    pub path: &'a Path,
    /// Go on with the runs that it holds.
    pub resume: bool,
    /// Remove the runs that it holds.
    pub force: bool,
    /// The seed of the order; none for a new one, or that of the earlier runs.
    pub seed: Option<u64>,
}

/// A directory of runs that was made, or made before.
pub struct BegunRuns {
    /// The directory.
    pub folder: TrialFolder,
    /// The seed of the order.
    pub seed: u64,
    /// What it holds, of a command that goes on.
    pub earlier: Option<EarlierRuns>,
}

impl TrialFolder {
    /// Make it, or go on in it; `header` is what is being run, by the seed.
    ///
    /// # Errors
    /// The directory cannot be used, or holds other runs.
    pub fn begin(
        request: FolderRequest<'_>,
        header: impl Fn(u64) -> Value,
    ) -> Result<BegunRuns, String> {
        let FolderRequest { path, resume, force, seed } = request;
        if resume {
            let its_seed = |header: &Value| header["seed"].as_u64().unwrap_or(0);
            let (folder, earlier) = TrialFolder::resume(path, |earlier| {
                same_header(earlier, &header(seed.unwrap_or(its_seed(earlier))))
            })?;
            let seed = its_seed(&earlier.header);
            return Ok(BegunRuns { folder, seed, earlier: Some(earlier) });
        }
        let seed = seed.unwrap_or_else(random_seed);
        let folder = TrialFolder::create(path, &header(seed), force)?;
        Ok(BegunRuns { folder, seed, earlier: None })
    }

    /// Make it, with the first line of its journal.
    ///
    /// # Errors
    /// It exists and is not empty, unless it is one of ours and `force` is
    /// set; or the system refuses.
    pub fn create(path: &Path, header: &Value, force: bool) -> Result<TrialFolder, String> {
        let name = path.display();
        match entries(path) {
            Ok(entries) if entries.is_empty() => {}
            Ok(_) if !path.join(JOURNAL).exists() => {
                return Err(format!(
                    "{name} is not empty and has no {JOURNAL}, so it does not hold runs of this \
                     command: name another directory with -o"
                ));
            }
            Ok(_) if !force => {
                return Err(format!(
                    "{name} holds earlier runs: go on with them by --resume, remove them by \
                     --force, or name another directory with -o"
                ));
            }
            Ok(entries) => remove_ours(path, &entries)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir(path).map_err(|error| format!("cannot create {name}: {error}"))?;
            }
            Err(error) => return Err(format!("cannot read {name}: {error}")),
        }
        let mut folder = TrialFolder::open(path)?;
        folder.log(header)?;
        Ok(folder)
    }

    /// Go on in one that was made before, if `judge` accepts its header: half lines and half
    /// files are removed.
    ///
    /// # Errors
    /// It has no journal, or one of something else; or the system refuses. Nothing is removed
    /// then.
    fn resume(
        path: &Path,
        judge: impl FnOnce(&Value) -> Result<(), String>,
    ) -> Result<(TrialFolder, EarlierRuns), String> {
        let (earlier, whole) = read_journal(path)?;
        judge(&earlier.header)?;
        let folder = TrialFolder::open(path)?;
        let cut = folder.journal.set_len(whole);
        cut.map_err(|error| format!("cannot write {}: {error}", path.join(JOURNAL).display()))?;
        for entry in entries(path).unwrap_or_default() {
            if entry.extension() == Some(OsStr::new(HALF)) && is_ours(&entry) {
                // One that stays is overwritten or does no harm.
                let _ = fs::remove_file(entry);
            }
        }
        Ok((folder, earlier))
    }

    fn open(path: &Path) -> Result<TrialFolder, String> {
        let place = path.join(JOURNAL);
        let journal = OpenOptions::new().create(true).append(true).open(&place);
        let journal =
            journal.map_err(|error| format!("cannot write {}: {error}", place.display()))?;
        Ok(TrialFolder { path: path.to_owned(), journal })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Write a file: it is there whole or not at all.
    ///
    /// # Errors
    /// The system refuses.
    pub fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let (place, half) = (self.path.join(name), self.path.join(format!("{name}.{HALF}")));
        let written = File::create(&half)
            .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&half, &place))
            .and_then(|()| iosonde_sys::files::sync_folder(&self.path));
        written.map_err(|error| {
            // It may not be there.
            let _ = fs::remove_file(&half);
            format!("cannot write {}: {error}", place.display())
        })
    }

    /// Add a line to the journal.
    ///
    /// # Errors
    /// The system refuses.
    pub fn log(&mut self, line: &Value) -> Result<(), String> {
        let written = self.journal.write_all(format!("{line}\n").as_bytes());
        written
            .and_then(|()| self.journal.sync_all())
            .map_err(|error| format!("cannot write {}: {error}", self.path.join(JOURNAL).display()))
    }
}

/// The extension of files that are being written.
const HALF: &str = "half";

/// The contents of a directory made before.
///
/// # Errors
/// It has no journal, or its first line is not whole.
pub fn read(path: &Path) -> Result<EarlierRuns, String> {
    read_journal(path).map(|(earlier, _)| earlier)
}

/// The journal, and how many bytes of it are whole lines.
fn read_journal(path: &Path) -> Result<(EarlierRuns, u64), String> {
    let place = path.join(JOURNAL);
    let text = fs::read_to_string(&place).map_err(|error| {
        format!("cannot read {}: {error}; it is written by compare and sweep", place.display())
    })?;
    let mut lines = Vec::new();
    let mut whole = 0;
    for line in text.split_inclusive('\n') {
        let Ok(value) = serde_json::from_str::<Value>(line) else { break };
        if !line.ends_with('\n') {
            break;
        }
        whole += line.len() as u64;
        lines.push(value);
    }
    if lines.is_empty() {
        return Err(format!(
            "{}: its first line is not whole: start again with --force",
            place.display()
        ));
    }
    let header = lines.remove(0);
    Ok((EarlierRuns { header, runs: lines }, whole))
}

/// Refuse to mix runs of different things.
pub fn same_header(earlier: &Value, wanted: &Value) -> Result<(), String> {
    let members = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let (earlier, wanted) = (members(earlier), members(wanted));
    for (key, value) in &wanted {
        let was = earlier.get(key).unwrap_or(&Value::Null);
        if was != value {
            return Err(format!(
                "--resume: the runs there are of something else: {key} was {was} and is {value}"
            ));
        }
    }
    Ok(())
}

/// A seed that is easy to type again.
pub fn random_seed() -> u64 {
    u64::from(iosonde_base::time::since_1970().subsec_nanos()) % 9000 + 1000
}

fn entries(path: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect()
}

/// Remove files that runs have left; nothing at all where there are others.
fn remove_ours(path: &Path, entries: &[PathBuf]) -> Result<(), String> {
    if let Some(other) = entries.iter().find(|entry| !is_ours(entry)) {
        return Err(format!(
            "{} is not of this command, so nothing is removed: name another directory with -o",
            other.display()
        ));
    }
    debug_assert!(entries.iter().all(|entry| entry.starts_with(path)));
    for entry in entries {
        fs::remove_file(entry)
            .map_err(|error| format!("cannot remove {}: {error}", entry.display()))?;
    }
    Ok(())
}

fn is_ours(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let name = name.strip_suffix(&format!(".{HALF}")).unwrap_or(name);
    let known = [JOURNAL, "sweep.csv", "sweep.json", "sweep.html", "compare.json", "compare.html"];
    let is_run = name.strip_suffix(".json").is_some_and(|stem| {
        let number = stem.strip_suffix("-a").or(stem.strip_suffix("-b")).unwrap_or(stem);
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    known.contains(&name) || is_run
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;
    use serde_json::json;

    #[test]
    fn what_was_cut_off_is_taken_away_and_the_rest_goes_on() {
        let folder = Folder::temporary("trials");
        let path = folder.path().join("runs");
        let mut runs = TrialFolder::create(&path, &json!({"seed": 7}), false).unwrap();
        runs.write("001-a.json", "{}").unwrap();
        runs.log(&json!({"run": 1})).unwrap();
        drop(runs);
        // As kill -9 may leave it.
        let journal = path.join(JOURNAL);
        let text = fs::read_to_string(&journal).unwrap();
        fs::write(&journal, format!("{text}{{\"run\": 2, \"fi")).unwrap();
        fs::write(path.join("002-a.json.half"), "{").unwrap();
        let (mut runs, earlier) = TrialFolder::resume(&path, |_| Ok(())).unwrap();
        assert_eq!((earlier.header, earlier.runs.len()), (json!({"seed": 7}), 1));
        assert!(!path.join("002-a.json.half").exists());
        runs.log(&json!({"run": 2})).unwrap();
        assert_eq!(read(&path).unwrap().runs, [json!({"run": 1}), json!({"run": 2})]);
    }

    #[test]
    fn going_on_removes_half_files_of_runs_and_of_nobody_else() {
        let folder = Folder::temporary("trials-half");
        let path = folder.path().join("runs");
        drop(TrialFolder::create(&path, &json!({"seed": 7}), false).unwrap());
        let there = |name: &str| path.join(name).symlink_metadata().is_ok();
        let ours = ["001-a.json.half", "12-b.json.half", "3.json.half", "sweep.csv.half"];
        let others = [
            "notes.half",
            ".half",
            "half",
            "001-c.json.half",
            "a.json.half",
            "001-a.json.half.half",
            "001-a.JSON.half",
            "001-a.json.HALF",
        ];
        for name in ours.iter().chain(&others) {
            fs::write(path.join(name), "x").unwrap();
        }
        fs::write(path.join("001-a.json"), "{}").unwrap();
        // A directory is nobody's half file, and of a link only the link is.
        fs::create_dir(path.join("004-a.json.half")).unwrap();
        folder.write("mine", "precious");
        iosonde_sys::files::make_link("../mine", path.join("005-a.json.half")).unwrap();
        drop(TrialFolder::resume(&path, |_| Ok(())).unwrap());
        assert_eq!(ours.map(there), [false; 4]);
        assert_eq!(others.map(there), [true; 8]);
        assert!(there("001-a.json") && there("004-a.json.half") && !there("005-a.json.half"));
        assert_eq!(folder.read("mine"), "precious");
        // What is refused removes nothing, and cuts nothing off.
        fs::write(path.join("001-a.json.half"), "x").unwrap();
        for journal in ["no journal\n", "{\"of\": \"another program\"}\nwith lines of its own\n"] {
            fs::write(path.join(JOURNAL), journal).unwrap();
            let request = FolderRequest { path: &path, resume: true, force: false, seed: None };
            let begun = TrialFolder::begin(request, |seed| json!({"seed": seed, "jobs": "j"}));
            assert!(begun.is_err());
            assert_eq!(fs::read_to_string(path.join(JOURNAL)).unwrap(), journal);
        }
        assert!(there("001-a.json.half"));
    }

    #[test]
    fn earlier_runs_are_removed_only_on_request_and_other_files_never() {
        let folder = Folder::temporary("trials");
        let path = folder.path().join("runs");
        let header = json!({});
        drop(TrialFolder::create(&path, &header, false).unwrap());
        let refused = TrialFolder::create(&path, &header, false).unwrap_err();
        assert!(refused.contains("--resume"), "{refused}");
        drop(TrialFolder::create(&path, &header, true).unwrap());
        fs::write(path.join("notes.txt"), "mine").unwrap();
        let refused = TrialFolder::create(&path, &header, true).unwrap_err();
        assert!(refused.contains("not of this command"), "{refused}");
        assert!(path.join("notes.txt").exists());
        let other = folder.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("notes.txt"), "mine").unwrap();
        assert!(TrialFolder::create(&other, &header, true).unwrap_err().contains("is not empty"));
        assert!(TrialFolder::resume(&other, |_| Ok(())).is_err());
    }

    #[test]
    fn names_of_runs_are_known() {
        for name in ["001-a.json", "12-b.json", "003.json", "journal.jsonl", "003.json.half"] {
            assert!(is_ours(Path::new(name)), "{name}");
        }
        for name in ["a.json", "-a.json", "job.fio", "001-c.json", "1.jsonl"] {
            assert!(!is_ours(Path::new(name)), "{name}");
        }
    }
}
