//! Logs: read back, they add up to the report; their form is fio's.

use crate::support::running::{PATIENCE, Running};
use crate::support::{Ran, Who, with, words};
use iosonde_testing::{Folder, has_fio, skip};
use rustix::process::Signal;
use serde_json::Value;
use std::time::Duration;

/// Lines of a log as numbers.
fn rows(folder: &Folder, name: &str) -> Vec<Vec<u64>> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).unwrap(),
        None => text.parse().unwrap_or_else(|_| panic!("{text:?} in {name}")),
    };
    folder.read(name).lines().map(|line| line.split(", ").map(number).collect()).collect()
}

fn job(folder: &Folder, arguments: &str) -> Value {
    let ran = Who::AsFio.run(folder, &words(&format!("--output-format=json --name=j {arguments}")));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.json()["jobs"][0].clone()
}

fn sum(rows: &[Vec<u64>], dir: u64, value: impl Fn(&[u64]) -> u64) -> u64 {
    rows.iter().filter(|row| row[2] == dir).map(|row| value(row)).sum()
}

/// What rates come to, each over the time since the row before.
fn total(rows: &[Vec<u64>], dir: u64) -> f64 {
    let mut before = 0;
    let mut total = 0.0;
    for row in rows.iter().filter(|row| row[2] == dir) {
        total += row[1] as f64 * (row[0] - before) as f64 / 1000.0;
        before = row[0];
    }
    total
}

const DIRS: [(u64, &str); 2] = [(0, "read"), (1, "write")];

#[test]
fn entries_of_each_io_add_up_to_the_report() {
    let cases = [
        "--ioengine=null --rw=randrw --bs=4k --size=64m",
        "--ioengine=null --iodepth=8 --rw=randrw --bsrange=512-64k --size=64m",
        "--ioengine=io_uring --iodepth=4 --rw=randrw --bs=4k --size=4m",
        "--ioengine=psync --rw=randrw --bs=4k --size=4m --fsync=64",
        "--ioengine=null --rw=randrw --bs=4k --size=64m --ramp_time=1 --runtime=1 --time_based \
         --rate_iops=2000",
    ];
    for case in cases {
        if case.contains("rate_iops") && !takes(&Folder::new("rate"), "--rate_iops=2000") {
            continue;
        }
        let folder = Folder::new("logs");
        let all = "--write_bw_log=l --write_iops_log=l --write_lat_log=l --log_offset=1";
        let reported = job(&folder, &format!("{case} {all}"));
        for (dir, name) in DIRS {
            let (ios, bytes) = (&reported[name]["total_ios"], &reported[name]["io_bytes"]);
            for log in ["l_bw.1.log", "l_iops.1.log", "l_clat.1.log", "l_lat.1.log"] {
                let rows = rows(&folder, log);
                assert!(rows.iter().all(|row| row.len() == 6), "{case} {log}");
                assert_eq!(sum(&rows, dir, |_| 1), ios.as_u64().unwrap(), "{case} {log}");
                assert_eq!(sum(&rows, dir, |row| row[3]), bytes.as_u64().unwrap(), "{case} {log}");
                assert!(rows.is_sorted_by_key(|row| row[0]), "{case} {log}");
            }
            let clat = &reported[name]["clat_ns"];
            let mean = clat["mean"].as_f64().unwrap();
            let logged = sum(&rows(&folder, "l_clat.1.log"), dir, |row| row[1]) as f64;
            let mean_logged = logged / ios.as_u64().unwrap() as f64;
            assert!((mean - mean_logged).abs() < 0.01, "{case}: {mean} and {mean_logged}");
            let max = rows(&folder, "l_clat.1.log")
                .iter()
                .filter(|row| row[2] == dir)
                .map(|row| row[1])
                .max();
            assert_eq!(max, clat["max"].as_u64(), "{case}");
        }
    }
}

