//! From a job's options to the recording it does again.

use super::Planner;
use super::files::Parts;
use super::paths;
use crate::job::{FileKind, FilePlan, Need};
use crate::replay::merge::{self, Merged};
use crate::replay::recording::{self, FileUse, IoRecording, Keep, RecordingError};
use iosonde_base::{DIRS, Dir, PerDir};
use iosonde_engine::EngineDef;
use iosonde_options::{Diagnostic, FloatList, Origin, Setting};
use iosonde_spec::JobSpec;
use iosonde_spec::cli::ParsedJob;
use iosonde_spec::values::ReplayKind;
use iosonde_workload::replay::{LogError, Name, Place, Shape, Skip};
use iosonde_workload::{PaceSpec, Sizes, SourceSpec};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Recordings read so far: copies of a job share one, and standard input can
/// only be read once.
pub(super) type Recordings = HashMap<(String, Shape, Keep), Arc<IoRecording>>;

/// The recording of a clone.
#[derive(Clone, Debug)]
pub(super) struct Replay {
    pub recording: Arc<IoRecording>,
    /// Where it comes from.
    pub from: String,
    /// At the moments that were recorded.
    pub timed: bool,
}

impl Planner<'_> {
    /// The recording that a clone does again, if it does one.
    pub(super) fn replay(
        &mut self,
        job: &ParsedJob,
        clone: u32,
        engine: &EngineDef,
    ) -> Result<Option<Replay>, Diagnostic> {
        let spec = &job.spec;
        let Some(logs) = spec.replay.read_iolog.get() else { return nothing_to_merge(spec) };
        if logs.0.is_empty() {
            return Err(about(spec, Diagnostic::error("names no recording")));
        }
        let timed = !*spec.replay.replay_no_stall.get();
        if let Some(refusal) = refusals(spec, engine) {
            return Err(refusal);
        }
        if timed && super::pacing::pace(spec).is_set() {
            self.note(rate_ignored(spec));
        }
        let from = logs.0[clone as usize % logs.0.len()].clone();
        let keep = if *spec.replay.read_iolog_chunked.get() { Keep::Pieces } else { Keep::Whole };
        let merged = spec.replay.merge_blktrace_file.get().clone();
        let from = merged.clone().unwrap_or(from);
        let key = (from.clone(), shape(spec), keep);
        let recording = match self.recordings.get(&key) {
            Some(known) => known.clone(),
            None => {
                let read = match merged {
                    Some(into) => recording::from_bytes(self.merge(spec, &into)?, key.1, keep),
                    None => recording::read(&from, key.1, keep),
                };
                let read = read.map_err(|error| about(spec, unreadable(&from, error)))?;
                let read = Arc::new(read);
                self.recordings.insert(key, read.clone());
                read
            }
        };
        if recording.ios == 0 {
            let message = format!("{from} holds no I/O to do");
            return Err(about(spec, Diagnostic::error(message)));
        }
        if let Some(remark) = &recording.remark {
            self.note(Diagnostic::warning(format!("{from}: {remark}")));
        }
        self.note_ignored(job);
        Ok(Some(Replay { recording, from, timed }))
    }

    /// Merge what `read_iolog` names; it is written before the run.
    fn merge(&mut self, spec: &JobSpec, into: &str) -> Result<Vec<u8>, Diagnostic> {
        let replay = &spec.replay;
        let logs = replay.read_iolog.get().as_ref().map_or(&[][..], |logs| &logs.0);
        let path = PathBuf::from(into);
        if let Some(why) = merge::keeps_from_writing(&path) {
            let diagnostic = Diagnostic::error(why).help("name another file");
            return Err(
                diagnostic.about("merge_blktrace_file", replay.merge_blktrace_file.origin())
            );
        }
        let bytes = merge::read(logs, &parts(spec, logs.len())?)
            .map_err(|(name, error)| about(spec, unreadable(&name, error)))?;
        if bytes.is_empty() {
            return Err(about(spec, Diagnostic::error("the traces hold no I/O to merge")));
        }
        self.plan.merged.push(Merged { path, bytes: bytes.clone() });
        Ok(bytes)
    }

    /// Merge what the jobs ask for, and plan nothing else.
    pub(super) fn merge_only(&mut self) {
        for job in self.jobs {
            let Some(into) = job.spec.replay.merge_blktrace_file.get() else { continue };
            if let Err(error) = self.merge(&job.spec, into) {
                self.note(error);
            }
        }
        if self.plan.merged.is_empty() && self.diagnostics.is_empty() {
            let diagnostic = Diagnostic::error("there is nothing to merge");
            self.note(diagnostic.help("give read_iolog=TRACE:TRACE and merge_blktrace_file=FILE"));
        }
    }

    /// Say which of the job's limits do not count.
    fn note_ignored(&mut self, job: &ParsedJob) {
        const LIMITS: [&str; 7] =
            ["size", "io_size", "number_ios", "loops", "time_based", "filename", "directory"];
        let typed = |name: &&str| {
            let origin = job.spec.origin(name);
            matches!(origin, Some(Origin::CommandLine { .. } | Origin::File { .. }))
        };
        let set = LIMITS.into_iter().filter(typed);
        let set: Vec<&str> = set.collect();
        if !set.is_empty() {
            self.note(Diagnostic::note(format!(
                "job {}: {} do not count: the recording is done once, on the files it names",
                job.name,
                set.join(", ")
            )));
        }
    }

    /// The files that the recording names.
    pub(super) fn recorded_files(
        &self,
        spec: &JobSpec,
        replay: &Replay,
        engine: &EngineDef,
    ) -> Result<Parts, Diagnostic> {
        let recording = &replay.recording;
        let mut parts = Parts { total_bytes: recording.bytes, ..Parts::default() };
        for (name, used) in recording.names.iter().zip(&recording.uses) {
            let (name, path) = match spec.replay.replay_redirect.get() {
                Some(path) => (path.clone(), PathBuf::from(path)),
                None if engine.caps.diskless => (name.to_string(), PathBuf::new()),
                None => locate(name).map_err(|diagnostic| about(spec, diagnostic))?,
            };
            let kind = if engine.caps.diskless {
                FileKind::None
            } else {
                paths::kind(&path).unwrap_or(FileKind::Regular)
            };
            if kind != FileKind::None {
                self.suits(&path, kind, used, recording)
                    .map_err(|diagnostic| about(spec, diagnostic))?;
            }
            // A file that is mapped is mapped so far; else all of it counts.
            let bytes = if engine.caps.no_extend { used.end } else { 0 };
            parts.ends.push(used.end);
            parts.files.push(FilePlan {
                name,
                path,
                kind,
                offset: 0,
                bytes,
                need: Need::Nothing,
                shared_end: None,
            });
        }
        Ok(parts)
    }

    /// Whether a file can be what was recorded.
    fn suits(
        &self,
        path: &Path,
        kind: FileKind,
        used: &FileUse,
        recording: &IoRecording,
    ) -> Result<(), Diagnostic> {
        let shown = path.display();
        if let Some(why) = paths::holds_no_data(path) {
            return Err(Diagnostic::error(format!("cannot do I/O on {shown}: {why}")));
        }
        if path.is_dir() {
            return Err(Diagnostic::error(format!("cannot do I/O on {shown}: it is a directory")));
        }
        let made = self.promised.get(path).copied();
        let bytes = paths::bytes(path, kind).max(made);
        let (end, what) = match kind {
            FileKind::Block => (used.end, "reaches"),
            // What is written first may be read.
            FileKind::Regular if !used.writes => (used.read_end, "reads"),
            _ => return Ok(()),
        };
        match bytes {
            None if end > 0 && recording.dirs[Dir::Read] => {
                Err(Diagnostic::error(format!("the recording reads {shown}, which is not there"))
                    .help("bring back the file, or name another by replay_redirect="))
            }
            Some(bytes) if end > bytes => Err(Diagnostic::error(format!(
                "the recording {what} up to byte {end} of {shown}, which has {bytes}"
            ))
            .help("give the file that size, or divide the offsets by replay_scale=")),
            _ => Ok(()),
        }
    }
}

