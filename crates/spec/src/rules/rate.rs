//! Rules of rates.

use iosonde_base::DIRS;
use iosonde_options::{Bytes, Diagnostic};

use super::{Caps, OptionRule};
use crate::JobSpec;

pub(super) const RULES: &[OptionRule] = &[
    OptionRule {
        name: "rate-or-iops",
        doc: "`rate` and `rate_iops` cannot both be set for a direction.",
        apply: rate_or_iops,
    },
    OptionRule {
        name: "least-below-most",
        doc: "A minimum rate is not above the rate.",
        apply: least_below_most,
    },
];

fn rate_or_iops(spec: &mut JobSpec, _: &Caps, found: &mut Vec<Diagnostic>) {
    let (rate, iops) = (spec.rate.rate.get(), spec.rate.rate_iops.get());
    if DIRS.into_iter().any(|dir| rate.of(dir).0 > 0 && *iops.of(dir) > 0) {
        let message = "rate and rate_iops are mutually exclusive";
        found.push(Diagnostic::error(message).about("rate_iops", spec.rate.rate_iops.origin()));
    }
}

fn least_below_most(spec: &mut JobSpec, _: &Caps, found: &mut Vec<Diagnostic>) {
    let rate = &spec.rate;
    for dir in DIRS {
        let above = |least: u64, most: u64| most > 0 && least > most;
        let bytes = |setting: &Bytes| setting.0;
        let by_bytes = above(bytes(rate.rate_min.get().of(dir)), bytes(rate.rate.get().of(dir)));
        let iops = (*rate.rate_iops_min.get().of(dir), *rate.rate_iops.get().of(dir));
        if by_bytes || above(iops.0.into(), iops.1.into()) {
            let message = format!("minimum rate exceeds rate, ddir {}", dir as u8);
            let (name, origin) = if by_bytes {
                ("rate_min", rate.rate_min.origin())
            } else {
                ("rate_iops_min", rate.rate_iops_min.origin())
            };
            found.push(Diagnostic::error(message).about(name, origin));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::*;

    fn has(options: &[&str], text: &str) -> bool {
        errors(options).iter().any(|found| found == text)
    }

    #[test]
    fn bytes_or_operations_but_not_both() {
        let text = "rate and rate_iops are mutually exclusive";
        assert!(has(&["rate=1m", "rate_iops=100"], text));
        assert!(!has(&["rate=1m,", "rate_iops=,100,"], text));
    }

    #[test]
    fn the_least_is_below_the_most() {
        assert!(has(&["rate=1m", "rate_min=2m"], "minimum rate exceeds rate, ddir 0"));
        assert!(has(&["rate_iops=5", "rate_iops_min=6"], "minimum rate exceeds rate, ddir 2"));
        assert!(!has(&["rate_iops=5", "rate_iops_min=5"], "minimum rate exceeds rate, ddir 2"));
    }
}
