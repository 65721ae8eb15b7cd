//! `iosonde explain`: the plan of a job, without running it.

use crate::support::{Who, words};
use iosonde_testing::Folder;

fn explain(folder: &Folder, job: &str) -> String {
    let before = folder.sizes();
    let ran = Who::Native.run(folder, &words(&format!("explain {job}"))).well();
    assert_eq!(ran.stderr, "", "{ran:?}");
    assert_eq!(folder.sizes(), before, "it touched files: {ran:?}");
    ran.stdout
}

#[test]
fn a_plan_shows_files_sizes_bytes_and_limits_and_touches_nothing() {
    let folder = Folder::new("explain");
    folder.write("there", vec![0; 65536]);
    for (job, expected) in [
        (
            "--name=v --rw=write --bs=4k --size=64k",
            &[
                "v.0.0: bytes 0 to 65536 (64 KiB), created if missing",
                "moves 64 KiB",
                "after 64 KiB (size, io_size)",
            ][..],
        ),
        (
            "--name=v --rw=read --filename=there --offset=16k",
            &["there: bytes 16384 to 65536 (48 KiB)", "moves 48 KiB"],
        ),
        (
            "--name=v --rw=read --bs=4k --size=1m --number_ios=7 --loops=2",
            &["moves 56 KiB", "7 I/Os in each of 2 loops (number_ios)", "whichever comes first"],
        ),
        (
            "--name=v --rw=randread --size=1g --runtime=10 --time_based",
            &["10 s (runtime)", "repeating the workload until then"],
        ),
        (
            "--name=v --rw=randread --size=1g --time_based",
            &["time_based requires a runtime", "after 1 GiB"],
        ),
        (
            "--name=v --rw=randread --size=1g --runtime=10 --ramp_time=2",
            &["after 10 s (runtime) after a ramp of 2 s", "or after 1 GiB"],
        ),
        (
            "--name=v --rw=write --bs=64k --fill_device=1",
            &["when the device is full (fill_device)"],
        ),
        (
            "--name=v --rw=write --size=64k --numjobs=3 --nrfiles=2",
            &["v.2.1", "3 jobs in 1 wave, 192 KiB in all"],
        ),
        (
            "--name=v --rw=write --size=64k --name=w --stonewall --rw=read --size=64k",
            &["job v", "job w", "2 jobs in 2 waves, 128 KiB in all"],
        ),
    ] {
        let text = explain(&folder, job);
        for words in expected {
            assert!(text.contains(words), "{job}: {words:?} is not in\n{text}");
        }
    }
}

#[test]
fn each_option_is_shown_with_its_value_and_where_it_was_set() {
    let folder = Folder::new("explain");
    folder.write("job.fio", "[global]\nbs=8k\n[v]\nrw=write\nsize=64k\n");
    let text = explain(&folder, "job.fio");
    for (option, value, origin) in
        [("bs", "8192", "job.fio:2"), ("rw", "write", "job.fio:4"), ("size", "65536", "job.fio:5")]
    {
        let line = text.lines().find(|line| line.trim_start().starts_with(option)).expect(option);
        assert!(line.contains(value) && line.contains(origin), "{line}");
    }
}

#[test]
fn sections_of_one_name_are_distinguished() {
    let folder = Folder::new("explain");
    folder.write("job.fio", "[v]\nsize=64k\n[v]\nsize=128k\nnumjobs=2\n");
    let text = explain(&folder, "job.fio");
    assert_eq!(text.matches("moves 64 KiB").count(), 1, "{text}");
    assert_eq!(text.matches("moves 128 KiB").count(), 2, "{text}");
}

#[test]
fn what_is_promised_is_what_happens() {
    let folder = Folder::new("explain");
    let job = "--name=v --rw=write --bs=4k --size=100k --nrfiles=2 --io_size=60k";
    let text = explain(&folder, job);
    assert!(text.contains("moves 60 KiB"), "{text}");
    let run = words(&format!("{job} --output-format=json"));
    let document = Who::Native.run(&folder, &run).well().json();
    assert_eq!(document["jobs"][0]["write"]["io_bytes"], 61440);
    for (name, size) in folder.sizes() {
        assert!(text.contains(&format!("{name}: bytes 0 to {size} ")), "{name} {size}: {text}");
    }
}

#[test]
fn a_job_that_cannot_run_is_refused_with_the_reason() {
    let folder = Folder::new("explain");
    for (job, reason) in [
        ("--name=v --rw=write", "you need to specify size="),
        ("--name=v --rw=writ --size=4k", "rw"),
        ("none.fio", "none.fio"),
        ("--name=v --size=4k --rank=1", "explain: --rank has no effect here: the jobs run on"),
        ("--name=v --size=4k --html=x.html", "explain: --html has no effect here: the plan is"),
    ] {
        let ran = Who::Native.run(&folder, &words(&format!("explain {job}")));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
        assert!(ran.stderr.contains(reason), "{ran:?}");
        assert!(!ran.stderr.contains("iosonde: iosonde:"), "{ran:?}");
    }
}

#[test]
fn a_shared_object_is_named_and_not_loaded() {
    let folder = Folder::new("explain-object");
    // An object that does not exist cannot be loaded; nothing tries to.
    let shown = explain(&folder, "--name=j --ioengine=external:./engine.so --size=4k");
    assert!(shown.contains("is the shared object ./engine.so"), "{shown}");
    assert!(shown.contains("it is not loaded"), "{shown}");
}
