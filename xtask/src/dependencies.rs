//! Checks of what the project depends on: licences, versions and sources, as `deny.toml` has them.
//!
//! Cargo fetches what it takes to judge the crates of every platform; without a network those of this one are judged.
//! Advisories are not checked here: `cargo deny check advisories` does.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The only registry that crates may come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// A crate of somebody else.
struct Dependency {
    name: String,
    version: String,
    licence: String,
    source: String,
}

/// Everything that is not as `deny.toml` has it.
pub fn findings(root: &Path) -> Result<Vec<String>, String> {
    let rules = std::fs::read_to_string(root.join("deny.toml"))
        .map_err(|error| format!("deny.toml: {error}"))?;
    let (allowed, skipped) = (list(&rules, "allow"), list(&rules, "skip"));
    let mut findings = Vec::new();
    for workspace in ["", "bindings/node"] {
        findings.extend(judge(&dependencies(&root.join(workspace))?, &allowed, &skipped));
    }
    Ok(findings)
}

fn dependencies(workspace: &Path) -> Result<Vec<Dependency>, String> {
    let metadata = match metadata(workspace, &[]) {
        Ok(all) => all,
        Err(why) => {
            let here = metadata(workspace, &["--offline", "--filter-platform", &host()?])?;
            eprintln!("tidy: crates of other platforms are not judged: {}", why.trim());
            here
        }
    };
    let metadata: Value =
        serde_json::from_slice(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let others = packages.iter().filter(|package| package["source"].is_string());
    Ok(others
        .map(|package| Dependency {
            name: text(&package["name"]),
            version: text(&package["version"]),
            licence: text(&package["license"]),
            source: text(&package["source"]),
        })
        .collect())
}

/// What `cargo metadata` prints.
fn metadata(workspace: &Path, more: &[&str]) -> Result<Vec<u8>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--locked", "--format-version=1"]).args(more);
    output_of(command.current_dir(workspace), "cargo metadata")
}

/// The platform that the toolchain builds for.
fn host() -> Result<String, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = output_of(Command::new(rustc).arg("-vV"), "rustc -vV")?;
    let version = String::from_utf8_lossy(&version).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc -vV names no host".to_owned())
}

fn output_of(command: &mut Command, name: &str) -> Result<Vec<u8>, String> {
    let ran = command.output().map_err(|error| format!("{name}: {error}"))?;
    if ran.status.success() {
        return Ok(ran.stdout);
    }
    Err(format!("{name}: {}", String::from_utf8_lossy(&ran.stderr).trim()))
}

fn judge(dependencies: &[Dependency], allowed: &[String], skipped: &[String]) -> Vec<String> {
    let mut findings = Vec::new();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Dependency { name, version, licence, source } in dependencies {
        versions.entry(name).or_default().push(version);
        if !may_use(licence, allowed) {
            findings.push(format!(
                "{name} {version}: deny.toml does not allow its licence, {licence:?}"
            ));
        }
        if source != REGISTRY {
            findings.push(format!("{name} {version}: comes from {source}, not from crates.io"));
        }
    }
    for (name, versions) in versions {
        if versions.len() > 1 && !skipped.iter().any(|skip| skip == name) {
            findings.push(format!(
                "{name}: {} versions, {}",
                versions.len(),
                versions.join(" and ")
            ));
        }
    }
    findings
}

/// Whether a licence expression can be met with these licences: one of the alternatives
/// of each part that `AND` joins. (`/` is how old manifests write `OR`.)
fn may_use(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.replace(['(', ')'], " ").replace('/', " OR ");
    !expression.trim().is_empty()
        && expression.split(" AND ").all(|part| {
            part.split(" OR ").any(|one| allowed.iter().any(|licence| licence == one.trim()))
        })
}

/// The strings of a list in a TOML file: of `key = [`, until the line `]`.
fn list(toml: &str, key: &str) -> Vec<String> {
    let begin = format!("{key} = [");
    let lines = toml.lines().skip_while(|line| *line != begin).skip(1);
    let entries = lines.take_while(|line| *line != "]").map(str::trim);
    let strings = entries.filter_map(|entry| entry.strip_prefix('"')?.split('"').next());
    strings.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependency(name: &str, version: &str, licence: &str) -> Dependency {
        let (name, version, licence) = (name.into(), version.into(), licence.into());
        Dependency { name, version, licence, source: REGISTRY.into() }
    }

    #[test]
    fn a_licence_is_met_by_one_of_its_alternatives_and_by_each_of_its_parts() {
        let allowed = ["MIT".to_owned(), "Unicode-3.0".to_owned()];
        assert!(may_use("MIT", &allowed));
        assert!(may_use("GPL-3.0 OR MIT", &allowed) && may_use("Apache-2.0/MIT", &allowed));
        assert!(may_use("(MIT OR Apache-2.0) AND Unicode-3.0", &allowed));
        assert!(!may_use("GPL-3.0", &allowed) && !may_use("", &allowed));
        assert!(!may_use("MIT AND GPL-3.0", &allowed));
    }

    #[test]
    fn two_versions_and_other_sources_are_found_unless_they_are_skipped() {
        let mut all = [dependency("a", "1.0.0", "MIT"), dependency("a", "2.0.0", "MIT")];
        let mit = ["MIT".to_owned()];
        assert_eq!(judge(&all, &mit, &[]), ["a: 2 versions, 1.0.0 and 2.0.0"]);
        assert!(judge(&all, &mit, &["a".to_owned()]).is_empty());
        all[0].source = "git+https://example.org/a".into();
        assert_eq!(judge(&all[..1], &mit, &[]).len(), 1);
    }

    #[test]
    fn lists_are_read_without_their_comments() {
        let text =
            "[bans]\nskip = [\n    # why\n    \"a\",\n    \"b\",\n]\nallow = [\n    \"c\",\n]\n";
        assert_eq!(list(text, "skip"), ["a", "b"]);
        assert_eq!(list(text, "allow"), ["c"]);
    }
}
