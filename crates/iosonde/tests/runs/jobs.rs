//! Jobs among jobs, and among users, groups, nodes and disks of the machine.

use crate::support::{Ran, Who, words};
use iosonde_testing::{Folder, LoopDevice, has_fio_for_part, is_root, or_skip, skip, skip_part};
use serde_json::Value;

/// Run with JSON on standard output; each text of `quoted` is one argument.
fn json_run(who: Who, folder: &Folder, line: &str, quoted: &[&str]) -> Ran {
    let quoted = quoted.iter().map(|&text| text.to_owned()).collect();
    who.run(folder, &[words("--output-format=json --thread=1"), words(line), quoted].concat())
}

fn run(line: &str) -> Vec<Value> {
    jobs(&json_run(Who::AsFio, &Folder::new("jobs"), line, &[]).well())
}

fn jobs(ran: &Ran) -> Vec<Value> {
    ran.json()["jobs"].as_array().unwrap().clone()
}

fn reads(job: &Value) -> u64 {
    job["read"]["total_ios"].as_u64().unwrap()
}

/// Ended before its runtime of 100 s. (It may have had no time to do anything.)
#[track_caller]
fn was_ended(job: &Value) {
    assert!(job["job_runtime"].as_u64().unwrap() < 90_000, "{job}");
}

#[track_caller]
fn is_refused(line: &str, why: &str) {
    let ran = Who::AsFio.run(&Folder::new("refused"), &words(line));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains(why), "{ran:?}");
}

const A_LITTLE: &str = "--ioengine=null --size=64k";
const FOR_LONG: &str = "--ioengine=null --size=64k --time_based --runtime=100";

#[test]
fn a_job_waits_for_one_job_that_comes_before() {
    let refused = [
        ("--name=a --wait_for=b", "unknown"),
        ("--name=a --wait_for=a", "a: a job cannot wait for itself"),
        ("--name=b --wait_for=a --name=a", "unknown"),
        ("--name=a --name=a --name=b --wait_for=a", "multiple waitees"),
    ];
    for (line, why) in refused {
        let line = format!("--ioengine=null --size=64k {line}");
        is_refused(&line, why);
        if has_fio_for_part() {
            let ran = Who::Fio.run(&Folder::new("refused"), &words(&line));
            // It ends with 0 where only the first job is refused.
            assert!(ran.stderr.contains(why), "{ran:?}");
        }
    }
}

#[test]
fn a_job_that_waits_starts_when_all_copies_have_ended() {
    let folder = Folder::new("wait");
    let first = words("--ioengine=null --size=64k --thread=1 --name=a --numjobs=3");
    let then = words("--name=b --wait_for=a --ioengine=null --size=64k");
    let last = words("--name=c --wait_for=b --ioengine=null --size=64k");
    let say = |word: &str| vec![format!("--exec_postrun=echo {word} >> order")];
    let before = vec!["--exec_prerun=echo before b >> order".to_owned()];
    let all = [first, say("a"), then, before, say("b"), last, say("c")].concat();
    Who::AsFio.run(&folder, &all).well();
    assert_eq!(folder.read("order"), "a\na\na\nbefore b\nb\nc\n");
}

#[test]
fn the_jobs_of_its_group_end_with_a_job() {
    let line = format!(
        "--exitall=1 {A_LITTLE} --name=a --name=b {FOR_LONG} --name=c --new_group=1 {A_LITTLE}"
    );
    let reported = run(&line);
    was_ended(&reported[1]);
    assert_eq!(reads(&reported[2]), 16, "another group runs to its end");
}

#[test]
fn the_jobs_up_to_a_stonewall_end_with_a_job_and_those_after_it_go_on() {
    let line = format!(
        "--exitall=1 --exit_what=stonewall {A_LITTLE} --name=a \
         --name=b --new_group=1 {FOR_LONG} --name=c --stonewall=1 {A_LITTLE}"
    );
    let reported = run(&line);
    was_ended(&reported[1]);
    assert_eq!(reads(&reported[2]), 16);
}

