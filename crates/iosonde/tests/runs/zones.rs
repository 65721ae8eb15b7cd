//! Zones: sizes in zones, `zonemode=zbd` beside recordings of fio 3.42, and what is refused.

use crate::support::{Ran, Who, at_once, iolog_ios, words};
use iosonde_testing::Folder;
use serde_json::Value;

const ZBD: &str = "--name=v --filename=f --bs=4k --zonemode=zbd --zonesize=64k";

/// A folder with a file of 256 KiB.
fn folder() -> Folder {
    let folder = Folder::new("zones");
    folder.image("f", 256 << 10);
    folder
}

fn run(folder: &Folder, options: &str) -> Ran {
    Who::Native.run(folder, &words(&format!("{ZBD} --output-format=json {options}")))
}

fn ios(folder: &Folder, options: &str) -> Vec<String> {
    run(folder, &format!("--write_iolog=v.log {options}")).well();
    iolog_ios(folder, "v.log")
}

#[test]
fn emulated_zones_are_written_read_and_reset_as_recorded() {
    let recorded: Value =
        serde_json::from_str(include_str!("../../../workload/vectors/zbd.json")).unwrap();
    let jobs: Vec<(&String, &Value)> = recorded.as_object().unwrap().iter().collect();
    let differing = at_once(&jobs, |(name, job)| {
        let strings = |key: &str| -> Vec<String> {
            let list = job[key].as_array().unwrap();
            list.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
        };
        let folder = Folder::new("zones-recorded");
        if let Some(bytes) = job["needs_file"].as_u64() {
            folder.image("vec", bytes);
        }
        let always = "--name=v --group_reporting --write_iolog=v.log --randrepeat=1 \
                      --output-format=normal,json --output=out";
        let ran = Who::AsFio.run(&folder, &[words(always), strings("arguments")].concat());
        let (ours, theirs) = (iolog_ios(&folder, "v.log"), strings("ios"));
        let text = std::fs::read_to_string(folder.join("out")).unwrap_or_default();
        let resets = job["zone_resets"].as_u64();
        let is_same = ran.code == Some(0)
            && ours == theirs
            && resets.is_none_or(|resets| text.contains(&format!("; {resets} zone resets")))
            && resets.is_none_or(|resets| {
                resets == 0 || text.contains(&format!("\"zone_resets\" : {resets}"))
            });
        let at = ours.iter().zip(&theirs).take_while(|(ours, theirs)| ours == theirs).count();
        (!is_same).then(|| {
            format!(
                "{name}: {} of {} I/Os, at {at} {:?} for {:?}, {resets:?} resets\n{text}{}",
                ours.len(),
                theirs.len(),
                ours.get(at),
                theirs.get(at),
                ran.stderr
            )
        })
    });
    let differing: Vec<String> = differing.into_iter().flatten().collect();
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}

#[test]
fn sizes_in_zones_count_zonesize_with_strided_zones_too() {
    let strided = "--name=v --filename=f --bs=4k --rw=read --write_iolog=v.log --zonemode=strided \
                   --zonesize=16k --zonerange=32k";
    let of = |options: &str| {
        let folder = folder();
        Who::Native.run(&folder, &words(&format!("{strided} {options}"))).well();
        iolog_ios(&folder, "v.log")
    };
    for (zones, bytes) in [
        ("--size=10z", "--size=160k"),
        ("--size=4z --offset=2z", "--size=64k --offset=32k"),
        ("--io_size=2z", "--io_size=32k"),
        ("--size=8z --zoneskip=1z", "--size=128k --zoneskip=16k"),
    ] {
        let ios = of(zones);
        assert!(!ios.is_empty(), "{zones}");
        assert_eq!(ios, of(bytes), "{zones}");
    }
}

#[test]
fn sizes_in_zones_without_zones_are_refused() {
    let folder = folder();
    for option in ["--size=2z", "--io_size=2z", "--offset=2z"] {
        let ran =
            Who::Native.run(&folder, &words(&format!("--name=v --filename=f --rw=write {option}")));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("a size in zones has no zones to count"), "{ran:?}");
    }
}

/// Every write goes to the write pointer of its zone, as far as that can be seen from the
/// order in which writes were issued.
fn writes_are_at_pointers(ios: &[String], zone: u64, zones: usize) {
    let mut pointers = vec![0; zones];
    for io in ios.iter().filter(|io| io.contains(" write ")) {
        let numbers: Vec<u64> = io.split(' ').skip(2).map(|text| text.parse().unwrap()).collect();
        let (at, into) = ((numbers[0] / zone) as usize, numbers[0] % zone);
        assert!(into == pointers[at] || into == 0, "{io}: the pointer is at {}", pointers[at]);
        pointers[at] = into + numbers[1];
    }
}

