//! Whether the files of a run honour `-direct`: notes before it begins.

use crate::bench::WorkerRole;
use iosonde_direct::{Answer, OpenOptions, Tristate, honoured};
use std::path::Path;

/// A note for each way in which the files do not go past the page cache, or
/// are not known to. A file that cannot be opened has none: its worker fails.
pub fn notes<'a>(action: WorkerRole, paths: impl Iterator<Item = &'a Path>) -> Vec<String> {
    let mut notes = Vec::new();
    for note in paths.flat_map(|path| of_file(action, path)) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

fn of_file(action: WorkerRole, path: &Path) -> Vec<String> {
    let writes = action == WorkerRole::Write;
    let opened = OpenOptions::new().read(!writes).write(writes).direct(true).open(path);
    let Some(found) = opened.ok().and_then(|file| honoured(&file).ok()) else { return Vec::new() };
    let answer = if writes { found.writes } else { found.reads };
    let below = found.cache_below.map(|below| format!("-direct does not pass all caches: {below}"));
    answer.as_ref().and_then(sentence).into_iter().chain(below).collect()
}

fn sentence(answer: &Answer) -> Option<String> {
    match answer.verdict {
        Tristate::Yes => None,
        Tristate::No => Some(format!("-direct is not honoured: {}", answer.why)),
        Tristate::Unknown => {
            Some(format!("whether -direct is honoured is unknown: {}", answer.why))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_needs_no_words() {
        assert_eq!(sentence(&Answer { verdict: Tristate::Yes, why: "y".into() }), None);
        let no = sentence(&Answer { verdict: Tristate::No, why: "in memory".into() });
        assert_eq!(no.as_deref(), Some("-direct is not honoured: in memory"));
        let unknown = sentence(&Answer { verdict: Tristate::Unknown, why: "FUSE".into() });
        assert_eq!(unknown.as_deref(), Some("whether -direct is honoured is unknown: FUSE"));
        assert!(notes(WorkerRole::Read, [Path::new("no/such/file")].into_iter()).is_empty());
    }
}
