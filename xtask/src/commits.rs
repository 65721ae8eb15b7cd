//! Subjects of commits: at most 72 characters, so that a list of them fits a line.

use std::path::Path;
use std::process::Command;

/// The last commit before the check; many before it are longer.
const SINCE: &str = "c2da88a488f9c22e9f8c03c9b82fd7ebeac8c41b";
const CHARACTERS_MOST: usize = 72;

/// Commits with a longer subject; none where there is no git or not this history (a source archive,
/// a shallow clone).
pub fn findings(root: &Path) -> Vec<String> {
    let range = format!("{SINCE}..HEAD");
    let ran = Command::new("git")
        .args(["log", "--no-merges", "--format=%h %s", &range])
        .current_dir(root)
        .output();
    match ran {
        Ok(ran) if ran.status.success() => too_long(&String::from_utf8_lossy(&ran.stdout)),
        _ => Vec::new(),
    }
}

/// Lines of a hash and a subject that is too long.
fn too_long(log: &str) -> Vec<String> {
    let subjects = log.lines().filter_map(|line| line.split_once(' '));
    subjects
        .map(|(hash, subject)| (hash, subject, subject.chars().count()))
        .filter(|(.., characters)| *characters > CHARACTERS_MOST)
        .map(|(hash, subject, characters)| {
            format!(
                "commit {hash}: its subject has {characters} characters, {CHARACTERS_MOST} at most: \
                 {subject}"
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_73rd_character_is_one_too_many() {
        let line = |characters: usize| format!("abc1234 {}\n", "ü".repeat(characters));
        assert!(too_long(&line(72)).is_empty());
        let found = too_long(&(line(72) + &line(73)));
        assert!(found.len() == 1 && found[0].contains("abc1234") && found[0].contains("73"));
    }

    #[test]
    fn a_folder_without_this_history_is_passed_over() {
        assert!(findings(&std::env::temp_dir()).is_empty());
    }
}
