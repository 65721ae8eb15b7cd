//! Jobs with a sequence that needs no random number, run by the installed fio and by
//! us, compared I/O by I/O.

mod common;

use std::process::Command;

use common::{lines, spec};

/// The jobs: options as fio takes them.
const JOBS: &[&str] = &[
    "--filename=vec --size=64k --rw=read --bs=4k",
    "--filename=vec --size=30000 --rw=read --bs=4k",
    "--filename=vec --size=30000 --rw=write --bs=4k --loops=3",
    "--filename=vec --size=64k --rw=trim --bs=4k",
    "--filename=vec --size=100k --rw=read:8k --bs=4k",
    "--filename=vec --size=40k --rw=read:8k --bs=4k",
    "--filename=vec --size=40k --rw=read:12k --bs=4k",
    "--filename=vec --size=40k --rw=read:8k --bs=4k --loops=2",
    "--filename=vec --size=40k --rw=read:-4k --bs=4k",
    "--filename=vec --size=40k --rw=read:-8k --bs=4k",
    "--filename=vec --size=41000 --rw=read:-8k --bs=4k",
    "--filename=vec --size=40k --rw=write:-12k --bs=4k --loops=2",
    "--filename=vec --size=40k --rw=read:8k --bs=4k --offset=8k",
    "--filename=vec --size=40k --rw=read:-8k --bs=4k --offset=8k",
    "--filename=vec --size=40k --rw=read:-8k --bs=4k --offset=16k",
    "--filename=vec --size=40k --rw=read:-4k --bs=4k --offset=16k",
    "--filename=vec --filesize=100k --size=40k --rw=read:8k --bs=4k --offset=8k",
    "--filename=vec --filesize=100k --size=40k --rw=read:-8k --bs=4k --offset=8k",
    "--filename=vec --size=64k --rw=read --bs=4k --offset=1m",
    "--size=52k --nrfiles=3 --rw=read --bs=4k",
    "--size=50k --nrfiles=3 --rw=read --bs=4k",
    "--size=60k --nrfiles=4 --rw=write --bs=4k --loops=2",
    "--size=60k --nrfiles=4 --rw=write --bs=4k --file_service_type=sequential",
    "--size=60k --nrfiles=4 --rw=write --bs=4k --file_service_type=roundrobin:3",
    "--size=60k --nrfiles=4 --rw=trimwrite --bs=4k",
    "--size=60k --nrfiles=3 --rw=trimwrite --bs=4k --file_service_type=roundrobin:3",
    "--filename=vec --size=64k --io_size=30000 --rw=read --bs=4k",
    "--filename=vec --size=64k --io_size=150000 --rw=read --bs=4k",
    "--filename=vec --size=64k --io_size=66000 --rw=read --bs=4k",
    "--filename=vec --size=16k --io_size=10000 --loops=2 --rw=read --bs=4k",
    "--filename=vec --size=16k --io_size=40000 --loops=2 --rw=read --bs=4k",
    "--filename=vec --size=16k --io_size=32k --loops=2 --rw=read --bs=4k",
    "--filename=vec --size=40k --io_size=40k --rw=read:8k --bs=4k",
    "--filename=vec --size=40k --io_size=80k --rw=read:8k --bs=4k",
    "--size=60k --io_size=130k --nrfiles=3 --rw=read --bs=4k",
    "--filename=vec --size=64k --rw=trimwrite --bs=4k",
    "--filename=vec --size=64k --rw=trimwrite --bs=4k --number_ios=5",
    "--filename=vec --size=64k --rw=trimwrite --bs=4k --io_size=20k",
    "--filename=vec --size=64k --rw=trimwrite --bs=4k --loops=2",
    "--filename=vec --size=64k --rw=read --bs=4k --number_ios=3",
    "--filename=vec --size=16k --rw=read --bs=4k --number_ios=3 --loops=2",
    "--filename=vec --size=16k --rw=read --bs=4k --number_ios=6",
    "--filename=vec --size=16k --rw=read --bs=4k --number_ios=6 --io_size=32k",
    "--filename=vec --size=16k --rw=read --bs=4k --number_ios=6 --loops=4",
    "--filename=vec --size=64k --rw=write --bs=4k --fsync=5",
    "--filename=vec --size=64k --rw=write --bs=4k --fsync=5 --loops=2",
    "--filename=vec --size=64k --rw=write --bs=4k --fdatasync=3 --number_ios=7",
    "--filename=vec --size=64k --rw=write --bs=4k --fsync=4 --fdatasync=3",
    "--size=64k --nrfiles=2 --rw=write --bs=4k --fsync=2",
    "--size=64k --nrfiles=4 --rw=write --bs=4k --fsync=3",
    "--size=60k --nrfiles=3 --rw=write --bs=4k --fdatasync=4",
    "--size=60k --nrfiles=3 --rw=write --bs=4k --fdatasync=2 --file_service_type=sequential",
    "--size=60k --nrfiles=3 --rw=write --bs=4k --fsync=4 --file_service_type=roundrobin:3",
    "--filename=vec --size=128k --rw=read --bs=4k --zonemode=strided --zonesize=8k --zonerange=16k --zoneskip=8k",
    "--filename=vec --size=256k --rw=write --bs=4k --zonemode=strided --zonesize=16k --zonerange=16k --zoneskip=16k",
    "--filename=vec --size=100k --rw=read --bs=4k --zonemode=strided --zonesize=12k --zonerange=20k --zoneskip=4k",
    "--filename=vec --size=256k --rw=write:4k --bs=4k --zonemode=strided --zonesize=32k --zonerange=32k --zoneskip=16k",
    "--filename=vec --size=200k --rw=write:20k --bs=4k --zonemode=strided --zonesize=64k --zonerange=64k --zoneskip=16k",
    "--filename=vec --size=256k --rw=write:8k --bs=4k --offset=64k --zonemode=strided --zonesize=32k --zonerange=48k --zoneskip=0",
    "--filename=vec --size=256k --rw=write --bs=12k --zonemode=strided --zonesize=32k --zonerange=32k --zoneskip=16k",
    "--filename=vec --size=128k --rw=read --bs=4k --zonemode=strided --zonesize=40k --zonerange=16k --zoneskip=8k",
    "--filename=vec --size=128k --rw=write --bs=4k --zonemode=strided --zonesize=64k --zonerange=16k --zoneskip=0",
    "--filename=vec --size=128k --rw=read --bs=12k --zonemode=strided --zonesize=100k --zonerange=64k --zoneskip=0",
    "--filename=vec --size=128k --rw=read --bs=4k --zonemode=strided --zonesize=8k --zonerange=32k --zoneskip=0 --loops=2",
    "--filename=vec --size=128k --rw=write --bs=4k --zonemode=strided --zonesize=16k --zonerange=32k --zoneskip=16k --io_size=256k",
    "--filename=vec --size=256k --rw=read --bssplit=4k/30",
    "--filename=vec --size=128k --rw=read:8k --bs=4k --zonemode=strided --zonesize=64k --zonerange=64k --zoneskip=0",
    "--filename=vec --size=128k --rw=read:8k --bs=4k --zonemode=strided --zonesize=32k --zonerange=48k --zoneskip=16k",
];

