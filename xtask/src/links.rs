//! Checks of the links between the project's documents: the file is there, and so is the heading; a
//! test that a page names is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every link that leads nowhere.
pub fn findings(root: &Path) -> Vec<String> {
    let mut findings = Vec::new();
    for page in pages(root) {
        let text = fs::read_to_string(&page).unwrap_or_default();
        let name = page.strip_prefix(root).unwrap_or(&page).display().to_string();
        for target in targets(&text) {
            if let Err(why) = follow(&page, &text, &target) {
                findings.push(format!("{name}: the link to {target} leads nowhere: {why}"));
            }
        }
        for (function, file) in tests_named(&text) {
            let there = fs::read_to_string(page.parent().unwrap_or(root).join(&file));
            if !there.is_ok_and(|source| has_test(&source, &function)) {
                findings.push(format!("{name}: there is no test {function} in {file}"));
            }
        }
    }
    findings
}

/// Every Markdown page that is ours.
fn pages(root: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let hidden = name.to_string_lossy().starts_with('.');
            let others = ["target", "node_modules", "dist"].iter().any(|other| name == *other);
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !hidden && !others => folders.push(path),
                Ok(kind) if kind.is_file() && path.extension().is_some_and(|end| end == "md") => {
                    pages.push(path);
                }
                _ => {}
            }
        }
    }
    pages.sort();
    pages
}

/// The targets of a page's links and pictures, without those of other sites.
fn targets(text: &str) -> Vec<String> {
    let mut targets = Vec::new();
    for line in prose(text) {
        // Code is no link: every second piece between backquotes.
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for rest in plain.split("](").skip(1) {
            let target = rest.split(')').next().unwrap_or_default();
            if !target.contains("://") && !target.starts_with("mailto:") {
                targets.push(target.to_owned());
            }
        }
    }
    targets
}

/// Tests that a page links to, as a table of features names the test of each: a function's
/// name between backquotes as the text of a link to a Rust file.
fn tests_named(text: &str) -> Vec<(String, String)> {
    let links = prose(text).flat_map(|line| line.split("[`").skip(1));
    let pairs = links.filter_map(|rest| {
        let (name, rest) = rest.split_once("`](")?;
        Some((name.to_owned(), rest.split(')').next()?.to_owned()))
    });
    pairs.filter(|(_, file)| file.ends_with(".rs")).collect()
}

/// Whether a source has a function of this name that is a test.
fn has_test(source: &str, function: &str) -> bool {
    let begin = format!("fn {function}(");
    let mut attributes = Vec::new();
    for line in source.lines().map(str::trim) {
        match line {
            _ if line.starts_with(&begin) => return attributes.contains(&"#[test]"),
            _ if line.starts_with("#[") => attributes.push(line),
            _ => attributes.clear(),
        }
    }
    false
}

/// The lines outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence && !line.starts_with("    ")
    })
}

fn follow(page: &Path, text: &str, target: &str) -> Result<(), String> {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let place = page.parent().unwrap_or(Path::new(".")).join(file);
    if !file.is_empty() && !place.exists() {
        return Err("there is no such file".to_owned());
    }
    if heading.is_empty() || !(file.is_empty() || file.ends_with(".md")) {
        return Ok(());
    }
    let there = if file.is_empty() {
        text.to_owned()
    } else {
        fs::read_to_string(&place).map_err(|error| error.to_string())?
    };
    if anchors(&there).contains(heading) {
        Ok(())
    } else {
        Err("there is no such heading".to_owned())
    }
}

/// The names by which the headings of a page can be linked to, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let words = line.trim_start_matches('#').trim().to_lowercase();
            let kept = words.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_in_prose_and_not_in_code() {
        let text = "[a](b.md) `[c](d.md)` ![e](f.svg) [g](https://h)\n```\n[i](j.md)\n```\n";
        assert_eq!(targets(text), ["b.md", "f.svg"]);
    }

    #[test]
    fn tests_are_links_to_rust_files() {
        let text = "| yes: [`one`](a/b.rs), [`two`](c.md) | [`three`](d.rs) |\n";
        let pairs = [("one", "a/b.rs"), ("three", "d.rs")];
        assert_eq!(tests_named(text), pairs.map(|(name, file)| (name.to_owned(), file.to_owned())));
    }

    #[test]
    fn a_function_without_the_attribute_is_no_test() {
        let source = "#[test]\n#[cfg(unix)]\nfn one() {}\n\n#[test]\nfn two() {}\nfn three() {}\n";
        assert!(has_test(source, "one") && has_test(source, "two"));
        assert!(
            !has_test(source, "three") && !has_test(source, "thre") && !has_test(source, "four")
        );
    }

    #[test]
    fn a_heading_is_named_as_github_names_it() {
        let text = "# The `first` run, and job files\n\n## Why?\n";
        let names: Vec<String> = anchors(text).into_iter().collect();
        assert_eq!(names, ["the-first-run-and-job-files", "why"]);
    }

    #[test]
    fn a_link_to_a_missing_file_or_heading_is_found() {
        let folder = std::env::temp_dir().join(format!("iosonde-links-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let text = "# One\n[a](#one) [b](#two) [c](other.md) [d](other.md#three) [e](none.md)\n";
        fs::write(folder.join("page.md"), text).unwrap();
        fs::write(folder.join("other.md"), "# Other\n").unwrap();
        let found = findings(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found.len(), 3, "{found:?}");
        for (finding, target) in found.iter().zip(["#two", "other.md#three", "none.md"]) {
            assert!(finding.contains(target), "{finding}");
        }
    }
}
