//! `iosonde probe` under strace and as another user. What it finds is tested by the crate
//! that it is in.

use crate::support::copy_of_program;
use iosonde_testing::{Folder, is_root, skip};
use serde_json::Value;
use std::process::Command;

#[test]
fn with_no_touch_nothing_is_created_and_the_rest_is_unknown() {
    let folder = Folder::new("probe-no-touch");
    folder.write("data", "x");
    let log = folder.join("calls");
    let traced = Command::new("strace")
        .args(["-f", "-e", "trace=openat,open,creat", "-o"])
        .arg(&log)
        .arg(env!("CARGO_BIN_EXE_iosonde"))
        .args(["probe", "--no-touch", "--json", "data"])
        .current_dir(folder.path())
        .output();
    let Ok(traced) = traced else {
        skip!("strace is not installed");
    };
    let found: Value = serde_json::from_slice(&traced.stdout).unwrap();
    assert_eq!(found["trials"]["direct_read"]["verdict"], "unknown");
    assert!(found["file"]["cached_bytes"]["unknown"].as_str().unwrap().contains("--no-touch"));
    let calls = std::fs::read_to_string(&log).unwrap();
    assert!(calls.contains("openat"), "{calls}");
    assert!(!calls.contains("O_CREAT"), "{calls}");
    let data = calls.lines().filter(|line| line.contains("\"data\""));
    assert!(data.clone().all(|line| line.contains("O_PATH")), "{:?}", data.collect::<Vec<_>>());
}

#[test]
fn a_directory_without_write_permission_is_reported() {
    if !is_root("become another user") {
        return;
    }
    let folder = Folder::temporary("device");
    let program = copy_of_program(&folder);
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
    let Ok(ran) = command.args(["probe", "--json"]).arg(folder.path()).output() else {
        skip!("setpriv is not installed");
    };
    assert_eq!(ran.status.code(), Some(0));
    let found: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let said = &found["trials"]["direct_read"]["detail"];
    assert_eq!(said, "no file can be created there: Permission denied");
}
