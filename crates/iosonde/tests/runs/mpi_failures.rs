//! What fails on one of two hosts: a rank that crashes, a full disk, Ctrl-C at each phase. Each
//! run ends, names host and reason, and keeps what was measured elsewhere.

use crate::support::Who;
use crate::support::launchers::{
    JOB, Launched, OPEN_MPI, TwoHosts, document, send, with_time_to_end,
};
use crate::support::running::wait_until;
use iosonde_faults::{Caching, Fault, FaultMount, Rule, Script, Store, Target, with_own_mounts};
use iosonde_testing::{Folder, has, is_root, or_skip, run};
use std::fs;
use std::process::Command;

/// Long enough that nothing but what a test does ends it.
const LONG: &[&str] = &["--runtime=100", "--time_based"];
/// Whom Ctrl-C reaches: the launcher, or one rank alone.
const WHOM: [Whom; 3] = [Whom::Launcher, Whom::Rank(0), Whom::Rank(1)];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Whom {
    Launcher,
    Rank(u32),
}

impl Whom {
    /// Start a run that is to be interrupted.
    fn start<'f>(self, command: Command, folder: &'f Folder) -> Launched<'f> {
        match self {
            Whom::Launcher => Launched::start(with_time_to_end(command), folder),
            Whom::Rank(_) => Launched::start(command, folder),
        }
    }

    fn interrupt(self, launched: &Launched<'_>) {
        match self {
            Whom::Launcher => send("-INT", launched.launcher()),
            Whom::Rank(rank) => send("-INT", launched.rank(rank)),
        }
    }
}

/// Two hosts, or a skip.
fn two_hosts(folder: &Folder) -> Option<TwoHosts> {
    if !has(OPEN_MPI, "openmpi-bin") || !has("ip", "iproute2") || !is_root("network namespaces") {
        return None;
    }
    or_skip(TwoHosts::new(folder))
}

/// Why a host ended early, as its result says; empty if it did not.
fn ended_early(folder: &Folder, rank: u32) -> String {
    let result = document(folder, &format!("result.{rank}.json"));
    result["iosonde"]["host"]["ended_early"].as_str().unwrap_or_default().to_owned()
}

/// I/Os of a result of the folder.
fn ios(folder: &Folder, name: &str) -> u64 {
    let job = &document(folder, name)["jobs"][0];
    ["read", "write"].iter().map(|dir| job[dir]["total_ios"].as_u64().unwrap()).sum()
}

/// Forget the results of the run before.
fn forget(folder: &Folder) {
    for file in ["result.0.json", "result.1.json", "all.json"] {
        let _ = fs::remove_file(folder.join(file));
    }
}

#[test]
fn a_rank_that_crashes_is_named_and_the_results_of_the_others_are_kept() {
    let folder = Folder::new("mpi-crashed");
    let Some(hosts) = two_hosts(&folder) else { return };
    for (signal, number) in [("-ABRT", 6), ("-KILL", 9)] {
        forget(&folder);
        let started = with_time_to_end(hosts.command(&folder, &[LONG, JOB].concat()));
        let launched = Launched::start(started, &folder);
        launched.wait_for_work("a", &[0, 1]);
        send(signal, launched.rank(1));
        let (code, out) = launched.end();
        assert_eq!(code, 128 + number, "{out}");
        assert!(out.contains("process rank 1"), "{out}");
        assert!(ended_early(&folder, 0).starts_with("stopped by signal"));
        assert!(ios(&folder, "result.0.json") > 0);
        assert!(!folder.join("result.1.json").exists());
        let merged = Who::Native.run(&folder, &["merge", "result.0.json"]);
        assert!(merged.stdout.contains("no result of rank 1"), "{merged:?}");
    }
}

/// Mount a file system of 8 MiB in place of the directory of h2.
fn with_a_full_disk_on_h2(name: &str, job: &[&str], check: impl Fn(&Folder, i32, &str) + Sync) {
    let folder = Folder::new(name);
    let Some(hosts) = two_hosts(&folder) else { return };
    fs::create_dir(folder.join("0")).unwrap();
    fs::create_dir(folder.join("1")).unwrap();
    let small = folder.join("1");
    let ran = with_own_mounts(|| {
        run("mount", &["-t", "tmpfs", "-o", "size=8m", "none", small.to_str().unwrap()])?;
        let flags = ["--output-format=json", "--output=all.json", "--name=a", "--bs=64k"];
        let more = ["--size=32m", "--directory={rank}", "--filename=f"];
        let started = hosts.command(&folder, &[&flags[..], &more, job].concat());
        let (code, out) = Launched::start(started, &folder).end();
        check(&folder, code, &out);
        Ok::<(), String>(())
    });
    or_skip(ran.and_then(|ran| ran));
}

#[test]
fn a_disk_that_is_full_at_the_layout_on_one_host_is_named_and_nothing_runs() {
    with_a_full_disk_on_h2("mpi-full-layout", &["--rw=randread"], |folder, code, out| {
        assert_ne!(code, 0, "{out}");
        assert!(out.contains("h2: a: reserve space for 1/f: No space left on device"), "{out}");
        assert_eq!((ios(folder, "result.0.json"), ios(folder, "result.1.json")), (0, 0));
        assert!(ended_early(folder, 0).starts_with("h2: a: "), "{}", ended_early(folder, 0));
    });
}

