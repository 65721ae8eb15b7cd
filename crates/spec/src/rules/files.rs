//! Rules of files.

use iosonde_options::{Amount, Diagnostic};

use super::{Caps, OptionRule};
use crate::JobSpec;
use crate::values::{DataPlacement, RwWord};

pub(super) const RULES: &[OptionRule] = &[
    OptionRule {
        name: "readers-need-data",
        doc: "A job that reads implies `overwrite`: missing and short files are laid out first.",
        apply: readers_need_data,
    },
    OptionRule {
        name: "pre-read-stays-cached",
        doc: "`pre_read` turns `invalidate` off.",
        apply: pre_read_stays_cached,
    },
    OptionRule {
        name: "open-files-within-files",
        doc: "`openfiles` is at most the number of files; 0 or unset means all of them.",
        apply: open_files_within_files,
    },
    OptionRule {
        name: "fill-device-writes-on",
        doc: "`fill_device` is for sequential writes.",
        apply: fill_device_writes_on,
    },
    OptionRule {
        name: "size-zero-is-unset",
        doc: "`size=0` and `io_size=0` are the same as leaving them out.",
        apply: size_zero_is_unset,
    },
    OptionRule {
        name: "trims-have-a-range",
        doc: "`num_range=0` means 1; more than one range takes an engine that is not built.",
        apply: trims_have_a_range,
    },
    OptionRule {
        name: "placement-needs-commands",
        doc: "`fdp` and `dataplacement` are refused: they take an engine that sends commands.",
        apply: placement_needs_commands,
    },
    OptionRule {
        name: "trims-need-an-engine",
        doc: "A job that trims needs an engine that supports trims.",
        apply: trims_need_an_engine,
    },
];

fn readers_need_data(spec: &mut JobSpec, _: &Caps, _: &mut Vec<Diagnostic>) {
    if spec.order.rw.get().word.reads() {
        spec.file_life.overwrite.force(true, "rw");
    }
}

fn pre_read_stays_cached(spec: &mut JobSpec, _: &Caps, _: &mut Vec<Diagnostic>) {
    if *spec.file_life.pre_read.get() {
        spec.file_life.invalidate.force(false, "pre_read");
    }
}

fn open_files_within_files(spec: &mut JobSpec, _: &Caps, _: &mut Vec<Diagnostic>) {
    let named = spec.files.filename.get().as_ref().map_or(0, |names| names.0.len() as u32);
    let files = named.max(*spec.files.nrfiles.get()).max(1);
    if spec.files.opendir.get().is_some() {
        // How many there are is known once the directory is read.
        return;
    }
    let open = spec.files.openfiles.get().filter(|open| *open > 0 && *open <= files);
    if open.is_none() {
        spec.files.openfiles.force(Some(files), "nrfiles");
    }
}

fn fill_device_writes_on(spec: &mut JobSpec, _: &Caps, found: &mut Vec<Diagnostic>) {
    if *spec.size.fill_device.get() && spec.order.rw.get().word != RwWord::Write {
        let message = "only a sequential write ends when the device is full";
        found.push(
            Diagnostic::warning(message)
                .about("fill_device", spec.size.fill_device.origin())
                .help("use rw=write"),
        );
    }
}

fn size_zero_is_unset(spec: &mut JobSpec, _: &Caps, _: &mut Vec<Diagnostic>) {
    if *spec.size.size.get() == Some(Amount::Bytes(0)) {
        spec.size.size.force(None, "size-zero-is-unset");
    }
    if *spec.size.io_size.get() == Some(Amount::Bytes(0)) {
        spec.size.io_size.force(None, "size-zero-is-unset");
    }
}

fn trims_have_a_range(spec: &mut JobSpec, _: &Caps, found: &mut Vec<Diagnostic>) {
    let ranges = &mut spec.placement.num_range;
    match *ranges.get() {
        0 => ranges.force(1, "trims-have-a-range"),
        1 => {}
        _ => {
            let words = "trims of several ranges take ioengine=io_uring_cmd, which is not built: \
                         no other engine can pass them to a device";
            let error = Diagnostic::error(words).about("num_range", ranges.origin());
            found.push(error.help("leave it out: each trim has one range"));
        }
    }
}

