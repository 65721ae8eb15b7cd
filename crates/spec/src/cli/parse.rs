//! A command line and its job files as [`Parsed`]: the whole way from text to jobs.
//!
//! Jobs of the command line come first, then each file's, as fio numbers them. Options before
//! the first `--name` are defaults for those jobs and for the first job file; a second file
//! begins with none, and its first job waits for all before it.

use iosonde_options::{Diagnostic, OptionDef, Origin};

use crate::cli::clients::LinePlaces;
use crate::cli::draft::JobDraft;
use crate::cli::flag_table::{self, FlagDef};
use crate::cli::flags::Flags;
use crate::cli::getopt::{Arguments, Candidate, ParsedArgument, TakesValue};
use crate::cli::given::Given;
use crate::cli::notice::Notice;
use crate::cli::parsed::{Parsed, ParsedJob};
use crate::cli::readonly;
use crate::cli::showcmd::CommandLine;
use crate::cli::vocabulary;
use crate::cli::words;
use crate::job as options;
use crate::job::TypedOption;
use crate::text::expand::{Host, NotingHost, Variables};
use crate::text::include::JobFiles;
use crate::text::section::{self, Section};

/// What parsing may look at besides the command line.
pub struct World<'w> {
    /// Where job files come from.
    pub files: &'w dyn JobFiles,
    /// What `${NAME}`, `$ncpus` and the like stand for.
    pub host: &'w dyn Host,
    /// The flags that are known: [`flag_table::FIO`] alone, or ours with it.
    pub flags: &'w [&'static [FlagDef]],
}

/// Everything that `arguments`, without the program's name, ask for.
///
/// Opens job files and nothing else. Whatever is wrong is among [`Parsed::notices`].
pub fn parse(arguments: &[String], world: &World<'_>) -> Parsed {
    let host = NotingHost::new(world.host);
    let world = World { host: &host, ..*world };
    let mut parser = CommandLineParser::new(&world);
    parser.command_line(arguments);
    if parser.flags.info.is_none() {
        parser.job_files();
        if parser.flags.jobs.readonly {
            readonly::refuse(&parser.jobs, &mut parser.notices);
        }
    }
    let parsed = parser.finish();
    Parsed { variables: host.into_asked(), ..parsed }
}

struct CommandLineParser<'w> {
    world: &'w World<'w>,
    flags: Flags,
    /// Options from before the first `--name`.
    defaults: JobDraft,
    jobs: Vec<ParsedJob>,
    notices: Vec<Notice>,
    shown: Vec<String>,
    files: Vec<String>,
    places: LinePlaces,
}

impl<'w> CommandLineParser<'w> {
    fn new(world: &'w World<'w>) -> Self {
        CommandLineParser {
            world,
            flags: Flags::default(),
            defaults: JobDraft::default(),
            jobs: Vec::new(),
            notices: Vec::new(),
            shown: Vec::new(),
            files: Vec::new(),
            places: LinePlaces::default(),
        }
    }

    fn finish(self) -> Parsed {
        let CommandLineParser { flags, defaults, jobs, notices, shown, files, places, .. } = self;
        let defaults = defaults.into_job(String::new(), Origin::CommandLine { index: 0 }, false);
        let variables = Variables::new();
        Parsed { flags, jobs, defaults, notices, shown, files, places, variables }
    }

