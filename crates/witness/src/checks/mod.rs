//! The rules of the verdict: each in a file of its own, all in one table.
//!
//! A rule looks at a ledger and nothing else, so that it can be held against
//! ledgers of other machines, written down.

mod absorbed;
mod cache_below;
mod cache_reads;
mod cheap_fsync;
mod closed_loop;
mod compressible;
mod cpu_bound;
mod cpu_taken;
mod depth;
mod few_processors;
#[cfg(test)]
mod fixture;
mod holes;
mod lost_flushes;
mod not_direct;
mod not_durable;
mod other_traffic;
mod repeated_offsets;
mod short_run;
mod small_span;
mod steady;
mod storage_limit;
mod tool_bound;
mod unflushed;
mod units;
mod vm_cache;

use iosonde_report::ledger::{Finding, JobLedger, Ledger, Severity};
use std::fmt::Write;

/// A rule: when it finds something, what that means, what to do.
#[derive(Debug)]
pub struct Rule {
    /// Its name, for `iosonde explain`.
    pub id: &'static str,
    /// The worst it says.
    pub severity: Severity,
    /// When it finds something: a fragment.
    pub condition: &'static str,
    /// What that means for the figures.
    pub meaning: &'static str,
    /// What to do: an imperative.
    pub remedy: &'static str,
    check: fn(&Ledger) -> Vec<Found>,
}

/// What a rule's function gives; [`judge`] adds the rest.
struct Found {
    severity: Severity,
    jobs: Vec<String>,
    sentence: String,
}

impl Found {
    fn of_run(severity: Severity, sentence: String) -> Vec<Found> {
        vec![Found { severity, jobs: Vec::new(), sentence }]
    }
}

/// All rules, in the order they are told among equals.
pub fn rules() -> &'static [Rule] {
    &RULES
}

static RULES: [Rule; 24] = [
    cache_reads::RULE,
    cache_below::RULE,
    not_direct::RULE,
    holes::RULE,
    not_durable::RULE,
    absorbed::RULE,
    lost_flushes::RULE,
    unflushed::RULE,
    cheap_fsync::RULE,
    vm_cache::RULE,
    depth::RULE,
    few_processors::RULE,
    tool_bound::RULE,
    cpu_bound::RULE,
    cpu_taken::RULE,
    storage_limit::RULE,
    other_traffic::RULE,
    small_span::RULE,
    repeated_offsets::RULE,
    compressible::RULE,
    units::RULE,
    short_run::RULE,
    steady::RULE,
    closed_loop::RULE,
];

/// What the rules find in a ledger, worst first.
pub fn judge(ledger: &Ledger) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES
        .iter()
        .flat_map(|rule| (rule.check)(ledger).into_iter().map(move |found| (rule, found)))
        .map(|(rule, found)| Finding {
            rule: rule.id,
            severity: found.severity,
            jobs: found.jobs,
            sentence: found.sentence,
            remedy: rule.remedy,
        })
        .collect();
    // A stable sort: rules keep their order among equals.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

/// The rule of that name.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}

/// A rule as a person reads it: `iosonde explain ID`.
pub fn explain(rule: &Rule) -> String {
    format!(
        "{} ({} at worst)\n\nFound when {}.\n\n{}\n\nWhat to do: {}.\n\nMore: docs/verdict.md#{}\n",
        rule.id,
        rule.severity.word(),
        rule.condition,
        rule.meaning,
        rule.remedy,
        rule.id
    )
}

/// docs/verdict.md: every rule.
pub fn page() -> String {
    let mut page = String::from(
        "# The verdict\n\n\
         <!-- Made from the rules by `cargo run -p xtask -- docs`: change the rules. -->\n\n\
         Each run is held against these rules, by what was measured around it (see the ledger in\n\
         the README). A finding has a severity: **note**, good to know; **warning**, the figures\n\
         mean something else than one would think; **wrong**, they are not of what was to be\n\
         measured. `iosonde explain ID` prints a rule. The exit code stays as it is unless\n\
         `--strict` is given: then it is 3 after a warning or worse in a run that went well.\n\
         A rule that lacks a signal says nothing; the ledger tells what is unknown, and why.\n\n",
    );
    for rule in &RULES {
        // Writing to a String cannot fail.
        let _ = writeln!(page, "- [{}](#{}): {}", rule.id, rule.id, rule.condition);
    }
    for rule in &RULES {
        let _ = write!(
            page,
            "\n## {}\n\n**Severity**: {} at worst. **Found when** {}.\n\n{}\n\n**What to do**: {}.\n",
            rule.id,
            rule.severity.word(),
            rule.condition,
            rule.meaning,
            rule.remedy
        );
    }
    page
}

