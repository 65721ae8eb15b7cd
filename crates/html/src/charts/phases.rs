//! The timeline: a line for each job, all on one axis.

use super::frame::{Chart, LEFT, RIGHT, at, in_lines, in_steps, width};
use super::scale::{Scale, ticks};
use iosonde_base::text::duration;
use iosonde_report::{JobPhase, Report};
use maud::{Markup, html};

/// Jobs at most.
const JOBS_MOST: usize = 48;
/// Height of a line.
const LINE: f64 = 22.0;
/// Classes in turn, so that neighbours differ.
const CLASSES: [&str; 3] = ["device", "hole", "cache"];

/// A phase at its place.
struct PlacedPhase<'a> {
    phase: &'a JobPhase,
    start_ns: u64,
}

/// The chart of a run in which jobs did more than run, or did not run at the same time.
pub(crate) fn chart(report: &Report) -> Option<Markup> {
    let names = report.job_names();
    let jobs: Vec<(&String, Vec<PlacedPhase>)> = names
        .iter()
        .zip(&report.ours.jobs)
        .filter(|(_, job)| !job.phases.is_empty())
        .map(|(name, job)| (name, placed(&job.phases)))
        .collect();
    let starts = jobs.iter().filter_map(|(_, phases)| Some(phases.first()?.start_ns));
    let together = starts.max().unwrap_or(0) == 0;
    if together && jobs.iter().all(|(_, phases)| phases.len() < 2) {
        return None;
    }
    let all = jobs.iter().flat_map(|(_, phases)| phases);
    let end = all.map(|one| one.start_ns + one.phase.duration_ns).max()?.max(1);
    let shown = &jobs[..jobs.len().min(JOBS_MOST)];
    let (unit_ns, unit) =
        if end < 1_000_000_000 { (1e6, "milliseconds") } else { (1e9, "seconds") };
    let last = end as f64 / unit_ns;
    let x = Scale::linear(0.0, last, LEFT, RIGHT);
    let bottom = 4.0 + LINE * shown.len() as f64;
    let named = named_phases(shown, end);
    let drawing = html! {
        @for (row, (name, phases)) in shown.iter().enumerate() {
            (line(name, phases, 4.0 + LINE * row as f64, &x, unit_ns))
        }
        @let axis = format!("{unit} from the start of the first job");
        (super::frame::x_axis(&labels(last), &x, bottom, &axis))
        (key(&named, bottom + 44.0))
    };
    let rows = jobs.iter().flat_map(|(name, phases)| {
        phases.iter().map(|one| {
            let (start, took) = (duration(one.start_ns), duration(one.phase.duration_ns));
            vec![(*name).clone(), one.phase.name.clone(), start, took]
        })
    });
    let more = match jobs.len() - shown.len() {
        0 => String::new(),
        more => format!(" The first {} jobs; {more} more are in the table.", shown.len()),
    };
    let chart = Chart {
        id: "phases",
        title: "Timeline of the jobs",
        finding: format!("{} from the first start to the last end.{more}", duration(end)),
        height: bottom + if named.is_empty() { 40.0 } else { 62.0 },
        drawing,
        table: (vec!["job", "phase", "from", "took"], rows.collect()),
    };
    Some(chart.markup())
}

fn labels(last: f64) -> Vec<(f64, String)> {
    let all = ticks(last);
    let step = all.get(1).copied().unwrap_or(1.0);
    all.into_iter().filter(|&tick| tick <= last).map(|tick| (tick, in_steps(tick, step))).collect()
}

/// The phases where they began; one after the other where that is not known.
fn placed(phases: &[JobPhase]) -> Vec<PlacedPhase<'_>> {
    let mut next = 0;
    let place = |phase: &'_ JobPhase| {
        let start_ns = phase.start_ns.unwrap_or(next);
        next = start_ns + phase.duration_ns;
        start_ns
    };
    let starts: Vec<u64> = phases.iter().map(place).collect();
    phases.iter().zip(starts).map(|(phase, start_ns)| PlacedPhase { phase, start_ns }).collect()
}

