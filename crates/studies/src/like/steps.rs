//! Running the steps of a workload.

use super::LikeArgs;
use super::job_text::{with_global, without};
use super::preset::{Preset, PresetSteps, StepResult};
use super::target::LikeTarget;
use crate::trials::between::BetweenRuns;
use iosonde_session::jobs::checked;
use iosonde_session::{RunEnd, RunLine, Session, document};
use iosonde_sys::temporary;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// One step: its name, a job file, the sections that run, and a pause before it.
struct PresetStep {
    name: String,
    text: String,
    sections: Vec<&'static str>,
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
    let text = placed(text, target);
    let steps = steps(preset, &text, arguments);
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
        results.push(one(step, preset, target, &line, session)?);
    }
    Ok(results)
}

/// The job file at its target.
fn placed(text: &str, target: &LikeTarget) -> String {
    let mut text = text.to_owned();
    let mut lines = vec![target.option.clone()];
    if target.option.starts_with("filename=") {
        text = without(&text, "filename");
    }
    if let Some(bytes) = target.bytes {
        // A longer size would extend the file.
        text = without(&text, "size");
        lines.push(format!("size={bytes}"));
    }
    with_global(&text, &lines)
}

fn steps(preset: &Preset, text: &str, arguments: &LikeArgs) -> Vec<PresetStep> {
    let step = |name: &str, text: &str, sections: &[&'static str], pause: Duration| PresetStep {
        name: name.to_owned(),
        text: text.to_owned(),
        sections: sections.to_vec(),
        pause,
    };
    match preset.steps {
        PresetSteps::Whole => vec![step(preset.name, text, &[], Duration::ZERO)],
        PresetSteps::Sections(sections) => sections
            .iter()
            .map(|sections| step(&sections.join(" and "), text, sections, Duration::ZERO))
            .collect(),
        PresetSteps::Depths(depths) => {
            let bare = without(text, "iodepth");
            let at = |depth: &&str| {
                let text = with_global(&bare, &[format!("iodepth={depth}")]);
                step(&format!("iodepth={depth}"), &text, &[], Duration::ZERO)
            };
            depths.iter().map(at).collect()
        }
        PresetSteps::Loops(sections) => {
            let mut steps: Vec<PresetStep> = Vec::new();
            for section in sections {
                for _ in 0..arguments.loops {
                    let pause = if steps.is_empty() { Duration::ZERO } else { arguments.pause };
                    steps.push(step(section, text, &[*section], pause));
                }
            }
            steps
        }
    }
}

/// A job file that is removed after its run.
struct JobFile(PathBuf);

impl Drop for JobFile {
    fn drop(&mut self) {
        // It may be gone; there is nobody to tell.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn one(
    step: &PresetStep,
    preset: &Preset,
    target: &LikeTarget,
    line: &RunLine,
    session: &Session,
) -> Result<StepResult, RunEnd> {
    let failed = |why: String| RunEnd::failed(why);
    let (path, mut file) = temporary::create(&std::env::temp_dir(), "iosonde-like")
        .map_err(|error| failed(format!("cannot create a job file: {error}")))?;
    let job = JobFile(path);
    file.write_all(step.text.as_bytes())
        .map_err(|error| failed(format!("cannot write the job file: {error}")))?;
    let mut words: Vec<String> =
        step.sections.iter().map(|section| format!("--section={section}")).collect();
    words.extend(target.erase.iter().map(|word| format!("--erase={word}")));
    if target.is_existing && !preset.writes {
        words.push("--readonly".to_owned());
    }
    words.push(job.0.to_string_lossy().into_owned());
    let parsed = checked(&words).map_err(RunEnd::Failed)?;
    let ran = session.measure_typed(&parsed, line)?;
    BetweenRuns::Sync.act(&ran.plan, session)?;
    let report = ran.report();
    Ok(StepResult { name: step.name.clone(), document: document(&report), report })
}
