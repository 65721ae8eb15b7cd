//! Calls on names that only Linux has in this form.
#![cfg(target_os = "linux")]

mod common;
#[path = "common/job.rs"]
mod job;

use common::spec;
use iosonde_base::{Errno, Op};
use iosonde_engine::EngineSettings;
use iosonde_engine::settings::{StatSettings, StatType};
use iosonde_testing::Folder;
use job::{TestJob, at, only, ready};

fn stat(call: StatType, path: &std::path::Path) -> TestJob {
    let settings = EngineSettings::new(StatSettings(call));
    let spec = spec(only(Op::Write), 4096, 4096, 1);
    ready("filestat", settings, &spec, vec![at(path, 4096)], 1).go()
}

#[test]
fn stat_and_statx_follow_a_link_and_lstat_does_not() {
    let folder = Folder::temporary("links");
    let path = folder.join("f");
    std::os::unix::fs::symlink("nowhere", &path).unwrap();
    assert_eq!(stat(StatType::Lstat, &path).counts(Op::Write).0, 1);
    for call in [StatType::Stat, StatType::Statx] {
        let followed = stat(call, &path);
        assert_eq!((followed.failure().errno, followed.failure().doing), (Errno::ENOENT, "stat"));
    }
}
