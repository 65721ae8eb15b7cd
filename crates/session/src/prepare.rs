//! Arguments to a plan: parse, check, plan. Job files are read, nothing else is
//! opened.

use crate::job_files::CheckedJobFiles;
use crate::personality::Personality;
use iosonde_base::exit;
use iosonde_options::{Diagnostic, Level, Origin};
use iosonde_run::job::{FileKind, FilePlan, JobPlan, Plan};
use iosonde_run::plan::{self, ExternalEngines};
use iosonde_run::preflight::unasked::{self, Extension};
use iosonde_run::preflight::{verify_state, write_access};
use iosonde_spec::cli::{Notice, Parsed, World, flag_table, flags::Flags};

use iosonde_spec::rules;
use iosonde_spec::text::expand::Host;
use iosonde_spec::text::include::{DiskJobFiles, JobFiles};
use std::collections::{BTreeSet, HashSet};
use std::env::VarError;
use std::path::{Path, PathBuf};

/// Jobs that are parsed and planned; nothing has been touched.
pub struct Prepared {
    /// As whom they run.
    pub personality: Personality,
    /// The command line and its job files.
    pub parsed: Parsed,
    /// The jobs as they will run.
    pub plan: Plan,
    /// Notes and warnings about options, a line each.
    pub notes: Vec<String>,
    /// Existing data that the jobs will overwrite or remove.
    pub data_warnings: Vec<DataWarning>,
}

/// Existing data that jobs will overwrite or remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataWarning {
    /// Where; of several outputs, none.
    pub path: Option<PathBuf>,
    /// In words, with the program's name.
    pub line: String,
}

impl Prepared {
    /// The notes that a report keeps. In our own name they stand above it.
    pub(crate) fn diagnostics(&self) -> Vec<String> {
        if self.personality == Personality::Native && !self.parsed.flags.output.formats_given {
            return Vec::new();
        }
        self.notes.iter().map(|line| without_program(line).to_owned()).collect()
    }
}

/// A line without the program's name, which a report need not repeat.
fn without_program(line: &str) -> &str {
    ["iosonde: ", "fio: "].iter().find_map(|name| line.strip_prefix(name)).unwrap_or(line)
}

/// Why nothing runs.
#[derive(Debug)]
pub struct PrepareError {
    /// The exit code.
    pub code: u8,
    /// The reasons, a line each.
    pub reasons: Vec<String>,
}

/// So many errors in job files are printed; a file with more is no job file.
const FILE_ERRORS_SHOWN: usize = 5;

/// Parse a command line and the job files that it names.
pub fn parse(personality: Personality, arguments: &[String]) -> Parsed {
    parse_with(personality, arguments, job_files(personality))
}

/// Where job files come from: in our own name what cannot be one is refused.
pub fn job_files(personality: Personality) -> &'static dyn JobFiles {
    match personality {
        Personality::Fio => &DiskJobFiles,
        Personality::Native => &CheckedJobFiles,
    }
}

/// Parse a command line with job files from elsewhere.
pub fn parse_with(personality: Personality, arguments: &[String], files: &dyn JobFiles) -> Parsed {
    parse_on(personality, arguments, files, &LocalHost)
}

/// Parse a command line with job files, and what variables stand for, from elsewhere.
pub fn parse_on(
    personality: Personality,
    arguments: &[String],
    files: &dyn JobFiles,
    host: &dyn Host,
) -> Parsed {
    let flags: &[&[flag_table::FlagDef]] = match personality {
        Personality::Fio => &[flag_table::FIO, flag_table::LEDGER],
        Personality::Native => &[flag_table::FIO, flag_table::OURS, flag_table::LEDGER],
    };
    iosonde_spec::cli::parse(arguments, &World { files, host, flags })
}

/// What `${NAME}`, `$ncpus` and the like stand for here.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalHost;

impl Host for LocalHost {
    fn variable(&self, name: &str) -> Result<String, VarError> {
        std::env::var(name)
    }
    fn processors(&self) -> u64 {
        iosonde_sys::cpu::allowed_count() as u64
    }
    fn page_bytes(&self) -> u64 {
        iosonde_sys::memory::page_bytes() as u64
    }
    fn memory_mib(&self) -> u64 {
        iosonde_sys::memory::total_bytes() >> 20
    }
}