/// What does not go together with a recording.
fn refusals(spec: &JobSpec, engine: &EngineDef) -> Option<Diagnostic> {
    let caps = &engine.caps;
    if caps.by_name || caps.no_io || caps.one_way {
        let message = format!("engine {} cannot do what was recorded", engine.name);
        return Some(about(spec, Diagnostic::error(message)));
    }
    let align = spec.replay.replay_align.get().map_or(1, |align| align.0);
    if align != 0 && !align.is_power_of_two() {
        let diagnostic = Diagnostic::error(format!("{align} is no power of two"));
        return Some(diagnostic.about("replay_align", spec.replay.replay_align.origin()));
    }
    None
}

/// There can be one schedule: that of the recording, as in fio.
fn rate_ignored(spec: &JobSpec) -> Diagnostic {
    let message = "the rate is ignored: each I/O is due at the moment that was recorded";
    let origin = spec.origin("rate").or_else(|| spec.origin("rate_iops"));
    Diagnostic::warning(message)
        .help("add replay_no_stall=1 to keep the rate")
        .about("rate", &origin.unwrap_or(Origin::Default))
}

/// No recording; an error where one was to be made.
fn nothing_to_merge(spec: &JobSpec) -> Result<Option<Replay>, Diagnostic> {
    let setting = &spec.replay.merge_blktrace_file;
    if setting.get().is_none() {
        return Ok(None);
    }
    let diagnostic = Diagnostic::error("read_iolog names no traces to merge");
    Err(diagnostic.about("merge_blktrace_file", setting.origin()))
}