/// Jobs with fewer files open than there are: opens and closes count too.
const OPENING: &[&str] = &[
    "--size=48k --nrfiles=3 --openfiles=1 --rw=read --bs=4k",
    "--size=48k --nrfiles=3 --openfiles=2 --rw=read --bs=4k",
    "--size=48k --nrfiles=3 --openfiles=2 --rw=read --bs=4k --loops=2",
    "--size=60k --nrfiles=5 --openfiles=2 --rw=write --bs=4k --file_service_type=sequential",
    "--size=60k --nrfiles=5 --openfiles=3 --rw=write --bs=4k --file_service_type=roundrobin:2",
];

/// What fio logs for each job, in the form of the vectors; `None`, and a skip,
/// without fio. One fio runs them all, as it takes long to start.
fn fio(jobs: &[&str]) -> Option<Vec<Vec<String>>> {
    if !iosonde_testing::has_fio() {
        return None;
    }
    let folder = iosonde_testing::Folder::temporary("workload");
    let mut fio = Command::new("fio");
    fio.current_dir(folder.path());
    for (i, job) in jobs.iter().enumerate() {
        fio.args(["--name=v", "--ioengine=null"])
            .arg(format!("--write_iolog={i}.log"))
            .args(arguments(job));
    }
    let output = fio.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let entry = |line: &str| {
        // Version 3 of the log has a time stamp first.
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        (words.len() > 1 && words[1] != "add").then(|| words.join(" "))
    };
    Some(
        (0..jobs.len())
            .map(|i| folder.read(&format!("{i}.log")).lines().skip(1).filter_map(entry).collect())
            .collect(),
    )
}