/// Plan a command line that has been parsed.
///
/// # Errors
/// An option, a job file or a combination of them is refused.
pub fn prepare_parsed(personality: Personality, parsed: Parsed) -> Result<Prepared, PrepareError> {
    prepare_shared(personality, parsed, Vec::new())
}

/// As [`prepare_parsed`], each job with the part of its files that is this host's.
///
/// # Errors
/// As of [`prepare_parsed`].
pub fn prepare_shared(
    personality: Personality,
    mut parsed: Parsed,
    shares: Vec<Option<plan::RankShare>>,
) -> Result<Prepared, PrepareError> {
    let mut notes = notice_lines(personality, &parsed.notices);
    if parsed.is_refused() || warned_fatally(personality, &parsed) {
        return Err(PrepareError { code: exit::REFUSED, reasons: notes });
    }
    let external =
        if parsed.flags.run.parse_only { ExternalEngines::Leave } else { ExternalEngines::Load };
    refuse_programs(personality, &parsed, &mut notes)?;
    let mut diagnostics = plan::resolve(&mut parsed.jobs, external);
    let warnings_fatal = parsed.flags.jobs.warnings_fatal;
    let parse_only = parsed.flags.run.parse_only;
    let is_fatal = |diagnostic: &Diagnostic| {
        let warns = match personality {
            Personality::Native => diagnostic.level == Level::Warning,
            // What fio says once it has parsed.
            Personality::Fio => diagnostic.fio_warns_too && !parse_only,
        };
        diagnostic.level == Level::Error || (warnings_fatal && warns)
    };
    let mut planned = plan::PlannedJobs::default();
    if !diagnostics.iter().any(is_fatal) && !parsed.flags.run.parse_only {
        planned = plan_jobs(personality, &parsed, shares);
        if parsed.flags.jobs.readonly {
            diagnostics.extend(unasked::refuse_changes(&mut planned.plan));
        }
        diagnostics.append(&mut planned.diagnostics);
        if personality == Personality::Native {
            let names = parsed.jobs.iter().filter_map(|job| job.spec.files.filename.get().as_ref());
            let names = names.flat_map(|names| names.0.iter().map(String::as_str)).collect();
            diagnostics.extend(unasked::missing_directories(&planned.plan, &names));
        }
        if !parsed.flags.jobs.readonly {
            let extended = unasked::extensions(&planned.plan);
            diagnostics.extend(
                extended.iter().filter_map(|one| about_extension(one, personality, &parsed.flags)),
            );
        }
    }
    let mut met = HashSet::new();
    let lines = diagnostics.iter().map(|diagnostic| diagnostic_line(personality, diagnostic));
    notes.extend(lines.filter(|line| met.insert(line.clone())));
    if diagnostics.iter().any(is_fatal) {
        let code = exit::failed(planned.refused).max(exit::REFUSED);
        return Err(PrepareError { code, reasons: notes });
    }
    let data_warnings = match personality {
        Personality::Fio => Vec::new(),
        Personality::Native => data_warnings(&planned.plan),
    };
    Ok(Prepared { personality, parsed, plan: planned.plan, notes, data_warnings })
}

/// In our own name, with `--warnings-fatal`: whether there is a warning. fio knows none of an
/// option alone.
pub fn warned_fatally(personality: Personality, parsed: &Parsed) -> bool {
    let warns = |notice: &Notice| notice.diagnostic.level == Level::Warning;
    personality == Personality::Native
        && parsed.flags.jobs.warnings_fatal
        && parsed.notices.iter().any(warns)
}

/// What there is to say of an existing file that a reading job would extend: in our
/// own name it is refused, or with `--extend` named with what else is overwritten.
fn about_extension(
    extended: &Extension<'_>,
    personality: Personality,
    flags: &Flags,
) -> Option<Diagnostic> {
    match personality {
        Personality::Fio => Some(Diagnostic::note(extended.words())),
        Personality::Native => (!flags.jobs.extend).then(|| extended.refusal()),
    }
}

