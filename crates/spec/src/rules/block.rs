//! Rules of block sizes.

use iosonde_base::{DIRS, Dir};
use iosonde_options::Diagnostic;

use super::{Caps, OptionRule};
use crate::JobSpec;

pub(super) const RULES: &[OptionRule] = &[
    OptionRule {
        name: "bssplit-before-bsrange-before-bs",
        doc: "In each direction `bssplit` goes before `bsrange`, and `bsrange` before `bs`, \
              whichever was given last.",
        apply: precedence,
    },
    OptionRule {
        name: "sectors",
        doc: "Direct I/O in sizes that are not multiples of 512 bytes gives a warning.",
        apply: sectors,
    },
];

fn precedence(spec: &mut JobSpec, _: &Caps, found: &mut Vec<Diagnostic>) {
    let block = &spec.block;
    let dirs = || DIRS.into_iter().filter(|dir| spec.moves(*dir));
    let split = |dir: Dir| !block.bssplit.get().0[dir as usize].is_empty();
    let range = |dir: Dir| block.bsrange.get().of(dir).is_some();
    let mut hidden = |name: &str, origin, by: &str| {
        found.push(
            Diagnostic::note(format!("has no effect: {by} overrides it")).about(name, origin),
        );
    };
    if block.bsrange.is_typed() && dirs().next().is_some() && dirs().all(split) {
        hidden("bsrange", block.bsrange.origin(), "bssplit");
    }
    if block.bs.is_typed() && dirs().next().is_some() && dirs().all(|dir| split(dir) || range(dir))
    {
        let by = if dirs().all(split) { "bssplit" } else { "bsrange" };
        hidden("bs", block.bs.origin(), by);
    }
}

/// The least that any block device addresses.
const SECTOR: u64 = 512;

fn sectors(spec: &mut JobSpec, caps: &Caps, found: &mut Vec<Diagnostic>) {
    if !*spec.durability.direct.get() || caps.diskless {
        return;
    }
    let odd = |dir: &Dir| spec.moves(*dir) && !spec.min_bs(*dir).is_multiple_of(SECTOR);
    if *spec.block.bs_unaligned.get() || DIRS.iter().any(odd) {
        let (name, origin) = if *spec.block.bs_unaligned.get() {
            ("bs_unaligned", spec.block.bs_unaligned.origin())
        } else {
            ("bs", spec.block.bs.origin())
        };
        let message = "direct I/O in sizes that are not multiples of 512 bytes is likely to fail";
        found.push(Diagnostic::warning(message).about(name, origin));
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::*;

    #[test]
    fn what_bs_says_beside_bssplit_and_bsrange_is_reported_to_have_no_effect() {
        let found = remarks(&["bssplit=4k/50:8k/50", "bsrange=1k-2k", "bs=16k"]);
        assert_eq!(
            found,
            ["has no effect: bssplit overrides it", "has no effect: bssplit overrides it"]
        );
        assert_eq!(remarks(&["bsrange=1k-4k", "bs=8k"]), ["has no effect: bsrange overrides it"]);
        assert!(remarks(&["rw=rw", "bsrange=,1k-4k", "bs=8k"]).is_empty());
    }

    #[test]
    fn odd_sizes_go_with_the_page_cache_only() {
        assert_eq!(remarks(&["direct=1", "bs=1000"]).len(), 1);
        assert!(remarks(&["direct=1", "bs=512"]).is_empty());
        assert!(remarks(&["bs=1000"]).is_empty());
        assert_eq!(remarks(&["direct=1", "bsrange=4k-8k", "bs_unaligned"]).len(), 1);
    }
}