#[test]
fn all_jobs_end_with_a_job_and_none_starts() {
    let line = format!(
        "--exitall=1 --exit_what=all {A_LITTLE} --name=a \
         --name=b --new_group=1 {FOR_LONG} --name=c --stonewall=1 {A_LITTLE}"
    );
    let reported = run(&line);
    was_ended(&reported[1]);
    assert_eq!(reads(&reported[2]), 0);
}

#[test]
fn a_job_that_fails_ends_its_group_if_it_was_asked_to() {
    let fails = "--name=a --ioengine=psync --filename=/dev/full --rw=write --size=64k";
    let line = format!("--exitall_on_error=1 {fails} --name=b {FOR_LONG} --rw=read");
    let ran = json_run(Who::AsFio, &Folder::new("fails"), &line, &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let reported = jobs(&ran);
    assert_eq!(reported[0]["error"], 28);
    assert!(reported[1]["job_runtime"].as_u64().unwrap() < 90_000, "{ran:?}");
    let other = format!("{fails} --name=b {A_LITTLE} --rw=read --exitall_on_error=1");
    let reported = jobs(&json_run(Who::AsFio, &Folder::new("fails"), &other, &[]));
    assert_eq!(reads(&reported[1]), 16, "only who fails may end others");
}

#[test]
fn commands_before_and_after_write_their_output_to_files() {
    let folder = Folder::new("hooks");
    let quoted = ["--exec_prerun=echo one; echo two >&2", "--exec_postrun=echo after; exit 3"];
    let ran = json_run(Who::AsFio, &folder, &format!("{A_LITTLE} --name=job"), &quoted).well();
    assert_eq!(reads(&jobs(&ran)[0]), 16);
    assert_eq!(folder.read("job.prerun.txt"), "one\ntwo\n");
    assert_eq!(folder.read("job.postrun.txt"), "after\n");
}

#[test]
fn a_command_that_fails_before_a_job_fails_the_job() {
    let folder = Folder::new("hooks");
    let quoted = ["--exec_prerun=exit 3"];
    let ran = json_run(Who::AsFio, &folder, &format!("{A_LITTLE} --name=job"), &quoted);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("exit status: 3; see job.prerun.txt"), "{ran:?}");
    assert_eq!(reads(&jobs(&ran)[0]), 0);
}

#[test]
fn the_start_is_read_from_the_clock_that_was_asked_for() {
    let reported = run(&format!("{A_LITTLE} --name=a --job_start_clock_id=1"));
    let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
    let uptime: f64 = uptime.split(' ').next().unwrap().parse().unwrap();
    let start = reported[0]["job_start"].as_u64().unwrap();
    assert!(start > 0 && start as f64 <= uptime * 1000.0 + 1000.0, "{start} {uptime}");
    is_refused(&format!("{A_LITTLE} --name=a --job_start_clock_id=999"), "no clock 999");
}

#[test]
fn a_job_creates_files_as_the_user_it_runs_as() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    if !is_root("run a job as somebody else") {
        return;
    }
    // A folder that others can reach, wherever the build lies.
    let place = Folder::temporary("device");
    std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o777)).unwrap();
    let line = format!(
        "--name=a --ioengine=psync --rw=write --size=64k --directory={} --filename=theirs \
         --create_on_open=1 --uid=65534 --gid=65533",
        place.path().display()
    );
    json_run(Who::AsFio, &Folder::new("user"), &line, &[]).well();
    let theirs = std::fs::metadata(place.join("theirs")).unwrap();
    assert_eq!((theirs.uid(), theirs.gid(), theirs.len()), (65534, 65533, 65536));
}

