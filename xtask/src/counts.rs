//! Counts of tests, read from what their programs print: libtest, Node's test
//! runner, and our scripts.

use std::collections::BTreeSet;

/// A test, or a part of it, that did not run.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkippedTest {
    /// Why.
    pub why: String,
    /// `crate/program`.
    pub program: String,
    /// The test's name, where it is known.
    pub test: String,
}

/// What has been counted so far.
#[derive(Default)]
pub struct TestCounts {
    /// How many tests the programs report as passed.
    reported: usize,
    /// How many of those returned early, and so did not run.
    returned_early: usize,
    /// How many failed.
    pub failed: usize,
    /// The names of those.
    pub failures: Vec<String>,
    /// Tests that did not run.
    pub skips: BTreeSet<SkippedTest>,
    /// Tests that ran except for a part.
    pub parts: BTreeSet<SkippedTest>,
    /// How long each test program took.
    pub seconds: Vec<(String, f64)>,
    /// The program that wrote the output.
    program: String,
}

impl TestCounts {
    /// How many tests ran and passed.
    pub fn passed(&self) -> usize {
        self.reported.saturating_sub(self.returned_early)
    }

    /// Count something that failed and is no test.
    pub fn fail(&mut self, what: &str) {
        self.failed += 1;
        self.failures.push(what.to_owned());
    }

    /// Count the results in a line of output.
    pub fn read(&mut self, line: &str) {
        let text = line.trim_start();
        if let Some(program) = text.strip_prefix("Running ").or(text.strip_prefix("Doc-tests ")) {
            self.program = program.split(" (").next().unwrap_or(program).to_owned();
            if program.starts_with("unittests")
                && let Some(file) = program.rsplit('/').next()
            {
                self.program = format!("unit tests of {}", without_hash(file));
            }
        } else if let Some(result) = text.strip_prefix("test result: ") {
            self.libtest(result);
        } else if let Some(name) =
            text.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            self.failures.push(format!("{} {name}", self.program));
        } else if let Some(words) = text.strip_prefix("# ").or(text.strip_prefix("ℹ ")) {
            self.node(words);
        } else if let Some((test, why)) = node_skip(text) {
            self.skip(&why, "bindings/node", &test);
        } else if let Some(name) = text.strip_prefix("not ok ") {
            self.failures.push(format!("bindings/node {name}"));
        } else if let Some(words) = text.strip_prefix("cross-check: ") {
            self.script(words);
        } else if let Some(why) = text.strip_prefix("bindings/node: tests skipped: ") {
            self.skip(why, "bindings/node", "");
        }
    }

    /// Add what tests recorded themselves (`iosonde_testing::skip`).
    pub fn add_recorded(&mut self, text: &str) {
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let &[extent, program, test, why] = fields.as_slice() else { continue };
            if self.failures.iter().any(|failure| failure.ends_with(&format!(" {test}"))) {
                continue;
            }
            let skip = SkippedTest {
                why: why.to_owned(),
                program: program.to_owned(),
                test: test.to_owned(),
            };
            if extent == "part" {
                self.parts.insert(skip);
            } else if !self.skips.iter().any(|other| is_same_test(other, &skip))
                && self.skips.insert(skip)
            {
                self.returned_early += 1;
            }
        }
    }

    fn skip(&mut self, why: &str, program: &str, test: &str) {
        let skip =
            SkippedTest { why: why.to_owned(), program: program.to_owned(), test: test.to_owned() };
        if self.skips.insert(skip) && std::env::var_os("REQUIRE_ALL").is_some_and(|all| all != "0")
        {
            self.fail(&format!("{program} {test}: skipped, and REQUIRE_ALL is set: {why}"));
        }
    }

    /// `ok. 7 passed; 0 failed; 0 ignored; ...; finished in 0.22s`.
    fn libtest(&mut self, result: &str) {
        let parts = || result.split([';', '.']).map(str::trim);
        let count = |what: &str| {
            let number = parts().find_map(|part| part.strip_suffix(what));
            number.and_then(|number| number.trim().parse::<usize>().ok()).unwrap_or(0)
        };
        self.reported += count("passed");
        self.failed += count("failed");
        for number in 0..count("ignored") {
            let program = self.program.clone();
            self.skip("marked #[ignore]", &program, &format!("{number}"));
        }
        let took = result.rsplit("finished in ").next().and_then(|took| took.strip_suffix('s'));
        if let Some(seconds) = took.and_then(|took| took.parse().ok()) {
            self.seconds.push((self.program.clone(), seconds));
        }
    }

    /// `pass 80`, of Node's summary.
    fn node(&mut self, words: &str) {
        match words.split_once(' ').map(|(what, number)| (what, number.parse::<usize>())) {
            Some(("pass", Ok(number))) => self.reported += number,
            Some(("fail" | "cancelled", Ok(number))) => self.failed += number,
            _ => {}
        }
    }

    /// A line of scripts/cross-check.sh.
    fn script(&mut self, words: &str) {
        if let Some((what, why)) =
            words.strip_prefix("skipped ").and_then(|rest| rest.split_once(": "))
        {
            self.skip(why, "cross-check", what);
        } else if words.ends_with("type-check") || words.ends_with("type-checks") {
            self.reported += 1;
        } else if words.ends_with(": failed") {
            self.fail(&format!("cross-check {words}"));
        }
    }
}

