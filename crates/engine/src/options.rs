//! Options that only one engine takes: declared in the engine's file, read by
//! the job language, and turned into settings by the engine itself.

use iosonde_options::{Diagnostic, OptionDef, Origin, Topic};
use std::any::Any;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

/// The options of an engine, as its catalogue entry names them. Engines that
/// share their options name the same static.
pub struct EngineOptionTable {
    /// Their rows: names, defaults, documentation.
    pub rows: &'static [OptionDef],
    /// All of them at their defaults.
    pub topic: fn() -> Box<dyn Topic>,
    /// The engine's settings for a job, from what was typed for it.
    pub settings: fn(ReadTyped, &JobContext) -> Result<EngineSettings, Diagnostic>,
}

/// Sets in a topic what was typed for its options.
///
/// # Errors
/// The first value that is refused.
pub type ReadTyped<'a> = &'a dyn Fn(&mut dyn Topic) -> Result<(), Diagnostic>;

impl EngineOptionTable {
    /// The options of `T`, declared by `rows`.
    pub const fn of<T: OwnOptions>(rows: &'static [OptionDef]) -> EngineOptionTable {
        EngineOptionTable {
            rows,
            topic: || Box::new(T::default()),
            settings: |read, job| {
                let mut options = T::default();
                read(&mut options)?;
                Ok(EngineSettings::new(options.settings(job)?))
            },
        }
    }
}

/// An engine's topic of options that knows what it means for a job.
pub trait OwnOptions: Topic + Default + 'static {
    /// What the engine works with.
    type Settings: OwnSettings;

    /// The settings that these options ask for.
    ///
    /// # Errors
    /// Values that contradict each other, or are not supported.
    fn settings(&self, job: &JobContext) -> Result<Self::Settings, Diagnostic>;
}

/// What an engine may need to know of a job besides its own options.
#[derive(Clone, Copy, Debug, Default)]
pub struct JobContext<'a> {
    /// The job's name.
    pub name: &'a str,
    /// Which clone of the job (`numjobs`), from 0.
    pub clone: u32,
    /// The job reads.
    pub reads: bool,
    /// `direct`.
    pub direct: bool,
    /// `atomic`.
    pub atomic: bool,
    /// `runtime` in whole seconds; 0 for none.
    pub runtime_s: u64,
    /// The first name in `filename`.
    pub filename: Option<&'a str>,
    /// Where `io_submit_mode=offload` was typed, if a pool of threads submits.
    pub offload: Option<&'a Origin>,
    /// The seed of random draws of priorities.
    pub priority_seed: u64,
}

/// The settings that an engine makes of its own options. Facts that others need have a
/// method; all else is the engine's alone.
pub trait OwnSettings: Any + Debug + Send + Sync {
    /// A kernel thread polls for submissions and takes a processor for it.
    fn kernel_thread_polls(&self) -> bool {
        false
    }

    /// Threads other than the job's may do some of its I/Os.
    fn uses_other_threads(&self) -> bool {
        self.kernel_thread_polls()
    }

    /// Some I/Os have a priority of their own.
    fn sets_priorities(&self) -> bool {
        false
    }

    /// The same, with syncs that wait for what was queued before them and hold up what follows;
    /// none where they do so anyway.
    fn with_drained_syncs(&self) -> Option<EngineSettings> {
        None
    }

    /// A path besides the job's files that it creates, changes or removes.
    fn changes_also(&self) -> Option<PathBuf> {
        None
    }

    /// Files that receive what a program prints.
    fn outputs(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// The settings of a job's engine; the default is the engine's own default.
#[derive(Clone, Debug, Default)]
pub struct EngineSettings(Option<Arc<dyn OwnSettings>>);

impl EngineSettings {
    /// These settings.
    pub fn new(settings: impl OwnSettings) -> EngineSettings {
        EngineSettings(Some(Arc::new(settings)))
    }

    /// The settings as the engine knows them: those of another engine, and
    /// none, are its default.
    pub fn of<S: OwnSettings + Clone + Default>(&self) -> S {
        self.get::<S>().cloned().unwrap_or_default()
    }

    /// Change the settings if they are of this type.
    pub fn change<S: OwnSettings + Clone>(&mut self, change: impl FnOnce(&mut S)) {
        if let Some(mut changed) = self.get::<S>().cloned() {
            change(&mut changed);
            *self = EngineSettings::new(changed);
        }
    }

    /// Let syncs wait for what was queued before them, and hold up what follows.
    pub fn drain_syncs(&mut self) {
        if let Some(drained) = self.0.as_ref().and_then(|settings| settings.with_drained_syncs()) {
            *self = drained;
        }
    }

    fn get<S: OwnSettings>(&self) -> Option<&S> {
        let settings: &dyn Any = &**self.0.as_ref()?;
        settings.downcast_ref()
    }

    /// See [`OwnSettings::kernel_thread_polls`].
    pub fn kernel_thread_polls(&self) -> bool {
        self.0.as_ref().is_some_and(|settings| settings.kernel_thread_polls())
    }

    /// See [`OwnSettings::uses_other_threads`].
    pub fn uses_other_threads(&self) -> bool {
        self.0.as_ref().is_some_and(|settings| settings.uses_other_threads())
    }

    /// See [`OwnSettings::sets_priorities`].
    pub fn sets_priorities(&self) -> bool {
        self.0.as_ref().is_some_and(|settings| settings.sets_priorities())
    }

    /// See [`OwnSettings::changes_also`].
    pub fn changes_also(&self) -> Option<PathBuf> {
        self.0.as_ref().and_then(|settings| settings.changes_also())
    }

    /// See [`OwnSettings::outputs`].
    pub fn outputs(&self) -> Vec<PathBuf> {
        self.0.as_ref().map_or_else(Vec::new, |settings| settings.outputs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Mine(u32);
    impl OwnSettings for Mine {}

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Other;
    impl OwnSettings for Other {
        fn kernel_thread_polls(&self) -> bool {
            true
        }
    }

    #[test]
    fn settings_are_seen_and_changed_by_their_own_engine_only() {
        let mut settings = EngineSettings::new(Mine(7));
        assert_eq!(settings.of::<Mine>(), Mine(7));
        settings.change(|mine: &mut Mine| mine.0 = 8);
        settings.change(|_: &mut Other| unreachable!("of another engine"));
        assert_eq!(settings.of::<Mine>(), Mine(8));
        assert_eq!(settings.of::<Other>(), Other);
        assert_eq!(EngineSettings::default().of::<Mine>(), Mine(0));
        assert!(!settings.uses_other_threads());
        assert!(EngineSettings::new(Other).uses_other_threads());
    }
}
