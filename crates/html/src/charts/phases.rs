//! What each job did when: one line a job.

use super::frame::{Chart, LEFT, RIGHT, at, cut};
use iosonde_base::text::duration;
use iosonde_report::{JobPhase, Report};
use maud::{Markup, html};

/// Jobs at most.
const JOBS_MOST: usize = 24;
/// Classes in turn, so that neighbours differ.
const CLASSES: [&str; 3] = ["device", "hole", "cache"];

/// The chart of a run in which jobs did more than run.
pub(crate) fn chart(report: &Report) -> Option<Markup> {
    let jobs: Vec<_> =
        report.ours.jobs.iter().filter(|job| job.phases.len() > 1).take(JOBS_MOST).collect();
    let length = |phases: &[JobPhase]| phases.iter().map(|phase| phase.duration_ns).sum::<u64>();
    let most = jobs.iter().map(|job| length(&job.phases)).max()?.max(1);
    let scale = (RIGHT - LEFT) / most as f64;
    let drawing = html! {
        @for (row, job) in jobs.iter().enumerate() {
            @let top = 4.0 + 24.0 * row as f64;
            text x=(at(LEFT - 8.0)) y=(at(top + 13.0)) text-anchor="end" { (cut(&job.name, 10)) }
            @for (x, wide, index) in places(&job.phases, scale) {
                @let phase = &job.phases[index];
                rect class={ "part " (phase_class(phase, index)) } x=(at(x)) y=(at(top)) width=(at(wide)) height="18" {
                    title { (phase.name) " " (duration(phase.duration_ns)) }
                }
                @if wide > 7.0 * phase.name.len() as f64 + 8.0 {
                    text.inside x=(at(x + 5.0)) y=(at(top + 13.0)) { (phase.name) }
                }
            }
        }
        text.name x=(at(RIGHT)) y=(at(18.0 + 24.0 * jobs.len() as f64)) text-anchor="end" {
            (duration(most)) " in all"
        }
    };
    let row = |job: &&iosonde_report::OurJob| {
        let words: Vec<String> = job
            .phases
            .iter()
            .map(|phase| format!("{} {}", phase.name, duration(phase.duration_ns)))
            .collect();
        vec![job.name.clone(), words.join(", ")]
    };
    let chart = Chart {
        id: "phases",
        title: "What the jobs did when",
        finding: format!("{} at the longest, one phase after the other.", duration(most)),
        height: 28.0 + 24.0 * jobs.len() as f64,
        drawing,
        table: (vec!["job", "phases"], jobs.iter().map(row).collect()),
    };
    Some(chart.markup())
}

/// The left border and the width of each phase.
fn places(phases: &[JobPhase], scale: f64) -> Vec<(f64, f64, usize)> {
    let mut x = LEFT;
    let place = |(index, phase): (usize, &JobPhase)| {
        let wide = phase.duration_ns as f64 * scale;
        let place = (x, wide, index);
        x += wide;
        place
    };
    phases.iter().enumerate().map(place).collect()
}

fn phase_class(phase: &JobPhase, index: usize) -> &'static str {
    match phase.name.as_str() {
        "run" => "level",
        _ => CLASSES[index % CLASSES.len()],
    }
}
