//! Flags of the program, as opposed to options of a job: their checked values.

use iosonde_options::time_unit_us;
use std::fmt;

/// The flags of one command line, by who can honour them: a command takes all of a group, or
/// refuses it by name ([`Flags::beyond`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--help` and the like: print something and exit. The first one counts; the rest of the
    /// command line is not read.
    pub info: Option<InfoRequest>,
    /// Which jobs there are, and what they may do.
    pub jobs: JobFlags,
    /// Of a single run.
    pub run: RunFlags,
    /// Of its report.
    pub output: OutputFlags,
    /// Of what shows it while it runs.
    pub live: LiveFlags,
    /// Of several hosts.
    pub hosts: HostFlags,
    /// Those that were given, in their order.
    pub given: Vec<GivenFlag>,
}

/// Who can honour a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagGroup {
    /// Who prints information instead of running anything.
    Info,
    /// Who parses jobs.
    Jobs,
    /// Who runs them once.
    Run,
    /// Who prints the report of a run.
    Output,
    /// Who shows a run while it runs.
    Live,
    /// Who runs on several hosts.
    Hosts,
}

/// A flag that was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenFlag {
    /// Without dashes.
    pub name: &'static str,
    /// Who can honour it.
    pub group: FlagGroup,
}

impl Flags {
    /// The first flag that was given and is of none of these groups.
    pub fn beyond(&self, groups: &[FlagGroup]) -> Option<GivenFlag> {
        self.given.iter().find(|flag| !groups.contains(&flag.group)).copied()
    }
}

/// Which jobs of a command line run, and what they may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFlags {
    /// Run these sections of job files only; all when empty.
    pub sections: Vec<String>,
    /// Refuse jobs that write, trim, or create, extend or remove files.
    pub readonly: bool,
    /// Jobs that only read may extend files that exist.
    pub extend: bool,
    /// Take a warning for an error.
    pub warnings_fatal: bool,
    /// Nothing may start a program or load an object.
    pub no_exec: bool,
    /// Block devices that may be erased, by serial number, model or size.
    pub erase: Vec<String>,
    /// Where files that describe a run's state go.
    pub aux_path: Option<String>,
    /// `--max-jobs`, which changes nothing: there is no limit.
    pub max_jobs: Option<u64>,
    /// `--alloc-size`, which changes nothing: there is no pool.
    pub alloc_size_kib: Option<u64>,
}

/// What a single run does besides its jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFlags {
    /// Read everything, run nothing.
    pub parse_only: bool,
    /// Merge traces, run nothing.
    pub merge_only: bool,
    /// Print each job file as a command line, run nothing.
    pub showcmd: bool,
    /// `--debug` words.
    pub debug: Vec<DebugWord>,
    /// What is wrong with a word of `--debug`; it is no reason to stop.
    pub debug_unknown: Option<String>,
    /// `--debug=job:N`: only for that job.
    pub debug_job: Option<u32>,
    /// Log the bandwidth of all jobs together, to files that begin with this.
    pub bandwidth_log: Option<String>,
    /// What ends the run from outside.
    pub trigger: TriggerFlags,
    /// Measure how idle the processors are.
    pub idle_prof: Option<IdleProf>,
    /// Whether to print the ledger; unset: the default of the personality.
    pub ledger: Option<bool>,
    /// Findings of the ledger affect the exit code.
    pub strict: bool,
}

/// Where the report of a run goes, and in which forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFlags {
    /// Where results go; `None` is standard output.
    pub file: Option<String>,
    /// In which forms, in the order they were named; never empty.
    pub formats: Vec<OutputFormat>,
    /// Whether a form was chosen at all.
    pub formats_given: bool,
    /// Which version of the terse form: 2 to 5.
    pub terse_version: u8,
    /// Add the terse form to the others.
    pub append_terse: bool,
    /// The full report again and again, this far apart, in milliseconds.
    pub status_interval_ms: Option<u64>,
    /// Colour in our own report and messages.
    pub color: ShowWhen,
    /// All figures in our own report, and findings in their long form.
    pub verbose: bool,
    /// Where the report goes as an HTML page, besides.
    pub html: Option<String>,
    /// `html`, `live_file`, `metrics_file` and a rank's result may overwrite a file of
    /// something else, and jobs and outputs write to files that another program has locked.
    pub force: bool,
}

