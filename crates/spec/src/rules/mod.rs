//! How options bear on each other. A rule either implies (sets what nobody set) or objects.

mod block;
mod depth;
mod durability;
mod files;
mod last_wins;
mod random;
mod rate;
mod time;
mod zones;

use iosonde_options::Diagnostic;

use crate::JobSpec;

pub use iosonde_engine::Caps;
pub(crate) use last_wins::last_wins;

/// One rule: its name, what it says, and the saying of it.
pub struct OptionRule {
    /// A name for documents and tests.
    pub name: &'static str,
    /// The rule in a sentence.
    pub doc: &'static str,
    /// Changes what it implies, and says what it objects to.
    pub apply: fn(&mut JobSpec, &Caps, &mut Vec<Diagnostic>),
}

/// All rules, in the order in which they run.
pub fn all() -> impl Iterator<Item = &'static OptionRule> {
    let topics =
        [time::RULES, block::RULES, random::RULES, depth::RULES, durability::RULES, files::RULES];
    topics.into_iter().chain([zones::RULES, rate::RULES]).flatten()
}

/// Turns a job as it was asked for into the job as it is meant: every rule runs, and none
/// hides another. The job must not run if an error is among what comes back.
pub fn resolve(spec: &mut JobSpec, caps: &Caps) -> Vec<Diagnostic> {
    let mut said = spec.judge_private();
    for rule in all() {
        (rule.apply)(spec, caps, &mut said);
    }
    said.extend(spec.unbuilt());
    said
}

/// What `--readonly` says to a job that would change data; `None` to one that would not.
pub fn refuse_writes(spec: &JobSpec) -> Option<Diagnostic> {
    let rw = spec.order.rw.get().word;
    let changes = rw.writes() || rw.trims();
    changes.then(|| {
        Diagnostic::error("trim and write operations are not allowed with the --readonly parameter")
            .about("rw", spec.order.rw.origin())
    })
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use iosonde_options::{Level, Origin};

    /// A job with these options, typed in this order.
    pub fn job(options: &[&str]) -> JobSpec {
        let mut spec = JobSpec::default();
        for (index, option) in options.iter().enumerate() {
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (*option, None),
            };
            let origin = Origin::CommandLine { index: index + 1 };
            spec.set(name, value, origin).unwrap_or_else(|e| panic!("{option}: {e}"));
        }
        spec
    }

    /// The job after all rules, and what they said.
    pub fn resolved(options: &[&str]) -> (JobSpec, Vec<Diagnostic>) {
        let mut spec = job(options);
        let caps = Caps { trim: true, atomic: true, ..Caps::default() };
        let said = resolve(&mut spec, &caps);
        (spec, said)
    }

    /// The errors that the rules have about a job.
    pub fn errors(options: &[&str]) -> Vec<String> {
        let (_, said) = resolved(options);
        let errors = said.into_iter().filter(|said| said.level == Level::Error);
        errors.map(|said| said.message).collect()
    }

    /// Everything that the rules say about a job, errors or not.
    pub fn remarks(options: &[&str]) -> Vec<String> {
        resolved(options).1.into_iter().map(|said| said.message).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::*;
    use super::*;

    #[test]
    fn no_two_rules_have_the_same_name_and_each_is_explained() {
        let mut names: Vec<&str> = all().map(|rule| rule.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(all().all(|rule| rule.doc.ends_with('.')));
    }

    #[test]
    fn a_plain_job_is_not_spoken_of() {
        assert_eq!(remarks(&["rw=randread", "bs=4k", "size=1m", "runtime=1"]), [""; 0]);
    }

    #[test]
    fn one_objection_does_not_hide_another() {
        let said = errors(&["rate=1m", "rate_iops=5", "zonesize=1m"]);
        assert!(said.iter().any(|said| said.contains("mutually exclusive")));
        assert!(said.iter().any(|said| said.contains("zonemode=none")));
    }

    #[test]
    fn readonly_refuses_what_changes_data() {
        assert!(refuse_writes(&job(&["rw=randread"])).is_none());
        for rw in ["rw=write", "rw=randrw", "rw=trim", "rw=trimwrite"] {
            assert!(refuse_writes(&job(&[rw])).is_some(), "{rw}");
        }
    }
}
