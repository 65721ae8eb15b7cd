//! `iosonde like`: workloads by name, their goals, and what is left alone.

use crate::support::{Ran, Who, words};
use iosonde_testing::{Folder, LoopDevice, Mounted, is_root, or_skip};
use std::path::Path;

const NAMES: [&str; 12] = [
    "etcd-wal",
    "pg-wal",
    "pg-checkpoint",
    "oltp",
    "kafka",
    "backup",
    "restore",
    "vm-boot",
    "video",
    "file-server",
    "desktop",
    "k8s-volume",
];

fn like(folder: &Folder, line: &str) -> Ran {
    Who::Native.run(folder, &words(&format!("like {line}")))
}

#[test]
fn each_workload_is_listed_and_its_job_is_valid_with_its_source() {
    let folder = Folder::new("like-list");
    let list = like(&folder, "").well().stdout;
    assert_eq!(list.lines().count(), NAMES.len() + 6);
    for name in NAMES {
        assert!(list.contains(&format!("  {name} ")), "{list}");
        let job = like(&folder, &format!("{name} --print --with number_ios=7")).well().stdout;
        assert!(job.contains("# Source: ") && job.contains("\nnumber_ios=7\n"), "{job}");
        folder.write("job.fio", job);
        let parsed = Who::Native.run(&folder, &words("--showcmd job.fio")).well();
        assert!(parsed.stdout.contains("number_ios=7"), "{parsed:?}");
        std::fs::remove_file(folder.join("job.fio")).unwrap();
    }
    assert_eq!(folder.names(), [""; 0]);
}

/// Whether the goal is met depends on the disk: the word and the exit code agree.
#[test]
fn a_public_goal_is_judged_and_the_exit_code_says_so() {
    let folder = Folder::new("like-etcd");
    let ran = like(&folder, "etcd-wal --with size=4m");
    let wanted = if ran.stdout.contains("goal < 10 ms   PASS\n") { 0 } else { 6 };
    assert_eq!(ran.code, Some(wanted), "{ran:?}");
    assert!(ran.stdout.starts_with("etcd-wal     sync p99 "), "{ran:?}");
    assert!(
        wanted == 0 || ran.stdout.contains("FAIL") || ran.stdout.contains("NO PASS"),
        "{ran:?}"
    );
    assert_eq!(folder.names(), [""; 0], "its files are removed");
}

#[test]
fn a_goal_of_the_users_own_is_judged() {
    let folder = Folder::new("like-goal");
    let run = |goal: &str| {
        let mut all = words("like etcd-wal --with size=1m --goal");
        all.push(goal.into());
        Who::Native.run(&folder, &all)
    };
    // No write takes an hour, and none takes no time.
    let met = run("write.p50 < 3600s");
    assert!(met.stdout.contains("goal write.p50 < 3600s ("), "{met:?}");
    assert!(met.stdout.contains("PASS"), "{met:?}");
    let missed = run("write.p50 < 1ns");
    assert_eq!(missed.code, Some(6), "{missed:?}");
    assert!(missed.stdout.contains(" in etcd-wal)   FAIL"), "{missed:?}");
    let none = run("read.p99 < 1s");
    assert!(none.stdout.contains("(nothing has that figure)   FAIL"), "{none:?}");
    let wrong = run("quickly");
    assert!(wrong.code == Some(1) && wrong.stderr.contains("invalid promise"), "{wrong:?}");
    let pts = like(&folder, "pts-lat /dev/none --goal errors=0");
    assert!(pts.code == Some(1) && pts.stderr.contains("steady state"), "{pts:?}");
    assert_eq!(like(&folder, "--list").stdout, like(&folder, "").stdout);
}

#[test]
fn too_few_syncs_are_no_pass() {
    let folder = Folder::new("like-few");
    let ran = like(&folder, "etcd-wal --with size=23000");
    assert_eq!(ran.code, Some(6), "{ran:?}");
    assert!(ran.stdout.contains("unknown (too few I/Os), goal < 10 ms   FAIL"), "{ran:?}");
}