/// The names of phases besides `run` that are long enough to be seen, each with its class.
fn named_phases<'a>(
    jobs: &[(&String, Vec<PlacedPhase<'a>>)],
    end_ns: u64,
) -> Vec<(&'a str, &'static str)> {
    let mut named: Vec<(&str, &'static str)> = Vec::new();
    for (index, PlacedPhase { phase, .. }) in jobs.iter().flat_map(|job| job.1.iter().enumerate()) {
        let entry = (phase.name.as_str(), phase_class(phase, index));
        let is_seen = phase.duration_ns > end_ns / 100 && phase.name != "run";
        if is_seen && !named.contains(&entry) {
            named.push(entry);
        }
    }
    named
}

/// What the fills stand for, in a row.
fn key(named: &[(&str, &'static str)], top: f64) -> Markup {
    let wide = |entry: &(&str, &'static str)| width(entry.0) + 34.0;
    let places = in_lines(named.iter().map(wide), RIGHT);
    html! {
        @for ((x, y), (name, class)) in places.into_iter().zip(named) {
            rect class={ "part " (class) } x=(at(x)) y=(at(top + y)) width="12" height="12" {}
            text x=(at(x + 18.0)) y=(at(top + y + 10.0)) { (name) }
        }
    }
}

fn line(name: &str, phases: &[PlacedPhase], top: f64, x: &Scale, unit_ns: f64) -> Markup {
    html! {
        text x=(at(LEFT - 4.0)) y=(at(top + 13.0)) text-anchor="end" { (with_its_end(name)) }
        @for (index, PlacedPhase { phase, start_ns }) in phases.iter().enumerate() {
            @let left = x.at(*start_ns as f64 / unit_ns);
            @let wide = x.at((start_ns + phase.duration_ns) as f64 / unit_ns) - left;
            rect class={ "part " (phase_class(phase, index)) } x=(at(left)) y=(at(top)) width=(at(wide)) height="17" {
                title { (name) ": " (phase.name) " " (duration(phase.duration_ns)) }
            }
            @if wide > 7.0 * phase.name.len() as f64 + 8.0 && phase.name == "run" {
                text.inside x=(at(left + 5.0)) y=(at(top + 12.5)) { (phase.name) }
            }
        }
    }
}

/// A name that is too long for its place with its end, in which the clones of a job differ:
/// `log~s.10`.
fn with_its_end(name: &str) -> String {
    const END: usize = 4;
    let letters: Vec<char> = name.chars().collect();
    if width(name) <= LEFT - 6.0 || letters.len() <= END {
        return name.to_owned();
    }
    let (first, last) = letters.split_at(letters.len() - END);
    let short = |kept: usize| first[..kept].iter().chain(&['~']).chain(last).collect::<String>();
    let fits = (0..first.len()).rev().map(short).find(|short| width(short) <= LEFT - 6.0);
    fits.unwrap_or_else(|| short(0))
}

fn phase_class(phase: &JobPhase, index: usize) -> &'static str {
    match phase.name.as_str() {
        "run" => "level",
        _ => CLASSES[index % CLASSES.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_report::{OurJob, Ours};

    fn job(name: &str, start_ns: u64) -> OurJob {
        let phase = |name: &str, start_ns: u64, duration_ns: u64| JobPhase {
            name: name.to_owned(),
            duration_ns,
            start_ns: Some(start_ns),
        };
        let phases = vec![
            phase("open", start_ns, 1_000_000),
            phase("run", start_ns + 1_000_000, 999_000_000),
        ];
        OurJob { name: name.to_owned(), phases, ..OurJob::default() }
    }

    #[test]
    fn a_job_behind_others_begins_where_they_end() {
        let named =
            |name: &str| iosonde_report::JobReport { name: name.to_owned(), ..Default::default() };
        let report = Report {
            jobs: vec![named("a"), named("b")],
            ours: Ours { jobs: vec![job("a", 0), job("b", 1_000_000_000)], ..Ours::default() },
            ..Report::default()
        };
        assert_eq!(with_its_end("readers.10"), "readers.10");
        assert_eq!(with_its_end("log-writers.10"), "log-~s.10");
        let page = chart(&report).unwrap().into_string();
        let middle = at((LEFT + RIGHT) / 2.0);
        assert!(page.contains(&format!("x=\"{middle}\" y=\"26\"")), "{page}");
        assert!(page.contains("2.00 s from the first start to the last end"), "{page}");
    }
}
