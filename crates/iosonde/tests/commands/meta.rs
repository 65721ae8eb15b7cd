//! `iosonde meta` and the engine `tree`.

use crate::support::running::{PATIENCE, Running, wait_until};
use crate::support::{Ran, Who, words};
use iosonde_testing::{Folder, is_root, or_skip, run};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

fn meta(folder: &Folder, line: &str) -> Ran {
    Who::Native.run(folder, &words(&format!("meta . {line}")))
}

/// A job of the engine `tree` in `folder`.
fn tree(folder: &Folder, line: &str) -> Ran {
    let line = format!("--name=j --ioengine=tree --tree_root=. --bs=1 {line}");
    Who::Native.run(folder, &words(&line))
}

fn operations(document: &Value) -> Vec<(String, u64)> {
    let phases = document["rounds"][0].as_array().unwrap();
    let one = |phase: &Value| {
        (phase["phase"].as_str().unwrap().to_owned(), phase["operations"].as_u64().unwrap())
    };
    phases.iter().map(one).collect()
}

/// Files below a directory: how many there are of each size, and how many
/// directories.
fn census(dir: &Path, sizes: &mut BTreeMap<u64, u64>) -> u64 {
    let mut dirs = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let about = entry.metadata().unwrap();
        if about.is_dir() {
            dirs += 1 + census(&entry.path(), sizes);
        } else {
            *sizes.entry(about.len()).or_default() += 1;
        }
    }
    dirs
}

#[test]
fn each_phase_is_done_to_every_name_and_nothing_is_left() {
    for shape in ["--threads=3", "--threads=3 --shared", "--threads=2 --depth=3"] {
        let folder = Folder::new("meta");
        folder.write("mine", "kept");
        let ran = meta(&folder, &format!("--files=500 --dirs=20 {shape} --json")).well();
        let document = ran.json();
        for (phase, count) in operations(&document) {
            match phase.as_str() {
                "mkparents" | "rmparents" => assert!(count >= 1, "{shape}"),
                "mkdir" | "statdir" | "syncdir" | "rmdir" => {
                    assert_eq!(count, 20, "{phase} {shape}")
                }
                _ => assert_eq!(count, 500, "{phase} {shape}"),
            }
        }
        assert_eq!(operations(&document).len(), 12);
        let stat = &document["rounds"][0][4];
        assert_eq!(stat["phase"], "stat");
        assert!(stat["latency_ns"]["p50"].as_u64().unwrap() > 0);
        assert!(stat["first_done_ns"].as_u64() <= stat["last_done_ns"].as_u64());
        assert_eq!(folder.names(), ["mine"]);
    }
}

#[test]
fn phases_that_are_named_work_on_links_and_attributes() {
    for shape in ["--threads=2 --depth=2", "--threads=3 --shared"] {
        let folder = Folder::new("meta-all");
        let ran = meta(&folder, &format!("--files=300 --dirs=12 {shape} --phases=all --json"));
        if ran.stderr.contains("has no extended attributes") {
            iosonde_testing::skip!("this file system has no extended attributes of users");
        }
        let document = ran.well().json();
        let done = operations(&document);
        for word in ["chmod", "utimens", "setxattr", "getxattr", "link", "symlink", "readlink"] {
            assert!(done.contains(&(word.to_owned(), 300)), "{word} {shape}: {done:?}");
        }
        assert!(done.contains(&("readdir".to_owned(), 12)), "{done:?}");
        assert_eq!(folder.names(), Vec::<String>::new(), "{shape}");
    }
}