    fn command_line(&mut self, arguments: &[String]) {
        let mut words = Arguments::new(arguments);
        let mut job: Option<(JobDraft, Origin)> = None;
        let mut engine = self.defaults.engine();
        let mut candidates = self.candidates(&engine);
        while let Some(step) = words.step(&candidates) {
            match step {
                ParsedArgument::Operand { index, text } => {
                    self.places.files.push(index - 1);
                    self.files.push(text.to_string());
                }
                ParsedArgument::Bad { index, text, why } => {
                    let known: Vec<&str> = self.known(&engine);
                    let origin = Origin::CommandLine { index };
                    self.notices.push(words::bad_argument(text, &why, &origin, &known));
                }
                ParsedArgument::Option { index, name, value } => {
                    let origin = Origin::CommandLine { index };
                    if let Some(flag) = flag_table::find(self.world.flags, &name) {
                        if flag.name == "client" {
                            self.places.clients.push(index - 1..words.taken());
                        }
                        self.flag(flag, value, &origin);
                    } else if let Some(def) = vocabulary::find(&name, &engine) {
                        if def.name == "name" {
                            self.end_job(job.take());
                            job = Some((self.defaults.heir(), origin.clone()));
                        }
                        let draft = job.as_mut().map_or(&mut self.defaults, |(draft, _)| draft);
                        let given = Given::on_the_command_line(def, &name, value, &origin);
                        draft.take(&given, &mut self.notices);
                    }
                    // `--ioengine=` brings an engine's own options, a new job sheds them.
                    let draft = job.as_ref().map_or(&self.defaults, |(draft, _)| draft);
                    let now = draft.engine();
                    if now != engine {
                        engine = now;
                        candidates = self.candidates(&engine);
                    }
                }
            }
            if self.flags.info.is_some() {
                return;
            }
        }
        self.end_job(job);
    }

    fn flag(&mut self, flag: &FlagDef, value: Option<&str>, origin: &Origin) {
        if let Err(error) = flag.apply(&mut self.flags, value) {
            let diagnostic = Diagnostic::error(&error.message);
            let mut fio = vec![format!("fio: {}", error.message)];
            if flag.name == "output-format" {
                fio.push(format!("fio: failed parsing {}", flag.name));
            }
            self.notices.push(Notice { diagnostic: diagnostic.about("", origin), fio });
        }
    }

    fn end_job(&mut self, job: Option<(JobDraft, Origin)>) {
        if let Some((draft, origin)) = job {
            let name = draft.name().unwrap_or_default();
            self.jobs.push(draft.into_job(name, origin, false));
        }
    }

    fn job_files(&mut self) {
        let mut found = Vec::new();
        for (index, path) in self.files.clone().iter().enumerate() {
            let mut faults = Vec::new();
            let sections = section::read(path, self.world.files, self.world.host, &mut faults);
            self.notices.extend(faults.iter().map(fault_notice));
            let defaults = match index {
                0 => self.defaults.clone(),
                _ => JobDraft::default(),
            };
            // Names are compared below, where sections are chosen at all.
            let chosen = if self.flags.jobs.sections.is_empty() { &[][..] } else { &sections[..] };
            found.extend(chosen.iter().map(|section| section.name.clone()));
            let before = self.jobs.len();
            self.sections(sections, defaults, index > 0);
            if index == 0 {
                self.note_overridden(before, path);
            }
        }
        if !self.files.is_empty() {
            let missing = self.flags.jobs.sections.iter().filter(|name| !found.contains(*name));
            self.notices.extend(missing.map(|name| {
                let diagnostic = format!("no job file has a section [{name}]");
                Notice::new(Diagnostic::warning(diagnostic))
            }));
        }
    }

    /// Options of the command line that each job of a file sets for itself: a file goes before
    /// them, without a word in fio.
    fn note_overridden(&mut self, first: usize, path: &str) {
        let is_own = |job: &ParsedJob, name: &str| {
            let is_set = |typed: &TypedOption| {
                typed.name == name && matches!(typed.origin, Origin::File { .. })
            };
            job.typed.iter().chain(&job.globals).any(is_set)
        };
        let jobs = self.jobs.get(first..).unwrap_or_default();
        for given in self.defaults.typed() {
            let own = jobs.iter().filter(|job| is_own(job, given.name));
            let own: Vec<&str> = own.map(|job| job.name.as_str()).collect();
            let Some(name) = own.first() else { continue };
            let all = own.len() == jobs.len();
            let on = if all { String::new() } else { format!(" on job {name}") };
            let diagnostic = Diagnostic::warning(format!("has no effect{on}: {path} sets it, too"))
                .about(given.name, &given.origin)
                .help("change it in the file, or take it out of there");
            self.notices.push(Notice::new(diagnostic));
        }
    }

