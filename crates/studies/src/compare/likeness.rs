//! Whether A and B are the same thing apart from what is compared: the parts
//! of what each ran on, side by side.

use super::fingerprints;
use super::side::{CompareSide, SideRun};
use crate::trials::figures::FigureLane;
use iosonde_report::finding::Severity;
use iosonde_report::ledger::{Environment, Ledger};
use iosonde_report::{JobReport, Report};
use serde::Serialize;
use std::collections::BTreeSet;

/// A part of a run's conditions: its jobs, and the system below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "&'static str")]
pub enum RunPart {
    /// The options of the jobs.
    Job,
    /// Processors, memory, virtual machine, limits of control groups.
    Machine,
    /// The kernel.
    Kernel,
    /// The devices below the files.
    Device,
    /// The file systems.
    Filesystem,
    /// The program and its version.
    Tool,
}

impl RunPart {
    const ALL: [RunPart; 6] = [
        RunPart::Job,
        RunPart::Machine,
        RunPart::Kernel,
        RunPart::Device,
        RunPart::Filesystem,
        RunPart::Tool,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            RunPart::Job => "job",
            RunPart::Machine => "machine",
            RunPart::Kernel => "kernel",
            RunPart::Device => "device",
            RunPart::Filesystem => "file system",
            RunPart::Tool => "tool",
        }
    }
}

impl From<RunPart> for &'static str {
    fn from(part: RunPart) -> &'static str {
        part.name()
    }
}

/// Something that is not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PartDifference {
    /// Of which part.
    pub part: RunPart,
    /// What: `iodepth`, `scheduler`.
    pub what: String,
    /// As A has it.
    pub a: String,
    /// As B has it.
    pub b: String,
    /// An option that is meant to differ.
    #[serde(rename = "intended")]
    pub is_meant: bool,
}

/// What differs between the sides besides their figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Likeness {
    /// What differs.
    pub differences: Vec<PartDifference>,
    /// Parts that are the same as far as is known.
    pub same: Vec<RunPart>,
    /// Parts that a result does not describe.
    pub unknown: Vec<RunPart>,
    /// Why the sides cannot be compared, if they cannot.
    pub stops: Vec<String>,
}

/// Options that say which of two runs it is, not what it does.
const NAMES: [&str; 3] = ["name", "description", "group_reporting"];

impl Likeness {
    /// Of two sides; `vary` names options that are meant to differ.
    pub fn of(sides: &[CompareSide; 2], vary: &[String]) -> Likeness {
        let mut likeness = Likeness::default();
        for part in RunPart::ALL {
            let facts = [0, 1].map(|side: usize| facts_of_side(part, &sides[side]));
            let [Some(a), Some(b)] = &facts else {
                likeness.unknown.push(part);
                continue;
            };
            let mut found = compare_facts(part, a, b, vary);
            if found.is_empty() {
                // What the facts do not name: the size of a file system, a limit.
                let more = [0, 1]
                    .map(|side: usize| facts_of(&sides[side], |report| recorded(part, report)));
                if let [Some(a), Some(b)] = &more {
                    found = compare_facts(part, a, b, vary);
                }
            }
            if found.is_empty() {
                likeness.same.push(part)
            } else {
                likeness.differences.extend(found)
            }
        }
        likeness.stops = stops(sides, vary);
        likeness
    }

    /// Differences that were not asked for, of parts that matter: a sentence
    /// each.
    pub fn warnings(&self) -> Vec<String> {
        let unasked = self.differences.iter().filter(|one| !one.is_meant);
        unasked
            .map(|one| {
                let word = if one.part == RunPart::Tool { "note" } else { "warning" };
                let (part, what) = (one.part.name(), &one.what);
                let what = if part == what { String::new() } else { format!(", {what}") };
                format!("{word}: the {part} differs{what}: {} in A, {} in B", one.a, one.b)
            })
            .collect()
    }
}

/// Names and values.
type PartFacts = Vec<(String, String)>;

fn facts_of_side(part: RunPart, side: &CompareSide) -> Option<PartFacts> {
    facts_of(side, |report| facts(part, report))
}

/// A part of the fingerprint that a result recorded. Jobs are compared by what
/// was typed, which has the origin of a difference.
fn recorded(part: RunPart, report: &Report) -> Option<PartFacts> {
    let fingerprint = &report.ours.ledger.as_deref()?.fingerprint;
    let text = match part {
        RunPart::Machine => &fingerprint.machine,
        RunPart::Kernel => &fingerprint.kernel,
        RunPart::Device => &fingerprint.device,
        RunPart::Filesystem => &fingerprint.filesystem,
        RunPart::Job | RunPart::Tool => return None,
    };
    (!text.is_empty()).then(|| fingerprints::facts(text))
}