/// How a run is shown while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveFlags {
    /// How.
    pub show: LiveFlag,
    /// Where the objects of `live=json` go; `None` is descriptor 3.
    pub file: Option<String>,
    /// When the line with the time left is shown.
    pub eta: ShowWhen,
    /// How often that line is drawn, in milliseconds; at least 250.
    pub eta_interval_ms: u64,
    /// How often that line is left standing and a new one begun, in milliseconds.
    pub eta_newline_ms: Option<u64>,
    /// Where metrics are served, as `HOST:PORT`.
    pub metrics_listen: Option<String>,
    /// Which file is kept up to date with metrics.
    pub metrics_file: Option<String>,
}

/// Flags of a run that is one of several hosts'.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostFlags {
    /// MPI starts the hosts together and brings their results to one.
    pub mpi: bool,
    /// A host that is silent for so long is lost, in milliseconds.
    pub silence_ms: Option<u64>,
    /// This host's place.
    pub rank: Option<u32>,
    /// How many hosts there are.
    pub ranks: Option<u32>,
    /// When the first jobs start, as it was typed.
    pub start_at: Option<String>,
    /// The directory of the results of ranks.
    pub results: Option<String>,
    /// How files with one name on all ranks are split between them, if they are.
    pub split: Option<FileSplit>,
    /// Jobs that only read take the part of the next rank.
    pub reorder: bool,
    /// Jobs that only read take the part of the rank so many further.
    pub shift: Option<u32>,
    /// A table of the paths of each host.
    pub table: Option<String>,
    /// Run what clients send: where to listen, as it was typed; empty for fio's default.
    pub server: Option<String>,
    /// The server goes to the background and writes its number to this file.
    pub daemonize: Option<String>,
    /// Servers that run the jobs, as they were typed.
    pub clients: Vec<String>,
    /// A job file that each server reads itself.
    pub remote_config: Option<String>,
    /// The secret that a server and its clients share.
    pub secret_file: Option<String>,
}

/// How ranks split a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSplit {
    /// Each has a range of blocks.
    Ranges,
    /// Rank r of N has the blocks r, r+N, r+2N ...
    Interleaved,
}

impl HostFlags {
    /// How many ranks further the part is that jobs take which only read.
    pub fn shift_by(&self) -> u32 {
        self.shift.unwrap_or(u32::from(self.reorder))
    }

    /// Whether this run is one of several hosts'.
    pub fn is_one_of_several(&self) -> bool {
        *self != HostFlags::default()
    }
}

impl Default for OutputFlags {
    fn default() -> Self {
        OutputFlags {
            file: None,
            formats: vec![OutputFormat::Normal],
            formats_given: false,
            terse_version: 3,
            append_terse: false,
            status_interval_ms: None,
            color: ShowWhen::Auto,
            verbose: false,
            html: None,
            force: false,
        }
    }
}

impl Default for LiveFlags {
    fn default() -> Self {
        LiveFlags {
            show: LiveFlag::Auto,
            file: None,
            eta: ShowWhen::Auto,
            eta_interval_ms: 1000,
            eta_newline_ms: None,
            metrics_listen: None,
            metrics_file: None,
        }
    }
}

/// The words of `--live`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveFlag {
    /// As the terminal and the run suggest.
    Auto,
    /// In a line that is drawn over.
    Line,
    /// On several rows.
    Screen,
    /// In lines below each other.
    Plain,
    /// As objects of JSON.
    Json,
    /// Not at all.
    No,
}

