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
    let document = ran.json();
    assert_eq!(operations(&document).len(), 3, "directories and some files were made");
    let create = &document["rounds"][0][2];
    assert_eq!((&create["phase"], &create["partial"]), (&"create".into(), &true.into()));
    assert!(create["operations"].as_u64().unwrap() < 500_000, "{create}");
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
    let create = &ran.json()["rounds"][0][2];
    assert_eq!((&create["phase"], &create["partial"]), (&"create".into(), &true.into()));
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

#[test]
fn a_tree_is_made_as_a_list_has_it() {
    let folder = Folder::new("meta-list");
    folder.write("list", "# a tree\nd empty/inside\nf 5000 a/b/c/x\nf 0 y\nf 3 a/z\n");
    let done = meta(&folder, "--tree-file=list --threads=2 --phases=all --json");
    if done.stderr.contains("has no extended attributes") {
        iosonde_testing::skip!("this file system has no extended attributes of users");
    }
    let done = operations(&done.well().json());
    let count = |phase: &str| done.iter().find(|(word, _)| word == phase).unwrap().1;
    assert_eq!([count("mkdir"), count("readdir"), count("rmdir")], [5, 5, 5], "{done:?}");
    assert_eq!([count("create"), count("rename"), count("unlink")], [3, 3, 3], "{done:?}");
    assert_eq!(folder.names(), ["list"]);
    meta(&folder, "--tree-file=list --threads=2 --phases=read --keep").well();
    let kept = folder.names().into_iter().find(|name| name.starts_with("iosonde-meta")).unwrap();
    let top = folder.join(&kept).join("iosonde-tree");
    let bytes = |path: &str| std::fs::metadata(top.join(path)).unwrap().len();
    assert_eq!([bytes("a/b/c/x"), bytes("y"), bytes("a/z")], [5000, 0, 3]);
    assert!(top.join("empty/inside").is_dir());
    folder.write("wrong", "f 1 ../mine\n");
    let ran = meta(&folder, "--tree-file=wrong");
    assert!(ran.stderr.contains("use paths below the tree"), "{ran:?}");
}

#[test]
fn content_that_is_not_what_was_written_is_found() {
    let folder = Folder::new("meta-verify");
    let line = "--files=20 --dirs=2 --threads=1 --size=3000000/1:77/9 --verify";
    meta(&folder, &format!("{line} --phases=read,churn")).well();
    meta(&folder, &format!("{line} --phases=read --keep")).well();
    let kept = folder.names().into_iter().find(|name| name.starts_with("iosonde-meta")).unwrap();
    let root = format!("--tree_root={kept} --tree_files=20 --tree_dirs=2 --tree_verify=1");
    let read = format!("{root} --tree_op=read --tree_size=3000000/1:77/9 --rw=read --size=20");
    tree(&folder, &read).well();
    let mut sizes = BTreeMap::new();
    census(&folder.join(&kept), &mut sizes);
    assert_eq!(sizes.keys().copied().collect::<Vec<u64>>(), [77, 3_000_000]);
    let file = folder.join(&kept).join("iosonde-tree.0/d1.1/f13");
    let mut bytes = std::fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let ran = tree(&folder, &read);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("d1.1/f13: it holds other bytes than were written"), "{ran:?}");
}

#[test]
fn files_are_opened_with_o_direct_where_that_is_asked_for() {
    let folder = Folder::new("meta-direct");
    let ran = meta(&folder, "--files=10 --dirs=1 --threads=1 --size=5000 --direct");
    assert!(ran.stderr.contains("a multiple of 4096 bytes"), "{ran:?}");
    if !iosonde_testing::has("strace", "strace") {
        return;
    }
    let trace = folder.join("trace");
    let mut traced = std::process::Command::new("strace");
    traced.args(["-f", "-e", "trace=openat", "-o"]).arg(&trace);
    traced.arg(env!("CARGO_BIN_EXE_iosonde")).args(words(
        "meta . --files=10 --dirs=1 --threads=1 --size=8k --phases=read --direct --json",
    ));
    let output = traced.current_dir(folder.path()).output().unwrap();
    if String::from_utf8_lossy(&output.stderr).contains("does not take O_DIRECT") {
        iosonde_testing::skip!("this file system does not take O_DIRECT");
    }
    assert!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(&trace).unwrap();
    let direct = text.lines().filter(|line| line.contains("/f") && line.contains("O_DIRECT"));
    assert_eq!(direct.count(), 20, "ten are created, ten are read");
}