#[test]
fn what_a_phase_leaves_is_what_it_says_and_what_was_changed_is_noticed() {
    let folder = Folder::new("meta-links");
    meta(&folder, "--files=20 --dirs=2 --threads=1 --phases=link,symlink,chmod,utimens --keep")
        .well();
    let kept = folder.names().into_iter().find(|name| name.starts_with("iosonde-meta")).unwrap();
    let dir = folder.join(&kept).join("iosonde-tree.0/d1.1");
    let file = std::fs::symlink_metadata(dir.join("f13")).unwrap();
    use std::os::unix::fs::MetadataExt;
    assert_eq!((file.nlink(), file.mode() & 0o777, file.mtime()), (2, 0o640, 14));
    assert_eq!(std::fs::symlink_metadata(dir.join("l13")).unwrap().ino(), file.ino());
    assert_eq!(std::fs::read_link(dir.join("s13")).unwrap(), Path::new("f13"));
    // Each check is also run against what is wrong.
    let root = format!("--tree_root={kept} --tree_files=20 --tree_dirs=2 --rw=read");
    tree(&folder, &format!("{root} --tree_op=readlink --size=20")).well();
    tree(&folder, &format!("{root} --tree_op=readdir --size=2")).well();
    std::fs::remove_file(dir.join("s13")).unwrap();
    std::os::unix::fs::symlink("f12", dir.join("s13")).unwrap();
    let ran = tree(&folder, &format!("{root} --tree_op=readlink --size=20"));
    assert!(ran.stderr.contains("d1.1/s13: it does not lead to its file"), "{ran:?}");
    let names = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
    names.skip(21).for_each(|path| std::fs::remove_file(path).unwrap());
    tree(&folder, &format!("{root} --tree_op=readdir --size=2")).well();
    let mut names = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
    (0..12).for_each(|_| std::fs::remove_file(names.next().unwrap()).unwrap());
    let ran = tree(&folder, &format!("{root} --tree_op=readdir --size=2"));
    assert!(ran.stderr.contains("d1.1: it holds fewer names than files were made"), "{ran:?}");
}

#[test]
fn files_have_the_sizes_that_were_asked_for() {
    let folder = Folder::new("meta-sizes");
    let list = folder.write("histogram", "# bytes times\n4k 3\n100 1\n1m 0\n");
    let line = format!("--files=400 --dirs=10 --threads=2 --sizes-from={list} --keep --json");
    let document = meta(&folder, &line).well().json();
    let kept = folder.names().into_iter().find(|name| name.starts_with("iosonde-meta")).unwrap();
    let mut sizes = BTreeMap::new();
    let dirs = census(&folder.join(&kept), &mut sizes);
    assert_eq!(dirs, 10 + 2, "two trees, ten directories");
    assert_eq!(sizes.values().sum::<u64>(), 400);
    assert_eq!(sizes.keys().copied().collect::<Vec<_>>(), [100, 4096]);
    assert!((250..350).contains(&sizes[&4096]), "{sizes:?}");
    let bytes: u64 = sizes.iter().map(|(bytes, count)| bytes * count).sum();
    assert_eq!(document["bytes"], bytes);
}

#[test]
fn what_is_there_already_is_neither_written_to_nor_followed() {
    let folder = Folder::new("tree-there");
    let others = Folder::new("tree-others");
    others.write("f0", "somebody's");
    std::fs::create_dir(folder.join("iosonde-tree.0")).unwrap();
    std::os::unix::fs::symlink(others.path(), folder.join("iosonde-tree.0/d1.0")).unwrap();
    let ran = tree(&folder, "--rw=write --size=1 --tree_op=mkparents");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("choose another tree_root"), "{ran:?}");
    let ran = tree(&folder, "--rw=write --size=1 --tree_op=create --tree_size=4k");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("./iosonde-tree.0/d1.0/f0"), "{ran:?}");
    assert_eq!(others.read("f0"), "somebody's");

    std::fs::remove_dir_all(folder.join("iosonde-tree.0")).unwrap();
    std::os::unix::fs::symlink(others.path(), folder.join("iosonde-tree.0")).unwrap();
    let ran = tree(&folder, "--rw=write --size=1 --tree_op=mkdir");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(others.names(), ["f0"]);
}