impl LiveFlag {
    /// All of them, each with its word.
    pub const WORDS: [(&'static str, LiveFlag); 6] = [
        ("auto", LiveFlag::Auto),
        ("line", LiveFlag::Line),
        ("screen", LiveFlag::Screen),
        ("plain", LiveFlag::Plain),
        ("json", LiveFlag::Json),
        ("no", LiveFlag::No),
    ];
}

/// `--trigger` and what fires it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TriggerFlags {
    /// `--trigger-file`.
    pub file: Option<String>,
    /// `--trigger-timeout`, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// `--trigger`.
    pub command: Option<String>,
}

impl TriggerFlags {
    /// Whether anything fires it.
    pub fn fires(&self) -> bool {
        self.file.is_some() || self.timeout_ms.is_some()
    }
}

/// A request for information, after which the program exits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InfoRequest {
    /// `--help`.
    Help,
    /// `--version`.
    Version,
    /// `--cmdhelp[=OPTION]`; `all` is passed on.
    CommandHelp(Option<String>),
    /// `--enghelp[=ENGINE[,OPTION]]`.
    EngineHelp(Option<String>),
    /// `--crctest[=TYPES]`.
    ChecksumSpeed(Option<String>),
    /// `--memcpytest[=TYPES]`.
    CopySpeed(Option<String>),
    /// `--inflate-log=FILE`.
    InflateLog(String),
    /// `--idle-prof=calibrate`.
    Calibrate,
    /// `--cpuclock-test`.
    ClockTest,
    /// `--debug=?`, `--debug=help`.
    DebugWords,
}

/// What `--idle-prof` reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleProf {
    /// All together.
    System,
    /// Each as well.
    PerCpu,
}

/// A form of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// fio's text.
    Normal,
    /// One line of values a job; `minimal` is another name for it, and `csv` to fio.
    Terse,
    /// JSON.
    Json,
    /// JSON with all latency bins.
    JsonPlus,
    /// A header and a row for each job and direction; not fio's.
    Csv,
    /// A Markdown table; not fio's.
    Markdown,
}

/// When to use terminal features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShowWhen {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Words of `--debug`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are fio's words")]
pub enum DebugWord {
    Process,
    File,
    Io,
    Mem,
    Blktrace,
    Verify,
    Random,
    Parse,
    DiskUtil,
    Mutex,
    Profile,
    Time,
    Net,
    Rate,
    Compress,
    SteadyState,
    HelperThread,
    Zbd,
    Sprandom,
}

impl DebugWord {
    /// All of them, each with fio's word for it, in fio's order.
    pub const WORDS: [(&'static str, DebugWord); 19] = [
        ("process", DebugWord::Process),
        ("file", DebugWord::File),
        ("io", DebugWord::Io),
        ("mem", DebugWord::Mem),
        ("blktrace", DebugWord::Blktrace),
        ("verify", DebugWord::Verify),
        ("random", DebugWord::Random),
        ("parse", DebugWord::Parse),
        ("diskutil", DebugWord::DiskUtil),
        ("mutex", DebugWord::Mutex),
        ("profile", DebugWord::Profile),
        ("time", DebugWord::Time),
        ("net", DebugWord::Net),
        ("rate", DebugWord::Rate),
        ("compress", DebugWord::Compress),
        ("steadystate", DebugWord::SteadyState),
        ("helperthread", DebugWord::HelperThread),
        ("zbd", DebugWord::Zbd),
        ("sprandom", DebugWord::Sprandom),
    ];

    /// fio's word for it.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

/// A flag that was given and cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagError {
    /// What is wrong, after fio's words where fio says anything.
    pub message: String,
}

impl FlagError {
    pub(crate) fn fatal(message: impl Into<String>) -> Self {
        FlagError { message: message.into() }
    }
}

impl fmt::Display for FlagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for FlagError {}

impl OutputFormat {
    /// Our words for them; fio has the first four.
    const WORDS: [(&str, OutputFormat); 6] = [
        ("normal", OutputFormat::Normal),
        ("terse", OutputFormat::Terse),
        ("json", OutputFormat::Json),
        ("json+", OutputFormat::JsonPlus),
        ("csv", OutputFormat::Csv),
        ("markdown", OutputFormat::Markdown),
    ];

