//! Which files a job has, what they are, and which part of each it uses.

use super::Planner;
use super::one_job::CloneOf;
use super::paths;
use crate::job::{FileKind, FilePlan, Need};
use iosonde_options::{Amount, Diagnostic, Origin};
use iosonde_spec::JobSpec;
use iosonde_spec::cli::ParsedJob;
use iosonde_workload::file_sizes;
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

/// A job's files, and the bytes it moves in one pass.
pub(super) struct Parts {
    pub files: Vec<FilePlan>,
    /// End of each file, in the order of `files`.
    pub ends: Vec<u64>,
    pub total_bytes: u64,
}

/// The names of a clone's files (fio(1): filename, directory,
/// filename_format, nrfiles).
fn names(job: &ParsedJob, clone: u32) -> Vec<String> {
    let spec = &job.spec;
    if let Some(names) = spec.files.filename.get() {
        return names.0.clone();
    }
    // A section named after a device means that device.
    if paths::kind(Path::new(&job.name)).is_some_and(|kind| kind != FileKind::Regular) {
        return vec![job.name.clone()];
    }
    (0..*spec.files.nrfiles.get()).map(|file| expand(job, clone, file)).collect()
}

/// `filename_format`, whose words count in any case.
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
            let end = file.offset.saturating_add(file.bytes);
            let reach = self.promised.entry(file.path.clone()).or_default();
            *reach = end.max(*reach);
        }
    }

    /// Which part of each file a clone uses.
    pub(super) fn parts(
        &mut self,
        job: &ParsedJob,
        clone: u32,
        named: Vec<Named>,
        need: Need,
        min_bs: u64,
    ) -> Result<Parts, Diagnostic> {
        let spec = &job.spec;
        let count = named.len() as u64;
        let filesizes = self.filesizes(spec, named.len(), min_bs);
        let size = spec.size.size.get();
        let fill = *spec.size.fill_device.get();
        let per_file = match size {
            Some(Amount::Bytes(bytes)) => split(*bytes, count, min_bs),
            _ => vec![0; named.len()],
        };
        let mut parts = Parts { files: Vec::new(), ends: Vec::new(), total_bytes: 0 };
        for (index, (named, share)) in named.into_iter().zip(per_file).enumerate() {
            if let Some(why) = paths::holds_no_data(&named.path) {
                return Err(no_size(&named, why));
            }
            let filesize = filesizes.as_ref().map(|sizes| sizes[index]);
            let known = filesize.or(named.bytes_now);
            let offset = self.offset(spec, clone, known.unwrap_or(0), min_bs);
            let offset = match *spec.size.file_append.get() {
                true => offset + named.bytes_now.unwrap_or(0),
                false => offset,
            };
            let end = match (filesize, size) {
                (Some(filesize), _) if named.kind != FileKind::Block => filesize,
                _ if fill => named
                    .bytes_now
                    .filter(|_| named.kind == FileKind::Block)
                    .unwrap_or(u64::MAX >> 1),
                (_, Some(Amount::Percent(percent))) => match known {
                    Some(bytes) => (u128::from(bytes) * u128::from(*percent) / 100) as u64,
                    None => {
                        return Err(no_size(&named, "size in percent needs a file that exists"));
                    }
                },
                (_, Some(Amount::Bytes(_))) => offset.saturating_add(share),
                (_, Some(Amount::Zones(_))) => {
                    return Err(no_size(&named, "size in zones needs zonemode=zbd"));
                }
                (_, None) => match known {
                    Some(bytes) if bytes > 0 => bytes,
                    // A name that is made, and nothing in it: one I/O is counted.
                    _ if need == Need::Nothing && named.kind == FileKind::Regular => min_bs,
                    _ => return Err(no_size(&named, "you need to specify size=")),
                },
            };
            let end = match (named.kind, named.bytes_now) {
                (FileKind::Block, Some(bytes)) if end > bytes => {
                    self.clamped(job, &named, end, bytes);
                    bytes
                }
                _ => end,
            };
            if offset >= end && end > 0 {
                return Err(no_size(&named, "offset extends past the end of the file"));
            }
            let bytes = end.saturating_sub(offset);
            if bytes < min_bs && need != Need::Nothing {
                return Err(too_small(spec, bytes, min_bs));
            }
            let need = if fill && named.kind == FileKind::Regular { Need::Nothing } else { need };
            let need = if named.kind == FileKind::Regular { need } else { Need::Nothing };
            parts.total_bytes = parts.total_bytes.saturating_add(bytes);
            parts.ends.push(end);
            let (name, path, kind) = (named.name, named.path, named.kind);
            parts.files.push(FilePlan { name, path, kind, offset, bytes, need });
        }
        parts.total_bytes = total(spec, parts.total_bytes, fill);
        Ok(parts)
    }

    /// `filesize`: the same for all, or drawn for each.
    fn filesizes(&self, spec: &JobSpec, files: usize, min_bs: u64) -> Option<Vec<u64>> {
        let range = spec.size.filesize.get().as_ref()?.0;
        if range.min == range.max {
            return Some(vec![range.min.0; files]);
        }
        let number = self.plan.jobs.len() as u32 + 1;
        let seed = *spec.random.randseed.get();
        Some(file_sizes(seed, number, files, (range.min.0, range.max.0), min_bs))
    }

    /// `offset`, `offset_increment`, `offset_align`. A percentage is rounded up
    /// to the alignment, or to the least block size.
    fn offset(&self, spec: &JobSpec, clone: u32, bytes: u64, min_bs: u64) -> u64 {
        let align = match spec.order.offset_align.get().0 {
            0 => min_bs,
            align => align,
        };
        let share = |percent: u8| {
            let exact = (u128::from(bytes) * u128::from(percent)).div_ceil(100) as u64;
            exact.next_multiple_of(align.max(1))
        };
        let base = match spec.order.offset.get() {
            Amount::Bytes(bytes) => *bytes,
            Amount::Percent(percent) => share(*percent),
            Amount::Zones(_) => 0,
        };
        let step = match spec.order.offset_increment.get() {
            Amount::Bytes(bytes) => *bytes,
            Amount::Percent(percent) => share(*percent),
            Amount::Zones(_) => 0,
        };
        base.saturating_add(step.saturating_mul(u64::from(clone)))
    }

    fn clamped(&mut self, job: &ParsedJob, named: &Named, end: u64, bytes: u64) {
        self.note(Diagnostic::warning(format!(
            "job {}: {} ends at {bytes} bytes, before the {end} asked for; the job stays within it",
            job.name,
            named.path.display()
        )));
    }
}

