//! `--profile=tiobench`: its options count.

use crate::support::{Who, words};
use iosonde_testing::{Folder, has_fio};

#[test]
fn tiobench_runs_its_four_jobs_as_its_options_say() {
    let folder = Folder::new("tiobench");
    let line = "--profile=tiobench --size=1 --block=8192 --numruns=2 --threads=2 --dir=. \
                --output-format=json";
    let json = Who::AsFio.run(&folder, &words(line)).well().json();
    let jobs = json["jobs"].as_array().unwrap();
    let names: Vec<&str> = jobs.iter().map(|job| job["jobname"].as_str().unwrap()).collect();
    assert_eq!(names, ["seqwrite", "randwrite", "seqread", "randread"]);
    for (job, dir) in jobs.iter().zip(["write", "write", "read", "read"]) {
        // 1 MiB in 8 KiB, twice, by two threads.
        assert_eq!(job[dir]["total_ios"], 512, "{job}");
        assert_eq!(
            job["groupid"].as_u64(),
            jobs.iter().position(|one| one == job).map(|at| at as u64)
        );
    }
    let files = [".fio.tio.1", ".fio.tio.2", ".fio.tio.3", ".fio.tio.4"];
    assert_eq!(folder.names(), files);
}

#[test]
fn profiles_that_do_not_exist_are_refused_as_fio_refuses_them() {
    let folder = Folder::new("profile-refused");
    let bogus = Who::AsFio.run(&folder, &words("--profile=bogus"));
    assert_eq!(bogus.stderr.trim(), "fio: profile 'bogus' not found");
    assert_eq!(bogus.code, Some(1));
    let act = Who::Native.run(&folder, &words("--profile=act --device-names=/dev/null"));
    assert_eq!(act.code, Some(1), "{act:?}");
    assert!(act.stderr.contains("profile 'act' is not supported"), "{act:?}");
    let size = Who::Native.run(&folder, &words("--profile=tiobench --size=many"));
    assert!(
        size.stderr.contains("--size: invalid value \"many\": use a number of MiB"),
        "{size:?}"
    );
    if has_fio() {
        let help = "--profile=tiobench --cmdhelp";
        let [ours, fio] = [Who::AsFio, Who::Fio].map(|who| who.run(&folder, &words(help)).stdout);
        assert_eq!(ours, fio);
    }
}
