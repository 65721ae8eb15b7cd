//! Options of engines: kept as text until the engine is known.

use std::sync::LazyLock;

use iosonde_engine::{CATALOGUE, ELSEWHERE, EngineOptionTable, EngineSettings, JobContext};
use iosonde_options::{Built, Diagnostic, OptionDef, Origin, ParseContext, Topic, nearest};

use crate::JobSpec;
use crate::topics::engines::{BORROWED, EngineTable, UNBUILT, of_other_systems};

/// Each engine of the catalogue brings its own; those of engines that are not built follow.
static TABLES: LazyLock<Vec<EngineTable>> = LazyLock::new(|| {
    let mut own: Vec<(&EngineOptionTable, Vec<&str>)> = Vec::new();
    for def in CATALOGUE {
        let Some(options) = def.options else { continue };
        match own.iter_mut().find(|(other, _)| std::ptr::eq(*other, options)) {
            Some((_, engines)) => engines.push(def.name),
            None => own.push((options, vec![def.name])),
        }
    }
    for (borrower, lender) in BORROWED {
        let lends = |(_, engines): &&mut (_, Vec<&str>)| engines.contains(lender);
        // The lender may be of another system.
        if let Some((_, engines)) = own.iter_mut().find(lends) {
            engines.push(borrower);
        }
    }
    let built = own.into_iter().map(|(options, engines)| EngineTable {
        engines,
        options: options.rows,
        make: Some(options.topic),
    });
    let unbuilt = UNBUILT.iter().map(|(engines, options)| EngineTable {
        engines: engines.to_vec(),
        options,
        make: None,
    });
    let elsewhere = ELSEWHERE.iter().filter(|system| !system.options.is_empty());
    let elsewhere = elsewhere.map(|system| EngineTable {
        engines: system.engines.iter().map(|engine| engine.0).collect(),
        // Once, for as long as the program runs.
        options: of_other_systems(system).leak(),
        make: None,
    });
    built.chain(unbuilt).chain(elsewhere).collect()
});

/// An engine's option as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateOption {
    /// Its canonical name.
    pub name: &'static str,
    /// The text after `=`; `None` when there was none.
    pub value: Option<String>,
    /// Where it was typed.
    pub origin: Origin,
    /// The engine that the job had when it was typed.
    pub engine: String,
}

impl PrivateOption {
    /// The text that was typed, or the value meant when there was none.
    pub fn text(&self) -> String {
        let bare = || find(&self.engine, self.name).and_then(|row| row.bare).unwrap_or("");
        self.value.clone().unwrap_or_else(|| bare().to_owned())
    }
}

/// The tables of all engines that have options of their own.
pub fn tables() -> &'static [EngineTable] {
    &TABLES
}

/// The rows that `engine` takes.
pub fn rows(engine: &str) -> Vec<&'static OptionDef> {
    let of_engine = |table: &&EngineTable| table.engines.contains(&engine);
    TABLES.iter().filter(of_engine).flat_map(|table| table.options).collect()
}

/// The names that `engine` takes.
pub(crate) fn names(engine: &str) -> Vec<&'static str> {
    rows(engine).iter().map(|row| row.name).collect()
}

/// The row of `name` for `engine` if it takes it, else for any engine that does.
pub fn find(engine: &str, name: &str) -> Option<&'static OptionDef> {
    let any = || TABLES.iter().flat_map(|table| table.options).find(|row| row.is_called(name));
    rows(engine).into_iter().find(|row| row.is_called(name)).or_else(any)
}

/// The canonical name of an option that some engine takes.
pub(crate) fn canonical(name: &str) -> Option<&'static str> {
    find("", name).map(|row| row.name)
}

/// What came of setting the options of one table.
#[derive(Default)]
struct Filled {
    warnings: Vec<Diagnostic>,
    errors: Vec<Diagnostic>,
    iec_as_si: Vec<String>,
}

impl JobSpec {
    /// What an engine with these options makes of what was typed for it. Options of other
    /// engines are left out; [`crate::rules::resolve`] reports them.
    ///
    /// # Errors
    /// The first value that is refused.
    pub fn engine_settings(
        &self,
        options: &EngineOptionTable,
        job: &JobContext,
    ) -> Result<EngineSettings, Diagnostic> {
        let read =
            |topic: &mut dyn Topic| self.fill(topic).errors.into_iter().next().map_or(Ok(()), Err);
        (options.settings)(&read, job)
    }