#[test]
fn a_limit_of_time_ends_create_when_all_have_made_as_many() {
    let folder = Folder::new("meta-limit");
    for shape in ["", "--shared"] {
        let line = format!("--files=50m --dirs=4 --threads=2 --size=0 --limit=300ms {shape}");
        let ran = meta(&folder, &format!("{line} --phases=stat,readdir --json")).well();
        let done = operations(&ran.json());
        let count = |phase: &str| done.iter().find(|(word, _)| word == phase).unwrap().1;
        let made = count("create");
        assert!(made > 0 && made < 50_000_000 && made % 2 == 0, "{done:?}");
        assert_eq!([count("stat"), count("unlink")], [made, made], "{done:?}");
        assert_eq!([count("mkdir"), count("readdir")], [4, 4], "{done:?}");
        assert_eq!(folder.names(), [""; 0]);
    }
    // All are there before.
    let ran = meta(&folder, "--files=100 --dirs=2 --threads=2 --limit=60s").well();
    assert!(ran.stdout.contains("all files were made in less than 60 s"), "{ran:?}");
}

#[test]
fn operations_are_done_beside_each_other_in_proportion_or_at_a_rate() {
    let folder = Folder::new("meta-mix");
    let line = "--files=200 --dirs=4 --threads=2 --phases=open --json";
    let ran = meta(&folder, &format!("{line} --mix=stat/8:churn/1:read@100 --mix-time=1s")).well();
    let done = operations(&ran.json());
    let count = |phase: &str| done.iter().find(|(word, _)| word == phase).unwrap().1;
    let (stat, churn) = (count("mix:stat"), count("mix:churn"));
    assert!(churn > 0 && stat > 4 * churn && stat < 16 * churn, "{done:?}");
    // A busy machine does fewer than the rate, never more.
    assert!((1..=101).contains(&count("mix:read")), "{done:?}");
    assert_eq!(done.iter().position(|(word, _)| word == "mix:stat"), Some(4), "{done:?}");
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn find_says_how_many_names_it_examined_and_how_many_matched() {
    let folder = Folder::new("meta-find");
    let line = "--files=100 --dirs=5 --threads=2 --shared --size=7 --phases=find --json";
    let found = |more: &str| {
        let document = meta(&folder, &format!("{line} {more}")).well().json();
        let phases = document["rounds"][0].as_array().unwrap();
        let find = phases.iter().find(|phase| phase["phase"] == "find").unwrap();
        (find["found"]["examined"].clone(), find["found"]["matched"].clone())
    };
    assert_eq!(found(""), (100.into(), 100.into()));
    // f9 and f90 to f99, f19 ... f89.
    assert_eq!(found("--find-name=9 --find-size=7"), (100.into(), 19.into()));
    assert_eq!(found("--find-name=9 --find-size=8"), (100.into(), 0.into()));
}

#[test]
fn counts_are_shown_while_a_phase_runs_where_that_is_asked_for() {
    let folder = Folder::new("meta-live");
    let line = "--files=50m --dirs=2 --threads=2 --size=0 --limit=2500ms --live=plain";
    let ran = meta(&folder, line).well();
    let shown = ran.stderr.lines().filter(|line| line.starts_with("create ("));
    let counts: Vec<u64> =
        shown.map(|line| line.split_whitespace().nth(4).unwrap().parse().unwrap()).collect();
    assert!(counts.len() >= 2 && counts.is_sorted() && counts[0] > 0, "{ran:?}");
}

#[test]
fn the_phases_as_a_job_file_do_the_same() {
    let folder = Folder::new("meta-print");
    let ran = meta(&folder, "--files=60 --dirs=4 --threads=2 --phases=stat,rename --print").well();
    assert_eq!(folder.names(), [""; 0]);
    folder.write("phases.fio", &ran.stdout);
    for rank in ["--rank=0", "--rank=1"] {
        let words = ["phases.fio", rank, "--ranks=2", "--force"];
        Who::Native.run(&folder, &words).well();
    }
    let result: Value = serde_json::from_str(&folder.read("result.1.json")).unwrap();
    let done = |name: &str| {
        let jobs = result["jobs"].as_array().unwrap();
        let job = jobs.iter().find(|job| job["jobname"].as_str().unwrap() == name).unwrap();
        ["read", "write"].map(|dir| job[dir]["total_ios"].as_u64().unwrap()).iter().sum::<u64>()
    };
    assert_eq!(["create.0", "stat.0", "unlink.0"].map(done), [60, 60, 60], "{result}");
    let mut names = folder.names();
    names.retain(|name| name.starts_with("iosonde-tree"));
    assert_eq!(names, [""; 0], "each rank has removed its trees");
    let ran = meta(&folder, "--shared --print");
    assert!(ran.stderr.contains("a tree for each thread"), "{ran:?}");
}
