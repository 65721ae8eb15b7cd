//! fio reports the same run twice, in JSON and in text. Its text must come out
//! of our `fio_normal` and `fio_terse` again, letter by letter, from what its
//! JSON says.

mod common;

use common::fio;
use iosonde_base::PerDir;
use iosonde_report::formats::{TerseVersion, fio_normal, fio_terse};
use iosonde_report::*;
use serde_json::Value;

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or(0)
}

fn float(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or(0.0)
}

fn latency(value: &Value) -> LatencyReport {
    let percentiles = value["percentile"].as_object().map(|list| {
        let pair =
            |(percent, ns): (&String, &Value)| (percent.parse().unwrap(), ns.as_u64().unwrap());
        list.iter().map(pair).collect()
    });
    LatencyReport {
        n: number(value, "N"),
        min_ns: number(value, "min"),
        max_ns: number(value, "max"),
        mean_ns: float(value, "mean"),
        stddev_ns: float(value, "stddev"),
        percentiles,
        ..LatencyReport::default()
    }
}

fn direction(value: &Value) -> DirReport {
    let window = |name: &str, deviation: &str| WindowReport {
        min: number(value, &format!("{name}_min")),
        max: number(value, &format!("{name}_max")),
        mean: float(value, &format!("{name}_mean")),
        stddev: float(value, &format!("{name}_{deviation}")),
        samples: number(value, &format!("{name}_samples")),
    };
    DirReport {
        io_bytes: number(value, "io_bytes"),
        runtime_ms: number(value, "runtime"),
        issued_ios: number(value, "total_ios"),
        total_ios: number(value, "total_ios"),
        short_ios: number(value, "short_ios"),
        drop_ios: number(value, "drop_ios"),
        slat: latency(&value["slat_ns"]),
        clat: latency(&value["clat_ns"]),
        lat: latency(&value["lat_ns"]),
        bw_kib: window("bw", "dev"),
        bw_agg_percent: float(value, "bw_agg"),
        iops_windows: window("iops", "stddev"),
        ..DirReport::default()
    }
}

/// Counts that give these percentages of `whole`: JSON has shares only.
fn counts(value: &Value, whole: u64) -> Vec<u64> {
    let share = |percent: &Value| {
        let percent = percent.as_f64().unwrap();
        let count = (percent * whole as f64 / 100.0).round() as u64;
        if percent > 0.0 { count.max(1) } else { 0 }
    };
    value.as_object().unwrap().values().map(share).collect()
}

fn job(value: &Value, units: TextUnits, significant_figures: u32) -> JobReport {
    const WHOLE: u64 = 1_000_000_000;
    let dirs = PerDir(["read", "write", "trim"].map(|name| direction(&value[name])));
    let issued = dirs.0.iter().map(|dir| dir.issued_ios).sum();
    let depth = |name: &str, whole| counts(&value[name], whole).try_into().unwrap();
    let classes = ["latency_ns", "latency_us", "latency_ms"];
    let classes: Vec<u64> = classes.iter().flat_map(|name| counts(&value[*name], issued)).collect();
    let wall_ms = 100_000_000;
    let cpu_ns = |name: &str| (float(value, name) * wall_ms as f64 * 1e4).round() as u64;
    JobReport {
        name: value["jobname"].as_str().unwrap().into(),
        group: number(value, "groupid") as u32,
        clones: 1,
        description: value["desc"].as_str().map(String::from),
        units,
        significant_figures,
        sync: SyncReport {
            total_ios: number(&value["sync"], "total_ios"),
            lat: latency(&value["sync"]["lat_ns"]),
        },
        cpu: CpuUse {
            wall_ms,
            user_ns: cpu_ns("usr_cpu"),
            system_ns: cpu_ns("sys_cpu"),
            ctx: number(value, "ctx"),
            majf: number(value, "majf"),
            minf: number(value, "minf"),
        },
        depth: DepthReport {
            level: depth("iodepth_level", issued),
            submit: depth("iodepth_submit", WHOLE),
            complete: depth("iodepth_complete", WHOLE),
            submits: WHOLE,
            completes: WHOLE,
        },
        latency_classes: classes.try_into().unwrap(),
        errors: value["total_err"]
            .as_u64()
            .map(|total| ErrorCount { total, first_errno: number(value, "first_error") as i32 }),
        latency: LatencyTarget {
            depth: number(value, "latency_depth") as u32,
            target_ns: number(value, "latency_target"),
            window_ns: number(value, "latency_window") * 1000,
            percentile: float(value, "latency_percentile"),
        },
        dirs,
        ..JobReport::default()
    }
}

/// What differs between versions and what JSON does not tell, put aside.
fn comparable(text: &str) -> Vec<String> {
    let disks = text.find("\nDisk stats").unwrap_or(text.len());
    text[..disks]
        .lines()
        .map(|line| line.split(", jobs=").next().unwrap())
        .map(|line| line.replace("/sync_file_range/syncfs:", "/sync_file_range:"))
        .map(|line| iosonde_testing::fio_text::as_in_3_42(&line))
        .collect()
}

fn comes_out_again(arguments: &[&str], units: TextUnits, figures: u32) {
    let both = [arguments, &["--output-format=json,normal", "--eta=never"]].concat();
    let Some(text) = fio(&both) else { return };
    let begin = text.find("{\n").expect("JSON");
    let mut values = serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Value>();
    let value = values.next().unwrap().unwrap_or_else(|error| panic!("{error}: {text}"));
    let after = &text[begin + values.byte_offset()..];
    let normal = format!("{}{after}", &text[..begin]);
    let theirs = &normal[normal.find(": (groupid=").expect("a job's line")..];
    let jobs: Vec<_> =
        value["jobs"].as_array().unwrap().iter().map(|value| job(value, units, figures)).collect();
    let groups = groups_of(&jobs);
    let mine = fio_normal(&Report { jobs, groups, ..Report::default() });
    let mine = &mine[mine.find(": (groupid=").unwrap()..];
    let (mine, theirs) = (comparable(mine), comparable(theirs));
    for (mine, theirs) in mine.iter().zip(&theirs) {
        assert!(alike(mine, theirs), "{arguments:?}\n ours {mine}\ntheirs {theirs}");
    }
    assert_eq!(mine.len(), theirs.len(), "{arguments:?}\n{mine:#?}\n{theirs:#?}");
}