#[test]
fn workloads_without_a_goal_report_and_end_well() {
    let folder = Folder::new("like-short");
    let short =
        "--with ioengine=psync --with size=1m --with direct=0 --with runtime=1 --with ramp_time=0";
    for (line, sentence) in [
        ("pg-wal", "one session commits"),
        ("pg-checkpoint", "at p99"),
        ("kafka", "to durability"),
        ("backup", "1 TiB takes"),
        ("restore", "1 TiB takes"),
        ("vm-boot --with numjobs=1", "from the moment they were due"),
        ("video --with rate=1m --with bs=64k", "late"),
        ("k8s-volume", "random reads and"),
    ] {
        let ran = like(&folder, &format!("{line} {short}"));
        let text = ran.well().stdout;
        assert!(text.contains(sentence), "{line}: {text}");
    }
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn desktop_prints_its_table_and_a_page() {
    let folder = Folder::new("like-desktop");
    let line = "desktop --loops=2 --pause=0 --with ioengine=psync --with direct=0 --with size=1m \
                --with number_ios=16 --with time_based=0 --html=page.html";
    let text = like(&folder, line).well().stdout;
    assert!(text.starts_with("desktop      median of 2 runs"), "{text}");
    for test in ["SEQ1M-Q8T1", "SEQ1M-Q1T1", "RND4K-Q32T1", "RND4K-Q1T1"] {
        let row = text.lines().find(|line| line.contains(test)).unwrap();
        assert_eq!(row.split_whitespace().count(), 5, "{row}");
        assert_eq!(row.matches("..").count(), 2, "{row}");
    }
    assert_eq!(folder.names(), ["page.html"]);
    let page = folder.read("page.html");
    assert!(page.contains("least to most") && page.contains("SEQ1M-Q8T1"));
}

#[test]
fn nothing_that_exists_is_written_to() {
    let folder = Folder::new("like-safety");
    let data = vec![7u8; 17 << 20];
    folder.write("data", &data);
    let refused = like(&folder, "backup data");
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("data: it exists, and the workload would overwrite it"),
        "{refused:?}"
    );
    let short = "--with ioengine=psync --with direct=0";
    like(&folder, &format!("restore data {short}")).well();
    assert_eq!(std::fs::read(folder.join("data")).unwrap(), data);
    folder.write("small", "x");
    for (line, reason) in [
        ("restore small", "small: it has 1 B: 16 MiB or more are needed"),
        ("restore none", "none: No such file"),
        ("backup /dev/null", "neither a directory, a file nor a block device"),
        ("etcd", "unknown workload \"etcd\""),
        ("etcd-wall", "did you mean etcd-wal?"),
        ("etcd-wal --with filename=data", "name the directory, file or device as TARGET"),
        ("etcd-wal --with nonsense=1", "use OPTION=VALUE with an option of jobs"),
        ("etcd-wal --with bs=abc", "bs"),
    ] {
        let ran = like(&folder, line);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(reason), "{reason}: {ran:?}");
    }
    let mut left = folder.names();
    left.sort();
    assert_eq!(left, ["data", "small"]);
}

#[test]
fn a_device_is_written_to_with_its_word_only() {
    if !is_root("make a loop device") {
        return;
    }
    let folder = Folder::new("like-device");
    let image = folder.write("image", vec![0u8; 32 << 20]);
    let Some(device) = or_skip(LoopDevice::attach(Path::new(&image), &[])) else { return };
    let path = device.text();
    let short = "--with ioengine=psync --with size=1m";
    let refused = like(&folder, &format!("backup {path} {short}"));
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("repeat its size: --erase=32M"), "{refused:?}");
    let wrong = like(&folder, &format!("backup {path} {short} --erase=33m"));
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.stderr.contains("--erase=33m does not name it"), "{wrong:?}");
    like(&folder, &format!("restore {path} {short}")).well();
    assert_eq!(std::fs::read(&image).unwrap(), vec![0u8; 32 << 20]);
    like(&folder, &format!("backup {path} {short} --erase=32m")).well();
}

/// The procedure of SNIA's tests in short; whether the state is steady depends
/// on the machine, and the word and the exit code agree.
#[test]
fn the_tests_of_snia_run_on_a_device_until_it_is_steady() {
    let folder = Folder::new("like-pts");
    for name in ["pts-iops", "pts-tp", "pts-lat", "pts-wsat"] {
        let job = like(&folder, &format!("{name} /dev/none --print")).well().stdout;
        assert!(job.contains("# Source: SNIA") && job.contains("[purge]"), "{job}");
        let refused = like(&folder, &format!("{name} ."));
        assert_eq!(refused.code, Some(1));
        assert!(refused.stderr.contains("name a block device"), "{refused:?}");
        let other = like(&folder, &format!("{name} . --with filename=/dev/other"));
        assert!(other.code == Some(1) && other.stderr.contains("as TARGET"), "{other:?}");
    }
    if !is_root("make a loop device") {
        return;
    }
    let image = folder.write("image", vec![7u8; 4 << 20]);
    let Some(device) = or_skip(LoopDevice::attach(Path::new(&image), &[])) else { return };
    let path = device.text();
    let refused = like(&folder, &format!("pts-tp {path}"));
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("--erase=4M"), "{refused:?}");
    assert_eq!(std::fs::read(&image).unwrap(), vec![7u8; 4 << 20]);
    let short = format!("{path} --erase=4m --cell=50ms --rounds=6 --with ioengine=psync");
    for (name, chart) in
        [("pts-tp", "steady state"), ("pts-lat", "convergence"), ("pts-wsat", "Write saturation")]
    {
        let ran = like(&folder, &format!("{name} {short} --html={name}.html"));
        let wanted = if name == "pts-wsat" || ran.stdout.contains("   PASS\n") { 0 } else { 6 };
        assert_eq!(ran.code, Some(wanted), "{ran:?}");
        let is_judged =
            ["steady after", "IOPS after"].iter().any(|words| ran.stdout.contains(words));
        assert!(is_judged, "{ran:?}");
        let page = folder.read(&format!("{name}.html"));
        assert!(page.contains(chart), "{name}");
    }
}

