//! `--trigger-file`, `--trigger-timeout`, `--trigger`: the run ends, states are
//! saved, the command runs.

use crate::support::running::{PATIENCE, Running};
use crate::support::{Ran, Who, words};
use iosonde_testing::Folder;
use iosonde_verify::StateFile;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// More than can be written before the trigger fires.
const JOB: &str = "--name=v --filename=data --size=64m --bs=4k --rw=write --rate=1m \
                   --verify=crc32c --verify_state_save=0";

/// A folder with a command that the trigger runs.
fn folder(script: &str) -> Folder {
    let folder = Folder::new("trigger");
    folder.write("command", format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(folder.join("command"), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn state(folder: &Folder, name: &str) -> StateFile {
    StateFile::decode(&fs::read(folder.join(name)).unwrap(), 1).unwrap()
}

fn timed(who: Who, folder: &Folder, more: &str) -> Ran {
    let line = format!("{JOB} --trigger-timeout=200ms --trigger=./command {more}");
    who.run(folder, &words(&line))
}

#[test]
fn a_timeout_ends_the_run_with_states_on_disk_before_the_command_runs() {
    for who in [Who::Native, Who::AsFio] {
        let folder = folder("ls *.state > states; echo out");
        let ran = timed(who, &folder, "--output-format=json").well();
        let json = ran.json();
        let written = json["jobs"][0]["write"]["total_ios"].as_u64().unwrap();
        assert_eq!(json["jobs"][0]["read"]["total_ios"], 0, "no check: {ran:?}");
        assert!(ran.stderr.lines().any(|line| line == "out"), "not in the document: {ran:?}");
        let state = state(&folder, "local-v-0-verify.state");
        assert_eq!((state.writes, state.in_flight), (written, vec![None]), "{ran:?}");
        assert_eq!(folder.read("states"), "local-v-0-verify.state\n");
        // The purpose of a later run: it checks exactly what was written.
        let later = format!("{JOB} --verify_only=1 --verify_state_load=1 --output-format=json");
        let ran = Who::Native.run(&folder, &words(&later)).well();
        let checked = &ran.json()["iosonde"]["jobs"][0]["verify"]["checked"];
        assert_eq!(checked.as_u64(), Some(written), "{ran:?}");
        fs::remove_file(folder.join("data")).unwrap();
    }
}

#[test]
fn a_file_ends_the_run_of_all_jobs_and_is_removed() {
    let folder = folder("ls *.state > states");
    let line = format!(
        "{JOB} --trigger-file=fire --trigger=./command --name=w --filename=other --rw=read \
         --size=1g --rate=1m --verify=0 --ioengine=null --name=later --stonewall --rw=write \
         --ioengine=null --size=4k --verify=0"
    );
    let mut program = Running::start(Who::AsFio, &folder, &line);
    program.wait_for_thread("v");
    folder.write("fire", b"");
    let ran = program.end_within(PATIENCE).well();
    assert!(!folder.join("fire").exists());
    let states = "local-later-2-verify.state\nlocal-v-0-verify.state\nlocal-w-1-verify.state\n";
    assert_eq!(folder.read("states"), states, "{ran:?}");
    let without = state(&folder, "local-w-1-verify.state");
    assert_eq!((without.writes, without.in_flight), (0, vec![Some(0)]));
    assert!(ran.stdout.contains("Run status group 0 (all jobs):"), "{ran:?}");
}

#[test]
fn a_command_that_fails_is_reported_and_fails_no_job() {
    let folder = folder("exit 3");
    let ran = timed(Who::AsFio, &folder, "").well();
    assert!(ran.stderr.contains("the trigger command ended with exit status: 3"), "{ran:?}");
}

#[test]
fn the_trigger_of_a_server_is_refused() {
    let folder = Folder::new("trigger-remote");
    let ran = Who::Native.run(&folder, &words(&format!("{JOB} --trigger-remote=x")));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let words = "--trigger-remote is not supported: a server starts no program";
    assert!(ran.stderr.contains(words), "{ran:?}");
    assert!(!folder.join("data").exists());
}