/// What all runs of a side have; where they differ among themselves, `varies`.
fn facts_of(side: &CompareSide, facts: impl Fn(&Report) -> Option<PartFacts>) -> Option<PartFacts> {
    let mut runs = side.runs.iter();
    let mut common = facts(&runs.next()?.result.report)?;
    for run in runs {
        let other = facts(&run.result.report)?;
        for (name, value) in &mut common {
            let alike =
                |theirs: &String| theirs == value || name == "fill" && is_near(theirs, value);
            let same = other.iter().any(|(known, theirs)| known == name && alike(theirs));
            if !same {
                "varies".clone_into(value);
            }
        }
    }
    Some(common)
}

fn facts(part: RunPart, report: &Report) -> Option<PartFacts> {
    match part {
        RunPart::Job => Some(job_facts(report)),
        RunPart::Tool => Some(vec![("version".into(), tool(report))]),
        _ => ledger_facts(part, report.ours.ledger.as_deref()?),
    }
}

fn tool(report: &Report) -> String {
    let ledger = report.ours.ledger.as_ref();
    let ours = ledger.map(|ledger| ledger.environment.tool.clone());
    ours.filter(|tool| !tool.is_empty()).unwrap_or_else(|| report.version.clone())
}

/// The options of each job, those of all jobs under their bare names.
fn job_facts(report: &Report) -> PartFacts {
    let globals = report.global_options.as_deref().unwrap_or_default();
    let mut facts = PartFacts::new();
    for (at, job) in report.jobs.iter().enumerate() {
        let inherited =
            globals.iter().filter(|(name, _)| !job.options.iter().any(|own| own.0 == *name));
        for (name, value) in inherited.chain(&job.options) {
            if NAMES.contains(&name.as_str()) {
                continue;
            }
            let place = match report.jobs.len() {
                1 => name.clone(),
                _ => format!("{} (job {})", name, at + 1),
            };
            facts.push((place, value.clone()));
        }
    }
    facts
}

fn ledger_facts(part: RunPart, ledger: &Ledger) -> Option<PartFacts> {
    let environment = &ledger.environment;
    let facts: PartFacts = match part {
        RunPart::Machine => machine_facts(environment),
        RunPart::Kernel => vec![("kernel".into(), environment.kernel.clone())],
        RunPart::Device => device_facts(ledger),
        RunPart::Filesystem => filesystem_facts(environment),
        RunPart::Job | RunPart::Tool => return None,
    };
    Some(facts)
}

fn machine_facts(environment: &Environment) -> PartFacts {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".into());
    let number = |value: Option<String>| value.unwrap_or_else(|| "none".into());
    vec![
        ("processor".into(), text(&environment.cpu_model)),
        ("processors".into(), environment.cpus.to_string()),
        ("governor".into(), text(&environment.governor)),
        ("memory".into(), iosonde_base::text::bytes(environment.memory_bytes)),
        ("virtual machine".into(), text(&environment.virtual_machine)),
        ("container".into(), text(&environment.container)),
        (
            "processors of the control group".into(),
            number(environment.cgroup_cpus.map(|cpus| cpus.to_string())),
        ),
        (
            "memory of the control group".into(),
            number(environment.cgroup_memory_bytes.map(iosonde_base::text::bytes)),
        ),
    ]
}

fn device_facts(ledger: &Ledger) -> PartFacts {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "not reported".into());
    let mut facts = PartFacts::new();
    for (at, device) in ledger.devices.iter().enumerate() {
        let of = &device.facts;
        let name = |what: &str| match at {
            0 => what.to_owned(),
            _ => format!("{what} of device {}", at + 1),
        };
        facts.push((name("kind"), device.kind.clone()));
        facts.push((name("model"), text(&of.model)));
        facts.push((name("firmware"), text(&of.firmware)));
        facts.push((name("scheduler"), text(&of.scheduler)));
        facts.push((name("write cache"), text(&of.write_cache)));
    }
    facts.push(("devices".into(), ledger.devices.len().to_string()));
    facts
}

/// Fills within so many points of each other are alike.
const FILL_POINTS: f64 = 0.10;

fn filesystem_facts(environment: &Environment) -> PartFacts {
    let mut facts = PartFacts::new();
    for filesystem in &environment.filesystems {
        facts.push(("type".into(), filesystem.kind.clone()));
        facts.push(("options".into(), filesystem.options.clone()));
        if let Some(fill) = filesystem.fill_share.get() {
            facts.push(("fill".into(), iosonde_base::text::percent(fill)));
        }
    }
    facts.push(("file systems".into(), environment.filesystems.len().to_string()));
    facts
}

