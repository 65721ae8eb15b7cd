//! Programs that tests use if they are installed, and the rights they need.

use crate::skip;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Run a program; its standard output, or what failed.
pub fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin")
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(format!("{program} {arguments:?}: {message}"))
    }
}

/// Whether a program is installed, from the Debian package `package`; records
/// a skip if not.
#[track_caller]
pub fn has(program: &str, package: &str) -> bool {
    let found = on_path(program).is_some();
    if !found {
        skip::test(format_args!("{program} is not installed (apt-get install {package})"));
    }
    found
}

/// Whether fio is installed to compare with; records a skip if not.
#[track_caller]
pub fn has_fio() -> bool {
    if !fio_works() {
        skip::test(format_args!("{NO_FIO}"));
    }
    fio_works()
}

/// The same for a test of which only a part compares with fio.
#[track_caller]
pub fn has_fio_for_part() -> bool {
    if !fio_works() {
        skip::part(format_args!("{NO_FIO}"));
    }
    fio_works()
}

const NO_FIO: &str = "fio is not installed (apt-get install fio)";

fn fio_works() -> bool {
    static WORKS: LazyLock<bool> = LazyLock::new(|| {
        let version = Command::new("fio").arg("--version").output();
        version.is_ok_and(|output| output.stdout.starts_with(b"fio-3."))
    });
    *WORKS
}

/// Whether strace is installed and may trace; records a skip if not.
#[track_caller]
pub fn has_strace() -> bool {
    static WORKS: LazyLock<bool> = LazyLock::new(|| {
        let traced = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
        traced.is_ok_and(|output| output.status.success())
    });
    if !*WORKS {
        skip::test(format_args!("strace is not installed, or may not trace"));
    }
    *WORKS
}

/// Whether this process is root's, who alone can do `what`; records a skip if not.
#[cfg(unix)]
#[track_caller]
pub fn is_root(what: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        skip::test(format_args!("only root can {what}"));
    }
    root
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder: PathBuf| folder.join(program)).find(|at| is_file(at))
}

fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_found_and_its_failure_is_reported() {
        assert!(on_path("sh").is_some());
        assert!(on_path("iosonde-is-no-such-program").is_none());
        assert_eq!(run("sh", &["-c", "echo yes"]), Ok("yes".to_owned()));
        let failed = run("sh", &["-c", "echo why >&2; exit 1"]).unwrap_err();
        assert!(failed.ends_with(": why"), "{failed}");
    }
}
