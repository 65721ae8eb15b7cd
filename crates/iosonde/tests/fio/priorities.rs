//! Priorities of single I/Os (`cmdprio_*`): the same I/Os have them as in fio,
//! and latencies are reported by priority.

use crate::support::{Ran, Who, at_once, words};
use iosonde_testing::{Folder, has_fio};
use serde_json::Value;

const JOB: &str = "--name=a --filename=f --size=4m --iodepth=8 --rw=randrw";

fn run(who: Who, folder: &Folder, options: &str) -> Ran {
    who.run(folder, &words(&format!("{JOB} {options}")))
}

/// Class, level and count of each priority, in order, reads before writes.
fn priorities(document: &Value) -> Vec<Vec<[u64; 3]>> {
    let described = |way: &str| -> Option<Vec<[u64; 3]>> {
        let prios = document["jobs"][0].get(way)?.get("prios")?.as_array()?;
        let of = |prio: &Value| {
            let latency = prio.get("lat_ns").unwrap_or(&prio["clat_ns"]);
            let numbers = [&prio["prioclass"], &prio["prio"], &latency["N"]];
            numbers.map(|number| number.as_u64().unwrap())
        };
        Some(prios.iter().map(of).collect())
    };
    ["read", "write", "mixed"].into_iter().filter_map(described).collect()
}

#[test]
fn the_same_ios_have_a_priority_as_in_fio_and_latencies_are_reported_by_it() {
    if !has_fio() {
        return;
    }
    let jobs = [
        "--ioengine=libaio --cmdprio_percentage=20",
        "--ioengine=libaio --cmdprio_percentage=20 --rw=randread",
        "--ioengine=io_uring --cmdprio_percentage=20 --rw=write",
        "--ioengine=libaio --cmdprio_percentage=20 --prio=4",
        "--ioengine=libaio --cmdprio_percentage=20 --lat_percentiles=1",
        "--ioengine=libaio --cmdprio_percentage=20 --lat_percentiles=1 --disable_lat=1",
        "--ioengine=libaio --cmdprio_percentage=20 --disable_clat=1",
        "--ioengine=io_uring --cmdprio_percentage=20 --gtod_reduce=1",
        "--ioengine=libaio --cmdprio_percentage=20 --unified_rw_reporting=1",
        "--ioengine=libaio --cmdprio_percentage=20,50 --cmdprio_class=2,3 --cmdprio=4",
        "--ioengine=libaio --cmdprio_percentage=0,10",
        "--ioengine=libaio --cmdprio_percentage=100 --prio=1",
        "--ioengine=libaio --cmdprio_bssplit=4k/20/1/2:4k/30/2/5",
        "--ioengine=libaio --cmdprio_bssplit=4k/20,4k/20/1/2",
        "--ioengine=libaio --cmdprio_bssplit=8k/20",
        "--ioengine=libaio --cmdprio_class=1 --cmdprio=2",
        "--ioengine=libaio --cmdprio_percentage=30 --numjobs=2 --group_reporting",
        "--ioengine=io_uring --cmdprio_percentage=30 --cmdprio_class=2 --cmdprio=7",
        "--ioengine=io_uring --cmdprio_bssplit=4k/50:64k/100",
    ];
    let differ = at_once(&jobs, |job| {
        let described = [Who::AsFio, Who::Fio].map(|who| {
            let line = format!("{job} --output-format=json");
            priorities(&run(who, &Folder::new("prio"), &line).well().json())
        });
        (described[0] != described[1])
            .then(|| format!("{job}\n  ours {:?}\n  fio  {:?}", described[0], described[1]))
    });
    assert!(differ.iter().all(Option::is_none), "{differ:#?}");
    let uring = run(
        Who::AsFio,
        &Folder::new("prio"),
        "--ioengine=io_uring --cmdprio_percentage=30 --output-format=json",
    );
    assert_eq!(priorities(&uring.well().json()).len(), 2);
}

#[test]
fn logs_tell_the_priority_of_each_io_as_fio_does() {
    if !has_fio() {
        return;
    }
    let jobs = [
        "--cmdprio_percentage=20 --cmdprio=2",
        "--cmdprio_percentage=20 --cmdprio=2 --log_prio=1",
        "--cmdprio_percentage=20 --cmdprio=2 --log_prio=1 --prioclass=2 --prio=3",
        "--cmdprio_bssplit=4k/20/1/2:4k/30/2/5 --log_prio=1",
    ];
    at_once(&jobs, |job| {
        let described = [Who::AsFio, Who::Fio].map(|who| {
            let folder = Folder::new("prio");
            let line = format!("--ioengine=libaio {job} --write_lat_log=l --write_bw_log=l");
            run(who, &folder, &line).well();
            ["l_slat.1.log", "l_clat.1.log", "l_lat.1.log", "l_bw.1.log"].map(|log| {
                // Completions come back in another order each time.
                let last = |line: &str| line.rsplit(", ").take(3).collect::<Vec<_>>().join(" ");
                let mut lines: Vec<String> = folder.read(log).lines().map(last).collect();
                lines.sort();
                lines
            })
        });
        assert_eq!(described[0], described[1], "{job}");
        assert_eq!(described[0][0].len(), 1024, "{job}");
    });
}

#[test]
fn a_hint_goes_with_a_priority() {
    let folder = Folder::new("prio");
    let line = "--ioengine=libaio --cmdprio_percentage=20 --cmdprio_class=2 --cmdprio_hint=3 \
                --output-format=json+";
    let document = run(Who::AsFio, &folder, line).well().json();
    let prios = &document["jobs"][0]["read"]["prios"];
    assert_eq!(prios[1]["priohint"], 3, "{prios}");
    let bins = prios[1]["clat_ns"]["bins"].as_object().unwrap();
    let counted: u64 = bins.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(prios[1]["clat_ns"]["N"], counted);
}

#[test]
fn jobs_of_a_group_with_different_priorities_are_reported_separately() {
    let folder = Folder::new("prio");
    let line = "--group_reporting --ioengine=null --prioclass=2 --output-format=json \
                --name=a --size=64k --prio=1 --name=b --size=128k --prio=6";
    let document = Who::AsFio.run(&folder, &words(line)).well().json();
    assert_eq!(priorities(&document), [vec![[2, 1, 16], [2, 6, 32]]]);
}

#[test]
fn what_makes_no_sense_is_refused_in_a_line() {
    let refused = [
        ("--cmdprio_percentage=20 --cmdprio_bssplit=4k/20", "mutually exclusive"),
        ("--cmdprio_percentage=101", "out of range"),
        ("--cmdprio_bssplit=4k/60:4k/60", "exceeds 100"),
        ("--cmdprio_bssplit=/20", "invalid cmdprio_bssplit format"),
        ("--cmdprio_bssplit=4k/20/9/1", "invalid cmdprio_bssplit format"),
        ("--cmdprio_percentage=20 --io_submit_mode=offload", "leave io_submit_mode out"),
    ];
    let folder = Folder::new("prio");
    for (options, words) in refused {
        let ran = run(Who::AsFio, &folder, &format!("--ioengine=libaio {options}"));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(words), "{ran:?}");
    }
}