fn compare_facts(
    part: RunPart,
    a: &PartFacts,
    b: &PartFacts,
    vary: &[String],
) -> Vec<PartDifference> {
    let names: BTreeSet<&String> = a.iter().chain(b).map(|(name, _)| name).collect();
    let value = |facts: &PartFacts, name: &String| {
        let found = facts.iter().find(|(known, _)| known == name);
        found.map_or("not set".to_owned(), |(_, value)| {
            if value.is_empty() { "set".to_owned() } else { value.clone() }
        })
    };
    let differing = names.into_iter().filter_map(|name| {
        let (a, b) = (value(a, name), value(b, name));
        let alike = a == b || name == "fill" && is_near(&a, &b);
        let option = name.split(" (").next().unwrap_or(name);
        let is_meant = part == RunPart::Job && is_varied(vary, &[option]);
        (!alike).then(|| PartDifference { part, what: name.clone(), a, b, is_meant })
    });
    differing.collect()
}

fn is_near(a: &str, b: &str) -> bool {
    let share =
        |text: &str| text.trim_end_matches(" %").parse::<f64>().ok().map(|points| points / 100.0);
    share(a).zip(share(b)).is_some_and(|(a, b)| (a - b).abs() <= FILL_POINTS)
}

/// Whether one of `options` is meant to differ, by any of its names.
fn is_varied(vary: &[String], options: &[&str]) -> bool {
    let canonical =
        |name: &str| iosonde_spec::lookup(name).map_or(name.to_owned(), |def| def.name.into());
    vary.iter().any(|varied| {
        let varied = varied.rsplit(':').next().unwrap_or(varied);
        options.iter().any(|option| canonical(option) == canonical(varied))
    })
}

/// One reason not to compare, and the options that make it intended.
struct StopRule {
    intended_by: &'static [&'static str],
    reason: fn(&[CompareSide; 2]) -> Option<String>,
}

const STOPS: [StopRule; 6] = [
    StopRule { intended_by: &["rw", "rwmixread", "rwmixwrite"], reason: directions },
    StopRule {
        intended_by: &["bs", "bsrange", "bssplit", "rw", "rwmixread", "rwmixwrite"],
        reason: block_sizes,
    },
    StopRule {
        intended_by: &["runtime", "size", "io_size", "number_ios", "loops", "time_based"],
        reason: seconds,
    },
    StopRule {
        intended_by: &[
            "direct",
            "buffered",
            "invalidate",
            "ioengine",
            "size",
            "filename",
            "directory",
        ],
        reason: wrong,
    },
    StopRule {
        intended_by: &[
            "fsync",
            "fdatasync",
            "end_fsync",
            "fsync_on_close",
            "sync",
            "direct",
            "buffered",
        ],
        reason: durable,
    },
    StopRule {
        intended_by: &["rate", "rate_iops", "rate_process", "thinktime", "flow"],
        reason: pacing,
    },
];

/// Why two sides are not the same thing.
fn stops(sides: &[CompareSide; 2], vary: &[String]) -> Vec<String> {
    let unintended = STOPS.iter().filter(|rule| !is_varied(vary, rule.intended_by));
    unintended
        .filter_map(|rule| {
            let reason = (rule.reason)(sides)?;
            Some(format!("{reason}; if that is meant, add --vary={}", rule.intended_by[0]))
        })
        .collect()
}

/// What all runs of each side have, if all of a side have the same.
fn both<T: PartialEq>(sides: &[CompareSide; 2], of: impl Fn(&SideRun) -> T) -> Option<[T; 2]> {
    let one = |side: &CompareSide| {
        let first = of(side.runs.first()?);
        side.runs.iter().all(|run| of(run) == first).then_some(first)
    };
    Some([one(&sides[0])?, one(&sides[1])?])
}

fn directions(sides: &[CompareSide; 2]) -> Option<String> {
    let words = |run: &SideRun| {
        let lanes = FigureLane::used(&run.result.report);
        let names: Vec<&str> = lanes.into_iter().map(FigureLane::name).collect();
        if names.is_empty() { "does no I/O".to_owned() } else { names.join(" and ") }
    };
    let [a, b] = both(sides, words)?;
    (a != b).then(|| format!("the directions differ: A has {a}, B has {b}"))
}

