//! Running the steps of a workload.

use super::LikeArgs;
use super::preset::{Preset, PresetSteps, StepResult};
use super::target::LikeTarget;
use crate::trials::between::BetweenRuns;
use crate::trials::settings::OptionSetting;
use iosonde_session::jobs::checked_in;
use iosonde_session::{RunEnd, RunLine, Session, document};
use iosonde_spec::cli::Parsed;
use iosonde_spec::text::include::JobFiles;
use std::io;
use std::time::Duration;

/// One step: its name, the sections that run (none: all), what is set in them, and a pause
/// before it.
struct PresetStep {
    name: String,
    sections: &'static [&'static str],
    settings: Vec<OptionSetting>,
    pause: Duration,
}

/// Run all steps.
///
/// # Errors
/// A job fails, or a signal comes.
pub fn run(
    preset: &Preset,
    text: &str,
    target: &LikeTarget,
    arguments: &LikeArgs,
    session: &Session,
) -> Result<Vec<StepResult>, RunEnd> {
    let jobs = parsed(preset, text, target)?;
    let steps = steps(preset, arguments);
    let mut results = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        session.wait(step.pause);
        let line = RunLine::new(format!(
            "{} {} of {}: {}",
            preset.name,
            number + 1,
            steps.len(),
            step.name
        ));
        results.push(one(step, &step.jobs(&jobs)?, &line, session)?);
    }
    Ok(results)
}

fn steps(preset: &Preset, arguments: &LikeArgs) -> Vec<PresetStep> {
    let step = |name: &str, sections: &'static [&'static str]| PresetStep {
        name: name.to_owned(),
        sections,
        settings: Vec::new(),
        pause: Duration::ZERO,
    };
    match preset.steps {
        PresetSteps::Whole => vec![step(preset.name, &[])],
        PresetSteps::Sections(all) => {
            all.iter().map(|sections| step(&sections.join(" and "), sections)).collect()
        }
        PresetSteps::Depths(depths) => {
            let at = |depth: &&str| {
                let depth = setting("iodepth", (*depth).to_owned());
                PresetStep { settings: vec![depth.clone()], ..step(&depth.text(), &[]) }
            };
            depths.iter().map(at).collect()
        }
        PresetSteps::Loops(sections) => {
            let mut steps: Vec<PresetStep> = Vec::new();
            for section in sections {
                for _ in 0..arguments.loops {
                    let pause = if steps.is_empty() { Duration::ZERO } else { arguments.pause };
                    steps
                        .push(PresetStep { pause, ..step(section, std::slice::from_ref(section)) });
                }
            }
            steps
        }
    }
}

fn setting(name: &str, value: String) -> OptionSetting {
    OptionSetting { section: None, name: name.to_owned(), value: Some(value) }
}

/// The job file of a workload, which is on no disk.
struct PresetFile<'a>(&'a str);

impl JobFiles for PresetFile<'_> {
    fn read(&self, _path: &str) -> io::Result<Vec<u8>> {
        Ok(self.0.as_bytes().to_vec())
    }
}

impl PresetStep {
    /// The jobs of the step, of all that there are.
    fn jobs(&self, all: &Parsed) -> Result<Parsed, RunEnd> {
        let mut parsed = all.clone();
        let runs = |name: &str| self.sections.is_empty() || self.sections.contains(&name);
        parsed.jobs.retain(|job| runs(&job.name));
        for setting in &self.settings {
            setting.apply(&mut parsed).map_err(RunEnd::failed)?;
        }
        Ok(parsed)
    }
}

/// All jobs of a workload at their target.
fn parsed(preset: &Preset, text: &str, target: &LikeTarget) -> Result<Parsed, RunEnd> {
    let mut words: Vec<String> =
        target.erase.iter().map(|word| format!("--erase={word}")).collect();
    if target.is_existing && !preset.writes {
        words.push("--readonly".to_owned());
    }
    words.push(format!("{}.fio", preset.name));
    let mut parsed = checked_in(&words, &PresetFile(text)).map_err(RunEnd::Failed)?;
    let mut settings = vec![OptionSetting::parse(&target.option).map_err(RunEnd::failed)?];
    // A longer size would extend the file.
    settings.extend(target.bytes.map(|bytes| setting("size", bytes.to_string())));
    for setting in &settings {
        setting.apply(&mut parsed).map_err(RunEnd::failed)?;
    }
    Ok(parsed)
}

fn one(
    step: &PresetStep,
    parsed: &Parsed,
    line: &RunLine,
    session: &Session,
) -> Result<StepResult, RunEnd> {
    let ran = session.measure_typed(parsed, line)?;
    BetweenRuns::Sync.act(&ran.plan, session)?;
    let report = ran.report();
    Ok(StepResult { name: step.name.clone(), document: document(&report), report })
}