/// One finding for all jobs that `look` finds something about: the sentence of
/// the worst, and how many others there are.
fn worst_job(
    ledger: &Ledger,
    look: impl Fn(&JobLedger) -> Option<(Severity, String)>,
) -> Vec<Found> {
    let all: Vec<(&JobLedger, Severity, String)> = ledger
        .jobs
        .iter()
        .filter_map(|job| look(job).map(|(severity, sentence)| (job, severity, sentence)))
        .collect();
    // Of equals the first.
    let worst = all
        .iter()
        .enumerate()
        .max_by_key(|(at, (_, severity, _))| (*severity, std::cmp::Reverse(*at)));
    let Some((_, (job, severity, sentence))) = worst else { return Vec::new() };
    let mut jobs: Vec<String> = all.iter().map(|(job, ..)| job.name.clone()).collect();
    jobs.dedup();
    let mut sentence = match ledger.jobs.len() {
        1 => sentence.clone(),
        _ => format!("{}: {sentence}", job.name),
    };
    if all.len() > 1 {
        let _ = write!(
            sentence,
            " (and so {} other {})",
            all.len() - 1,
            if all.len() == 2 { "job" } else { "jobs" }
        );
    }
    vec![Found { severity: *severity, jobs, sentence }]
}

/// `12.3 %`.
fn percent(share: f64) -> String {
    match share * 100.0 {
        share if share > 99.95 && share < 100.0 => "99.9 %".to_owned(),
        share => format!("{share:.1} %"),
    }
}

/// `1.5 GiB`.
fn bytes(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "KiB", "MiB", "GiB", "TiB"] {
        if value < 1000.0 {
            return if unit == "B" { format!("{value} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    format!("{value:.1} PiB")
}

/// `1.50 ms`.
fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.1} ms", ns / 1e6),
        ns => format!("{:.1} s", ns / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_clean_ledger_has_no_findings_and_so_has_an_empty_one() {
        assert_eq!(judge(&fixture::clean()), []);
        assert_eq!(judge(&Ledger::default()), []);
    }

    #[test]
    fn each_rule_has_a_name_of_its_own_and_reads_as_a_sentence() {
        let ids: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), RULES.len());
        for rule in rules() {
            assert!(
                rule.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                "{}",
                rule.id
            );
            assert!(!rule.condition.ends_with('.') && !rule.remedy.ends_with('.'), "{}", rule.id);
            assert!(rule.meaning.ends_with('.'), "{}", rule.id);
            assert!(page().contains(&format!("\n## {}\n", rule.id)));
            assert!(explain(find(rule.id).unwrap()).contains(rule.remedy));
        }
        assert!(find("no-such-rule").is_none());
    }

    #[test]
    fn the_worst_comes_first_and_jobs_alike_are_told_once() {
        let mut ledger = fixture::clean();
        ledger.jobs[0].runtime_ns = 1_000_000_000;
        let mut other = ledger.jobs[0].clone();
        other.name = "other".into();
        ledger.jobs.push(other);
        for job in &mut ledger.jobs {
            job.direct.got = iosonde_report::ledger::Observed::Is(false);
        }
        let findings = judge(&ledger);
        assert!(findings.windows(2).all(|pair| pair[0].severity >= pair[1].severity));
        assert_eq!(findings[0].rule, "not-direct");
        assert_eq!(findings[0].jobs, ["db", "other"]);
        assert!(findings[0].sentence.ends_with("(and so 1 other job)"), "{}", findings[0].sentence);
    }

    #[test]
    fn figures_are_short() {
        assert_eq!(
            [percent(0.99996), percent(1.0), percent(0.005)],
            ["99.9 %", "100.0 %", "0.5 %"]
        );
        assert_eq!([bytes(5), bytes(1 << 20), bytes(u64::MAX)], ["5 B", "1.0 MiB", "16384.0 PiB"]);
        assert_eq!(
            [time(9.0), time(1500.0), time(2.5e6), time(3e9)],
            ["9 ns", "1.5 us", "2.5 ms", "3.0 s"]
        );
    }
}
