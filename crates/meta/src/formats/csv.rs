//! One line a phase and round.

use super::PERCENTILES;
use crate::result::MetaResult;
use std::fmt::Write;

/// For spreadsheets; `docs/meta.md` has the columns.
pub fn write(result: &MetaResult) -> String {
    let mut text = "round,phase,operations,threads,first_done_s,last_done_s,ops_per_s,synced_s,\
                    synced_ops_per_s,p50_ns,p99_ns,max_ns,storage_read_bytes,disk_writes,\
                    disk_writes_in_sync,partial\n"
        .to_owned();
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.6}"));
    let count = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    for (round, phases) in (1..).zip(&result.rounds) {
        for phase in phases {
            let [p50, p99] = PERCENTILES.map(|percent| phase.latency.percentile(percent));
            let _ = writeln!(
                text,
                "{round},{},{},{},{:.6},{:.6},{:.3},{},{},{p50},{p99},{},{},{},{},{}",
                phase.row.text(),
                phase.operations,
                phase.threads,
                phase.first_done.secs_f64(),
                phase.last_done.secs_f64(),
                phase.rate(),
                number(phase.synced.map(|synced| synced.secs_f64())),
                number(phase.durable_rate()),
                phase.longest.0,
                count(phase.fetched),
                count(phase.during.map(|done| done.writes)),
                count(phase.after.map(|done| done.writes)),
                u8::from(phase.partial),
            );
        }
    }
    text
}