    /// The forms in a list such as `json,normal`.
    ///
    /// # Errors
    /// A word that is no form; the words are exact, an empty one is wrong.
    pub fn list(text: &str) -> Result<Vec<OutputFormat>, FlagError> {
        let fio = |word: &str| match word {
            "csv" => Some(OutputFormat::Terse),
            word => OutputFormat::of(word, &OutputFormat::WORDS[..4]),
        };
        all(text, fio, |word| format!("invalid output format {word}"))
    }

    /// The forms in a list, ours included: `csv` is comma-separated values.
    ///
    /// # Errors
    /// A word that is no form.
    pub fn own_list(text: &str) -> Result<Vec<OutputFormat>, FlagError> {
        let words = OutputFormat::WORDS;
        let [known @ .., last] = words.map(|(word, _)| word);
        let known = known.join(", ");
        let wrong = |word: &str| format!("unknown output format \"{word}\": use {known} or {last}");
        all(text, |word| OutputFormat::of(word, &words), wrong)
    }

    fn of(word: &str, words: &[(&str, OutputFormat)]) -> Option<OutputFormat> {
        let word = if word == "minimal" { "terse" } else { word };
        words.iter().find(|(known, _)| *known == word).map(|&(_, format)| format)
    }
}

/// The forms of a list, each once.
fn all(
    text: &str,
    form: impl Fn(&str) -> Option<OutputFormat>,
    wrong: impl Fn(&str) -> String,
) -> Result<Vec<OutputFormat>, FlagError> {
    let mut forms = Vec::new();
    for word in text.split(',') {
        let form = form(word).ok_or_else(|| FlagError::fatal(wrong(word)))?;
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    Ok(forms)
}

/// A span of time such as `3`, `3s` or `500ms`, in milliseconds, cut; seconds when bare.
///
/// As in fio an unknown suffix means microseconds.
pub(crate) fn milliseconds(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..end].parse().ok()?;
    let unit = text[end..].to_ascii_lowercase();
    let unit = if unit.is_empty() { "s" } else { &unit };
    let scale_us = time_unit_us(unit).unwrap_or(1);
    Some(number.checked_mul(scale_us)? / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_words_stand_where_their_numbers_say() {
        for (index, (word, debug)) in DebugWord::WORDS.into_iter().enumerate() {
            assert_eq!(debug as usize, index);
            assert_eq!(debug.word(), word);
        }
    }

    #[test]
    fn a_list_of_forms_keeps_its_order_and_each_once() {
        use OutputFormat::{Json, JsonPlus, Normal, Terse};
        assert_eq!(OutputFormat::list("json"), Ok(vec![Json]));
        assert_eq!(OutputFormat::list("terse,json+,csv,normal"), Ok(vec![Terse, JsonPlus, Normal]));
    }

    #[test]
    fn a_form_must_be_spelt_exactly() {
        for bad in ["", "json,", "JSON", " json", "json+x", "xml"] {
            assert!(OutputFormat::list(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn times_are_seconds_unless_they_say_otherwise() {
        assert_eq!(milliseconds("3"), Some(3000));
        assert_eq!(milliseconds("3s"), Some(3000));
        assert_eq!(milliseconds("250ms"), Some(250));
        assert_eq!(milliseconds("1m"), Some(60_000));
        assert_eq!(milliseconds("5q"), Some(0));
        assert_eq!(milliseconds("x"), None);
        assert_eq!(milliseconds(""), None);
        assert_eq!(milliseconds("99999999999999999999"), None);
        assert_eq!(milliseconds("9999999999999d"), None);
    }
}