#[test]
fn a_thread_has_the_name_and_the_processors_that_were_asked_for() {
    let folder = Folder::new("place");
    let quoted =
        ["--exec_prerun=cat /proc/$PPID/task/*/comm; grep Cpus_allowed_list /proc/self/status"];
    let line = format!("{A_LITTLE} --name=a --comm=pacemaker");
    json_run(Who::AsFio, &folder, &line, &quoted).well();
    let reported = folder.read("a.prerun.txt");
    assert!(reported.lines().any(|name| name == "pacemaker"), "{reported}");
    let Ok(cpus) = std::fs::read_to_string("/sys/devices/system/node/node0/cpulist") else {
        skip!("this kernel knows no NUMA nodes");
    };
    let line = format!("{A_LITTLE} --name=a --numa_cpu_nodes=0 --numa_mem_policy=bind:0");
    json_run(Who::AsFio, &folder, &line, &quoted).well();
    let reported = folder.read("a.prerun.txt");
    assert!(reported.contains(&format!("Cpus_allowed_list:\t{}", cpus.trim())), "{reported}");
    for option in ["numa_cpu_nodes=999", "numa_mem_policy=prefer:999"] {
        is_refused(&format!("{A_LITTLE} --name=a --{option}"), "there is no node 999");
    }
}

#[test]
fn a_job_is_in_its_control_group_while_it_runs() {
    let root = std::path::Path::new("/sys/fs/cgroup/blkio");
    if !is_root("make control groups") || !root.join("tasks").exists() {
        skip!("no blkio controller of version 1 is mounted");
    }
    let folder = Folder::new("cgroup");
    let group = format!("iosonde-jobs-{}", std::process::id());
    let quoted = ["--exec_prerun=cat /proc/self/cgroup"];
    let line = format!("{A_LITTLE} --name=a --cgroup={group} --name=b {A_LITTLE}");
    json_run(Who::AsFio, &folder, &line, &quoted).well();
    json_run(Who::AsFio, &folder, &format!("{A_LITTLE} --name=c --cgroup={group}"), &quoted).well();
    assert!(folder.read("c.prerun.txt").contains(&format!(":/{group}\n")));
    assert!(!root.join(&group).exists());
    let line = format!("{A_LITTLE} --name=c --cgroup={group} --cgroup_nodelete=1");
    json_run(Who::AsFio, &folder, &line, &[]).well();
    std::fs::remove_dir(root.join(&group)).unwrap();
}

#[test]
fn a_disk_has_another_scheduler_while_the_job_runs() {
    if !is_root("attach devices") {
        return;
    }
    let place = Folder::temporary("device");
    let image = place.image("disk", 1 << 20);
    let Some(disk) = or_skip(LoopDevice::attach(&image, &[])) else { return };
    let file = format!("/sys/block/{}/queue/scheduler", disk.name());
    let before = std::fs::read_to_string(&file).unwrap();
    let Some(other) = before.split_whitespace().find(|word| !word.starts_with('[')) else {
        skip!("{file} has one scheduler only");
    };
    let folder = Folder::new("scheduler");
    let line = |name: &str| {
        format!(
            "--name=a --filename={} --ioengine=psync --rw=read --size=64k --ioscheduler={name}",
            disk.text()
        )
    };
    let quoted = [&*format!("--exec_prerun=cat {file}")];
    json_run(Who::AsFio, &folder, &line(other), &quoted).well();
    assert!(folder.read("a.prerun.txt").contains(&format!("[{other}]")));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    let ran = json_run(Who::AsFio, &folder, &line("nosuch"), &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("no scheduler nosuch"), "{ran:?}");
    assert_eq!(reads(&jobs(&ran)[0]), 0);
}

#[test]
fn jobs_that_lock_a_file_all_do_their_work() {
    for engine in ["psync", "io_uring", "libaio"] {
        for lock in ["exclusive", "readwrite"] {
            let line = format!(
                "--ioengine={engine} --iodepth=8 --rw=randrw --size=1m --loops=3 --filename=x \
                 --lockfile={lock} --name=a --numjobs=3 --name=b --rw=read --numjobs=2"
            );
            let ran = json_run(Who::AsFio, &Folder::new("locks"), &line, &[]);
            if ran.stderr.contains("cannot run here") {
                skip_part!("{engine} cannot run here");
                continue;
            }
            for job in jobs(&ran.well()) {
                let ios = reads(&job) + job["write"]["total_ios"].as_u64().unwrap();
                assert_eq!(ios, 768, "{engine} {lock} {}", job["jobname"]);
            }
        }
    }
}

