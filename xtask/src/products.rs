//! Products of builds have no place in the repository.

use std::path::Path;
use std::process::Command;

/// What cargo puts at the top of a folder for products, wherever that is.
const MARK: &str = "CACHEDIR.TAG";

/// Folders with products of builds that git tracks; none where there is no git.
pub fn findings(root: &Path) -> Vec<String> {
    let ran = Command::new("git").args(["ls-files"]).current_dir(root).output();
    match ran {
        Ok(ran) if ran.status.success() => marked(&String::from_utf8_lossy(&ran.stdout)),
        _ => Vec::new(),
    }
}

fn marked(files: &str) -> Vec<String> {
    let marks = files.lines().filter(|file| file.rsplit('/').next() == Some(MARK));
    marks.map(|file| format!("{file}: git tracks a folder with products of a build")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_products_is_found_by_its_mark() {
        let found = marked("src/main.rs\nout/CACHEDIR.TAG\nout/release/x\nCACHEDIR.TAG.md\n");
        assert_eq!(found, ["out/CACHEDIR.TAG: git tracks a folder with products of a build"]);
    }
}