#[test]
fn jobs_of_a_job_file_are_phases() {
    let folder = Folder::new("tree-jobs");
    let job = "[global]\nioengine=tree\ntree_root=.\nbs=1\nsize=50\ntree_files=50\ntree_dirs=5\n\
               stonewall\n[parents]\ntree_op=mkparents\nsize=1\nrw=write\n\
               [dirs]\ntree_op=mkdir\nsize=5\nrw=write\n\
               [create]\ntree_op=create\ntree_size=512\nrw=write\n\
               [stat]\ntree_op=stat\nrw=randread\n\
               [read]\ntree_op=read\ntree_size=512\nrw=randread\n";
    folder.write("tree.fio", job);
    let ran = Who::Native.run(&folder, &["tree.fio", "--output-format=json"]).well();
    let document = ran.json();
    let jobs = document["jobs"].as_array().unwrap();
    let count = |job: usize, direction: &str| jobs[job][direction]["total_ios"].as_u64().unwrap();
    assert_eq!([count(2, "write"), count(3, "read"), count(4, "read")], [50, 50, 50]);
    let mut sizes = BTreeMap::new();
    assert_eq!(census(&folder.join("iosonde-tree.0"), &mut sizes), 5);
    assert_eq!(sizes, BTreeMap::from([(512, 50)]));
    // A file that is shorter than it should be is an error of the read.
    folder.write("iosonde-tree.0/d1.0/f3", "short");
    let line = "--rw=read --size=50 --tree_files=50 --tree_dirs=5 --tree_op=read --tree_size=512";
    let ran = tree(&folder, line);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("d1.0/f3: it is not as long as tree_size says"), "{ran:?}");
    let ran = tree(&folder, "--rw=read --size=51 --tree_files=50 --tree_dirs=5");
    assert!(ran.stderr.contains("more names than the tree has"), "{ran:?}");
}

#[test]
fn ctrl_c_prints_what_was_measured_and_removes_the_tree() {
    let folder = Folder::new("meta-stop");
    folder.write("mine", "kept");
    let mut program =
        Running::start(Who::Native, &folder, "meta . --files=500000 --size=0 --threads=1 --json");
    wait_until("the tree is there", || folder.names().len() > 1);
    program.wait_for_thread("create");
    program.signal(Signal::INT);
    let ran = program.end_within(PATIENCE);
    assert_eq!(ran.code, Some(128), "{ran:?}");
    assert_eq!(ran.json()["stopped"], true);
    assert_eq!(operations(&ran.json()).len(), 2, "directories were made");
    assert_eq!(folder.names(), ["mine"]);
}

#[test]
fn wrong_input_is_refused_before_anything_is_made() {
    let folder = Folder::new("meta-wrong");
    folder.write("file", "");
    for (line, why) in [
        ("meta", "<DIR>"),
        ("meta nowhere", "nowhere"),
        ("meta file", "is not a directory"),
        ("meta . --files=1k --size=1000t", "use fewer --files"),
        ("meta . --sizes-from=file", "no size that comes"),
        ("meta . --fanout=2 --dirs=3", "cannot be used with"),
    ] {
        let ran = Who::Native.run(&folder, &words(line));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(why), "{why}: {ran:?}");
    }
    assert_eq!(folder.names(), ["file"]);
}

#[test]
fn a_file_system_that_fills_up_is_an_error_with_the_results_so_far() {
    if !is_root("mount a small tmpfs") {
        return;
    }
    let folder = Folder::new("meta-full");
    let place = folder.join("small");
    std::fs::create_dir(&place).unwrap();
    let path = place.to_str().unwrap();
    let options = ["-t", "tmpfs", "-o", "size=256k", "none", path];
    if or_skip(run("mount", &options)).is_none() {
        return;
    }
    // A file of one byte takes a page, which nobody can know beforehand.
    let line = format!("meta {path} --files=200 --dirs=1 --threads=1 --size=1 --json");
    let ran = Who::Native.run(&folder, &words(&line));
    let left = std::fs::read_dir(&place).unwrap().count();
    run("umount", &[path]).unwrap();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("No space left"), "{ran:?}");
    assert_eq!(operations(&ran.json()).len(), 2, "{ran:?}");
    assert_eq!(left, 0);
}

#[test]
fn what_a_killed_run_left_is_named_and_removed_when_that_is_asked_for() {
    let folder = Folder::new("meta-leftovers");
    let left = "iosonde-meta.0123456789abcdef.tmp";
    folder.write("mine", "kept");
    std::fs::create_dir_all(folder.join(left).join("iosonde-tree.0/0")).unwrap();
    let ran = meta(&folder, "--files=10 --dirs=1 --threads=1").well();
    assert!(ran.stderr.contains(&format!("{left} is of another run")), "{ran:?}");
    assert!(folder.join(left).exists());
    let ran = meta(&folder, "--clean").well();
    assert!(ran.stdout.contains(&format!("removed ./{left}")), "{ran:?}");
    assert!(!folder.join(left).exists() && folder.join("mine").exists());
    let ran = meta(&folder, "--clean").well();
    assert!(ran.stdout.contains("no run has left anything"), "{ran:?}");
}