/// Whether two records are of one test. libtest does not name its thread where
/// it runs one test at a time: then each record counts.
fn is_same_test(one: &SkippedTest, other: &SkippedTest) -> bool {
    one.program == other.program && one.test == other.test && one.test != "main"
}

/// `ok 3 - its name # SKIP why`, or `﹣ its name (0.5ms) # why`.
fn node_skip(text: &str) -> Option<(String, String)> {
    if let Some((name, why)) = text.strip_prefix("ok ").and_then(|rest| rest.split_once(" # SKIP"))
    {
        let name = name.split_once("- ").map_or(name, |(_, name)| name);
        return Some((name.to_owned(), why.trim().to_owned()));
    }
    let (name, why) = text.strip_prefix("﹣ ")?.rsplit_once(" # ")?;
    let name = name.split(" (").next().unwrap_or(name);
    Some((name.to_owned(), why.to_owned()))
}

/// `target/debug/deps/iosonde_sys-0a1b)` without its end.
fn without_hash(file: &str) -> &str {
    file.rsplit_once('-').map_or(file, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> TestCounts {
        let mut counts = TestCounts::default();
        lines.iter().for_each(|line| counts.read(line));
        counts
    }

    #[test]
    fn results_of_libtest_add_up() {
        let counts = of(&[
            "     Running unittests src/lib.rs (target/debug/deps/iosonde_sys-0a1b)",
            "test counters::one ... FAILED",
            "test result: FAILED. 9 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.22s",
            "   Doc-tests iosonde_sys",
            "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s",
        ]);
        assert_eq!((counts.passed(), counts.failed, counts.skips.len()), (11, 1, 1));
        assert_eq!(counts.failures, ["unit tests of iosonde_sys counters::one"]);
        assert_eq!(counts.seconds[0], ("unit tests of iosonde_sys".to_owned(), 0.22));
        assert_eq!(counts.seconds[1].0, "iosonde_sys");
    }

    #[test]
    fn results_of_node_add_up_in_both_of_its_forms() {
        let tap = of(&["ok 3 - locks a device # SKIP no loop device", "# pass 80", "# skipped 1"]);
        let spec = of(&["﹣ locks a device (0.5ms) # no loop device", "ℹ pass 80", "ℹ fail 0"]);
        for counts in [tap, spec] {
            assert_eq!((counts.passed(), counts.failed, counts.skips.len()), (80, 0, 1));
            assert_eq!(counts.skips.first().unwrap().why, "no loop device");
            assert_eq!(counts.skips.first().unwrap().test, "locks a device");
        }
        assert_eq!(of(&["not ok 4 - opens", "# fail 1"]).failed, 1);
    }

    #[test]
    fn results_of_the_scripts_add_up() {
        let counts = of(&[
            "cross-check: aarch64-apple-darwin: iosonde-direct and its tests type-check",
            "cross-check: skipped x86_64-unknown-freebsd: no standard library for it",
            "cross-check: x86_64-pc-windows-gnu: failed",
            "bindings/node: tests skipped: there is no node (18 or later)",
        ]);
        assert_eq!((counts.passed(), counts.failed, counts.skips.len()), (1, 1, 2));
    }

    #[test]
    fn a_test_that_records_twice_is_skipped_once_and_one_that_failed_never() {
        let mut counts = of(&["test three ... FAILED", "test result: FAILED. 4 passed; 1 failed"]);
        counts.add_recorded(
            "test\ta/b\tone\tno disk\ntest\ta/b\tone\tno root\npart\ta/b\ttwo\tno fio\n\
             test\ta/b\tthree\tno disk\n",
        );
        assert_eq!((counts.passed(), counts.failed), (3, 1));
        assert_eq!((counts.skips.len(), counts.parts.len()), (1, 1));
    }
}
