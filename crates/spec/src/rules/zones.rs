//! Rules of zones.

use iosonde_options::{Amount, Bytes, Diagnostic, Origin, Setting};

use super::{Caps, OptionRule};
use crate::JobSpec;
use crate::topics::{OrderOptions, SizeOptions};
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
    OptionRule {
        name: "a-zone-remainder-has-no-map",
        doc: "`write_zone_remainder` implies `norandommap`.",
        apply: remainder_has_no_map,
    },
    OptionRule {
        name: "sizes-in-zones",
        doc: "Sizes with the suffix `z` count zones of `zonesize` bytes; they need a `zonemode`.",
        apply: sizes_in_zones,
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
        let range = *zones.zonesize.get();
        zones.zonerange.force(range, "zonesize");
    }
}

fn remainder_has_no_map(spec: &mut JobSpec, _: &Caps, _: &mut Vec<Diagnostic>) {
    let zones = &spec.zones;
    if *zones.zonemode.get() == ZoneMode::Zbd && *zones.write_zone_remainder.get() {
        spec.random.norandommap.force(true, "write_zone_remainder");
    }
}

fn sizes_in_zones(spec: &mut JobSpec, _: &Caps, found: &mut Vec<Diagnostic>) {
    let zone_bytes = spec.zones.zonesize.get().0;
    if *spec.zones.zonemode.get() == ZoneMode::None {
        found.extend(spec.first_in_zones().map(|(name, origin)| {
            Diagnostic::error("a size in zones has no zones to count")
                .about(name, origin)
                .help("set zonemode=strided or zonemode=zbd with zonesize=, or use bytes")
        }));
    } else if zone_bytes > 0 {
        found.extend(spec.zones_to_bytes(zone_bytes));
    }
}

impl JobSpec {
    /// Turns sizes that count zones into bytes. A diagnostic for the first that is too large.
    pub fn zones_to_bytes(&mut self, zone_bytes: u64) -> Option<Diagnostic> {
        let fits = |amount: &Amount| match amount {
            Amount::Zones(zones) => zones.checked_mul(zone_bytes).map(Amount::Bytes),
            other => Some(*other),
        };
        let (size, order): (&mut SizeOptions, &mut OrderOptions) =
            (&mut self.size, &mut self.order);
        let skip = &mut self.zones.zoneskip;
        let plain = [
            ("offset", &mut order.offset),
            ("offset_increment", &mut order.offset_increment),
            ("zoneskip", skip),
        ];
        for (name, setting) in plain {
            let Some(bytes) = fits(setting.get()) else { return Some(too_many(setting, name)) };
            if bytes != *setting.get() {
                setting.force(bytes, "zonesize");
            }
        }
        for (name, setting) in [("size", &mut size.size), ("io_size", &mut size.io_size)] {
            let Some(amount) = *setting.get() else { continue };
            let Some(bytes) = fits(&amount) else { return Some(too_many(setting, name)) };
            if bytes != amount {
                setting.force(Some(bytes), "zonesize");
            }
        }
        None
    }

    /// The first size that counts zones, if there is one: its option and where it was set.
    pub fn first_in_zones(&self) -> Option<(&'static str, &Origin)> {
        let (size, order, skip) = (&self.size, &self.order, &self.zones.zoneskip);
        let optional = [("size", &size.size), ("io_size", &size.io_size)];
        let plain = [
            ("offset", &order.offset),
            ("offset_increment", &order.offset_increment),
            ("zoneskip", skip),
        ];
        let optional = optional.map(|(name, set)| (name, *set.get(), set.origin()));
        let plain = plain.map(|(name, set)| (name, Some(*set.get()), set.origin()));
        let mut all = optional.into_iter().chain(plain);
        let found = all.find(|(_, amount, _)| matches!(amount, Some(Amount::Zones(_))));
        found.map(|(name, _, origin)| (name, origin))
    }
}

fn too_many<T>(setting: &Setting<T>, name: &str) -> Diagnostic {
    Diagnostic::error("so many zones are more than 2^64 bytes")
        .about(name, setting.origin())
        .help("use fewer zones, or a smaller zonesize=")
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::*;
    use iosonde_options::Amount;

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

    #[test]
    fn sizes_in_zones_become_bytes_of_the_zone_size() {
        let options = &["zonemode=strided", "zonesize=16k", "zonerange=32k", "zoneskip=1z"];
        let sizes = ["size=10z", "io_size=4z", "offset=2z", "offset_increment=3z"];
        let (spec, found) = resolved(&[&options[..], &sizes[..]].concat());
        assert_eq!(found, []);
        assert_eq!(*spec.size.size.get(), Some(Amount::Bytes(160 << 10)));
        assert_eq!(*spec.size.io_size.get(), Some(Amount::Bytes(64 << 10)));
        assert_eq!(*spec.order.offset.get(), Amount::Bytes(32 << 10));
        assert_eq!(*spec.order.offset_increment.get(), Amount::Bytes(48 << 10));
        assert_eq!(*spec.zones.zoneskip.get(), Amount::Bytes(16 << 10));
    }

    #[test]
    fn sizes_in_zones_without_zones_or_beyond_all_bytes_are_refused() {
        for option in ["size=2z", "io_size=2z", "offset=2z", "offset_increment=2z"] {
            assert_eq!(errors(&[option]), ["a size in zones has no zones to count"], "{option}");
        }
        let zones = ["zonemode=strided", "zonesize=1m"];
        let most = errors(&[zones[0], zones[1], "size=99999999999999z"]);
        assert_eq!(most, ["so many zones are more than 2^64 bytes"]);
    }
}
