//! What a user who owns nothing is told and may do: each body runs again as nobody.
#![cfg(target_os = "linux")]
#![allow(unsafe_code)]

use std::fs::{self, File, OpenOptions as Plain};
use std::os::fd::AsFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use iosonde_direct::{DirectIo, Facts, Known, MemoryKind, OpenOptions, PathKind, RawBuf, cache};
use iosonde_testing::{Folder, Overlay, filesystem, or_skip};

const NOBODY: u32 = 65534;

/// The path that a body is run with; `None` where it is called as a test of its own.
fn given() -> Option<PathBuf> {
    std::env::var_os("IOSONDE_AS_NOBODY").map(PathBuf::from)
}

/// Run the test `body` of this program as nobody.
fn as_nobody(body: &str, path: &Path, input: Stdio) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", body])
        .env("IOSONDE_AS_NOBODY", path)
        .stdin(input)
        .uid(NOBODY)
        .gid(NOBODY)
        .output();
    match output {
        Ok(output) => assert!(output.status.success(), "{body}: {output:?}"),
        Err(error) => iosonde_testing::skip!("run as nobody: {error}"),
    }
}

#[test]
fn body_of_another() {
    let Some(path) = given() else { return };
    // The access time may not be left alone, and the file is opened all the same.
    OpenOptions::new().read(true).keep_access_time(true).open(&path).unwrap();
    // Not even its pages may be counted.
    let reported = cache::residency(&File::open(&path).unwrap(), 0, 0);
    let why = reported.why().unwrap_or_else(|| panic!("{reported:?}"));
    assert!(why.contains("needs ownership or write permission"), "{why}");
}

#[test]
fn a_file_of_another_is_opened_and_its_pages_are_not_reported() {
    let folder = Folder::temporary("test");
    let path = folder.join("file");
    fs::write(&path, [7; 4096]).unwrap();
    as_nobody("body_of_another", &path, Stdio::null());
}

#[test]
fn body_of_a_path_without_permissions() {
    let Some(path) = given() else { return };
    assert!(File::open(&path).is_err());
    let facts = Facts::of(&path).unwrap();
    assert_eq!((facts.kind, facts.bytes.get()), (PathKind::File, Some(4096)));
}

#[test]
fn the_facts_of_a_path_take_no_permission_on_it() {
    let folder = Folder::temporary("test");
    let path = folder.join("file");
    fs::write(&path, [7; 4096]).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    as_nobody("body_of_a_path_without_permissions", &path, Stdio::null());
}

#[test]
fn body_of_a_trial_that_is_not_allowed() {
    let Some(_) = given() else { return };
    // Its standard input, which it may not open again.
    let input = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    let file = File::from(input);
    let needs = DirectIo::of(&file).unwrap();
    if needs.known != Known::Stated {
        let why = "the file cannot be opened again for a trial";
        assert_eq!((needs.possible, needs.known), (true, Known::Guessed(why)));
    }
}

#[test]
fn a_file_that_may_not_be_tried_gets_safe_figures() {
    // tmpfs states no alignment, so that one is tried.
    let place = Path::new("/dev/shm");
    if !place.is_dir() {
        iosonde_testing::skip!("there is no /dev/shm");
    }
    let folder = Folder::within(place, "trial");
    let path = folder.join("file");
    fs::write(&path, [7; 4096]).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let input = File::open(&path).unwrap();
    as_nobody("body_of_a_trial_that_is_not_allowed", &path, input.into());
}

#[test]
fn body_of_a_segment() {
    let Some(_) = given() else { return };
    let mut buffer = RawBuf::new(&MemoryKind::Segment, 8192, 4096).unwrap();
    // SAFETY: the segment is this process's own, and no request is in flight.
    unsafe { buffer.as_mut_slice() }.fill(7);
}

#[test]
fn everybody_may_use_a_segment_of_their_own() {
    as_nobody("body_of_a_segment", Path::new("/"), Stdio::null());
}

/// Who owns a file, or may write to it, may ask mincore(2) for its pages.
#[test]
fn body_of_overlaid_files() {
    let Some(folder) = given() else { return };
    for (name, known) in [("of-root", false), ("own", true), ("writable", true)] {
        let file = File::open(folder.join(name)).unwrap();
        cache::warm(&file, 0, 0).unwrap();
        let reported = cache::residency(&file, 0, 0);
        assert_eq!(reported.known().is_some(), known, "{name}: {reported:?}");
    }
}

#[test]
fn pages_of_overlaid_files_are_reported_to_those_who_may_know() {
    let folder = Folder::temporary("test");
    let Some((_device, mounted)) = or_skip(filesystem(&folder, "ext4")) else { return };
    let layers = Overlay::in_folder(&mounted.0);
    for (name, owner, mode) in
        [("of-root", 0, 0o644), ("own", NOBODY, 0o444), ("writable", 0, 0o666)]
    {
        let path = layers.lower.join(name);
        fs::write(&path, [7; 8192]).unwrap();
        chown(&path, Some(owner), None).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let Some(overlay) = or_skip(layers.mount("")) else { return };
    as_nobody("body_of_overlaid_files", &overlay.0, Stdio::null());
    // Of a file of more than one window of pages, those at its end are found too.
    let path = overlay.0.join("large");
    let file = Plain::new().read(true).write(true).create_new(true).open(&path).unwrap();
    let end = 65_536 * 4096;
    file.set_len(end + 8 * 4096).unwrap();
    cache::warm(&file, end, 0).unwrap();
    let reported = cache::residency(&file, 0, 0);
    let cached = reported.known().unwrap_or_else(|| panic!("{reported:?}")).cached;
    // A kernel that reclaims idle memory may have taken some of the eight.
    assert!((4..=8).contains(&cached), "{cached} pages");
}
