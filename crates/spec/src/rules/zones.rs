//! Rules of zones.

use iosonde_options::{Bytes, Diagnostic};

use super::{Caps, OptionRule};
use crate::JobSpec;
use crate::values::ZoneMode;

pub(super) const RULES: &[OptionRule] = &[
    OptionRule {
        name: "zonesize-needs-a-mode",
        doc: "`zonesize` without `zonemode` is refused.",
        apply: zonesize_needs_a_mode,
    },
    OptionRule {
        name: "strided-needs-a-size",
        doc: "`zonemode=strided` needs `zonesize`; `zonerange` defaults to it.",
        apply: strided_needs_a_size,
    },
];

fn zonesize_needs_a_mode(spec: &mut JobSpec, _: &Caps, found: &mut Vec<Diagnostic>) {
    let zones = &spec.zones;
    if *zones.zonemode.get() == ZoneMode::None && zones.zonesize.get().0 > 0 {
        let message = "--zonemode=none and --zonesize are not compatible.";
        found.push(
            Diagnostic::error(message)
                .as_fio()
                .about("zonesize", zones.zonesize.origin())
                .help("set zonemode=strided or zonemode=zbd"),
        );
    }
}

fn strided_needs_a_size(spec: &mut JobSpec, _: &Caps, found: &mut Vec<Diagnostic>) {
    let zones = &mut spec.zones;
    if *zones.zonemode.get() != ZoneMode::Strided {
        return;
    }
    if *zones.zonesize.get() == Bytes(0) {
        let message = "--zonesize must be specified when using --zonemode=strided.";
        let error = Diagnostic::error(message).as_fio();
        found.push(error.about("zonemode", zones.zonemode.origin()));
    }
    if *zones.zonerange.get() == Bytes(0) {
        zones.zonerange.force(*zones.zonesize.get(), "zonesize");
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::*;

    #[test]
    fn a_zone_size_needs_a_mode_and_strided_needs_a_size() {
        assert_eq!(
            errors(&["zonesize=1m"]),
            ["--zonemode=none and --zonesize are not compatible."]
        );
        assert_eq!(
            errors(&["zonemode=strided"]),
            ["--zonesize must be specified when using --zonemode=strided."]
        );
    }

    #[test]
    fn a_zone_extends_over_its_size_by_default() {
        let range = |options: &[&str]| resolved(options).0.zones.zonerange.get().0;
        assert_eq!(range(&["zonemode=strided", "zonesize=1m"]), 1 << 20);
        assert_eq!(range(&["zonemode=strided", "zonesize=1m", "zonerange=4m"]), 4 << 20);
    }
}
