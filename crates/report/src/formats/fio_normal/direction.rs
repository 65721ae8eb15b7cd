//! One direction of a job in fio's normal text.

use super::{RateText, latency, line};
use crate::report::*;
use crate::scale::{PrefixBase, PrefixedUnit, human};
use std::fmt::Write;

/// All lines of a direction: rates, latencies, percentiles, windows.
pub(super) fn add_direction(name: &str, dir: &DirReport, job: &JobReport, text: &mut String) {
    let figures = job.significant_figures;
    let rate = RateText::new(dir.bw_bytes_per_s(), job.units, figures);
    let iops = human(dir.iops() as u64, figures, PrefixBase::Decimal, PrefixedUnit::Plain);
    let io = human(dir.io_bytes, figures, PrefixBase::of(job.units.kb_base), PrefixedUnit::Bytes);
    let resets = dir.zone_resets.filter(|_| name == "write");
    let resets = resets.map_or(String::new(), |zones| format!("; {zones} zone resets"));
    line!(
        text,
        "  {name}: IOPS={iops}, BW={} ({})({io}/{}msec){resets}",
        rate.first,
        rate.second,
        dir.runtime_ms
    );
    latency::add_line("  slat", &dir.slat, text);
    latency::add_line("  clat", &dir.clat, text);
    latency::add_line("   lat", &dir.lat, text);
    let kind = if job.prios_by_lat { "lat" } else { "clat" };
    let name =
        |prio: &PrioReport| format!("{kind} prio {}/{}/{}", prio.class, prio.level, prio.hint);
    for prio in &dir.prios {
        latency::add_line(&format!("  {}", name(prio)), &prio.latency, text);
    }
    latency::add_table("    slat percentiles", &dir.slat, text);
    latency::add_table("    clat percentiles", &dir.clat, text);
    latency::add_table("    lat percentiles", &dir.lat, text);
    let whole = dir.prios.iter().map(|prio| prio.latency.n).sum::<u64>().max(1);
    for prio in &dir.prios {
        let share = prio.latency.n as f64 * 100.0 / whole as f64;
        let title = format!("    {} ({share:.2}% of IOs) percentiles", name(prio));
        latency::add_table(&title, &prio.latency, text);
    }
    add_windows(dir, job, text);
}

/// Rates of windows; in the larger unit once the mean would take more than a
/// million of the smaller.
fn add_windows(dir: &DirReport, job: &JobReport, text: &mut String) {
    if dir.bw_kib.samples > 0 {
        let step = u64::from(job.units.kb_base.max(1));
        let decimal = PrefixBase::of(job.units.kb_base) == PrefixBase::Decimal;
        // fio names MiB/s even where it means MB/s.
        let (unit, step) = if dir.bw_kib.mean > (step * step) as f64 {
            ("MiB/s", step)
        } else {
            (if decimal { "kB/s" } else { "KiB/s" }, 1)
        };
        let WindowReport { min, max, mean, stddev, samples } = dir.bw_kib;
        line!(
            text,
            "   bw ({unit:>7}): min={:5}, max={:5}, per={:3.2}%, avg={:5.2}, stdev={:5.2}, \
             samples={samples}",
            min / step,
            max / step,
            dir.bw_agg_percent,
            mean / step as f64,
            stddev / step as f64
        );
    }
    if dir.iops_windows.samples > 0 {
        let WindowReport { min, max, mean, stddev, samples } = dir.iops_windows;
        line!(
            text,
            "   iops        : min={min:5}, max={max:5}, avg={mean:5.2}, stdev={stddev:5.2}, \
             samples={samples}"
        );
    }
}