    fn sections(&mut self, sections: Vec<Section>, mut defaults: JobDraft, waits: bool) {
        let mut line = CommandLine::default();
        let mut first = true;
        for section in sections {
            if section.is_global() {
                self.section(&section, &mut defaults);
                line.globals(defaults.typed());
                continue;
            }
            let wanted = &self.flags.jobs.sections;
            if !wanted.is_empty() && !wanted.contains(&section.name) {
                continue;
            }
            let mut draft = defaults.heir();
            self.section(&section, &mut draft);
            if self.flags.run.showcmd {
                line.job(&section.name, draft.typed());
            }
            let begins_file = waits && std::mem::take(&mut first);
            let name = draft.name().unwrap_or_else(|| section.name.clone());
            let job = draft.into_job(name, section.place, begins_file);
            self.jobs.push(job);
        }
        if self.flags.run.showcmd {
            self.shown.push(line.finish());
        }
    }

    /// The options of one section: fio's order of priority first, engines' own options last,
    /// when the engine is known.
    fn section(&mut self, section: &Section, draft: &mut JobDraft) {
        let before = self.notices.len();
        let mut known: Vec<Given<'_>> = Vec::new();
        let mut later = Vec::new();
        for entry in &section.entries {
            match options::lookup(&entry.name) {
                Some(def) => known.push(Given::in_a_file(def, entry)),
                None => later.push(entry),
            }
        }
        iosonde_base::sort_by_key(&mut known, |given| given.def.priority);
        for given in &known {
            draft.take(given, &mut self.notices);
        }
        let engine = draft.engine();
        for entry in later {
            match vocabulary::find(&entry.name, &engine) {
                Some(def) => draft.take(&Given::in_a_file(def, entry), &mut self.notices),
                None => {
                    let names = vocabulary::names(&engine);
                    let bad = words::bad_option(&entry.written, &entry.name, &entry.place, &names);
                    self.notices.push(bad);
                }
            }
        }
        if let Some(last) = self.notices[before..].iter_mut().rfind(|notice| notice.is_error()) {
            let name = if section.is_global() { "global" } else { &section.name };
            last.fio.push(words::job_dropped(name));
        }
    }

    fn candidates(&self, engine: &str) -> Vec<Candidate<'static>> {
        let flags = flag_table::merged(self.world.flags).into_iter();
        let flags = flags.map(|flag| Candidate { name: flag.name, takes: flag.takes });
        let options = vocabulary::all(engine).flat_map(|def| {
            let takes = takes(def);
            vocabulary::names_of(def).map(move |name| Candidate { name, takes })
        });
        // `profile` is a flag here and an option in a job file.
        let known = |name: &str| flag_table::find(self.world.flags, name).is_some();
        flags.chain(options.filter(|candidate| !known(candidate.name))).collect()
    }

    fn known(&self, engine: &str) -> Vec<&'static str> {
        let flags = self.world.flags.iter().copied().flatten().map(|flag| flag.name);
        vocabulary::names(engine).into_iter().chain(flags).collect()
    }
}

fn takes(def: &OptionDef) -> TakesValue {
    match def.bare {
        None => TakesValue::Value,
        Some("1") => TakesValue::Maybe,
        Some(_) => TakesValue::Name,
    }
}

fn fault_notice(fault: &section::Fault) -> Notice {
    let diagnostic = if fault.what.is_warning() {
        Diagnostic::warning(fault.what.message())
    } else {
        Diagnostic::error(fault.what.message())
    };
    Notice { diagnostic: diagnostic.about("", &fault.place), fio: fault.what.in_fios_words() }
}
