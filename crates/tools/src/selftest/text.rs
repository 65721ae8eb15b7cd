//! The page of results.

use super::{CheckOf, Selftest};
use iosonde_command::format::{printable, wrapped};
use iosonde_direct::Tristate;

/// One page: the storage, iosonde itself, and what cannot be checked.
pub(super) fn page(selftest: &Selftest) -> String {
    let mut page = format!("selftest  {}", printable(&selftest.directory));
    if let Some(mount) = selftest.facts.mount() {
        page += &format!(", {}", mount.filesystem);
    }
    let disks: Vec<&str> = selftest.facts.disks().iter().map(|disk| disk.name.as_str()).collect();
    if !disks.is_empty() {
        page += &format!(" on {}", disks.join(", "));
    }
    page.push('\n');
    for (of, title, words) in [
        (CheckOf::Storage, "storage", ["honoured", "NO", "unknown"]),
        (CheckOf::Program, "iosonde", ["passed", "FAILED", "unknown"]),
    ] {
        page += &format!("\n{title}\n");
        for check in selftest.checks.iter().filter(|check| check.of == of) {
            let word = match check.verdict {
                Tristate::Yes => words[0],
                Tristate::No => words[1],
                Tristate::Unknown => words[2],
            };
            wrapped(&mut page, &format!("  {word:<9} {:<24} ", check.name), &check.detail);
        }
    }
    page += "\nnot checked\n";
    wrapped(
        &mut page,
        "  ",
        "What is left after a power cut, and in which order: write with verify=crc32c, fsync=N and \
         verify_policy=fsynced, cut the power, check with verify_only=1 and verify_state_load=1 \
         (docs/verify.md).",
    );
    page += &format!("\n{}\n", closing(selftest));
    page
}

fn closing(selftest: &Selftest) -> String {
    let count = |verdict| selftest.checks.iter().filter(|check| check.verdict == verdict).count();
    let (yes, no, unknown) = (count(Tristate::Yes), count(Tristate::No), count(Tristate::Unknown));
    let stopped = if selftest.stopped { "; stopped by a signal" } else { "" };
    format!("{yes} hold, {no} do not, {unknown} unknown{stopped}")
}