#[test]
fn queues_keep_the_order_within_each_zone() {
    let jobs = [
        "--ioengine=libaio --iodepth=16 --rw=randwrite --io_size=1m",
        "--ioengine=io_uring --iodepth=8 --rw=randwrite --max_open_zones=2 --io_size=1m",
        "--ioengine=posixaio --iodepth=8 --rw=write --io_size=512k",
        "--ioengine=libaio --iodepth=4 --rw=randrw --io_size=1m",
        "--ioengine=psync --iodepth=8 --io_submit_mode=offload --rw=randwrite",
        "--ioengine=sim --iodepth=8 --size=256k --rw=randwrite --rate_iops=100000",
    ];
    at_once(&jobs, |job| {
        let folder = folder();
        let ios = ios(&folder, job);
        assert!(ios.len() >= 64, "{job}: {}", ios.len());
        writes_are_at_pointers(&ios, 64 << 10, 4);
    });
}

#[test]
fn jobs_on_one_file_share_its_zones_and_their_limit() {
    let folder = folder();
    let options = "--ioengine=libaio --iodepth=4 --rw=randwrite --max_open_zones=2 --numjobs=4 \
                   --thread --group_reporting";
    let json = run(&folder, options).well().json();
    assert_eq!(json["jobs"][0]["write"]["total_ios"], 256);
    // 1 MiB was written to 256 KiB: twelve zones were full, or more.
    assert!(json["jobs"][0]["zone_resets"].as_u64().unwrap() >= 12, "{json}");
}

#[test]
fn what_is_written_to_zones_is_verified() {
    for options in [
        "--rw=randwrite --verify=crc32c",
        "--rw=randwrite --verify=md5 --max_open_zones=2 --verify_backlog=8",
        "--rw=write --verify=crc32c --zonecapacity=48k",
        "--rw=randwrite --verify=crc32c --loops=2",
        "--rw=randwrite --verify=crc32c --ioengine=libaio --iodepth=8",
        "--rw=randrw --verify=crc32c",
    ] {
        let folder = folder();
        let json = run(&folder, &format!("{options} --verify_state_save=0")).well().json();
        let verify = &json["iosonde"]["jobs"][0]["verify"];
        assert_eq!(verify["written"], verify["checked"], "{options}: {verify}");
        assert!(verify["checked"].as_u64().unwrap() > 20, "{options}: {verify}");
        assert_eq!(verify["wrong"], 0, "{options}: {verify}");
    }
}

#[test]
fn zones_that_are_reset_before_they_are_full_are_checked_before_that() {
    let resets = "--rw=randwrite --verify=crc32c --verify_state_save=0 --io_size=1m \
                  --zone_reset_threshold=0.3 --zone_reset_frequency=0.1";
    for options in [
        "--ioengine=psync",
        "--ioengine=libaio --iodepth=8",
        "--ioengine=psync --norandommap=1",
        "--ioengine=psync --verify_backlog=8",
        "--ioengine=psync --verify_async=1",
        // It drops the data of a zone that is reset.
        "--ioengine=sim --size=256k --sim_latency=0",
        "--ioengine=sim --size=256k --sim_latency=10 --iodepth=4 --max_open_zones=2",
    ] {
        let folder = folder();
        let json = run(&folder, &format!("{resets} {options}")).well().json();
        let verify = &json["iosonde"]["jobs"][0]["verify"];
        assert_eq!(verify["written"], verify["checked"], "{options}: {verify}");
        assert_eq!((&verify["wrong"], &verify["replaced"]), (&0.into(), &0.into()), "{options}");
        assert!(verify["checked"].as_u64().unwrap() > 100, "{options}: {verify}");
        // Those between two passes, and those by the threshold.
        assert!(json["jobs"][0]["zone_resets"].as_u64().unwrap() > 12, "{options}: {json}");
    }
}

#[test]
fn verify_only_finds_the_blocks_where_the_zones_had_them() {
    let folder = folder();
    let options = "--rw=randwrite --verify=crc32c --verify_state_save=0 --max_open_zones=2";
    run(&folder, options).well();
    let json = run(&folder, &format!("{options} --verify_only=1")).well().json();
    assert_eq!(json["iosonde"]["jobs"][0]["verify"]["checked"], 64);
}

