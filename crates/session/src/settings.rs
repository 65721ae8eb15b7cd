//! The settings of a run for its result: the command line, and the options with
//! their origin.

use iosonde_report::{JobSettings, RunSettings, SetOption, UsedVariable};
use iosonde_run::job::Plan;
use iosonde_spec::JobSpec;
use iosonde_spec::cli::{Parsed, ParsedJob};

/// The settings of a run.
pub fn settings(parsed: &Parsed, plan: &Plan) -> RunSettings {
    let argv = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let job = |(section, job): (usize, &ParsedJob)| {
        let first = plan.jobs.iter().find(|job| job.section == section);
        JobSettings {
            name: job.name.clone(),
            seed: first.map_or(0, |job| job.source.randseed),
            options: set_options(&job.spec),
        }
    };
    let variables = parsed.variables.iter();
    RunSettings {
        argv: argv.collect(),
        environment: variables
            .map(|(name, value)| UsedVariable { name: name.clone(), value: value.clone() })
            .collect(),
        jobs: parsed.jobs.iter().enumerate().map(job).collect(),
    }
}

/// Each option that is set, those of engines last.
pub fn set_options(spec: &JobSpec) -> Vec<SetOption> {
    let common = iosonde_spec::all().filter(|row| spec.is_set(row.name)).map(|row| SetOption {
        name: row.name.to_owned(),
        value: spec.show(row.name).unwrap_or_default(),
        origin: spec.origin(row.name).unwrap_or_default().to_string(),
    });
    let private = spec.private().iter().map(|option| SetOption {
        name: option.name.to_owned(),
        value: option.text(),
        origin: option.origin.to_string(),
    });
    common.chain(private).collect()
}

/// Options that name or describe a job, or the place that its device part
/// shows more about, and do not change what it does.
const NAMES: [&str; 4] = ["name", "description", "filename", "directory"];

/// The job's part of the fingerprint: of each section the options that are not
/// at their defaults, by name.
pub fn fingerprint(parsed: &Parsed) -> String {
    let defaults = JobSpec::default();
    let section = |job: &ParsedJob| {
        let spec = &job.spec;
        // A seed that was drawn for this run is another in each.
        let is_drawn = |name: &str| name == "randseed" && !spec.random.randseed.is_typed();
        let counts = |name: &str| !NAMES.contains(&name) && !is_drawn(name);
        let common = iosonde_spec::all().filter(|row| counts(row.name)).filter_map(|row| {
            let value = spec.show(row.name)?;
            (defaults.show(row.name).as_ref() != Some(&value)).then_some((row.name, value))
        });
        let private = spec.private().iter().map(|option| (option.name, option.text()));
        let mut pairs: Vec<String> =
            common.chain(private).map(|(name, value)| format!("{name}={value}")).collect();
        iosonde_base::sort(&mut pairs);
        pairs.join("; ")
    };
    parsed.jobs.iter().map(section).collect::<Vec<_>>().join(" | ")
}
