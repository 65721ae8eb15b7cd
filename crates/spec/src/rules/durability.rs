//! Rules of direct and durable I/O.

use iosonde_options::Diagnostic;

use super::{Caps, OptionRule};
use crate::JobSpec;

pub(super) const RULES: &[OptionRule] = &[
    OptionRule {
        name: "atomic-is-direct",
        doc: "`atomic` implies `direct`, and needs an engine that supports it.",
        apply: atomic_is_direct,
    },
    OptionRule {
        name: "syncs-need-writes",
        doc: "Options that sync after writes have no effect on a job that writes nothing.",
        apply: syncs_need_writes,
    },
];

fn atomic_is_direct(spec: &mut JobSpec, caps: &Caps, found: &mut Vec<Diagnostic>) {
    if !*spec.durability.atomic.get() {
        return;
    }
    if !*spec.durability.direct.get() {
        spec.durability.direct.force(true, "atomic");
        spec.durability.buffered.force(false, "atomic");
    }
    if spec.writes() && !caps.atomic {
        let message = format!("not supported by engine {}", spec.engine.ioengine.get().name());
        found.push(
            Diagnostic::error(message)
                .about("atomic", spec.durability.atomic.origin())
                .help("use pvsync2, libaio or io_uring"),
        );
    }
}

fn syncs_need_writes(spec: &mut JobSpec, _: &Caps, found: &mut Vec<Diagnostic>) {
    if spec.writes() {
        return;
    }
    let io = &spec.durability;
    let asked = [
        ("fsync", io.fsync.origin(), *io.fsync.get() > 0),
        ("fdatasync", io.fdatasync.origin(), *io.fdatasync.get() > 0),
        ("sync_file_range", io.sync_file_range.origin(), io.sync_file_range.get().is_some()),
        ("end_fsync", io.end_fsync.origin(), *io.end_fsync.get()),
        ("end_syncfs", io.end_syncfs.origin(), *io.end_syncfs.get()),
    ];
    for (name, origin, _) in asked.into_iter().filter(|(_, _, on)| *on) {
        found.push(Diagnostic::note("has no effect: the job writes nothing").about(name, origin));
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::*;
    use crate::rules::{Caps, resolve};

    #[test]
    fn atomic_writes_go_around_the_page_cache() {
        let (spec, found) = resolved(&["rw=write", "atomic=1", "ioengine=pvsync2", "buffered=1"]);
        assert!(*spec.durability.direct.get() && found.is_empty());
        let mut spec = job(&["rw=write", "atomic=1"]);
        let found = resolve(&mut spec, &Caps::default());
        assert_eq!(found[0].message, "not supported by engine psync");
    }

    #[test]
    fn a_reader_is_reported_that_it_syncs_nothing() {
        assert_eq!(remarks(&["rw=read", "fsync=1"]), ["has no effect: the job writes nothing"]);
        assert!(remarks(&["rw=write", "fsync=1"]).is_empty());
    }
}
