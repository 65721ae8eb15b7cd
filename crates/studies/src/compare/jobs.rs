//! The figures of each job, where there are several: jobs of A and B matched by
//! their names, those that are left by their order.

use super::comparison::{JudgeRequest, JudgedJob, RunDesign, SideComparison};
use super::likeness::Likeness;
use super::side::{CompareSide, SideRun};
use iosonde_judge::Margin;
use iosonde_report::{Ours, Report};
use iosonde_result::StoredResult;

/// Judge two sides: all jobs together, and each where there are several.
///
/// # Errors
/// As of [`SideComparison::judge`].
pub fn judge(
    sides: [CompareSide; 2],
    design: RunDesign,
    likeness: Likeness,
    request: &JudgeRequest,
) -> Result<SideComparison, String> {
    let mut judged = SideComparison::judge(sides, design, likeness, request)?;
    judged.jobs = judge_jobs(&judged.sides, &judged.design, judged.margin);
    Ok(judged)
}

/// The jobs of two sides; none where each has one.
fn judge_jobs(sides: &[CompareSide; 2], design: &RunDesign, margin: Margin) -> Vec<JudgedJob> {
    let names = [0, 1].map(|side: usize| names(&sides[side]));
    if names.iter().all(|names| names.len() < 2) {
        return Vec::new();
    }
    matched(&names).into_iter().map(|pair| judge_one(sides, design, margin, pair)).collect()
}

/// The names of a side's jobs, each once, in the order of its first result.
fn names(side: &CompareSide) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for job in side.runs.iter().flat_map(|run| &run.report().jobs) {
        if !names.contains(&job.name) {
            names.push(job.name.clone());
        }
    }
    names
}

/// The job of A and that of B; one of them where the other has none.
type JobPair = [Option<String>; 2];

fn matched([a, b]: &[Vec<String>; 2]) -> Vec<JobPair> {
    let mut rest_of_b = b.iter().filter(|name| !a.contains(name)).cloned();
    let mut pairs: Vec<JobPair> = a
        .iter()
        .map(|name| {
            if b.contains(name) {
                [Some(name.clone()), Some(name.clone())]
            } else {
                [Some(name.clone()), rest_of_b.next()]
            }
        })
        .collect();
    pairs.extend(rest_of_b.map(|name| [None, Some(name)]));
    pairs
}

fn judge_one(
    sides: &[CompareSide; 2],
    design: &RunDesign,
    margin: Margin,
    pair: JobPair,
) -> JudgedJob {
    let none = |name: &str, note: String| JudgedJob {
        name: name.to_owned(),
        note: Some(note),
        figures: Vec::new(),
    };
    let (a, b) = match &pair {
        [Some(a), Some(b)] => (a, b),
        [Some(a), None] => return none(a, "only in A".to_owned()),
        [None, Some(b)] => return none(b, "only in B".to_owned()),
        [None, None] => return none("", String::new()),
    };
    let name = if a == b { a.clone() } else { format!("{a} / {b}") };
    let of_job = [side_of(&sides[0], a), side_of(&sides[1], b)];
    let request = JudgeRequest { named: Vec::new(), margin };
    match SideComparison::judge(of_job, design.clone(), Likeness::default(), &request) {
        Ok(judged) => JudgedJob { name, note: None, figures: judged.figures },
        Err(why) => none(&name, why),
    }
}

/// A side with the results of one job only.
fn side_of(side: &CompareSide, name: &str) -> CompareSide {
    let run = |run: &SideRun| {
        let report = &run.result.report;
        let jobs = report.jobs.iter().filter(|job| job.name == name).cloned().collect();
        let ours = report.ours.jobs.iter().filter(|job| job.name == name).cloned().collect();
        let report =
            Report { jobs, ours: Ours { jobs: ours, ..Ours::default() }, ..Report::default() };
        let source = run.result.source.clone();
        SideRun {
            file: run.file.clone(),
            result: StoredResult { report, source, notes: Vec::new() },
        }
    };
    CompareSide { name: side.name.clone(), runs: side.runs.iter().map(run).collect() }
}

#[cfg(test)]
mod tests {
    use super::super::side::tests::side;
    use super::*;
    use iosonde_judge::Decision;

    fn own(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn jobs_are_matched_by_name_then_by_order() {
        let pairs = matched(&[own(&["a", "old", "c"]), own(&["c", "a", "new", "more"])]);
        let words: Vec<String> = pairs
            .iter()
            .map(|pair| pair.clone().map(Option::unwrap_or_default).join("/"))
            .collect();
        assert_eq!(words, ["a/a", "old/new", "c/c", "/more"]);
    }

    #[test]
    fn each_job_has_rows_of_its_own() {
        let two = |name: &str, fast: &[f64], slow: &[f64]| {
            let mut both = side(name, fast);
            for (run, other) in both.runs.iter_mut().zip(side(name, slow).runs) {
                let report = &mut run.result.report;
                report.jobs[0].name = "fast".into();
                report.jobs.extend(other.result.report.jobs);
            }
            both
        };
        let a = two("A", &[1000.0, 1001.0, 1002.0], &[100.0, 101.0, 100.0]);
        let b = two("B", &[1000.0, 1002.0, 1001.0], &[50.0, 50.5, 50.0]);
        let design = RunDesign::Pairs { orders: Vec::new(), alpha: 0.05, robust: false };
        let jobs = judge_jobs(&[a.clone(), b], &design, Margin::of_ratio(0.05));
        let decisions: Vec<(&str, Decision)> =
            jobs.iter().map(|job| (job.name.as_str(), job.figures[0].decision())).collect();
        assert_eq!(decisions, [("fast", Decision::Same), ("j", Decision::Differs)]);
        let alone = side("A", &[1.0, 2.0]);
        assert!(judge_jobs(&[alone.clone(), alone], &design, Margin::of_ratio(0.05)).is_empty());
        assert_eq!(
            judge_jobs(&[a.clone(), side("B", &[1.0, 1.0, 1.0])], &design, Margin::of_ratio(0.05))
                [0]
            .note
            .as_deref(),
            Some("only in A")
        );
    }
}
