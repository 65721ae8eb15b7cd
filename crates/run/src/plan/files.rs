//! Which files a job has, what they are, and which part of each it uses.

use super::Planner;
use super::clone_of::CloneOf;
use super::paths;
use super::zone_target::ZoneTarget;
use crate::job::{FileKind, FilePlan, Need};
use iosonde_base::Errno;
use iosonde_options::{Diagnostic, Origin};
use iosonde_spec::JobSpec;
use iosonde_spec::cli::ParsedJob;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A file by name, before its part is decided.
pub(super) struct Named {
    pub name: String,
    pub path: PathBuf,
    pub kind: FileKind,
    /// What it holds when its job comes to it; `None` when it does not exist.
    pub bytes_now: Option<u64>,
}

/// The part of one file that is used.
pub(super) struct FileRange {
    pub offset: u64,
    /// Where a later pass begins.
    pub later_offset: u64,
    pub bytes: u64,
    /// Size of the file once it is laid out.
    pub end: u64,
}

/// A job's files, and the bytes it moves in one pass.
#[derive(Default)]
pub(super) struct Parts {
    pub files: Vec<FilePlan>,
    /// End of each file, in the order of `files`.
    pub ends: Vec<u64>,
    /// Where each is used from in a later pass; empty where that is the same.
    pub later_offsets: Vec<u64>,
    /// The zones of each, with `zonemode=zbd`; else empty.
    pub zones: Vec<ZoneTarget>,
    /// Bytes of one pass over all ranges.
    pub size_bytes: u64,
    /// Bytes that the job moves, loops aside.
    pub total_bytes: u64,
}

/// The names of a clone's files (fio(1): filename, directory,
/// filename_format, nrfiles).
fn names(job: &ParsedJob, clone: u32) -> Vec<String> {
    let spec = &job.spec;
    let named = spec.files.filename.get().as_ref().map(|names| names.0.clone());
    if let Some(directory) = spec.files.opendir.get() {
        let mut names = named.unwrap_or_default();
        add_files_below(Path::new(directory), &mut names);
        if spec.files.nrfiles.is_typed() {
            names.truncate((*spec.files.nrfiles.get()).max(1) as usize);
        }
        return names;
    }
    if let Some(names) = named {
        return names;
    }
    // A section named after a device means that device.
    if paths::kind(Path::new(&job.name)).is_some_and(|kind| kind != FileKind::Regular) {
        return vec![job.name.clone()];
    }
    (0..*spec.files.nrfiles.get()).map(|file| expand(job, clone, file)).collect()
}

/// The regular files below a directory (`opendir`), in the order of their names. Links are not
/// followed; what cannot be read is left out.
fn add_files_below(directory: &Path, names: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    iosonde_base::sort_by_key(&mut entries, |entry| entry.file_name());
    for entry in entries {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => add_files_below(&entry.path(), names),
            Ok(kind) if kind.is_file() => names.push(entry.path().display().to_string()),
            _ => {}
        }
    }
}

/// `filename_format`; its keywords count in upper and lower case.
fn expand(job: &ParsedJob, clone: u32, file: u32) -> String {
    let format = job.spec.files.filename_format.get();
    let format = match format.as_str() {
        "" => "$jobname.$jobnum.$filenum",
        given => given,
    };
    let words: [(&str, String); 4] = [
        ("$jobname", job.name.clone()),
        ("$clientuid", "localhost".to_owned()),
        ("$jobnum", clone.to_string()),
        ("$filenum", file.to_string()),
    ];
    let mut name = String::new();
    let mut rest = format;
    while let Some(c) = rest.chars().next() {
        let word = words.iter().find(|(word, _)| {
            rest.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
        });
        match word {
            Some((word, value)) => {
                name.push_str(value);
                rest = &rest[word.len()..];
            }
            None => {
                name.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    name
}

/// Where a file is: under the clone's turn of `directory`.
fn locate(spec: &JobSpec, clone: u32, name: &str) -> PathBuf {
    match spec.files.directory.get() {
        Some(directories) if !directories.0.is_empty() && !Path::new(name).is_absolute() => {
            Path::new(&directories.0[clone as usize % directories.0.len()]).join(name)
        }
        Some(directories) if !directories.0.is_empty() => {
            // fio puts the directory before a name with a leading slash too.
            let directory = &directories.0[clone as usize % directories.0.len()];
            PathBuf::from(format!("{directory}/{name}"))
        }
        _ => PathBuf::from(name),
    }
}

impl Planner<'_> {
    /// The files of a clone, by name.
    pub(super) fn named(&self, of: &CloneOf<'_>) -> Vec<Named> {
        let &CloneOf { job, engine, section, clone, .. } = of;
        let named = |(name, path): (String, PathBuf)| {
            if engine.caps.diskless {
                return Named { name, path, kind: FileKind::None, bytes_now: None };
            }
            let kind = paths::kind(&path).unwrap_or(FileKind::Regular);
            // Jobs are laid out one after the other: a file that is missing or
            // short may be there, or longer, when this job's turn comes.
            let bytes_now = paths::bytes(&path, kind).max(self.promised.get(&path).copied());
            Named { name, path, kind, bytes_now }
        };
        if let Some(path) = self.paths.get(section) {
            return vec![named((path.display().to_string(), path.clone()))];
        }
        let located = |name: String| {
            let path = locate(&job.spec, clone, &name);
            named((name, path))
        };
        names(job, clone).into_iter().map(located).collect()
    }

    /// Remember how far a job's layout makes its files reach.
    pub(super) fn promise(&mut self, files: &[FilePlan]) {
        let made = files.iter().filter(|file| file.need != Need::Nothing);
        for file in made {
            let end = file.end();
            let reach = self.promised.entry(file.path.clone()).or_default();
            *reach = end.max(*reach);
        }
    }
}

/// `directory` names places that must be there: a file system that is not
/// mounted must not end in files on the one below.
pub(super) fn directories_are_there(spec: &JobSpec) -> Result<(), Diagnostic> {
    let asked = spec.files.directory.get().iter().flat_map(|directories| &directories.0);
    for directory in asked {
        let why = match std::fs::metadata(directory) {
            Ok(found) if found.is_dir() => continue,
            Ok(_) => "it is a file",
            Err(error) if error.kind() == ErrorKind::NotFound => "it does not exist",
            Err(_) => "it cannot be looked at",
        };
        let diagnostic = Diagnostic::error(format!("{directory} is not a directory: {why}"));
        let origin = spec.origin("directory").unwrap_or(Origin::Default);
        return Err(diagnostic
            .about("directory", &origin)
            .help("create it, or mount what belongs there"));
    }
    match spec.files.opendir.get() {
        Some(directory) => opens(directory, spec),
        None => Ok(()),
    }
}

/// `opendir` names a directory that can be read.
fn opens(directory: &str, spec: &JobSpec) -> Result<(), Diagnostic> {
    let Err(error) = std::fs::read_dir(directory) else { return Ok(()) };
    let words = format!("cannot read the directory {directory}: {}", Errno::from(error));
    Err(Diagnostic::error(words).about("opendir", spec.files.opendir.origin()))
}

/// What must be there before the job runs.
pub(super) fn need(spec: &JobSpec, no_extend: bool, reads: bool) -> Need {
    let word = spec.order.rw.get().word;
    let writes = word.writes() || word.trims();
    let on_open = *spec.file_life.create_on_open.get();
    match () {
        () if on_open => Need::Nothing,
        () if reads || *spec.file_life.overwrite.get() || no_extend => Need::Data,
        () if writes => Need::Range,
        () => Need::Nothing,
    }
}
