//! Rules of depth.

use iosonde_options::Diagnostic;

use super::{Caps, OptionRule};
use crate::JobSpec;

pub(super) const RULES: &[OptionRule] = &[
    OptionRule {
        name: "one-at-a-time",
        doc: "Synchronous engines run at depth 1.",
        apply: one_at_a_time,
    },
    OptionRule {
        name: "batches-within-depth",
        doc: "Batch sizes and `iodepth_low` are limited to `iodepth`; 0 or unset means `iodepth`.",
        apply: batches_within_depth,
    },
];

fn one_at_a_time(spec: &mut JobSpec, caps: &Caps, found: &mut Vec<Diagnostic>) {
    if caps.sync && *spec.depth.iodepth.get() > 1 {
        let message = "both iodepth >= 1 and synchronous I/O engine are selected, \
                       queue depth will be capped at 1";
        found.push(Diagnostic::note(message).about("iodepth", spec.depth.iodepth.origin()));
        spec.depth.iodepth.force(1, "one-at-a-time");
    }
}

fn batches_within_depth(spec: &mut JobSpec, _: &Caps, _: &mut Vec<Diagnostic>) {
    const BY: &str = "iodepth";
    let depth = &mut spec.depth;
    let most = *depth.iodepth.get();
    match *depth.iodepth_batch.get() {
        0 => depth.iodepth_batch.force(most, BY),
        batch if batch > most => depth.iodepth_batch.force(most, BY),
        _ => {}
    }
    if *depth.iodepth_batch_complete_min.get() > most {
        depth.iodepth_batch_complete_min.force(most, BY);
    }
    let least = *depth.iodepth_batch_complete_min.get();
    let largest = depth.iodepth_batch_complete_max.get().unwrap_or(least);
    let clamped = largest.min(most).max(least.max(1));
    if Some(clamped) != *depth.iodepth_batch_complete_max.get() {
        depth.iodepth_batch_complete_max.force(Some(clamped), BY);
    }
    let low = depth.iodepth_low.get().filter(|low| *low > 0 && *low <= most);
    if low.is_none() {
        depth.iodepth_low.force(Some(most), BY);
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::*;
    use crate::rules::{Caps, resolve};

    #[test]
    fn a_synchronous_engine_is_held_at_one_and_reported_once() {
        let mut spec = job(&["iodepth=32"]);
        let found = resolve(&mut spec, &Caps { sync: true, ..Caps::default() });
        assert_eq!(*spec.depth.iodepth.get(), 1);
        assert!(found[0].message.contains("capped at 1"));
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn batches_are_held_within_the_depth() {
        let depth = |options: &[&str]| {
            let depth = resolved(options).0.depth;
            let max = depth.iodepth_batch_complete_max.get().expect("filled in");
            let low = depth.iodepth_low.get().expect("filled in");
            (*depth.iodepth_batch.get(), *depth.iodepth_batch_complete_min.get(), max, low)
        };
        assert_eq!(depth(&["iodepth=8"]), (1, 1, 1, 8));
        assert_eq!(depth(&["iodepth=8", "iodepth_batch=0"]), (8, 1, 1, 8));
        assert_eq!(depth(&["iodepth=8", "iodepth_batch=9", "iodepth_low=9"]), (8, 1, 1, 8));
        assert_eq!(depth(&["iodepth=8", "iodepth_batch_complete_min=9"]), (1, 8, 8, 8));
        let polling = ["iodepth=8", "iodepth_batch_complete_min=0", "iodepth_batch_complete_max=8"];
        assert_eq!(depth(&polling), (1, 0, 8, 8));
        assert_eq!(depth(&["iodepth=8", "iodepth_low=4"]), (1, 1, 1, 4));
    }
}