/// `--no-exec`: before anything is loaded to be asked what it can do.
fn refuse_programs(
    personality: Personality,
    parsed: &Parsed,
    notes: &mut Vec<String>,
) -> Result<(), PrepareError> {
    if !parsed.flags.jobs.no_exec {
        return Ok(());
    }
    let mut refused: Vec<Diagnostic> =
        parsed.jobs.iter().flat_map(|job| rules::refuse_programs(&job.spec)).collect();
    if parsed.flags.run.trigger.command.is_some() {
        refused
            .push(Diagnostic::error("--trigger starts a program, which --no-exec does not allow"));
    }
    if refused.is_empty() {
        return Ok(());
    }
    notes.extend(refused.iter().map(|said| diagnostic_line(personality, said)));
    Err(PrepareError { code: exit::REFUSED, reasons: std::mem::take(notes) })
}

fn plan_jobs(
    personality: Personality,
    parsed: &Parsed,
    shares: Vec<Option<plan::RankShare>>,
) -> plan::PlannedJobs {
    let totals = match (personality, parsed.flags.output.formats_given) {
        (Personality::Native, false) => plan::Totals::Kept,
        _ => plan::Totals::AsAsked,
    };
    let mut planned = if parsed.flags.run.merge_only {
        plan::merge_only(&parsed.jobs)
    } else {
        plan::plan_shared(&parsed.jobs, totals, shares)
    };
    if let Some(path) = &parsed.flags.jobs.aux_path {
        for verify in planned.plan.jobs.iter_mut().filter_map(|job| job.verify.as_mut()) {
            verify.directory = path.into();
        }
    }
    planned.plan.inputs = inputs(parsed);
    planned.plan.bandwidth_log = parsed.flags.run.bandwidth_log.clone();
    planned.diagnostics.extend(verify_state::load(&mut planned.plan));
    if personality == Personality::Fio {
        // fio reads back what its cache holds, and leaves failures that are
        // tolerated to whoever reads its messages.
        for verify in planned.plan.jobs.iter_mut().filter_map(|job| job.verify.as_mut()) {
            (verify.from_device, verify.strict) = (false, false);
        }
    }
    planned
}

/// The job files, those that they include, and the recordings that they name.
fn inputs(parsed: &Parsed) -> BTreeSet<PathBuf> {
    let mut inputs: BTreeSet<PathBuf> = parsed.files.iter().map(PathBuf::from).collect();
    for job in &parsed.jobs {
        let origins = job.globals.iter().chain(&job.typed).map(|option| &option.origin);
        inputs.extend(origins.chain([&job.origin]).filter_map(|origin| match origin {
            Origin::File { path, .. } => Some(PathBuf::from(&**path)),
            _ => None,
        }));
        let recordings = job.spec.replay.read_iolog.get().iter().flat_map(|logs| &logs.0);
        inputs.extend(recordings.map(PathBuf::from));
    }
    inputs
}

/// Notices as lines. In our own name only the first errors of job files: a file
/// with thousands is no job file.
fn notice_lines(personality: Personality, notices: &[Notice]) -> Vec<String> {
    let in_file = |notice: &Notice| {
        notice.is_error() && matches!(notice.diagnostic.origin, Origin::File { .. })
    };
    let errors = notices.iter().filter(|notice| in_file(notice)).count();
    let hide = personality == Personality::Native && errors > FILE_ERRORS_SHOWN;
    let mut shown = 0;
    let mut lines = Vec::new();
    for notice in notices {
        if hide && in_file(notice) {
            shown += 1;
            if shown > FILE_ERRORS_SHOWN {
                continue;
            }
        }
        lines.extend(lines_of(personality, notice));
    }
    if hide {
        let more = errors - FILE_ERRORS_SHOWN;
        lines.push(format!("iosonde: {more} more errors like these: is this a job file?"));
    }
    lines
}