/// How each trace goes into a merge.
fn parts(spec: &JobSpec, traces: usize) -> Result<Vec<merge::TraceScale>, Diagnostic> {
    let (scalars, iters) = (&spec.replay.merge_blktrace_scalars, &spec.replay.merge_blktrace_iters);
    let sound = |setting: &Setting<FloatList>, name, want, is_sound: fn(f64) -> bool| {
        let values = &setting.get().0;
        let message = match values.len() {
            0 => return Ok(()),
            n if n != traces => format!("{n} numbers for {traces} traces"),
            _ if !values.iter().copied().all(is_sound) => format!("wants {want}"),
            _ => return Ok(()),
        };
        Err(Diagnostic::error(message)
            .about(name, setting.origin())
            .help("give one for each trace"))
    };
    let percent = |value: f64| value > 0.0 && value <= 1e6;
    sound(scalars, "merge_blktrace_scalars", "percentages above 0", percent)?;
    let whole = |value: f64| (1.0..=1e6).contains(&value) && value.fract() == 0.0;
    sound(iters, "merge_blktrace_iters", "whole numbers from 1", whole)?;
    let value = |list: &FloatList, at: usize, default| list.0.get(at).copied().unwrap_or(default);
    // Whole and small, as was just seen.
    Ok((0..traces)
        .map(|at| (value(scalars.get(), at, 100.0), value(iters.get(), at, 1.0) as u32))
        .collect())
}

fn shape(spec: &JobSpec) -> Shape {
    let replay = &spec.replay;
    let mut skip = Skip::default();
    for kind in &replay.replay_skip.get().0 {
        match kind {
            ReplayKind::Read => skip.reads = true,
            ReplayKind::Write => skip.writes = true,
            ReplayKind::Trim => skip.trims = true,
            ReplayKind::Sync => skip.syncs = true,
        }
    }
    Shape {
        scale: (*replay.replay_scale.get()).max(1),
        align: replay.replay_align.get().map_or(1, |align| align.0.max(1)),
        speed_percent: *replay.replay_time_scale.get(),
        skip,
        one_file: replay.replay_redirect.get().is_some(),
    }
}

/// The path of a file that a recording names.
fn locate(name: &Name) -> Result<(String, PathBuf), Diagnostic> {
    let path = match name {
        Name::Path(path) => return Ok((path.clone(), PathBuf::from(path))),
        Name::Device { major, minor } => paths::device_path(*major, *minor),
    };
    match path {
        Some(path) => Ok((path.display().to_string(), path)),
        None => Err(Diagnostic::error(format!("this machine has no {name}"))
            .help("name the device to use by replay_redirect=")),
    }
}

fn about(spec: &JobSpec, diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.about("read_iolog", spec.replay.read_iolog.origin())
}

fn unreadable(from: &str, error: RecordingError) -> Diagnostic {
    match error {
        RecordingError::Io { doing, error } => {
            Diagnostic::error(format!("cannot {doing} {from}: {}", plain(&error)))
        }
        RecordingError::Log(LogError { place, message, help }) => {
            let diagnostic = Diagnostic::error(match place {
                Place::Text { line, column } => format!("{from}:{line}:{column}: {message}"),
                Place::Byte(at) => format!("{from}, byte {at}: {message}"),
            });
            match help {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            }
        }
    }
}

/// An error of the system, without its number.
fn plain(error: &std::io::Error) -> String {
    match error.raw_os_error() {
        Some(errno) => iosonde_base::Errno(errno).to_string(),
        None => error.to_string(),
    }
}

impl Replay {
    /// Directions of the job; reads where it only syncs.
    pub(super) fn dirs(&self) -> PerDir<bool> {
        match self.recording.dirs {
            PerDir([false, false, false]) => PerDir([true, false, false]),
            dirs => dirs,
        }
    }

    /// The largest I/O, for buffers.
    pub(super) fn sizes(&self) -> PerDir<Sizes> {
        PerDir::all(Sizes::Fixed(self.recording.largest.max(1)))
    }

    /// Directions with response times.
    pub(super) fn responses(&self) -> PerDir<bool> {
        PerDir(DIRS.map(|dir| self.timed && self.recording.dirs[dir]))
    }

    /// The source does what was recorded, once.
    pub(super) fn take(&self, source: SourceSpec) -> SourceSpec {
        SourceSpec {
            replay: Some(self.recording.steps.clone()),
            // Files are opened when the recording says so.
            open_files: 0,
            number_ios: 0,
            io_size_given: false,
            loops: 1,
            time_based: false,
            pace: if self.timed { PaceSpec::default() } else { source.pace },
            ..source
        }
    }

    /// The job in a few words.
    pub(super) fn what(&self, engine: &EngineDef, depth: u32) -> String {
        let depth = if engine.caps.sync { String::new() } else { format!(", depth {depth}") };
        format!("replay of {}, {}{depth}", self.from, engine.name)
    }
}