/// Whether options that somebody else builds are built.
fn takes(folder: &Folder, option: &str) -> bool {
    let ran = Who::AsFio.run(folder, &with("--name=j --ioengine=null --size=4k", option));
    if ran.code != Some(0) {
        skip::part(format_args!("{option} is not supported"));
    }
    ran.code == Some(0)
}

#[test]
fn windows_add_up_to_the_report_and_none_is_missing() {
    let cases = ["--ioengine=null --rw=randrw", "--ioengine=null --iodepth=8 --rw=randrw"];
    for case in cases {
        let folder = Folder::new("windows");
        let arguments = format!(
            "{case} --bs=4k --size=1g --time_based --runtime=2 --write_bw_log=l --write_iops_log=l \
             --write_lat_log=l --log_avg_msec=250 --write_hist_log=l --log_hist_msec=500"
        );
        let reported = job(&folder, &arguments);
        let (iops, bw) = (rows(&folder, "l_iops.1.log"), rows(&folder, "l_bw.1.log"));
        let clat = rows(&folder, "l_clat.1.log");
        let histogram = rows(&folder, "l_clat_hist.1.log");
        for (dir, name) in DIRS {
            for log in [&iops, &bw, &clat] {
                let times: Vec<u64> =
                    log.iter().filter(|row| row[2] == dir).map(|row| row[0]).collect();
                // A late end has its own row.
                let whole = [250, 500, 750, 1000, 1250, 1500, 1750, 2000];
                assert_eq!(times[..8], whole, "{case}");
                assert!(log.iter().all(|row| row.len() == 5 && row[3] == 0), "{case}");
            }
            // Less than a tenth of a window is joined to the last, whose row has the
            // end that was planned: so much of it may be missing here.
            let near = |reported: f64, logged: f64| (reported / logged - 1.0).abs() < 0.1;
            let ios = reported[name]["total_ios"].as_u64().unwrap() as f64;
            let logged = total(&iops, dir);
            assert!(near(ios, logged), "{case}: {ios} and {logged}");
            let kib = reported[name]["io_kbytes"].as_u64().unwrap() as f64;
            let logged = total(&bw, dir);
            assert!(near(kib, logged), "{case}: {kib} and {logged}");

            let counted: u64 = histogram
                .iter()
                .filter(|row| row[1] == dir)
                .map(|row| row[3..].iter().sum::<u64>())
                .sum();
            assert_eq!(counted as f64, ios, "{case}");
        }
        assert!(histogram.iter().all(|row| row.len() == 3 + 1856), "{case}");
        assert!(histogram.len() >= 8, "{case}");
    }
}

#[test]
fn the_largest_of_the_windows_is_the_largest_of_the_report() {
    let folder = Folder::new("max");
    let arguments = "--ioengine=null --rw=read --bs=4k --size=1g --time_based --runtime=1 \
                     --write_lat_log=l --log_avg_msec=100 --log_window_value=both";
    let reported = job(&folder, arguments);
    let rows = rows(&folder, "l_clat.1.log");
    assert!(rows.len() >= 10, "a late end has its own row");
    assert!(rows.iter().all(|row| row.len() == 6 && row[1] <= row[2]));
    let largest = rows.iter().map(|row| row[2]).max();
    assert_eq!(largest, reported["read"]["clat_ns"]["max"].as_u64());
}

