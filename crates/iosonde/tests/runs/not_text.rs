//! Names that are not text: each is refused in one line that names it, and no
//! other file is touched in its stead.

use crate::support::Who;
use iosonde_testing::Folder;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::process::Output;

const NOT_TEXT: &[u8] = b"b\xfccher";

fn not_text(before: &str) -> OsString {
    OsStr::from_bytes(&[before.as_bytes(), NOT_TEXT].concat()).to_owned()
}

/// Refused, with these words in one line of at most `lines`, and nothing made.
fn is_refused(folder: &Folder, output: &Output, words: &str, lines: usize, there: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let ours = said.lines().filter(|line| line.contains(words)).count();
    assert!(ours == 1 && said.lines().count() <= lines, "{said}");
    assert_eq!(folder.names(), there, "{said}");
}

#[test]
fn an_argument_that_is_not_utf_8_is_named_and_nothing_runs() {
    for who in [Who::AsFio, Who::Native] {
        let folder = Folder::new("not-text");
        let mut command = who.command(&folder);
        let job = ["--name=a", "--rw=write", "--size=64k"];
        let output = command.args(job).arg(not_text("--filename=")).output().unwrap();
        is_refused(&folder, &output, r#""--filename=b\xFCcher" is not UTF-8"#, 2, &[]);
    }
    for command in ["probe", "cache", "audit", "matrix", "explain", "write-cache", "sbk"] {
        let folder = Folder::new("not-text");
        let mut program = Who::Native.command(&folder);
        let output = program.arg(command).arg(not_text("")).output().unwrap();
        is_refused(&folder, &output, r#""b\xFCcher" is not UTF-8"#, 2, &[]);
    }
}

#[test]
fn a_variable_that_is_not_utf_8_is_not_taken_for_an_empty_one() {
    for who in [Who::AsFio, Who::Native] {
        let folder = Folder::new("not-text");
        let file = folder.write("job", "[a]\nrw=write\nsize=64k\nfilename=x${WHERE}\n");
        let mut command = who.command(&folder);
        let output = command.env("WHERE", not_text("")).arg(file).output().unwrap();
        // fio says of which line, and of which job, before.
        let lines = if who == Who::AsFio { 4 } else { 2 };
        let words = "the environment variable WHERE is not UTF-8";
        is_refused(&folder, &output, words, lines, &["job"]);
    }
}

#[test]
fn a_folder_with_a_name_that_is_not_utf_8_can_be_used() {
    let folder = Folder::new("not-text");
    let place = folder.path().join(not_text(""));
    std::fs::create_dir(&place).unwrap();
    let mut command = Who::Native.command(&folder);
    let job = ["--name=a", "--filename=x", "--rw=write", "--size=64k", "--ledger=no"];
    let output = command.current_dir(&place).args(job).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(std::fs::metadata(place.join("x")).unwrap().len(), 64 << 10);
}