fn arguments(job: &str) -> Vec<String> {
    job.split(' ').map(str::to_owned).collect()
}

/// The entries that move or discard data.
fn data(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .filter(|line| line.split(' ').count() == 4 && !line.contains("sync"))
        .cloned()
        .collect()
}

/// Where the two part, if they do.
fn difference(job: &str, ours: &[String], theirs: &[String]) -> Option<String> {
    let at = ours.iter().zip(theirs).take_while(|(ours, theirs)| ours == theirs).count();
    (ours != theirs).then(|| {
        let (a, b) = (ours.get(at), theirs.get(at));
        format!("{job}\n  {} entries for {}; at {at} {a:?} for {b:?}", ours.len(), theirs.len())
    })
}

/// Compare all jobs; `kept` keeps what counts of fio's entries.
fn compare(jobs: &[&str], kept: impl Fn(Vec<String>) -> Vec<String>) {
    let Some(logs) = fio(jobs) else { return };
    let mut wrong = Vec::new();
    for (job, theirs) in jobs.iter().zip(logs) {
        let ours = lines(spec(&arguments(job)));
        let theirs = kept(theirs);
        wrong.extend(difference(job, &ours, &theirs));
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), jobs.len(), wrong.join("\n"));
}

#[test]
fn jobs_without_chance_go_as_in_fio() {
    compare(JOBS, |theirs| {
        let is_io = |line: &String| !line.ends_with(" open") && !line.ends_with(" close");
        theirs.into_iter().filter(is_io).collect()
    });
}

#[test]
fn sizes_that_are_drawn_near_an_end_are_those_of_fio() {
    // Sizes are drawn alike in 3.33 and 3.42; places are not. Each job is the
    // first of a fio, as seeds go by the job's number.
    for job in [
        "--filename=vec --size=256k --rw=write:8k --bssplit=512/10:4k/60:16k/30 --number_ios=60",
        "--filename=vec --size=100k --rw=read --bssplit=1k/20:2k/30:4k/50 --loops=5",
        "--filename=vec --size=100k --rw=read --bsrange=1k-16k --loops=9",
        "--filename=vec --size=200k --rw=write --bssplit=4k/50:12k/50 --zonemode=strided \
         --zonesize=32k --zonerange=64k --zoneskip=16k",
    ] {
        compare(&[job], |theirs| {
            let is_io = |line: &String| !line.ends_with(" open") && !line.ends_with(" close");
            theirs.into_iter().filter(is_io).collect()
        });
    }
}

#[test]
fn files_are_opened_and_closed_as_in_fio() {
    compare(OPENING, |mut theirs| {
        // What is open at the end the caller closes.
        while theirs.last().is_some_and(|line| line.ends_with(" close")) {
            theirs.pop();
        }
        theirs
    });
}

#[test]
fn a_random_pass_has_as_many_ios_as_in_fio() {
    let jobs = [
        "--filename=vec --size=30000 --rw=randread --bs=4k",
        "--filename=vec --size=30000 --rw=randread --bs=4k --norandommap",
        "--filename=vec --size=64k --rw=randrw --bs=4k --loops=2",
        "--filename=vec --size=64k --io_size=150000 --rw=randwrite --bs=4k",
        "--size=60k --nrfiles=4 --rw=randread --bs=4k",
        "--size=60k --nrfiles=4 --rw=randtrimwrite --bs=4k",
        "--filename=vec --size=40k --rw=randread --bs=4k --random_generator=lfsr --loops=2",
    ];
    let Some(logs) = fio(&jobs) else { return };
    for (job, theirs) in jobs.iter().zip(logs) {
        let ours = lines(spec(&arguments(job)));
        assert_eq!(data(&ours).len(), data(&theirs).len(), "{job}");
    }
}
