//! A row of the table of options: all that is known of an option besides its value.

use crate::{Origin, ValueError};

/// How an option compares to fio's option of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioSupport {
    /// Means what it means there.
    Same,
    /// Means something else, as described.
    Differs(&'static str),
    /// fio has no such option.
    OursAlone,
}

/// Whether an option is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Built {
    /// It does what its text says.
    Yes,
    /// It is accepted and has no effect, for this reason.
    Ignored(&'static str),
    /// It is parsed; a job that needs it is refused.
    No,
}

/// The part of a job that an option is about, as fio groups them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Names and descriptions, and what fits nowhere else.
    General,
    /// Direction, size, depth.
    IoBasic,
    /// Where and in which order I/O falls.
    IoPattern,
    /// How the engine does it.
    Engine,
    /// Files and devices.
    File,
    /// Rate, think time, latency goals.
    Rate,
    /// Verification of what was written.
    Verify,
    /// Trims.
    Trim,
    /// Replaying and recording I/O.
    Replay,
    /// Zones of a device or a file.
    Zone,
    /// What is in the buffers, and where they live.
    Buffer,
    /// Processors, priorities, processes.
    Process,
    /// Time of the job: start, end, clock.
    Runtime,
    /// Statistics and reports.
    Stat,
    /// Logs.
    Log,
    /// What is done about errors.
    Error,
    /// When to call it steady.
    SteadyState,
    /// Ready-made workloads.
    Profile,
}

impl Category {
    /// All categories, in the order in which documents list them.
    pub const ALL: [Category; 18] = [
        Category::General,
        Category::IoBasic,
        Category::IoPattern,
        Category::File,
        Category::Engine,
        Category::Rate,
        Category::Runtime,
        Category::Buffer,
        Category::Process,
        Category::Zone,
        Category::Verify,
        Category::Trim,
        Category::Replay,
        Category::SteadyState,
        Category::Error,
        Category::Stat,
        Category::Log,
        Category::Profile,
    ];

    /// The heading of this category in documents.
    pub const fn title(self) -> &'static str {
        match self {
            Category::General => "General",
            Category::IoBasic => "I/O: direction, size, depth",
            Category::IoPattern => "I/O: order and block sizes",
            Category::Engine => "Engines",
            Category::File => "Files and devices",
            Category::Rate => "Rate and latency goals",
            Category::Verify => "Verification",
            Category::Trim => "Trims",
            Category::Replay => "Recording and replay",
            Category::Zone => "Zones",
            Category::Buffer => "Buffers and memory",
            Category::Process => "Threads, processes, priorities",
            Category::Runtime => "Time",
            Category::Stat => "Measurements and reports",
            Category::Log => "Logs",
            Category::Error => "Errors",
            Category::SteadyState => "Steady state",
            Category::Profile => "Profiles",
        }
    }
}

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Any text.
    Text,
    /// A whole number, with size suffixes as anywhere.
    Int,
    /// A number with a fraction, or a list of them.
    Float,
    /// A number of bytes.
    Size,
    /// A number of bytes, or a share of the file, or zones.
    Amount,
    /// A range of sizes.
    Range,
    /// A span of time.
    Time,
    /// 0 or 1.
    Bool,
    /// A word out of a closed set.
    Word,
    /// Words or numbers in a row.
    List,
    /// A syntax described in the option's text.
    Form,
}

impl ValueKind {
    /// The name of the kind in our own documents.
    pub const fn word(self) -> &'static str {
        match self {
            ValueKind::Text => "text",
            ValueKind::Int => "integer",
            ValueKind::Float => "number",
            ValueKind::Size => "size",
            ValueKind::Amount => "size, percentage or zones",
            ValueKind::Range => "range of sizes",
            ValueKind::Time => "time",
            ValueKind::Bool => "0 or 1",
            ValueKind::Word => "word",
            ValueKind::List => "list",
            ValueKind::Form => "form",
        }
    }

    /// The `type:` line of `--cmdhelp=NAME`, in the form that fio gives it.
    pub const fn fio(self, bare: bool) -> &'static str {
        match self {
            ValueKind::Bool if bare => "empty or boolean value ([0|1])",
            ValueKind::Bool => "boolean value (opt=1)",
            ValueKind::Text | ValueKind::Word | ValueKind::List | ValueKind::Form => {
                "string (opt=bla)"
            }
            ValueKind::Int | ValueKind::Size => "integer value (opt=100)",
            ValueKind::Amount => "size, percentage or zones (opt=1g)",
            ValueKind::Float => "list of floating point values separated by ':' (opt=5.9:7.8)",
            ValueKind::Range => "one to three ranges (opt=1k-4k[,4k-8k[,1k-8k]])",
            ValueKind::Time => "string with time postfix (opt=10s)",
        }
    }
}