/// Placement identifiers go with commands of a device.
fn placement_needs_commands(spec: &mut JobSpec, _: &Caps, found: &mut Vec<Diagnostic>) {
    let placement = &spec.placement;
    let (fdp, scheme) = (&placement.fdp, &placement.dataplacement);
    let origin = match () {
        () if *fdp.get() => ("fdp", fdp.origin()),
        () if *scheme.get() != DataPlacement::None => ("dataplacement", scheme.origin()),
        () => return,
    };
    let words = "placing data takes ioengine=io_uring_cmd or xnvme, which are not built: no other \
                 engine can pass a placement identifier to a device";
    found.push(Diagnostic::error(words).about(origin.0, origin.1));
}

fn trims_need_an_engine(spec: &mut JobSpec, caps: &Caps, found: &mut Vec<Diagnostic>) {
    if spec.order.rw.get().word.trims() && !caps.trim {
        let message = format!("engine {} cannot trim", spec.engine.ioengine.get().name());
        found.push(Diagnostic::error(message).about("rw", spec.order.rw.origin()));
    }
}

#[cfg(test)]
mod tests {
    use iosonde_options::Amount;

    use crate::rules::testing::*;
    use crate::rules::{Caps, resolve};

    #[test]
    fn a_reader_finds_data_and_a_writer_need_not() {
        assert!(*resolved(&["rw=randrw"]).0.file_life.overwrite.get());
        assert!(!*resolved(&["rw=write"]).0.file_life.overwrite.get());
    }

    #[test]
    fn what_was_read_beforehand_stays_cached() {
        assert!(!*resolved(&["pre_read=1", "invalidate=1"]).0.file_life.invalidate.get());
        assert!(*resolved(&[]).0.file_life.invalidate.get());
    }

    #[test]
    fn no_more_files_are_open_than_there_are() {
        let open = |options: &[&str]| resolved(options).0.files.openfiles.get().expect("filled in");
        assert_eq!(open(&["nrfiles=4"]), 4);
        assert_eq!(open(&["nrfiles=4", "openfiles=9"]), 4);
        assert_eq!(open(&["nrfiles=4", "openfiles=2"]), 2);
        assert_eq!(open(&["filename=a:b:c"]), 3);
    }

    #[test]
    fn filling_a_device_is_for_sequential_writes() {
        assert_eq!(remarks(&["rw=randwrite", "fill_device=1"]).len(), 1);
        assert!(remarks(&["rw=write", "fill_device=1"]).is_empty());
    }

    #[test]
    fn a_size_of_zero_covers_what_is_there() {
        let size = |options: &[&str]| *resolved(options).0.size.size.get();
        assert_eq!(size(&["size=0"]), None);
        assert_eq!(size(&["size=1"]), Some(Amount::Bytes(1)));
        assert_eq!(*resolved(&["size=1m", "io_size=0"]).0.size.io_size.get(), None);
    }

    #[test]
    fn words_that_change_nothing_are_accepted() {
        for option in [
            "num_range=0",
            "filetype=block",
            "write_hint=none",
            "spr_op=0.15",
            "fdp=0",
            "plids=1,2",
        ] {
            assert_eq!(remarks(&[option]), [""; 0], "{option}");
        }
        for option in ["num_range=2", "fdp=1", "dataplacement=streams"] {
            let refused = errors(&[option]);
            assert!(refused[0].contains("io_uring_cmd") && refused.len() == 1, "{refused:?}");
        }
    }

    #[test]
    fn a_trim_needs_an_engine_that_can() {
        let mut spec = job(&["rw=randtrim"]);
        assert_eq!(resolve(&mut spec, &Caps::default())[0].message, "engine psync cannot trim");
    }
}