#[test]
fn reads_find_what_the_run_wrote_and_a_job_that_finds_nothing_says_so() {
    let folder = folder();
    let ran = run(&folder, "--rw=read");
    assert!(ran.stderr.contains("below its write pointer"), "{ran:?}");
    assert!(ran.stderr.contains("read_beyond_wp=1"), "{ran:?}");
    let both = "--rw=write --size=2z --stonewall --name=r --filename=f --rw=randread --bs=4k \
                --size=256k --zonemode=zbd --zonesize=64k --stonewall --number_ios=40";
    let json = run(&folder, both).well().json();
    assert_eq!(json["jobs"][1]["read"]["total_ios"], 40);
    // fio ends a mixed job in order after one write and one read.
    let mixed = run(&folder, "--rw=rw").well().json();
    let ios = |dir: &str| mixed["jobs"][0][dir]["total_ios"].as_u64().unwrap();
    assert_eq!(ios("read") + ios("write"), 64);
}

#[test]
fn trims_reset_zones_that_hold_data() {
    let folder = folder();
    let both = "--ioengine=null --rw=write --size=256k --io_size=2z --name=t --filename=f \
                --ioengine=null --rw=randtrim --bs=64k --size=256k --zonemode=zbd --zonesize=64k \
                --stonewall";
    let json = run(&folder, both).well().json();
    assert_eq!(json["jobs"][1]["trim"]["total_ios"], 2);
    assert_eq!(json["jobs"][1]["zone_resets"], 2);
}

#[test]
fn what_zones_do_not_allow_is_refused_with_the_option_and_a_remedy() {
    let cases = [
        ("--rw=write --zonesize=0", "Specifying the zone size is mandatory", "set zonesize="),
        ("--rw=write --zonesize=256", "zone size must be at least 512 bytes", "zonesize=512"),
        ("--rw=write --zonecapacity=128k", "zonecapacity 131072 is larger", "zonecapacity=65536"),
        ("--rw=write --zonesize=512k", "262144 is smaller than zone size 524288", "truncate"),
        ("--rw=write --filename=none", "size 0 is smaller than zone size", "truncate"),
        ("--rw=write --zoneskip=1", "zoneskip 1 is not a multiple", "zoneskip=1z"),
        ("--rw=write --bs=128k", "I/O buflen exceeds zone size", "smaller bs="),
        ("--rw=write --size=32k", "io_size must be at least one zone", "larger size="),
        (
            "--rw=write --job_max_open_zones=1",
            "without a global open zones limit",
            "max_open_zones=",
        ),
        (
            "--rw=write --recover_zbd_write_error=1",
            "only when continue_on_error",
            "continue_on_error=",
        ),
        ("--rw=write --ioengine=filecreate", "has no zones", "zonemode=none"),
        (
            "--rw=randwrite --verify=crc32c --verify_only=1 --zone_reset_threshold=0.5 \
             --zone_reset_frequency=0.5",
            "is not there any more",
            "zone_reset_threshold",
        ),
        (
            "--rw=randwrite --verify=crc32c --trim_percentage=10 --trim_backlog=4",
            "Trim offset not at zone start",
            "leave it out",
        ),
        (
            "--rw=randwrite --max_open_zones=1 --name=b --filename=f --rw=write --zonemode=zbd \
             --zonesize=64k --max_open_zones=2",
            "Different 'max_open_zones' values",
            "same in all jobs",
        ),
        (
            "--rw=randwrite --zone_reset_threshold=0.5 --zone_reset_frequency=0.5 --numjobs=2 \
             --size=64k --offset_increment=64k",
            "multi-jobs with different write ranges",
            "offset=",
        ),
        ("--ioengine=null --rw=trim --size=256k --bs=32k", "trim block size 32768", "bs=65536"),
    ];
    for (options, words, remedy) in cases {
        let ran = run(&folder(), options);
        assert_eq!(ran.code, Some(1), "{options}: {ran:?}");
        assert!(ran.stderr.contains(words) && ran.stderr.contains(remedy), "{options}: {ran:?}");
    }
}

#[test]
fn offsets_inside_zones_are_rounded_and_that_is_said() {
    let folder = folder();
    let said = |options: &str| {
        // Beside a text, notes go where the text goes.
        Who::Native.run(&folder, &words(&format!("{ZBD} {options}"))).well().stdout
    };
    let written = said("--rw=write --offset=20k --size=150k");
    assert!(written.contains("f: rounded up offset from 20480 to 65536"), "{written}");
    assert!(written.contains("f: rounded down io_size from 108544 to 65536"), "{written}");
    let read = said("--rw=read --offset=20k --size=150k --read_beyond_wp=1");
    assert!(read.contains("f: rounded io_size from 153600 to 110592"), "{read}");
}

#[test]
fn a_job_of_its_own_number_of_open_zones_stays_within_it() {
    let folder = folder();
    let options = "--rw=randwrite --max_open_zones=3 --job_max_open_zones=1";
    let ios = ios(&folder, options);
    // One zone at a time: each is written to its end before the next.
    for zone in ios.chunks(16) {
        let zones: Vec<u64> = zone
            .iter()
            .map(|io| io.split(' ').nth(2).unwrap().parse::<u64>().unwrap() / (64 << 10))
            .collect();
        assert!(zones.iter().all(|&one| one == zones[0]), "{zone:?}");
    }
}

