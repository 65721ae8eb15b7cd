//! Rules between options. A rule implies a value, or reports a conflict.

mod block;
mod depth;
mod durability;
mod files;
mod last_wins;
mod no_exec;
mod random;
mod rate;
mod time;
mod zones;

use iosonde_options::Diagnostic;

use crate::JobSpec;

pub use iosonde_engine::Caps;
pub(crate) use last_wins::last_wins;
pub use no_exec::refuse_programs;

/// One rule: its name, its text, and its code.
pub struct OptionRule {
    /// A name for documents and tests.
    pub name: &'static str,
    /// The rule in a sentence.
    pub doc: &'static str,
    /// Sets what it implies, and reports conflicts.
    pub apply: fn(&mut JobSpec, &Caps, &mut Vec<Diagnostic>),
}

/// All rules, in the order in which they run.
pub fn all() -> impl Iterator<Item = &'static OptionRule> {
    let topics =
        [time::RULES, block::RULES, random::RULES, depth::RULES, durability::RULES, files::RULES];
    topics.into_iter().chain([zones::RULES, rate::RULES]).flatten()
}

/// Turns a job as specified into the job as it will run: every rule is applied. The job must
/// not run if an error is returned.
pub fn resolve(spec: &mut JobSpec, caps: &Caps) -> Vec<Diagnostic> {
    let mut found = spec.judge_private();
    for rule in all() {
        (rule.apply)(spec, caps, &mut found);
    }
    found.extend(spec.unbuilt());
    found
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

    /// The job after all rules, and their diagnostics.
    pub fn resolved(options: &[&str]) -> (JobSpec, Vec<Diagnostic>) {
        let mut spec = job(options);
        let caps = Caps { trim: true, atomic: true, ..Caps::default() };
        let found = resolve(&mut spec, &caps);
        (spec, found)
    }

    /// The errors of the rules about a job.
    pub fn errors(options: &[&str]) -> Vec<String> {
        let (_, found) = resolved(options);
        let errors = found.into_iter().filter(|found| found.level == Level::Error);
        errors.map(|found| found.message).collect()
    }

    /// All diagnostics of the rules about a job.
    pub fn remarks(options: &[&str]) -> Vec<String> {
        resolved(options).1.into_iter().map(|found| found.message).collect()
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
        let found = errors(&["rate=1m", "rate_iops=5", "zonesize=1m"]);
        assert!(found.iter().any(|found| found.contains("mutually exclusive")));
        assert!(found.iter().any(|found| found.contains("zonemode=none")));
    }
}