#[test]
fn a_workload_that_fails_writes_the_page_that_was_asked_for() {
    let folder = Folder::new("like-fails");
    let Some(small) = Mounted::in_memory(&folder, "tmpfs", "size=1m") else { return };
    let line = format!("etcd-wal {} --with size=4m --html=page.html", small.0.display());
    let ran = like(&folder, &line);
    let page = folder.read("page.html");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(page.contains("answer failed") && page.matches("FAILED: ").count() == 1, "{page}");
}

#[test]
fn io500_runs_its_phases_and_says_that_its_score_is_none_of_theirs() {
    let folder = Folder::new("like-io500");
    let place = folder.join("small");
    std::fs::create_dir(&place).unwrap();
    if !is_root("mount a tmpfs") {
        return;
    }
    let options = ["-t", "tmpfs", "-o", "size=1g", "none", place.to_str().unwrap()];
    if or_skip(iosonde_testing::run("mount", &options)).is_none() {
        return;
    }
    let ran = like(&folder, "io500 small --threads=2 --limit=200ms --html=page.html");
    let easy = like(&folder, "io500-easy small --threads=3 --limit=100ms");
    let left = std::fs::read_dir(&place).unwrap().count();
    iosonde_testing::run("umount", &[place.to_str().unwrap()]).unwrap();
    assert_eq!((ran.code, easy.code, left), (Some(0), Some(0), 0), "{ran:?} {easy:?}");
    let phases: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.ends_with("GiB/s") || line.ends_with("kIOPS"))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    // The order of IO500.
    let expected = [
        "ior-easy-write",
        "mdtest-easy-write",
        "ior-hard-write",
        "mdtest-hard-write",
        "find",
        "ior-easy-read",
        "mdtest-easy-stat",
        "ior-hard-read",
        "mdtest-hard-stat",
        "mdtest-easy-delete",
        "mdtest-hard-read",
        "mdtest-hard-delete",
    ];
    assert_eq!(phases, expected, "{ran:?}");
    let row = |name: &str| {
        let line = ran.stdout.lines().find(|line| line.starts_with(name)).unwrap();
        let words = line[20..44].trim();
        words.to_owned()
    };
    // What is read, looked up and removed is what was made.
    assert_eq!(row("ior-easy-read"), row("ior-easy-write"));
    assert_eq!(row("ior-hard-read"), row("ior-hard-write"));
    for (phase, of) in [
        ("mdtest-easy-stat", "easy"),
        ("mdtest-easy-delete", "easy"),
        ("mdtest-hard-stat", "hard"),
        ("mdtest-hard-read", "hard"),
        ("mdtest-hard-delete", "hard"),
    ] {
        assert_eq!(row(phase), row(&format!("mdtest-{of}-write")), "{phase}");
    }
    assert!(
        ran.stdout.contains("the geometric mean of 4") && ran.stdout.contains("mean of 8"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("like IO500; not a submission"), "{ran:?}");
    assert!(ran.stdout.contains("go on for 300 s; here it was 200 ms"), "{ran:?}");
    assert!(folder.read("page.html").contains("not a submission"));
    assert!(!easy.stdout.contains("hard") && easy.stdout.contains("mean of 2"), "{easy:?}");
}

#[test]
fn what_io500_has_no_use_for_is_refused_and_so_are_its_options_elsewhere() {
    let folder = Folder::new("like-io500-refused");
    for (line, why) in [
        ("io500 . --with runtime=1", "io500 has its own jobs"),
        ("etcd-wal . --threads=3", "are of io500"),
        ("io500 nowhere", "nowhere"),
    ] {
        let ran = like(&folder, line);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(why), "{why}: {ran:?}");
    }
}
