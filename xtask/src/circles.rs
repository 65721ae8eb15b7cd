//! Files of a crate that import each other in a circle: none of them can be
//! read first. A folder's own module and the files in it count as one.

use std::collections::{BTreeMap, BTreeSet};

/// Circles among the files of all crates; `files` are paths and texts.
pub fn find<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mut crates: BTreeMap<&str, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for (path, text) in files {
        let Some((name, file)) = path.split_once("/src/") else { continue };
        let module = module_of(file);
        let imports = imports(&module, text);
        crates.entry(name).or_default().insert(module, imports);
    }
    let mut findings = Vec::new();
    for (name, modules) in crates {
        for circle in circles(&modules) {
            findings.push(format!("{name}: files import each other: {}", circle.join(", ")));
        }
    }
    findings
}

/// `a/b.rs` and `a/b/mod.rs` are `a::b`; `lib.rs` is the empty name.
fn module_of(file: &str) -> String {
    let stem = file.trim_end_matches(".rs");
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    if ["lib", "main"].contains(&stem) { String::new() } else { stem.replace('/', "::") }
}

/// The paths within the crate that a file names, in `use` items and elsewhere, unit tests aside.
fn imports(module: &str, text: &str) -> Vec<String> {
    let built = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let code: Vec<&str> =
        built.lines().map(|line| line.split("//").next().unwrap_or_default().trim()).collect();
    let mut paths = Vec::new();
    for (at, item) in code.join(" ").split("use ").enumerate() {
        let (tree, rest) =
            if at > 0 { item.split_once(';').unwrap_or(("", item)) } else { ("", item) };
        if let Some((base, rest)) = base_of(module, tree.trim()) {
            expand(&base, rest, &mut paths);
        }
        for (start, _) in rest.match_indices("crate::").chain(rest.match_indices("super::")) {
            let is_name = |letter: char| letter.is_alphanumeric() || "_:".contains(letter);
            // The first of several `super`, and no end of a longer word.
            if rest[..start].ends_with(is_name) {
                continue;
            }
            let path = rest[start..].split(|letter| !is_name(letter)).next().unwrap_or_default();
            paths.extend(base_of(module, path).map(|(base, rest)| join(&base, rest)));
        }
    }
    paths
}

/// What `crate`, or one `super` or more, at the begin of a path stand for, and the rest.
fn base_of<'a>(module: &str, path: &'a str) -> Option<(String, &'a str)> {
    if let Some(rest) = path.strip_prefix("crate::") {
        return Some((String::new(), rest));
    }
    let mut above = path.strip_prefix("super::").map(|rest| (parent(module), rest))?;
    while let Some(rest) = above.1.strip_prefix("super::") {
        above = (parent(above.0), rest);
    }
    Some((above.0.to_owned(), above.1))
}

fn parent(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(parent, _)| parent)
}

fn join(base: &str, name: &str) -> String {
    if base.is_empty() { name.to_owned() } else { format!("{base}::{name}") }
}

/// `a::{b, c::d}` is `a::b` and `a::c::d`.
fn expand(base: &str, tree: &str, paths: &mut Vec<String>) {
    match tree.split_once('{') {
        Some((before, inside)) => {
            let base = join(base, before.trim_end_matches("::"));
            let base = base.trim_end_matches("::");
            for part in parts(inside.trim_end().trim_end_matches('}')) {
                expand(base, part.trim(), paths);
            }
        }
        None => paths.push(join(base, tree)),
    }
}

/// What commas part, outside braces.
fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut parts) = (0, 0, Vec::new());
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[begin..]);
    parts
}

/// Sets of modules of which each reaches each other.
fn circles(modules: &BTreeMap<String, Vec<String>>) -> Vec<Vec<String>> {
    let edges: BTreeMap<&str, BTreeSet<&str>> = modules
        .iter()
        .map(|(from, paths)| {
            let to = paths.iter().filter_map(|path| longest(modules, path));
            (from.as_str(), to.filter(|to| !is_within(from, to) && !is_within(to, from)).collect())
        })
        .collect();
    let mut found = BTreeSet::new();
    for from in edges.keys() {
        let around: Vec<String> = reach(&edges, from)
            .into_iter()
            .filter(|to| reach(&edges, to).contains(from))
            .map(str::to_owned)
            .collect();
        if !around.is_empty() {
            found.insert(around);
        }
    }
    found.into_iter().collect()
}

/// The module that a path names or is in.
fn longest<'a>(modules: &'a BTreeMap<String, Vec<String>>, path: &str) -> Option<&'a str> {
    let fits = |module: &&String| !module.is_empty() && is_within(module, path);
    modules.keys().filter(fits).max_by_key(|module| module.len()).map(String::as_str)
}

fn is_within(module: &str, path: &str) -> bool {
    module.is_empty() || path == module || path.starts_with(&format!("{module}::"))
}

fn reach<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = edges[from].iter().copied().collect();
    while let Some(module) = next.pop() {
        if reached.insert(module) {
            next.extend(edges[module].iter().copied());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_files_that_import_each_other_are_a_circle() {
        let files = [
            ("crates/x/src/a.rs", "use crate::b::{C, d::E};\n"),
            ("crates/x/src/b.rs", "use std::fmt;\nuse super::c::F;\n"),
            ("crates/x/src/c.rs", "use crate::{\n    a::G,\n    e,\n};\n"),
            (
                "crates/x/src/e.rs",
                "fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::c::F;\n}\n",
            ),
        ];
        let found = find(files.into_iter());
        assert_eq!(found, ["crates/x: files import each other: a, b, c"]);
    }

    #[test]
    fn a_path_that_is_named_where_it_is_used_counts_too() {
        let files = [
            ("crates/x/src/a/b.rs", "use std::fmt;\nfn f() { super::super::c::g() }\n"),
            ("crates/x/src/c.rs", "// crate::d\nfn g() -> crate::a::b::H {}\n"),
            ("crates/x/src/d.rs", "use crate::c;\n"),
        ];
        assert_eq!(find(files.into_iter()), ["crates/x: files import each other: a::b, c"]);
    }

    #[test]
    fn a_folder_and_its_files_are_one() {
        let files = [
            ("crates/x/src/a.rs", "use self::b::C;\nuse crate::a::b::D;\n"),
            ("crates/x/src/a/b.rs", "use super::E;\nuse crate::a::F;\n"),
        ];
        assert!(find(files.into_iter()).is_empty());
    }
}