const STEADY: &str = "--ioengine=null --size=1m --time_based --runtime=100";

#[test]
fn a_job_ends_at_its_steady_state_and_reports_it_as_fio_does() {
    let folder = Folder::new("steady");
    let line = format!("{STEADY} --name=a --ss=iops:99% --ss_dur=2");
    let reported = jobs(&json_run(Who::AsFio, &folder, &line, &[]).well());
    was_ended(&reported[0]);
    let steady = &reported[0]["steadystate"];
    assert_eq!((&steady["attained"], &steady["duration"]), (&1.into(), &2.into()));
    assert_eq!(steady["ss"], "iops:99.000000%");
    assert_eq!(steady["data"]["iops"].as_array().unwrap().len(), 2);
    if has_fio_for_part() {
        let theirs = jobs(&json_run(Who::Fio, &folder, &line, &[]).well());
        let keys =
            |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
        assert_eq!(keys(steady), keys(&theirs[0]["steadystate"]));
        assert_eq!(keys(&steady["data"]), keys(&theirs[0]["steadystate"]["data"]));
    }
}

#[test]
fn a_window_that_was_never_full_is_padded_with_zeroes_as_fio_only() {
    // 1000 I/Os at 1000/s: one or two intervals of a window of 40.
    let line = "--ioengine=null --size=4m --bs=4k --rate_iops=1000 --name=a \
                --ss=iops:0.001% --ss_dur=20 --ss_interval=500ms";
    let iops = |who| -> Vec<u64> {
        let found = jobs(&json_run(who, &Folder::new("steady-short"), line, &[]).well());
        let list = found[0]["steadystate"]["data"]["iops"].as_array().unwrap().clone();
        list.iter().map(|number| number.as_u64().unwrap()).collect()
    };
    let (padded, sampled) = (iops(Who::AsFio), iops(Who::Native));
    assert_eq!(padded.len(), 40);
    assert_eq!(padded[39], 0);
    assert!(sampled.len() < 40, "{sampled:?}");
}

#[test]
fn jobs_reported_as_one_are_steady_as_one() {
    let line = format!(
        "{STEADY} --name=a --numjobs=2 --group_reporting=1 --rate_iops=200 \
         --ss=bw_slope:99% --ss_dur=1 --ss_interval=250ms"
    );
    let report = run(&line);
    assert_eq!(report.len(), 1);
    was_ended(&report[0]);
    let numbers = |name: &str| -> Vec<u64> {
        let list = report[0]["steadystate"]["data"][name].as_array().unwrap();
        list.iter().map(|number| number.as_u64().unwrap()).collect()
    };
    let (bw, iops) = (numbers("bw"), numbers("iops"));
    assert_eq!(bw.len(), 4);
    let (all, mean) = (reads(&report[0]), iops.iter().sum::<u64>() / 4);
    assert!(mean <= all, "{all} {iops:?}");
    // The same share of all reads as of the time: of one job it would be half.
    let seconds = report[0]["job_runtime"].as_f64().unwrap() / 2000.0;
    assert!(mean as f64 * seconds > 0.6 * all as f64, "{all} in {seconds} s, {iops:?}");
    // Bytes and I/Os are read one after the other, and I/Os come meanwhile: some,
    // at either end of the second.
    let bytes_per_io = bw.iter().sum::<u64>() as f64 / iops.iter().sum::<u64>() as f64;
    assert!((2048.0..=8192.0).contains(&bytes_per_io), "{bw:?} bytes, {iops:?} I/Os a second");
}

#[test]
fn a_job_that_is_never_steady_runs_to_its_end() {
    let reported = run("--ioengine=null --size=1m --time_based --runtime=1 --name=a \
                    --ss=lat:0 --ss_dur=400ms --ss_interval=200ms");
    let steady = &reported[0]["steadystate"];
    assert_eq!(steady["attained"], 0);
    assert_eq!(steady["data"]["lat_ns"].as_array().unwrap().len(), 2);
    assert!(reported[0]["job_runtime"].as_u64().unwrap() >= 1000);
    let without = run(&format!("{A_LITTLE} --name=a --ss=iops:99%"));
    assert!(without[0].get("steadystate").is_none(), "no duration, no judgement");
}