fn block_sizes(sides: &[CompareSide; 2]) -> Option<String> {
    // The mean size of an I/O, of each direction.
    let mean = |run: &SideRun| -> u64 {
        let jobs = run.result.report.jobs.iter();
        let dirs: Vec<_> = jobs.flat_map(|job| job.shown()).map(|(_, dir)| dir).collect();
        let bytes: u64 = dirs.iter().map(|dir| dir.io_bytes).sum();
        bytes / dirs.iter().map(|dir| dir.total_ios).sum::<u64>().max(1)
    };
    let [a, b] = [0, 1].map(|side: usize| sides[side].runs.first().map(mean));
    let (a, b) = a.zip(b)?;
    let ratio = a.max(b) as f64 / a.min(b).max(1) as f64;
    let text = iosonde_base::text::bytes;
    (ratio > 1.1).then(|| format!("the block sizes differ: {} in A, {} in B", text(a), text(b)))
}

/// Runs of different length see different parts of a device's life; runs that
/// end with their size take as long as they take. Of jobs that both sides have, where there are such.
fn seconds(sides: &[CompareSide; 2]) -> Option<String> {
    let [a, b] = [0, 1].map(|side: usize| {
        sides[side].runs.first().map_or(&[][..], |run| &run.result.report.jobs[..])
    });
    let is_in = |jobs: &[JobReport], name: &str| jobs.iter().any(|job| job.name == name);
    let has_common = a.iter().any(|job| is_in(b, &job.name));
    let of = |jobs: &[JobReport], others: &[JobReport]| -> (f64, f64) {
        let counts = |job: &&JobReport| !has_common || is_in(others, &job.name);
        let shown = || jobs.iter().filter(counts).flat_map(JobReport::shown).map(|(_, dir)| dir);
        let ms = shown().map(|dir| dir.runtime_ms).max().unwrap_or(0);
        (ms as f64 / 1000.0, shown().map(|dir| dir.total_ios).sum::<u64>() as f64)
    };
    let ((a, a_ios), (b, b_ios)) = (of(a, b), of(b, a));
    let is_apart = |a: f64, b: f64, ratio: f64| a.max(b) > a.min(b) * ratio;
    let is_by_size = !is_apart(a_ios, b_ios, 1.02);
    (is_apart(a, b, 2.0) && !is_by_size)
        .then(|| format!("A measured for {a:.1} s and B for {b:.1} s"))
}

fn wrong(sides: &[CompareSide; 2]) -> Option<String> {
    let finding = |run: &SideRun| -> Option<String> {
        let ledger = run.result.report.ours.ledger.as_ref()?;
        let wrong = ledger.verdict.iter().find(|one| one.severity >= Severity::Wrong)?;
        Some(format!("[{}] {}", wrong.id, wrong.statement))
    };
    let first = |side: &CompareSide| side.runs.iter().find_map(finding);
    let all = |side: &CompareSide| side.runs.iter().all(|run| finding(run).is_some());
    let described =
        |side: &CompareSide| side.runs.iter().all(|run| run.result.report.ours.ledger.is_some());
    if !sides.iter().all(described) {
        return None;
    }
    for (name, this, other) in [("A", 0, 1), ("B", 1, 0)] {
        let other_name = if name == "A" { "B" } else { "A" };
        if all(&sides[this]) && first(&sides[other]).is_none() {
            let why = first(&sides[this])?;
            return Some(format!("{name} does not measure what {other_name} measures: {why}"));
        }
    }
    None
}

fn durable(sides: &[CompareSide; 2]) -> Option<String> {
    let is_durable = |run: &SideRun| -> Option<bool> {
        let writes = run.result.report.ours.ledger.as_ref()?.writes.as_ref()?;
        // A page or two are the file system's own.
        Some(writes.dirty_at_end_share()? < 0.01)
    };
    let [Some(a), Some(b)] = both(sides, is_durable)? else { return None };
    let words = |durable| if durable { "written back" } else { "still dirty in the page cache" };
    (a != b).then(|| {
        format!("when the clock stopped, the data of A were {}, those of B {}", words(a), words(b))
    })
}

