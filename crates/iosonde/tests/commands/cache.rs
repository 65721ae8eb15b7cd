//! `iosonde cache` as another user, and its watch. What it finds is tested by the crate
//! that it is in.

use crate::support::running::{PATIENCE, Running};
use crate::support::{Who, copy_of_program};
use iosonde_testing::{Folder, is_root, skip};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

#[test]
fn a_file_without_read_permission_is_reported() {
    if !is_root("become another user") {
        return;
    }
    let folder = Folder::temporary("device");
    let program = copy_of_program(&folder);
    let path = folder.join("secret");
    std::fs::write(&path, [7; 4096]).unwrap();
    let set = |mode| std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
    let ask = || {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
        command.args(["cache", "--json"]).arg(&path).output()
    };
    set(0o600);
    let Ok(refused) = ask() else {
        skip!("setpriv is not installed");
    };
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("secret: Permission denied"));
    set(0o644);
    let allowed: Value = serde_json::from_slice(&ask().unwrap().stdout).unwrap();
    let cached = &allowed["files"][0]["cached_bytes"];
    assert!(cached["unknown"].is_string(), "it is neither owner nor writer: {allowed}");
}

#[test]
fn a_watch_prints_each_second_until_it_is_interrupted() {
    let folder = Folder::new("cache-watch");
    folder.write("data", [7; 4096]);
    let mut command = Who::Native.command(&folder);
    let mut watch = command
        .args(["cache", "--watch", "--json", "data"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = std::io::BufReader::new(watch.stdout.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    let second: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(second["bytes"], 4096);
    assert!(second["unix_ms"].as_u64().unwrap() > 0);
    // Nobody reads any more: it ends by itself.
    drop(out);
    assert!(watch.wait().unwrap().success());

    let mut running = Running::start(Who::Native, &folder, "cache --watch data");
    running.wait_for_text("4 KiB");
    running.signal(rustix::process::Signal::INT);
    let ran = running.end_within(PATIENCE).well();
    assert!(ran.stdout.contains("4 KiB"), "{ran:?}");
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stdout.contains('\r'), "{ran:?}");
}
