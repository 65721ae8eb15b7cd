//! The ledger of a run: its counters put together and judged.

use crate::settings;
use iosonde_run::conductor::RunOutcome;
use iosonde_run::job::Plan;
use iosonde_spec::cli::Parsed;
use iosonde_witness::Ledger;

/// The counters of a run, put together and judged.
pub fn ledger(parsed: &Parsed, plan: &Plan, outcome: &RunOutcome) -> Option<Box<Ledger>> {
    let seen = outcome.seen.as_ref()?;
    let evidence = iosonde_run::evidence::evidence(plan, &outcome.results, seen);
    let mut ledger = iosonde_witness::ledger(&evidence);
    ledger.fingerprint.job = settings::fingerprint(parsed);
    ledger.verdict = iosonde_witness::judge(&ledger);
    Some(Box::new(ledger))
}

/// The options of all `[global]` sections; of one set twice, the last value.
pub fn global_options(parsed: &Parsed) -> Option<Vec<(String, String)>> {
    let mut all: Vec<(String, String)> = Vec::new();
    for option in parsed.jobs.iter().flat_map(|job| &job.globals) {
        let pair = iosonde_run::account::shown_option(option);
        match all.iter_mut().find(|(name, _)| *name == pair.0) {
            Some(earlier) => earlier.1 = pair.1,
            None => all.push(pair),
        }
    }
    (!all.is_empty()).then_some(all)
}
