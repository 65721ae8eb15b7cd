//! Runs all tests and counts them: those of the workspace, of the Node
//! package, and the checks for other systems. libtest hides the output of a
//! test that passed, and so hides skips; here each is listed with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::counts::{SkippedTest, TestCounts};

/// How many test programs the list of the slowest has.
const SLOWEST: usize = 12;

/// Run everything; `Err` if anything failed.
pub fn run() -> Result<(), String> {
    let root = crate::docs::root();
    let skips = root.join("target/skips.txt");
    std::fs::create_dir_all(root.join("target")).map_err(|error| format!("target: {error}"))?;
    // Tests append to it; the file of the last run may not be there.
    let _ = std::fs::remove_file(&skips);

    let mut counts = TestCounts::default();
    for command in [
        "${CARGO:-cargo} test --locked --workspace --no-fail-fast",
        "./bindings/node/scripts/check.sh",
        "./scripts/cross-check.sh --cached --wine",
    ] {
        stage(&root, &skips, command, &mut counts)?;
    }
    counts.add_recorded(&std::fs::read_to_string(&skips).unwrap_or_default());
    print!("{}", summary(&counts));
    if counts.failed == 0 { Ok(()) } else { Err("tests failed".to_owned()) }
}

/// Run one command, its output shown and counted.
fn stage(root: &Path, skips: &Path, command: &str, counts: &mut TestCounts) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("{command}: {error}");
    let mut child = Command::new("sh")
        // Both outputs in one pipe: cargo names a test program on one and the
        // program prints its results on the other.
        .args(["-c", &format!("{command} 2>&1")])
        .current_dir(root)
        .env("IOSONDE_SKIPS", skips)
        .env("RUST_TEST_THREADS", threads())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(cannot)?;
    let output = child.stdout.take().expect("it is piped");
    let failed_before = counts.failed;
    for line in BufReader::new(output).split(b'\n') {
        let line = String::from_utf8_lossy(&line.map_err(cannot)?).into_owned();
        counts.read(&line);
        if !is_noise(&line) {
            println!("{line}");
        }
    }
    let status = child.wait().map_err(cannot)?;
    if !status.success() && counts.failed == failed_before {
        counts.fail(&format!("{command}: {status}"));
    }
    Ok(())
}

/// How many tests run at a time, where nobody has said so: many of them wait
/// for programs that sleep, and none depends on having a processor to itself.
fn threads() -> OsString {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get());
    let asked = std::env::var_os("RUST_TEST_THREADS");
    asked.unwrap_or_else(|| (2 * processors).to_string().into())
}

/// Lines of tests that pass, of which there are a thousand.
fn is_noise(line: &str) -> bool {
    line.is_empty()
        || line.starts_with("running ")
        || (line.starts_with("test ") && line.ends_with(" ... ok"))
}

/// The slowest programs, skips by reason, failures, and the closing line.
fn summary(counts: &TestCounts) -> String {
    let mut text = String::from("\nslowest test programs:\n");
    let mut programs = counts.seconds.clone();
    programs.sort_by(|one, other| other.1.total_cmp(&one.1));
    for (program, seconds) in programs.iter().take(SLOWEST) {
        text += &format!("{seconds:8.2} s  {program}\n");
    }
    text += &reasons("skipped in part", &counts.parts);
    text += &reasons("skipped", &counts.skips);
    if !counts.failures.is_empty() {
        text += &format!("failed:\n  {}\n", counts.failures.join("\n  "));
    }
    let (passed, failed, skipped) = (counts.passed(), counts.failed, counts.skips.len());
    text + &format!("{passed} passed, {failed} failed, {skipped} skipped\n")
}

/// Each reason once, with its tests.
fn reasons(title: &str, skips: &BTreeSet<SkippedTest>) -> String {
    let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for skip in skips {
        let name = format!("{} {}", skip.program, skip.test);
        by_reason.entry(&skip.why).or_default().push(name.trim().to_owned());
    }
    let mut text = String::new();
    for (why, tests) in by_reason {
        text += &format!("  {why}: {}\n", tests.join(", "));
    }
    if text.is_empty() { text } else { format!("{title}:\n{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_line_stands_alone_below_the_reasons() {
        let mut counts = TestCounts::default();
        counts.read("     Running tests/ledger.rs (target/debug/deps/ledger-0a1b)");
        counts
            .read("test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; finished in 2.50s");
        counts.add_recorded(
            "test\tiosonde/ledger\tone\tno disk\ntest\tiosonde/ledger\ttwo\tno disk\n",
        );
        let text = summary(&counts);
        assert!(text.contains("    2.50 s  tests/ledger.rs"), "{text}");
        assert!(
            text.contains("skipped:\n  no disk: iosonde/ledger one, iosonde/ledger two\n"),
            "{text}"
        );
        assert_eq!(text.lines().last(), Some("5 passed, 0 failed, 2 skipped"));
    }

    #[test]
    fn only_passes_are_left_out_of_the_output() {
        assert!(is_noise("test a::b ... ok"));
        assert!(!is_noise("test a::b ... FAILED"));
        assert!(!is_noise("test result: ok. 7 passed"));
    }
}
