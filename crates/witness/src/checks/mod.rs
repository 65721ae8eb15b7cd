//! The rules of the verdict: each in a file named after its id, all in one table.
//!
//! A rule looks at a ledger and nothing else, so that it can be tested with
//! ledgers of other machines.

mod cache_below;
mod cheap_fsync;
mod closed_loop;
mod compressible_data;
mod cpu_bound;
mod cpu_taken;
mod depth_not_reached;
#[cfg(test)]
pub(crate) mod fixture;
mod fsync_without_flush;
mod group_limits;
mod holes_read;
mod kib_is_1000;
mod lost_flushes;
mod memory_device;
mod no_storage;
mod not_direct;
mod not_durable;
mod not_steady;
mod other_traffic;
mod overwritten_in_memory;
mod page_cache_reads;
mod page_out;
mod rate_not_reached;
mod read_ahead_latency;
mod same_offsets;
mod short_run;
mod small_span;
mod sqpoll_few_cores;
mod stopped;
mod tool_bound;
mod verify_from_cache;
mod vm_write_cache;
mod write_cache_not_flushed;

use iosonde_base::text::counted;
use iosonde_report::finding::{self, Finding, FindingRule, Severity, Statement};
use iosonde_report::ledger::{JobLedger, Ledger};
use std::fmt::Write;

/// All rules, in the order they are printed among equals.
pub fn rules() -> &'static [FindingRule<Ledger>] {
    RULES
}

static RULES: &[FindingRule<Ledger>] = &[
    verify_from_cache::RULE,
    page_cache_reads::RULE,
    cache_below::RULE,
    memory_device::RULE,
    no_storage::RULE,
    not_direct::RULE,
    holes_read::RULE,
    not_durable::RULE,
    overwritten_in_memory::RULE,
    lost_flushes::RULE,
    fsync_without_flush::RULE,
    write_cache_not_flushed::RULE,
    cheap_fsync::RULE,
    vm_write_cache::RULE,
    depth_not_reached::RULE,
    sqpoll_few_cores::RULE,
    tool_bound::RULE,
    cpu_bound::RULE,
    cpu_taken::RULE,
    stopped::RULE,
    group_limits::RULE,
    other_traffic::RULE,
    small_span::RULE,
    page_out::RULE,
    read_ahead_latency::RULE,
    same_offsets::RULE,
    compressible_data::RULE,
    kib_is_1000::RULE,
    short_run::RULE,
    rate_not_reached::RULE,
    not_steady::RULE,
    closed_loop::RULE,
];

/// The rules that also hold for a part of a run; the others need its end, or what is read there.
static WHILE_RUNNING: &[FindingRule<Ledger>] =
    &[page_cache_reads::RULE, depth_not_reached::RULE, cpu_taken::RULE, not_steady::RULE];

/// What the rules find in a ledger of a run that goes on, worst first.
pub fn judge_while_running(ledger: &Ledger) -> Vec<Finding> {
    finding::judge(WHILE_RUNNING, ledger)
}

/// What the rules find in a ledger, worst first.
pub fn judge(ledger: &Ledger) -> Vec<Finding> {
    finding::judge(RULES, ledger)
}

/// docs/verdict.md: every rule.
pub fn page() -> String {
    let mut page = String::from(
        "# The verdict\n\n\
         <!-- Made from the rules by `cargo run -p xtask -- docs`: change the rules. -->\n\n\
         After each run these rules are applied to its ledger: what was measured besides the\n\
         results (see the README). A finding has a severity: **note**, good to know; **warning**,\n\
         the results are easily misread; **wrong**, the results are not of what was to be measured.\n\
         `iosonde explain ID` prints a rule. The exit code does not change unless `--strict` is\n\
         given: then it is 3 after a warning or worse in a run without errors. A rule that lacks a\n\
         counter finds nothing. What could not be seen is listed as `unknown`, and a run without\n\
         findings is then not called clean; with `--strict` the exit code is 4.\n\n",
    );
    for rule in RULES {
        // Writing to a String cannot fail.
        let _ = writeln!(page, "- [{}](#{}): {}", rule.id, rule.id, rule.condition);
    }
    for rule in RULES {
        let _ = write!(
            page,
            "\n## {}\n\n**Severity**: {} at most. **Found when** {}.\n\n{}\n\n**What to do**: {}.\n",
            rule.id,
            rule.severity.word(),
            rule.condition,
            rule.meaning,
            rule.remedy
        );
    }
    page
}

/// One statement for all jobs that `check` finds something about: the text of
/// the worst, and how many others there are.
fn worst_job(
    ledger: &Ledger,
    check: impl Fn(&JobLedger) -> Option<(Severity, String)>,
) -> Vec<Statement> {
    let named = ledger.jobs.iter().zip(ledger.job_names());
    let all: Vec<((&JobLedger, String), Severity, String)> = named
        .filter_map(|(job, name)| check(job).map(|(severity, text)| ((job, name), severity, text)))
        .collect();
    // Of equals the first.
    let worst = all
        .iter()
        .enumerate()
        .max_by_key(|(at, (_, severity, _))| (severity, std::cmp::Reverse(*at)));
    let Some((_, ((_, name), severity, text))) = worst else { return Vec::new() };
    let mut jobs: Vec<String> = all.iter().map(|((job, _), ..)| job.name.clone()).collect();
    jobs.dedup();
    let mut text = match ledger.jobs.len() {
        1 => text.clone(),
        _ => format!("{name}: {text}"),
    };
    if all.len() > 1 {
        let others = counted(all.len() as u64 - 1, "other job");
        let _ = write!(text, " (also {others})");
    }
    vec![Statement { severity: severity.clone(), jobs, text }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_report::ledger::Fact;
    use std::collections::BTreeSet;

    #[test]
    fn a_clean_ledger_has_no_findings_and_so_has_an_empty_one() {
        assert_eq!(judge(&fixture::clean()), []);
        assert_eq!(judge(&Ledger::default()), []);
    }

    #[test]
    fn each_rule_has_an_id_of_its_own_and_a_section_on_the_page() {
        let ids: BTreeSet<&str> = rules().iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), RULES.len());
        for rule in rules() {
            assert_eq!(finding::faults(rule), [""; 0]);
            assert!(page().contains(&format!("\n## {}\n", rule.id)));
        }
    }

    #[test]
    fn a_rule_is_in_the_file_named_after_its_id() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/checks");
        for rule in rules() {
            let file = folder.join(format!("{}.rs", rule.id.replace('-', "_")));
            let text = std::fs::read_to_string(&file).expect(rule.id);
            assert!(text.contains(&format!("id: \"{}\"", rule.id)), "{}", file.display());
        }
    }

    #[test]
    fn the_worst_comes_first_and_jobs_alike_have_one_finding() {
        let mut ledger = fixture::clean();
        ledger.jobs[0].runtime_ns = 1_000_000_000;
        let mut other = ledger.jobs[0].clone();
        other.name = "other".into();
        ledger.jobs.push(other);
        for job in &mut ledger.jobs {
            job.direct.honoured = Fact::Known(false);
        }
        let findings = judge(&ledger);
        assert!(findings.windows(2).all(|pair| pair[0].severity >= pair[1].severity));
        assert_eq!(findings[0].id, "not-direct");
        assert_eq!(findings[0].jobs, ["db", "other"]);
        let statement = &findings[0].statement;
        assert!(statement.ends_with("(also 1 other job)"), "{statement}");
    }
}
