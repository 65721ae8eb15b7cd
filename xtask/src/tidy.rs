//! Checks of the project's structure: floors, where `unsafe` is, long files and
//! functions, type names, import circles, skips, stubs; and of its links,
//! dependencies, commits and products of builds.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{circles, commits, dependencies, links, products, shape};

/// Our crates by floor; a crate imports only from floors below its own
/// (docs/architecture.md).
const FLOORS: [(&str, u32); 25] = [
    ("base", 0),
    ("direct", 0),
    ("options", 1),
    ("stats", 1),
    ("sys", 1),
    ("judge", 1),
    ("workload", 2),
    ("report", 2),
    ("verify", 3),
    ("engine", 4),
    ("command", 4),
    ("witness", 3),
    ("result", 3),
    ("html", 3),
    ("logs", 3),
    ("spec", 5),
    ("run", 6),
    ("session", 7),
    ("studies", 9),
    ("records", 8),
    ("matrix", 8),
    ("meta", 8),
    ("tools", 8),
    ("hosts", 7),
    ("iosonde", 10),
];

/// Files that may allow `unsafe`: all at the kernel's edge.
const UNSAFE: [&str; 11] = [
    "bindings/node/src/edge/",
    "crates/direct/src/platform/",
    "crates/direct/src/buffer",
    "crates/sys/src/platform/",
    "crates/sys/src/clock/",
    "crates/sys/src/library.rs",
    "crates/engine/benches/bare.rs",
    "crates/engine/src/engines/",
    "crates/engine/src/memory.rs",
    "crates/engine/src/platform/",
    "crates/hosts/src/mpi/library.rs",
];

/// Crates that users do not get, whose use is on Linux, and the module of the Node package that chooses.
const MAY_CHOOSE: [&str; 5] = [
    "bindings/node/src/edge/held/",
    "crates/faults/",
    "crates/testing/",
    "crates/truth/",
    "xtask/",
];

/// A file longer than this has a second subject, most likely.
const LINES_MOST: usize = 800;

/// Check everything; all findings at once.
pub fn check() -> Result<(), String> {
    let root = root();
    let mut findings = floors(&root);
    let mut files = Vec::new();
    for path in rust_files(&root) {
        let text =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().into_owned();
        findings.extend(file(&name, &text));
        findings.extend(shape::long_functions(&name, &text));
        files.push((name, text));
    }
    let all = || files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    // A name that only a test file uses is read in that file.
    findings.extend(shape::shared_names(all().filter(|(name, _)| !name.contains("/tests/"))));
    findings.extend(circles::find(all()));
    findings.extend(commits::findings(&root));
    findings.extend(products::findings(&root));
    findings.extend(links::findings(&root));
    findings.extend(dependencies::findings(&root)?);
    if findings.is_empty() { Ok(()) } else { Err(findings.join("\n")) }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root").to_owned()
}

/// Imports from a floor that is not below.
fn floors(root: &Path) -> Vec<String> {
    let mut findings = only_for_tests(root);
    for (name, floor) in FLOORS {
        let path = root.join("crates").join(name).join("Cargo.toml");
        let Ok(manifest) = fs::read_to_string(&path) else {
            findings.push(format!("crates/{name}: no manifest"));
            continue;
        };
        // Tests may import from above; what is built may not.
        let built = manifest.split("[dev-dependencies]").next().unwrap_or(&manifest);
        for only in ["testing", "faults", "truth"] {
            if built.contains(&format!("iosonde-{only}.")) {
                findings
                    .push(format!("crates/{name} imports crates/{only}, which is for tests only"));
            }
        }
        for (other, below) in FLOORS {
            let imports = built.contains(&format!("iosonde-{other}."));
            if imports && other != name && below >= floor {
                findings.push(format!(
                    "crates/{name} (floor {floor}) imports crates/{other} (floor {below})"
                ));
            }
        }
    }
    findings
}

/// `iosonde-testing` imports none of our crates: the crate that a test imports
/// and the one that tests itself would otherwise be two.
fn only_for_tests(root: &Path) -> Vec<String> {
    let path = root.join("crates/testing/Cargo.toml");
    let manifest = fs::read_to_string(&path).unwrap_or_default();
    let imports = |name: &&str| manifest.contains(&format!("iosonde-{name}."));
    FLOORS
        .iter()
        .map(|(name, _)| *name)
        .filter(imports)
        .map(|name| format!("crates/testing imports crates/{name}; it may import none of ours"))
        .collect()
}

fn file(name: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let is_test = name.contains("/tests/") || name.contains("/examples/");
    let is_this = name == "xtask/src/tidy.rs";
    if text.contains("allow(unsafe_code)")
        && !is_this
        && !is_test
        && !UNSAFE.iter().any(|part| name.starts_with(part))
    {
        findings
            .push(format!("{name}: allows unsafe, and is not on the list in xtask/src/tidy.rs"));
    }
    findings.extend(system_choices(name, text).filter(|_| !is_test));
    let lines = text.lines().count();
    if lines > LINES_MOST && !is_test {
        findings.push(format!("{name}: {lines} lines; look for the second subject"));
    }
    if !text.starts_with("//!") {
        findings.push(format!("{name}: the first line does not say what the file is"));
    }
    for (at, line) in text.lines().enumerate() {
        let stub =
            ["todo!", "unimplemented!", "FIXME", "XXX"].iter().any(|word| line.contains(word));
        // libtest hides the output of passing tests.
        if line.contains("println!(\"skipped") && !is_this && !name.starts_with("crates/testing/") {
            findings.push(format!("{name}:{}: skip with iosonde_testing::skip!", at + 1));
        }
        if stub && !is_this {
            findings.push(format!("{name}:{}: a stub: {}", at + 1, line.trim()));
        }
    }
    findings
}

/// Lines that ask for the system outside of the modules that choose it. Tests may.
fn system_choices<'t>(name: &'t str, text: &'t str) -> impl Iterator<Item = String> + 't {
    let may_choose =
        name.contains("/platform/") || MAY_CHOOSE.iter().any(|part| name.starts_with(part));
    let lines = text.lines().enumerate().filter(move |_| !may_choose);
    let chooses = |line: &str| {
        line.contains("cfg")
            && ["target_os", "(unix", "(windows"].iter().any(|word| line.contains(word))
    };
    let before_tests = lines.take_while(|(_, line)| line.trim() != "#[cfg(test)]");
    let found = before_tests.filter(move |(_, line)| chooses(line));
    found.map(move |(at, line)| {
        format!(
            "{name}:{}: asks for the system: that is for a platform module: {}",
            at + 1,
            line.trim()
        )
    })
}

/// Every Rust file below `bindings`, `crates` and `xtask`.
fn rust_files(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root.join("bindings"), root.join("crates"), root.join("xtask")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_untidy_is_found() {
        let stub = ["todo", "!()"].concat();
        let found =
            file("crates/stats/src/x.rs", &format!("//! X.\n#![allow(unsafe_code)]\n{stub}\n"));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(file("crates/stats/src/x.rs", "//! X.\nfn f() {}\n").is_empty());
        assert_eq!(file("crates/stats/src/x.rs", "fn f() {}\n").len(), 1);
        let chosen = "//! X.\n#[cfg(target_os = \"linux\")]\nfn f() {}\n";
        assert_eq!(file("crates/stats/src/x.rs", chosen).len(), 1);
        assert!(file("crates/sys/src/platform/x.rs", chosen).is_empty());
    }
}