/// Equal, but for the last digit of a mean or a share: JSON has rounded it
/// once already, and twice rounded is not once rounded.
fn alike(mine: &str, theirs: &str) -> bool {
    let split =
        |line: &str| -> Vec<String> { line.split(['=', ',', '%']).map(String::from).collect() };
    let (mine, theirs) = (split(mine), split(theirs));
    let near = |(mine, theirs): (&String, &String)| {
        let values = (mine.trim().parse::<f64>(), theirs.trim().parse::<f64>());
        mine == theirs
            || matches!(values, (Ok(a), Ok(b)) if (a - b).abs() < 0.0101 && mine.contains('.'))
    };
    mine.len() == theirs.len() && mine.iter().zip(&theirs).all(near)
}

/// A file for one test, removed at its end.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        Scratch(std::env::temp_dir().join(format!("iosonde-{name}-{}", std::process::id())))
    }

    fn option(&self) -> String {
        format!("--filename={}", self.0.display())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0); // It may never have been made.
    }
}

#[test]
fn a_job_with_syncs_and_every_percentile() {
    let file = Scratch::new("again-sync");
    let name = file.option();
    let arguments = [
        "--name=sync",
        "--description=each tenth is made durable",
        "--rw=randwrite",
        "--bs=8k",
        "--size=2m",
        "--fsync=10",
        "--lat_percentiles=1",
        "--percentile_list=10:50:99.9:99.999",
        &name,
    ];
    comes_out_again(&arguments, TextUnits::default(), 4);
}

#[test]
fn deep_queues_and_small_and_large_blocks() {
    let file = Scratch::new("again-deep");
    let name = file.option();
    for size in ["--bs=512", "--bs=4k", "--bs=1m"] {
        let arguments = [
            "--name=deep",
            "--ioengine=libaio",
            "--iodepth=16",
            "--iodepth_batch=4",
            "--rw=randrw",
            "--size=8m",
            "--slat_percentiles=1",
            "--continue_on_error=all",
            size,
            &name,
        ];
        comes_out_again(&arguments, TextUnits::default(), 4);
    }
}

#[test]
fn many_jobs_in_groups_with_other_units() {
    let shared = [
        "--ioengine=null",
        "--size=1g",
        "--time_based",
        "--runtime=1",
        "--thread",
        "--kb_base=1000",
        "--unit_base=1",
        "--significant_figures=6",
    ];
    let jobs = [
        "--name=slow",
        "--rw=read",
        "--rate_iops=7",
        "--name=mixed",
        "--rw=randrw",
        "--rate_iops=9000,100",
        "--name=next",
        "--new_group",
        "--rw=trim",
        "--bs=1m",
        "--rate=3g",
    ];
    let units = TextUnits { kb_base: 1000, bits: true };
    comes_out_again(&[&shared[..], &jobs].concat(), units, 6);
    let together = ["--group_reporting", "--numjobs=2"];
    comes_out_again(&[&shared[..], &together, &jobs].concat(), units, 6);
}

#[test]
fn fast_jobs_without_latencies() {
    let shared = ["--ioengine=null", "--size=1g", "--time_based", "--runtime=1"];
    for job in [
        ["--name=x", "--gtod_reduce=1", "--rw=read"],
        ["--name=x", "--clat_percentiles=0", "--rw=randread"],
        ["--name=x", "--disable_clat=1", "--rw=trim"],
    ] {
        comes_out_again(&[&shared[..], &job].concat(), TextUnits::default(), 4);
    }
}

#[test]
fn terse_fields_of_all_versions() {
    let file = Scratch::new("again-terse");
    let name = file.option();
    for version in 2..=5 {
        let number = version.to_string();
        let arguments = [
            "--name=terse",
            "--description=the end",
            "--ioengine=libaio",
            "--iodepth=4",
            "--rw=randrw",
            "--bs=16k",
            "--size=32m",
            "--continue_on_error=all",
            "--disk_util=0",
            "--output-format=json,terse",
            "--terse-version",
            &number,
            &name,
        ];
        let Some(text) = fio(&arguments) else { return };
        // Terse comes first, whatever the order asked for.
        let (begin, start) = (text.find("{\n").unwrap(), format!("{version};"));
        let theirs = &text[text.find(&start).expect("a terse line")..begin];
        let value: Value = serde_json::from_str(&text[begin..]).unwrap();
        let mut job = job(&value["jobs"][0], TextUnits::default(), 4);
        job.percentile_list = Percentiles::DEFAULT_LIST.to_vec();
        let version_text = value["fio version"].as_str().unwrap().into();
        let report = Report { version: version_text, jobs: vec![job], ..Report::default() };
        let mine = fio_terse(&report, TerseVersion::of(version).unwrap());
        assert_eq!(mine.lines().count(), theirs.lines().count());
        for (mine, theirs) in mine.lines().zip(theirs.lines()) {
            let fields = mine.split(';').zip(theirs.split(';')).enumerate();
            for (at, (mine, theirs)) in fields {
                assert!(alike(mine, theirs), "v{version} field {at}: {mine} {theirs}");
            }
            assert_eq!(mine.split(';').count(), theirs.split(';').count());
        }
    }
}