#[test]
fn names_and_columns_are_those_of_the_installed_fio() {
    if !has_fio() {
        return;
    }
    let all = "--write_bw_log=l --write_iops_log=l --write_lat_log=l";
    let cases = [
        format!("--ioengine=null --rw=randrw --bs=4k --size=64k {all}"),
        format!("--ioengine=null --iodepth=4 --rw=randrw --bs=4k --size=64k {all} --log_offset=1"),
        format!("--ioengine=psync --rw=write --bs=4k --size=64k {all} --log_prio=1"),
        format!("--ioengine=psync --rw=write --bs=4k --size=64k {all} --fsync=2"),
        format!("--ioengine=psync --rw=randread --bs=4k --size=64k --numjobs=3 {all}"),
        format!("--ioengine=psync --rw=read --bs=8k --size=64k --disable_lat=1 {all}"),
        format!("--ioengine=psync --rw=read --bs=8k --size=64k --disable_slat=1 {all}"),
        format!("--ioengine=psync --rw=read --bs=8k --size=64k --disable_clat=1 {all}"),
        format!("--ioengine=psync --rw=read --bs=8k --size=64k --per_job_logs=0 --numjobs=2 {all}"),
        format!("--ioengine=null --rw=read --bs=4k --size=64k --prio=3 --prioclass=1 {all}"),
        format!(
            "--ioengine=null --rw=read --bs=4k --size=64k --prio=3 --prioclass=1 --log_prio=1 {all}"
        ),
        "--ioengine=null --rw=read --bs=4k --size=64k --write_hist_log=l".to_owned(),
    ];
    // Time and value differ; everything else is the same.
    let reported = |folder: &Folder| -> Vec<(String, Vec<String>)> {
        let logs = folder.names().into_iter().filter(|name| name.ends_with(".log"));
        let rest = |line: &str| line.split(", ").skip(2).collect::<Vec<_>>().join(", ");
        logs.map(|name| {
            let lines = folder.read(&name).lines().map(rest).collect();
            (name, lines)
        })
        .collect()
    };
    for case in cases {
        let (ours, theirs) = (Folder::new("ours"), Folder::new("theirs"));
        let arguments = words(&format!("--output=out --name=j --randrepeat=1 {case}"));
        for (who, folder) in [(Who::AsFio, &ours), (Who::Fio, &theirs)] {
            let ran = who.run(folder, &arguments);
            assert_eq!(ran.code, Some(0), "{case}: {ran:?}");
        }
        let (ours, theirs) = (reported(&ours), reported(&theirs));
        let names = |reported: &[(String, Vec<String>)]| -> Vec<String> {
            reported.iter().map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(names(&ours), names(&theirs), "{case}");
        // Offsets are drawn otherwise since 3.33; mixes of directions as well.
        if case.contains("rand") {
            let shape = |reported: &[(String, Vec<String>)]| -> Vec<Vec<usize>> {
                let columns = |line: &String| line.split(", ").count();
                reported.iter().map(|(_, lines)| lines.iter().map(columns).collect()).collect()
            };
            assert_eq!(shape(&ours), shape(&theirs), "{case}");
        } else {
            assert_eq!(ours, theirs, "{case}");
        }
    }
}

#[test]
fn a_bare_option_in_a_job_file_takes_the_jobs_name() {
    let folder = Folder::new("bare");
    let file = "[first]\nioengine=null\nrw=read\nsize=8k\nwrite_bw_log\nwrite_lat_log=x\n";
    folder.write("job.fio", file);
    let ran = Who::AsFio.run(&folder, &["job.fio".to_owned()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let names = folder.names();
    for name in ["first_bw.1.log", "x_clat.1.log", "x_lat.1.log", "x_slat.1.log"] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
}

#[test]
fn compressed_logs_are_inflated_to_what_they_would_have_been() {
    let folder = Folder::new("compressed");
    let arguments = "--ioengine=null --rw=read --bs=4k --size=400m --write_iops_log=l";
    job(&folder, arguments);
    job(&folder, &format!("{arguments} --log_store_compressed=1 --log_compression=64k"));
    let inflated = Who::AsFio.run(&folder, &["--inflate-log=l_iops.1.log.fz".to_owned()]);
    assert_eq!(inflated.code, Some(0), "{inflated:?}");
    let without_time = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split_once(", ").unwrap().1.to_owned()).collect()
    };
    let plain = without_time(&folder.read("l_iops.1.log"));
    assert_eq!(plain.len(), 102_400);
    assert!(without_time(&inflated.stdout) == plain, "the same lines");
    folder.write("no.fz", "not compressed");
    let refused = Who::AsFio.run(&folder, &["--inflate-log=no.fz".to_owned()]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("no.fz"), "{refused:?}");
}

#[test]
fn times_may_count_from_another_clocks_epoch() {
    let folder = Folder::new("epoch");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    job(&folder, "--ioengine=null --rw=read --size=8k --write_iops_log=l --log_alternate_epoch=1");
    let logged = rows(&folder, "l_iops.1.log")[0][0];
    assert!(logged.abs_diff(now.as_millis() as u64) < 60_000, "{logged}");
    let wrong = "--name=j --ioengine=null --size=8k --write_iops_log=l --log_alternate_epoch=1 \
                 --log_alternate_epoch_clock_id=99";
    let ran = Who::AsFio.run(&folder, &words(wrong));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("log_alternate_epoch_clock_id"), "{ran:?}");
}