fn pacing(sides: &[CompareSide; 2]) -> Option<String> {
    let is_paced = |run: &SideRun| -> Option<bool> {
        let ledger = run.result.report.ours.ledger.as_ref()?;
        Some(ledger.jobs.iter().any(|job| job.options.paced))
    };
    let [Some(a), Some(b)] = both(sides, is_paced)? else { return None };
    let words = |paced| if paced { "is paced" } else { "is not" };
    (a != b).then(|| {
        format!(
            "A {} and B {}: response and service times are not the same thing",
            words(a),
            words(b)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::side::tests::side;
    use super::*;
    use iosonde_base::Dir;
    use iosonde_report::DirReport;
    use iosonde_report::finding::Finding;
    use iosonde_report::ledger::{Fact, Writes};

    /// Two sides of one run each, B with a change.
    fn sides(change: impl Fn(&mut Ledger)) -> [CompareSide; 2] {
        let described = |change: &dyn Fn(&mut Ledger)| {
            let mut side = side("side", &[1000.0]);
            let mut ledger = Ledger::default();
            ledger.environment.kernel = "6.12.1".into();
            ledger.environment.tool = "iosonde 0.1.0".into();
            change(&mut ledger);
            side.runs[0].result.report.ours.ledger = Some(Box::new(ledger));
            side
        };
        [described(&|_| {}), described(&change)]
    }

    fn likeness(change: impl Fn(&mut Ledger), vary: &[&str]) -> Likeness {
        let vary: Vec<String> = vary.iter().map(|name| (*name).to_owned()).collect();
        Likeness::of(&sides(change), &vary)
    }

    #[test]
    fn equal_sides_have_nothing_to_say() {
        let likeness = likeness(|_| {}, &[]);
        assert_eq!((likeness.same, likeness.unknown), (RunPart::ALL.to_vec(), Vec::new()));
        assert!(likeness.differences.is_empty() && likeness.stops.is_empty());
    }

    #[test]
    fn jobs_of_one_side_only_do_not_make_its_length_another() {
        let [mut a, mut b] = sides(|_| {});
        let job = |name: &str, ms, ios| {
            let mut job = a.runs[0].result.report.jobs[0].clone();
            job.name = name.into();
            job.dirs[Dir::Read] =
                DirReport { runtime_ms: ms, total_ios: ios, ..DirReport::default() };
            job
        };
        // By size: as long as they take. By time, they would have done more.
        let (short, slow, long) = (job("j", 100, 400), job("j", 900, 400), job("j", 900, 4000));
        let other = job("of A only", 100, 400);
        a.runs[0].result.report.jobs = vec![short, other];
        b.runs[0].result.report.jobs = vec![slow];
        assert_eq!(seconds(&[a.clone(), b.clone()]), None);
        b.runs[0].result.report.jobs = vec![long];
        assert_eq!(seconds(&[a, b]).unwrap(), "A measured for 0.1 s and B for 0.9 s");
    }

    #[test]
    fn another_kernel_is_a_warning_and_another_version_of_the_tool_a_note() {
        let kernel = likeness(|ledger| ledger.environment.kernel = "6.18.0".into(), &[]);
        assert_eq!(kernel.warnings(), ["warning: the kernel differs: 6.12.1 in A, 6.18.0 in B"]);
        assert!(!kernel.same.contains(&RunPart::Kernel));
        let tool = likeness(|ledger| ledger.environment.tool = "iosonde 0.2.0".into(), &[]);
        assert_eq!(
            tool.warnings(),
            ["note: the tool differs, version: iosonde 0.1.0 in A, iosonde 0.2.0 in B"]
        );
    }

    #[test]
    fn a_side_that_measures_memory_is_not_compared_with_one_that_does_not() {
        let wrong = |ledger: &mut Ledger| {
            ledger.verdict.push(Finding {
                id: "page-cache-reads".into(),
                severity: Severity::Wrong,
                jobs: Vec::new(),
                statement: "all reads came from memory".into(),
                remedy: "set direct=1".into(),
            });
        };
        let stops = likeness(wrong, &[]).stops;
        assert!(stops[0].contains("B does not measure what A measures"), "{stops:?}");
        assert!(stops[0].contains("--vary=direct"), "{stops:?}");
        assert!(likeness(wrong, &["buffered", "direct"]).stops.is_empty());
    }

    #[test]
    fn written_back_is_not_compared_with_still_in_memory() {
        let writes = |dirty: u64| Writes {
            completed_bytes: 1000,
            dirty_at_end_bytes: Fact::Known(dirty),
            ..Writes::default()
        };
        let mut sides = sides(|ledger| ledger.writes = Some(writes(600)));
        let first = sides[0].runs[0].result.report.ours.ledger.as_mut().unwrap();
        first.writes = Some(writes(0));
        let stops = Likeness::of(&sides, &[]).stops;
        assert!(stops[0].contains("data of A were written back"), "{stops:?}");
        assert!(Likeness::of(&sides, &["end_fsync".into()]).stops.is_empty());
    }

    #[test]
    fn fills_within_ten_points_are_alike() {
        assert!(is_near("14.6 %", "20 %") && !is_near("14.6 %", "30 %"));
    }
}