/// A job on a simulated device of four zones; data is kept where the job verifies.
fn simulated(options: &str) -> Ran {
    let folder = Folder::new("zones-simulated");
    let job = "--name=v --filename=dev --ioengine=sim --sim_latency=0 --size=256k --bs=4k \
               --zonemode=zbd --zonesize=64k --output-format=json";
    Who::Native.run(&folder, &words(&format!("{job} {options}")))
}

#[test]
fn a_simulated_device_is_written_where_its_zones_allow() {
    for (options, written, resets) in [
        ("--rw=write", 64, 0),
        ("--rw=randwrite --io_size=1m", 256, 12),
        ("--rw=randwrite --zonecapacity=48k --iodepth=8", 64, 4),
        ("--rw=randwrite --sim_max_open_zones=1 --iodepth=4", 64, 0),
        ("--rw=randwrite --sim_max_active_zones=2 --max_open_zones=1", 64, 0),
        ("--rw=randwrite --sim_conventional_zones=2", 64, 0),
        ("--rw=write --bs=12k", 20, 0),
        ("--rw=write --bs=12k --write_zone_remainder=1", 24, 0),
        ("--rw=randwrite --numjobs=3 --thread --group_reporting --max_open_zones=2", 192, 8),
    ] {
        let json = simulated(options).well().json();
        let job = &json["jobs"][0];
        assert_eq!(job["write"]["total_ios"], written, "{options}");
        let reset = job["zone_resets"].as_u64().unwrap_or(0);
        assert!(reset >= resets, "{options}: {reset} resets");
    }
}

#[test]
fn what_is_written_to_a_simulated_device_is_verified() {
    for options in [
        "--rw=randwrite --verify=crc32c",
        "--rw=randwrite --verify=md5 --sim_max_open_zones=2 --verify_backlog=8 --iodepth=4",
        "--rw=write --verify=crc32c --zonecapacity=48k --loops=2",
        "--rw=randrw --verify=crc32c --sim_conventional_zones=1",
        "--rw=randwrite --verify=crc32c --zonemode=none --zonesize=0 --norandommap=1",
    ] {
        let json = simulated(&format!("{options} --verify_state_save=0")).well().json();
        let verify = &json["iosonde"]["jobs"][0]["verify"];
        let number = |key: &str| verify[key].as_u64().unwrap();
        assert_eq!(number("written"), number("checked") + number("replaced"), "{verify}");
        assert!(number("checked") > 20, "{options}: {verify}");
        assert_eq!(number("wrong"), 0, "{options}: {verify}");
    }
}

#[test]
fn a_simulated_device_refuses_what_its_limits_do_not_allow() {
    for (options, words) in [
        ("--rw=randwrite --sim_max_open_zones=1 --max_open_zones=2", "is larger than max (1)"),
        // ETOOMANYREFS, as of Linux.
        (
            "--rw=randwrite --sim_max_open_zones=1 --max_open_zones=3 --ignore_zone_limits=1",
            "Too many references",
        ),
        (
            "--rw=randwrite --sim_max_active_zones=1 --max_open_zones=3 --ignore_zone_limits=1",
            "as many active zones as it may",
        ),
        ("--rw=randwrite --sim_failing_write=5", "Input/output error"),
        ("--rw=randwrite --zonesize=512k", "is smaller than zone size"),
        ("--rw=write --sim_conventional_zones=few", "sim_conventional_zones"),
    ] {
        let ran = simulated(options);
        assert_eq!(ran.code, Some(1), "{options}: {ran:?}");
        assert!(ran.stderr.contains(words), "{options}: {ran:?}");
    }
}

#[test]
fn a_write_that_a_simulated_device_half_does_is_completed_where_that_is_wanted() {
    let fails = "--rw=write --bs=16k --verify=crc32c --verify_state_save=0 --sim_failing_write=3 \
                 --continue_on_error=write";
    let json = simulated(&format!("{fails} --recover_zbd_write_error=1")).json();
    let verify = &json["iosonde"]["jobs"][0]["verify"];
    let count = |key: &str| verify[key].as_u64().unwrap();
    assert_eq!((count("written"), count("failed_writes")), (15, 1), "{json}");
    assert_eq!((count("checked"), count("wrong")), (15, 0), "{json}");
    // Without that the zone's pointer is not where the job takes it to be.
    let json = simulated(fails).json();
    let verify = &json["iosonde"]["jobs"][0]["verify"];
    assert!(verify["failed_writes"].as_u64().unwrap() > 1, "{json}");
}