#[test]
fn a_signal_leaves_what_was_logged() {
    for each in ["", "--log_avg_msec=100"] {
        let folder = Folder::new("signal");
        let arguments = format!(
            "--output-format=json --name=j --filename=f --ioengine=psync --rw=write --bs=4k \
             --size=1m --time_based --runtime=60 --write_iops_log=l {each}"
        );
        let mut program = Running::start(Who::AsFio, &folder, &arguments);
        program.wait_for_work("j");
        // At least so long: five windows.
        std::thread::sleep(Duration::from_millis(600));
        program.signal(Signal::INT);
        let ran = program.end_within(PATIENCE);
        assert_eq!(ran.code, Some(128), "{ran:?}");
        let text = &ran.stdout;
        let json: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
        let ios = json["jobs"][0]["write"]["total_ios"].as_u64().unwrap();
        let rows = rows(&folder, "l_iops.1.log");
        match each {
            "" => assert_eq!(rows.len() as u64, ios),
            _ => assert!(rows.len() >= 5, "{rows:?}"),
        }
    }
}

#[test]
fn a_log_that_cannot_be_written_fails_the_job_and_is_reported() {
    let folder = Folder::new("full");
    let missing = "--name=j --ioengine=null --size=8k --write_iops_log=/nowhere/l";
    let ran = Who::AsFio.run(&folder, &words(missing));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(all(&ran).contains("/nowhere/l_iops.1.log"), "{ran:?}");
    // Everything written to /dev/full finds no space; logs go where links lead.
    std::os::unix::fs::symlink("/dev/full", folder.join("l_iops.1.log")).unwrap();
    for each in ["", "--log_avg_msec=100"] {
        let full = format!("--name=j --ioengine=null --size=8m --write_iops_log=l {each}");
        let ran = Who::AsFio.run(&folder, &words(&full));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(all(&ran).contains("l_iops.1.log: No space left on device"), "{ran:?}");
    }
}

fn all(ran: &Ran) -> String {
    format!("{}{}", ran.stdout, ran.stderr)
}

#[test]
fn the_bandwidth_of_all_jobs_is_logged_together() {
    let folder = Folder::new("agg");
    let reported = job(
        &folder,
        "--ioengine=null --rw=read --bs=4k --size=1g --time_based --runtime=2 --numjobs=2 \
         --group_reporting --bandwidth-log",
    );
    let rows_of = |name: &str| rows(&folder, name);
    let reads = rows_of("agg-read_bw.log");
    assert!(reads.iter().all(|row| row.len() == 5 && row[2] == 0));
    assert_eq!(reads[..4].iter().map(|row| row[0]).collect::<Vec<_>>(), [500, 1000, 1500, 2000]);
    let kib = total(&reads, 0);
    let reported = reported["read"]["io_kbytes"].as_u64().unwrap() as f64;
    assert!((kib / reported - 1.0).abs() < 0.01, "{kib} and {reported}");
    assert!(rows_of("agg-write_bw.log").iter().all(|row| row[1..] == [0, 1, 0, 0]));
    assert!(folder.names().contains(&"agg-trim_bw.log".to_owned()));
}
