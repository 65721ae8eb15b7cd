//! A rate that changed during the run.

use iosonde_base::text::{bytes, duration, percent, rate};
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "not-steady",
    severity: Severity::Warning,
    condition: "the last third of the run moved over 15 % fewer or more bytes than the first third, \
                by more than the samples scatter",
    meaning: "The mean covers two different rates. A drop after a number of bytes is the end of a \
              fast cache in the drive, heat, or the end of a cloud volume's burst credit; a rise \
              is a cache that fills. The bytes moved before the change are the size of that \
              cache.",
    remedy: "run until the rate is steady (ramp_time, steadystate), and report what comes after \
             the change",
    check,
};

/// Samples without which thirds say nothing.
const LEAST: usize = 12;

fn check(ledger: &Ledger) -> Vec<Statement> {
    // The last sample may be of a time in which jobs were ending.
    let samples: &[u64] = ledger.rate.bytes.split_last().map_or(&[], |(_, all)| all);
    let several = ledger.jobs.iter().any(|job| job.runtime_ns * 2 < ledger.machine.wall_ns);
    let paced = ledger.jobs.iter().any(|job| job.options.paced);
    if samples.len() < LEAST || several || paced {
        return Vec::new();
    }
    let third = samples.len() / 3;
    let (first, last) = (&samples[..third], &samples[samples.len() - third..]);
    let (before, after) = (mean(first), mean(last));
    let scatter = deviation(first).max(deviation(last));
    let moved = (after - before).abs();
    if before <= 0.0 || moved < 0.15 * before.max(after) || moved < 2.0 * scatter {
        return Vec::new();
    }
    let change = change_point(samples);
    let until: u64 = samples[..change].iter().sum();
    let rate = |value: f64| rate(value * 1e9 / ledger.rate.interval_ns as f64);
    let verb = if after < before { "fell" } else { "rose" };
    Statement::one(
        Severity::Warning,
        format!(
            "the rate {verb} by {}, from {} to {}, after {} and {}",
            percent(moved / before),
            rate(before),
            rate(after),
            bytes(until),
            duration((change as u64).saturating_mul(ledger.rate.interval_ns))
        ),
    )
}

fn mean(samples: &[u64]) -> f64 {
    samples.iter().map(|&sample| sample as f64).sum::<f64>() / samples.len().max(1) as f64
}

fn deviation(samples: &[u64]) -> f64 {
    let mean = mean(samples);
    let squares: f64 = samples.iter().map(|&sample| (sample as f64 - mean).powi(2)).sum();
    (squares / samples.len().max(1) as f64).sqrt()
}

/// Where the samples are best cut in two that each hold still: the cut with
/// the least squares left (the change of one mean; Page 1954, Hinkley 1970).
fn change_point(samples: &[u64]) -> usize {
    let left = |cut: usize| {
        let (one, other) = samples.split_at(cut);
        deviation(one).powi(2) * one.len() as f64 + deviation(other).powi(2) * other.len() as f64
    };
    (1..samples.len()).min_by(|&a, &b| left(a).total_cmp(&left(b))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn a_drop_is_reported_with_the_bytes_before_it() {
        let mut ledger = clean();
        ledger.rate.bytes = [vec![1 << 30; 20], vec![1 << 28; 40]].concat();
        let (_, text) = says(RULE.id, &ledger).unwrap();
        assert!(text.starts_with("the rate fell by 75 %"), "{text}");
        assert!(text.ends_with("after 20 GiB and 20 s"), "{text}");
    }

    #[test]
    fn noise_and_few_samples_are_not() {
        let mut ledger = clean();
        ledger.rate.bytes = (0..60).map(|at| if at % 2 == 0 { 1 << 30 } else { 1 << 28 }).collect();
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.rate.bytes = [vec![1 << 30; 4], vec![1 << 28; 4]].concat();
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