/// The unit of a time that is written without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Microseconds.
    Micros,
}

/// A word of a closed set and what it stands for.
pub type Choice = (&'static str, &'static str);

/// Everything said about one option, for parsing, help, manual and tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptionDef {
    /// The canonical name.
    pub name: &'static str,
    /// Other names for the same option.
    pub aliases: &'static [&'static str],
    /// The documentation, line by line; the first line is the summary.
    pub doc: &'static [&'static str],
    /// What kind of value it holds.
    pub kind: ValueKind,
    /// The words allowed, when the set is closed.
    pub choices: &'static [Choice],
    /// The default as text; empty if it has none.
    pub default: &'static str,
    /// The part of a job that it is about.
    pub category: Category,
    /// The option under which help lists this one.
    pub parent: Option<&'static str>,
    /// Order among the options of one section: lower is set first. `kb_base` is -1 because
    /// it changes what sizes mean.
    pub priority: i8,
    /// The value meant when the option is given without `=value`; `None` if it needs one.
    pub bare: Option<&'static str>,
    /// The smallest value allowed.
    pub min: Option<i64>,
    /// The largest value allowed.
    pub max: Option<i64>,
    /// The unit of a time written without one.
    pub unit: TimeUnit,
    /// Whether `8z` means zones here.
    pub zones: bool,
    /// fio has retired it: what to do instead.
    pub deprecated: Option<&'static str>,
    /// How it compares to fio.
    pub fio: FioSupport,
    /// Whether it is supported.
    pub built: Built,
    /// Words that are not supported although the option is.
    pub unbuilt_words: &'static [&'static str],
    /// The options of which one must differ from its default for this one to have an effect;
    /// the parent where none are named. One that stands alone under a parent names itself.
    pub needs: &'static [&'static str],
    /// Options that make each example complete: `name=value`, in the order to give them.
    pub with: &'static [&'static str],
    /// Examples that parse.
    pub good: &'static [&'static str],
    /// Examples that are refused.
    pub bad: &'static [&'static str],
}

impl OptionDef {
    /// The columns that a row leaves out.
    pub const BLANK: OptionDef = OptionDef {
        name: "",
        aliases: &[],
        doc: &[],
        kind: ValueKind::Text,
        choices: &[],
        default: "",
        category: Category::General,
        parent: None,
        priority: 0,
        bare: None,
        min: None,
        max: None,
        unit: TimeUnit::Seconds,
        zones: false,
        deprecated: None,
        fio: FioSupport::Same,
        built: Built::Yes,
        unbuilt_words: &[],
        needs: &[],
        with: &[],
        good: &[],
        bad: &[],
    };

    /// Whether `name` is this option's name or one of its aliases.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// The first line of the documentation, without the full stop.
    pub fn summary(&self) -> &'static str {
        let line = self.doc.first().map_or("", |line| line.trim());
        line.strip_suffix('.').unwrap_or(line)
    }
}

/// Input of a parser besides the text, and its warnings.
#[derive(Clone, Debug)]
pub struct ParseContext {
    /// The row of the option being parsed.
    pub row: &'static OptionDef,
    /// 1024 (fio's default) or 1000: what `k` means. The other base is what `kib` means.
    pub kb_base: u16,
    /// Bits per unit of a rate: 8 for bytes, 1 for bits, 0 for "as the engine counts".
    pub unit_base: u8,
    /// Warnings: what was accepted that looks like a mistake, and its interpretation.
    pub doubts: Vec<String>,
    /// A size had the unit KiB or the like while that is a power of 1000, as in fio.
    pub iec_as_si: bool,
}

impl ParseContext {
    /// The context of a job that has set neither base.
    pub fn new(row: &'static OptionDef) -> ParseContext {
        ParseContext { row, kb_base: 1024, unit_base: 0, doubts: Vec::new(), iec_as_si: false }
    }

    /// Adds a warning, once: a value was accepted that looks like a mistake.
    pub fn doubt(&mut self, text: String) {
        if !self.doubts.contains(&text) {
            self.doubts.push(text);
        }
    }
}

/// A handful of options that belong together.
pub trait Topic {
    /// What they are about, in a word or two.
    fn title(&self) -> &'static str;
    /// Their rows.
    fn options(&self) -> &'static [OptionDef];
    /// Sets `name` (or an alias); `None` when the option is not in this topic.
    fn set(
        &mut self,
        name: &str,
        text: &str,
        origin: Origin,
        context: &mut ParseContext,
    ) -> Option<Result<(), ValueError>>;
    /// The value as text that reads back the same; `None` when it is not in this topic.
    fn show(&self, name: &str) -> Option<String>;
    /// Where the value came from; `None` when it is not in this topic.
    fn origin(&self, name: &str) -> Option<&Origin>;
}