#[test]
fn a_disk_that_fills_on_one_host_is_named_and_the_others_go_on() {
    let job = ["--rw=write", "--fallocate=none"];
    with_a_full_disk_on_h2("mpi-full-run", &job, |folder, code, out| {
        assert_ne!(code, 0, "{out}");
        assert_eq!((ios(folder, "result.0.json"), ios(folder, "result.1.json")), (512, 129));
        let files = ["merge", "result.0.json", "result.1.json", "--format=json"];
        let again = Who::Native.run(folder, &files).json();
        for merged in [document(folder, "all.json"), again] {
            let hosts = merged["iosonde"]["hosts"].as_array().unwrap();
            let failures = hosts.iter().map(|host| host["failure"].as_str().unwrap_or_default());
            let failures: Vec<&str> = failures.collect();
            assert_eq!(failures, ["", "a: write: 1/f: No space left on device"]);
            assert_eq!(merged["jobs"][0]["write"]["total_ios"], 512 + 129);
        }
    });
}

/// What the result of a rank says after Ctrl-C, which reached it, the other or both.
#[track_caller]
fn assert_stopped(folder: &Folder, whom: Whom, rank: u32, out: &str) {
    let why = ended_early(folder, rank);
    let expected = match whom {
        Whom::Launcher => "stopped by signal",
        Whom::Rank(own) if own == rank => "stopped by signal 2",
        Whom::Rank(0) => "h1: stopped by signal 2",
        Whom::Rank(_) => "h2: stopped by signal 2",
    };
    assert!(why.contains(expected), "{whom:?}, rank {rank}: {why}\n{out}");
}

#[test]
fn an_interrupt_while_one_host_lays_out_and_the_other_waits_ends_both() {
    let folder = Folder::new("mpi-interrupt-layout");
    let Some(hosts) = two_hosts(&folder) else { return };
    fs::create_dir(folder.join("0")).unwrap();
    let slow = folder.join("1");
    fs::create_dir(&slow).unwrap();
    let ran = with_own_mounts(|| {
        for whom in WHOM {
            forget(&folder);
            // Each write takes more than a second: the layout, minutes.
            let rule = Rule { target: Target::Write, fault: Fault::Hang, per_mille: 1000 };
            let store = Store::new(Script::new(1, vec![rule]), "f");
            let _mounted = FaultMount::mount(store, Caching::None, &slow)?;
            let job = ["--name=a", "--rw=randread", "--size=128m", "--directory={rank}"];
            let job = [&job[..], &["--filename=f", "--fallocate=none"]].concat();
            let launched = whom.start(hosts.command(&folder, &[LONG, &job].concat()), &folder);
            launched.wait_for_thread("layout", &[1]);
            wait_until("h1 has laid its file out and waits", || {
                let laid_out = fs::metadata(folder.join("0/f"));
                laid_out.is_ok_and(|file| file.len() == 128 << 20)
                    && !launched.threads(0).iter().any(|thread| thread == "layout")
            });
            whom.interrupt(&launched);
            let (code, out) = launched.end();
            assert_ne!(code, 0, "{out}");
            (0..2).for_each(|rank| assert_stopped(&folder, whom, rank, &out));
            assert_eq!((ios(&folder, "result.0.json"), ios(&folder, "result.1.json")), (0, 0));
        }
        Ok::<(), String>(())
    });
    or_skip(ran.and_then(|ran| ran));
}

#[test]
fn an_interrupt_of_running_jobs_ends_both_hosts_and_what_they_measured_is_merged() {
    let folder = Folder::new("mpi-interrupt-run");
    let Some(hosts) = two_hosts(&folder) else { return };
    for whom in WHOM {
        let flags = [&["--output-format=json", "--output=all.json", "--force"], LONG, JOB].concat();
        forget(&folder);
        let launched = whom.start(hosts.command(&folder, &flags), &folder);
        launched.wait_for_work("a", &[0, 1]);
        whom.interrupt(&launched);
        let (code, out) = launched.end();
        assert_ne!(code, 0, "{out}");
        (0..2).for_each(|rank| assert_stopped(&folder, whom, rank, &out));
        let both = [ios(&folder, "result.0.json"), ios(&folder, "result.1.json")];
        assert!(both.iter().all(|&ios| ios > 0), "{both:?}");
        assert!(folder.join("all.json").exists(), "{whom:?}: {out}");
        assert_eq!(ios(&folder, "all.json"), both[0] + both[1]);
    }
}

#[test]
fn an_interrupt_while_results_are_awaited_ends_the_host_that_runs_and_both_are_merged() {
    let folder = Folder::new("mpi-interrupt-gather");
    let Some(hosts) = two_hosts(&folder) else { return };
    for whom in WHOM {
        forget(&folder);
        // 1 s on h1, 101 s on h2.
        let flags = ["--output-format=json", "--output=all.json", "--force", "--time_based"];
        let flags = [&flags[..], &["--runtime={rank}01"], JOB].concat();
        let launched = whom.start(hosts.command(&folder, &flags), &folder);
        launched.wait_for_file("result.0.json");
        assert!(!folder.join("result.1.json").exists());
        whom.interrupt(&launched);
        let (code, out) = launched.end();
        assert_ne!(code, 0, "{out}");
        assert_stopped(&folder, whom, 1, &out);
        assert_eq!(ended_early(&folder, 0), "");
        let both = [ios(&folder, "result.0.json"), ios(&folder, "result.1.json")];
        assert_eq!(ios(&folder, "all.json"), both[0] + both[1]);
    }
}