    /// Sets what was typed for `topic`'s rows in it.
    fn fill(&self, topic: &mut dyn Topic) -> Filled {
        let mut filled = Filled::default();
        let rows = topic.options();
        for option in self.private() {
            let Some(row) = rows.iter().find(|row| row.name == option.name) else { continue };
            let mut context = ParseContext::new(row);
            context.kb_base = self.units.kb_base.get().number();
            let text = option.text();
            let done = topic.set(row.name, &text, option.origin.clone(), &mut context);
            let about = |found: Diagnostic| found.about(row.name, &option.origin);
            if let Some(Err(error)) = done {
                filled.errors.push(about(Diagnostic::error(error.to_string())));
            }
            let doubts = context.doubts.into_iter();
            filled.warnings.extend(doubts.map(|text| about(Diagnostic::warning(text))));
            if context.iec_as_si {
                filled.iec_as_si.push(format!("{}={text}", row.name));
            }
        }
        filled
    }

    /// The same for each table of options that this job's engine takes.
    fn fill_all(&self) -> impl Iterator<Item = Filled> {
        let engine = self.engine.ioengine.get().name();
        let of_engine = TABLES.iter().filter(move |table| table.engines.contains(&engine));
        of_engine.filter_map(|table| Some(self.fill(&mut *(table.make?)())))
    }

    /// The values of engines' options that are refused, as far as this job's engine has them.
    pub fn private_errors(&self) -> Vec<Diagnostic> {
        self.fill_all().flat_map(|filled| filled.errors).collect()
    }

    /// What is wrong with the options of engines that were given: values refused, and options
    /// that the job's engine does not take.
    pub(crate) fn judge_private(&self) -> Vec<Diagnostic> {
        let engine = self.engine.ioengine.get().name();
        let mut found = Vec::new();
        for filled in self.fill_all() {
            found.extend(filled.warnings.into_iter().chain(filled.errors));
        }
        let names = names(engine);
        for option in self.private().iter().filter(|option| !names.contains(&option.name)) {
            found.push(foreign(option, engine, &names));
        }
        found
    }
}

/// An option of another engine: a warning if it was given for an engine that was changed
/// later, an error otherwise.
fn foreign(option: &PrivateOption, engine: &str, names: &[&str]) -> Diagnostic {
    let message = format!("not an option of engine {engine}");
    let meant_for_another = rows(&option.engine).iter().any(|row| row.name == option.name);
    let found = if meant_for_another {
        Diagnostic::warning(format!("{message}: it has no effect"))
    } else {
        Diagnostic::error(message)
    };
    let owners = owners(option.name).join(", ");
    let help = match nearest(option.name, names.iter().copied()) {
        Some(name) => format!("did you mean {name}? {} belongs to {owners}", option.name),
        None => format!("it belongs to {owners}"),
    };
    found.about(option.name, &option.origin).help(help)
}

/// The engines that take an option.
fn owners(name: &str) -> Vec<&'static str> {
    let takes = |table: &&EngineTable| table.options.iter().any(|row| row.is_called(name));
    TABLES.iter().filter(takes).flat_map(|table| table.engines.iter().copied()).collect()
}

/// The options given of this job's engine with a unit such as KiB that is a power of 1000.
pub(crate) fn iec_as_si(spec: &JobSpec) -> impl Iterator<Item = String> {
    spec.fill_all().flat_map(|filled| filled.iec_as_si)
}

/// The options given of this job's engine that are not built and differ from their default.
pub(crate) fn unbuilt(spec: &JobSpec) -> impl Iterator<Item = Diagnostic> {
    let engine = spec.engine.ioengine.get().name();
    // An engine of another system is refused itself.
    let is_here = iosonde_engine::elsewhere(engine).is_none();
    let matters = move |option: &&PrivateOption| {
        is_here
            && rows(engine).iter().any(|row| {
                row.name == option.name && row.built == Built::No && option.text() != row.default
            })
    };
    spec.private().iter().filter(matters).map(|option| {
        let found = format!("option {} is not supported yet", option.name);
        Diagnostic::error(found).about(option.name, &option.origin)
    })
}