/// `size` over the files: evenly if it divides, else in blocks, the first
/// files taking the blocks that are left.
fn split(size: u64, files: u64, min_bs: u64) -> Vec<u64> {
    if files == 0 {
        return Vec::new();
    }
    if size.is_multiple_of(files) {
        return vec![size / files; files as usize];
    }
    let blocks = size / min_bs.max(1);
    let share = |file: u64| blocks / files + u64::from(file < blocks % files);
    (0..files).map(|file| share(file) * min_bs).collect()
}

/// Bytes of one pass: `io_size`, else `size`, else all of every file.
fn total(spec: &JobSpec, all: u64, fill: bool) -> u64 {
    if fill {
        return u64::MAX;
    }
    let size = match spec.size.size.get() {
        // No more than the files hold; 0 is for all of it.
        Some(Amount::Bytes(bytes @ 1..)) if spec.size.filesize.get().is_some() => all.min(*bytes),
        _ => all,
    };
    match spec.size.io_size.get() {
        Some(Amount::Bytes(bytes)) => *bytes,
        Some(Amount::Percent(percent)) => (u128::from(size) * u128::from(*percent) / 100) as u64,
        Some(Amount::Zones(_)) | None => size,
    }
}

fn no_size(named: &Named, why: &str) -> Diagnostic {
    Diagnostic::error(format!("{why} (file {})", named.path.display()))
        .help("give size=, or the name of a file that holds data")
}

fn too_small(spec: &JobSpec, bytes: u64, min_bs: u64) -> Diagnostic {
    let said = Diagnostic::error(format!(
        "size too small, must not be less than minimum block size: {bytes} < {min_bs}"
    ));
    let said = match spec.origin("size") {
        Some(origin) => said.about("size", &origin),
        None => said,
    };
    said.help("give a larger size= or a smaller bs=")
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
        let said = Diagnostic::error(format!("{directory} is not a directory: {why}"));
        let origin = spec.origin("directory").unwrap_or(Origin::Default);
        return Err(said
            .about("directory", &origin)
            .help("create it, or mount what belongs there"));
    }
    Ok(())
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
