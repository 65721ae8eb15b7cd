//! Directories that runs left there which were killed: named at the next run, removed on
//! request.

use iosonde_sys::standard_error;
use iosonde_sys::standard_output::print as say;
use std::path::{Path, PathBuf};

/// The beginning of the name of a run's directory.
pub const STEM: &str = "iosonde-meta";

/// Say what is there of other runs: they may have been killed, or still go on.
pub fn name(dir: &Path) {
    if let Ok(found) = find(dir)
        && let Some(first) = found.first()
    {
        let more = match found.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        standard_error::print_line(format_args!(
            "iosonde: note: {}{more} is of another run; if none is going on: iosonde meta --clean {}",
            first.display(),
            dir.display()
        ));
    }
}

/// Remove it.
///
/// # Errors
/// The directory cannot be read, or one in it not be removed.
pub fn clean(dir: &Path) -> Result<(), String> {
    let found = find(dir)?;
    if found.is_empty() {
        say(&format!("no run has left anything in {}\n", dir.display()));
    }
    for path in found {
        std::fs::remove_dir_all(&path)
            .map_err(|error| format!("cannot remove {}: {error}", path.display()))?;
        say(&format!("removed {}\n", path.display()));
    }
    Ok(())
}

/// Directories with the name of a run's own, in the order of their names. A link is none.
fn find(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let refused = |error: std::io::Error| format!("cannot read {}: {error}", dir.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_directory && entry.file_name().to_str().is_some_and(is_of_a_run) {
            found.push(entry.path());
        }
    }
    iosonde_base::sort(&mut found);
    Ok(found)
}

/// `iosonde-meta.` with 16 hexadecimal digits and `.tmp`: what else begins so is not ours.
fn is_of_a_run(name: &str) -> bool {
    let digits = name.strip_prefix(STEM).and_then(|rest| rest.strip_prefix('.'));
    let digits = digits.and_then(|rest| rest.strip_suffix(".tmp"));
    digits.is_some_and(|digits| {
        digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_names_of_runs_are_theirs() {
        assert!(is_of_a_run("iosonde-meta.4f1d03a9b7c2e586.tmp"));
        for name in [
            "iosonde-meta.tmp",
            "iosonde-meta.4f1d03a9b7c2e58x.tmp",
            "iosonde-metal.4f1d03a9b7c2e586.tmp",
        ] {
            assert!(!is_of_a_run(name), "{name}");
        }
    }
}