/// A notice as lines. Called as fio: first fio's own lines, which parsers look
/// for, then, for a job file, ours, because fio does not print the place.
pub fn lines_of(personality: Personality, notice: &Notice) -> Vec<String> {
    let ours = diagnostic_line(personality, &notice.diagnostic);
    match personality {
        Personality::Native => vec![ours],
        Personality::Fio if notice.fio.is_empty() => vec![ours],
        Personality::Fio => {
            let in_file = matches!(notice.diagnostic.origin, Origin::File { .. });
            notice.fio.iter().cloned().chain(in_file.then_some(ours)).collect()
        }
    }
}

/// A diagnostic as a line: fio's notes are bare, ours name the program.
fn diagnostic_line(personality: Personality, diagnostic: &Diagnostic) -> String {
    match (personality, diagnostic.level) {
        (Personality::Fio, Level::Note) => format!("note: {}", diagnostic.message),
        (Personality::Fio, _) if diagnostic.as_fio => line_as_fio(diagnostic),
        (Personality::Fio, _) => format!("fio: {diagnostic}"),
        // A place in a file stands first, as with every compiler.
        (Personality::Native, _) if matches!(diagnostic.origin, Origin::File { .. }) => {
            diagnostic.to_string()
        }
        (Personality::Native, _) => format!("iosonde: {diagnostic}"),
    }
}

/// A line that begins as fio's; what we know beyond it follows.
fn line_as_fio(diagnostic: &Diagnostic) -> String {
    let place = match &diagnostic.origin {
        origin @ Origin::File { .. } => Some(origin.to_string()),
        _ => None,
    };
    let more: Vec<String> = place.into_iter().chain(diagnostic.help.clone()).collect();
    if more.is_empty() {
        format!("fio: {}", diagnostic.message)
    } else {
        format!("fio: {} ({})", diagnostic.message, more.join(": "))
    }
}

/// What exists now and will be overwritten or removed.
fn data_warnings(plan: &Plan) -> Vec<DataWarning> {
    let mut warnings = Vec::new();
    let mut warn = |path: &Path, words: String| {
        let line = format!("iosonde: warning: {words}");
        let warning = DataWarning { path: Some(path.to_owned()), line };
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    };
    for job in &plan.jobs {
        for file in job.files.iter().filter(|file| holds_data(file)) {
            let Some(fate) = fate(job, file) else { continue };
            warn(&file.path, format!("{}: {fate}", file.path.display()));
        }
    }
    for path in write_access::changed_besides(plan) {
        warn(&path, format!("{}: existing data is overwritten", path.display()));
    }
    unasked::extensions(plan).iter().for_each(|one| warn(one.path, one.words()));
    let outputs = replaced_outputs(plan).map(|line| DataWarning { path: None, line });
    warnings.extend(outputs);
    warnings
}

/// So many outputs that are replaced are named; the others are counted.
const NAMED: usize = 3;

fn replaced_outputs(plan: &Plan) -> Option<String> {
    let replaced = write_access::replaced_outputs(plan);
    let named: Vec<String> =
        replaced.iter().take(NAMED).map(|path| path.display().to_string()).collect();
    let more = match replaced.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let line = || format!("iosonde: note: existing files are replaced: {}{more}", named.join(", "));
    (!replaced.is_empty()).then(line)
}

fn holds_data(file: &FilePlan) -> bool {
    match file.kind {
        FileKind::Block => true,
        FileKind::Regular => std::fs::metadata(&file.path).is_ok_and(|found| found.len() > 0),
        FileKind::None | FileKind::Character => false,
    }
}

fn fate(job: &JobPlan, file: &FilePlan) -> Option<String> {
    use iosonde_base::Dir;
    let writes = (job.dirs[Dir::Write] || job.dirs[Dir::Trim]) && !job.only_verifies();
    let removes = job.end.unlink || job.end.unlink_each_loop || unasked::removes(job);
    let unlinks = removes && file.kind == FileKind::Regular;
    match (writes, unlinks) {
        (true, true) => Some(format!("job {} overwrites and removes this existing file", job.name)),
        (false, true) => Some(format!("job {} removes this existing file", job.name)),
        (true, false) if file.kind == FileKind::Block => {
            Some(format!("job {} overwrites data on this device", job.name))
        }
        (true, false) => Some(format!("job {} overwrites data in this existing file", job.name)),
        (false, false) => None,
    }
}