#[test]
fn a_steady_state_that_makes_no_sense_is_refused() {
    let line = format!("{STEADY} --name=a --ss=iops:1% --ss_dur=3 --ss_interval=2");
    is_refused(&line, "must be a multiple");
    let line = format!(
        "--group_reporting=1 {STEADY} --name=a --ss=iops:1% --ss_dur=3 --name=b {STEADY} --ss=bw:1% --ss_dur=3"
    );
    is_refused(&line, "must be consistent");
    if has_fio_for_part() {
        let ran = Who::Fio.run(&Folder::new("refused"), &words(&line));
        assert_eq!(ran.code, Some(1), "{ran:?}");
    }
}

#[test]
fn what_is_moved_in_the_ramp_does_not_count() {
    // So much that it cannot be over before anybody looks: null does it at once.
    let (all, ramp) = (1 << 24, 1 << 17);
    let reported = run("--ioengine=null --size=64g --name=a --ramp_size=512m");
    let counted = reads(&reported[0]);
    assert!(counted > 0 && counted <= all - ramp, "{counted}");
    // Two jobs that are reported as one ramp as one: half a gibibyte for both.
    let reported = run("--ioengine=null --size=64g --name=a --ramp_size=512m \
                    --numjobs=2 --group_reporting=1");
    let counted = reads(&reported[0]);
    assert!(counted > 0 && counted <= 2 * all - ramp, "{counted}");
}

#[test]
fn each_tolerated_error_is_printed_if_requested() {
    let line = |dump: u32| {
        format!(
            "--name=a --ioengine=psync --filename=/dev/full --rw=write --size=12k \
             --ignore_error=,ENOSPC --error_dump={dump}"
        )
    };
    let reported =
        |dump| json_run(Who::AsFio, &Folder::new("dump"), &line(dump), &[]).well().stderr;
    let lines = reported(1);
    assert_eq!(lines.lines().count(), 3, "{lines}");
    assert!(lines.contains("write of 4096 bytes at 8192 in /dev/full: No space left"), "{lines}");
    assert_eq!(reported(0), "");
}

#[test]
fn each_copy_waits_before_it_starts() {
    // Which delay each draws: crates/run/src/plan/time.rs.
    let began = std::time::Instant::now();
    let reported = run(&format!("{A_LITTLE} --name=a --numjobs=4 --startdelay=300ms-400ms"));
    assert!(began.elapsed().as_millis() >= 300);
    assert!(reported.iter().all(|job| reads(job) == 16), "{reported:?}");
}

#[test]
fn with_wear_out_all_jobs_do_as_much_as_the_fastest_had_done() {
    for engine in ["psync", "libaio --iodepth=4"] {
        let line = format!(
            "--ioengine={engine} --rw=write --bs=4k --size=16m --runtime=1 --wear_out --name=slow \
             --rate_iops=100 --name=fast --rate_iops=500 --name=short --size=4k"
        );
        let folder = Folder::new("wear-out");
        let ran = Who::Native.run(&folder, &[words("--output-format=json"), words(&line)].concat());
        let jobs = jobs(&ran.well());
        let writes = |job: &Value| job["write"]["total_ios"].as_u64().unwrap();
        assert_eq!(writes(&jobs[0]), writes(&jobs[1]), "{engine}");
        // The slow one does 100 in its time.
        assert!(writes(&jobs[0]) > 150 && writes(&jobs[0]) < 4096, "{engine}: {jobs:?}");
        assert!(jobs[0]["job_runtime"].as_u64() > jobs[1]["job_runtime"].as_u64(), "{engine}");
        // Its size ends it.
        assert_eq!(writes(&jobs[2]), 1, "{engine}");
        let bytes = |name: &str| std::fs::metadata(folder.join(name)).unwrap().len();
        assert_eq!(bytes("slow.0.0"), bytes("fast.0.0"), "{engine}");
    }
}
