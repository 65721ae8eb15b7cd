//! The system calls on a job's files are those of the installed fio, in its
//! order, at each phase of a job.
//!
//! Both run under strace(1), on the same files. Where ours differ on purpose
//! (docs/differences.md), the test says how, and nothing else may differ.

use crate::support::{Who, link_named_fio, trace, words};
use iosonde_testing::{Folder, has_fio, has_strace};
use std::path::Path;

/// Two folders with the same files, and what each program did in its own.
struct Both {
    theirs_in: Folder,
    ours_in: Folder,
}

struct Calls {
    theirs: Vec<String>,
    ours: Vec<String>,
}

impl Both {
    fn new() -> Option<Both> {
        if !has_fio() || !has_strace() {
            return None;
        }
        Some(Both { theirs_in: Folder::new("theirs"), ours_in: Folder::new("ours") })
    }

    /// A file in both folders.
    fn with(self, name: &str, bytes: usize) -> Both {
        let content = vec![b'u'; bytes];
        self.theirs_in.write(name, &content);
        self.ours_in.write(name, &content);
        self
    }

    /// Run both on the file `f`; they must end well.
    #[track_caller]
    fn run(&self, line: &str) -> Calls {
        self.run_as_is(&format!("--name=j --filename=f {line}"))
    }

    /// Run both; they must end well. Zeroes are written, as strace shows data.
    #[track_caller]
    fn run_as_is(&self, line: &str) -> Calls {
        let line = words(&format!("--output=/dev/null {line} --zero_buffers"));
        let arguments: Vec<&str> = line.iter().map(String::as_str).collect();
        let (theirs, code) = trace::calls(Path::new("fio"), self.theirs_in.path(), &arguments);
        assert_eq!(code, Some(0), "fio {line:?}");
        let (ours, code) = trace::calls(&link_named_fio(), self.ours_in.path(), &arguments);
        assert_eq!(code, Some(0), "ours {line:?}");
        assert!(!theirs.is_empty(), "nothing was traced");
        Calls { theirs, ours }
    }

    fn remove(&self, name: &str) {
        std::fs::remove_file(self.theirs_in.join(name)).unwrap();
        std::fs::remove_file(self.ours_in.join(name)).unwrap();
    }

    #[track_caller]
    fn same_files(&self) {
        assert_eq!(self.theirs_in.sizes(), self.ours_in.sizes());
    }
}

impl Calls {
    #[track_caller]
    fn same(self) {
        let theirs: Vec<String> = self.theirs.iter().map(|call| without_truncation(call)).collect();
        assert!(
            theirs == self.ours,
            "fio:\n  {}\nours:\n  {}",
            theirs.join("\n  "),
            self.ours.join("\n  ")
        );
    }

    /// The same but for the order of reads and writes: the installed fio draws
    /// other offsets from a seed than the version that ours follows.
    #[track_caller]
    fn same_in_any_order(mut self) {
        for calls in [&mut self.theirs, &mut self.ours] {
            let data = |call: &String| call.starts_with("read ") || call.starts_with("write ");
            let mut ios: Vec<String> = calls.iter().filter(|call| data(call)).cloned().collect();
            ios.sort();
            let mut ios = ios.into_iter();
            calls.iter_mut().filter(|call| data(call)).for_each(|call| *call = ios.next().unwrap());
        }
        self.same();
    }

    /// fio leaves the last writes before the end without the sync that was
    /// asked for every few; ours does it.
    #[track_caller]
    fn same_but_for_the_last(mut self, sync: &str) {
        assert_eq!(self.ours.pop().as_deref(), Some(sync));
        self.same();
    }
}

/// When fio lays data out it truncates the file that it has just removed.
/// Ours neither removes nor truncates what somebody else may have put there.
fn without_truncation(call: &str) -> String {
    call.replace("WRONLY|CREAT|TRUNC", "WRONLY|CREAT")
}

/// Calls that collect completions, one after the other, are one: how many
/// come at a time at the end of a job is the kernel's affair.
fn collected(calls: Vec<String>) -> Vec<String> {
    let mut described = Vec::new();
    let mut got = 0;
    for call in calls {
        match call.split_once(" = ") {
            Some((_, count)) if call.starts_with("getevents") => {
                got += count.parse::<u32>().unwrap();
            }
            _ => {
                described.extend((got > 0).then(|| format!("getevents = {got}")));
                got = 0;
                described.push(call);
            }
        }
    }
    described.extend((got > 0).then(|| format!("getevents = {got}")));
    described
}

/// The same with a call for each sync that is a request.
fn syncs_as_calls(mut calls: Vec<String>, queued: &[&str; 3]) -> Vec<String> {
    while let Some(at) = calls.windows(3).position(|calls| calls == queued) {
        calls.splice(at..at + 3, [queued[1].to_owned()]);
    }
    calls
}

const ISSUED: &str = "--ioengine=libaio --direct=1 --end_fsync=1 --bs=16k --size=64k";
const PLAIN: &str = "--bs=16k --size=64k";
const FILE: usize = 65536;

#[test]
fn the_seed_jobs_write_a_file_that_was_not_there() {
    let Some(both) = Both::new() else { return };
    both.run(&format!("{ISSUED} --rw=write")).same();
    both.same_files();
}

#[test]
fn the_seed_jobs_write_over_a_file() {
    let Some(both) = Both::new() else { return };
    let both = both.with("f", FILE);
    both.run(&format!("{ISSUED} --rw=write")).same();
    both.run(&format!("{ISSUED} --rw=write --overwrite=1")).same();
    both.same_files();
}

#[test]
fn the_seed_jobs_lay_a_file_out_with_overwrite() {
    let Some(both) = Both::new() else { return };
    both.run(&format!("{ISSUED} --rw=write --overwrite=1")).same();
    both.same_files();
}

#[test]
fn the_seed_jobs_append_to_a_file_of_one_size_until_it_has_two() {
    let Some(both) = Both::new() else { return };
    both.run(&format!("{ISSUED} --rw=write")).same();
    assert_eq!(both.ours_in.sizes(), [("f".to_owned(), 65536)]);
    let calls = both.run(&format!("{ISSUED} --rw=write --file_append=1"));
    calls.same();
    both.same_files();
    assert_eq!(both.ours_in.sizes(), [("f".to_owned(), 2 * 65536)]);
}

#[test]
fn the_seed_jobs_read_at_random() {
    let Some(both) = Both::new() else { return };
    let line = format!("{ISSUED} --rw=randread");
    both.run(&line).same_in_any_order();
    both.same_files();
    both.run(&line).same_in_any_order();
    both.same_files();
}

#[test]
fn the_seed_jobs_in_a_directory_use_files_named_after_the_job() {
    let Some(both) = Both::new() else { return };
    for folder in [&both.theirs_in, &both.ours_in] {
        std::fs::create_dir(folder.join("d")).unwrap();
    }
    both.run_as_is(&format!("--name=j --directory=d {ISSUED} --rw=write")).same();
    assert!(both.ours_in.join("d/j.0.0").exists());
}

#[test]
fn a_queue_is_filled_in_batches_and_emptied_before_the_final_sync() {
    let Some(both) = Both::new() else { return };
    let line = format!("{ISSUED} --rw=write --iodepth=4 --iodepth_batch=2");
    let Calls { theirs, ours } = both.run(&line);
    Calls { theirs: collected(theirs), ours: collected(ours) }.same();
}

#[test]
fn syncs_of_a_queue_come_where_fio_has_them() {
    let Some(both) = Both::new() else { return };
    for (option, sync) in [("--fsync=2", "fsync f"), ("--fdatasync=2", "fdatasync f")] {
        let Calls { theirs, ours } = both.run(&format!("{ISSUED} --rw=write {option}"));
        // Requests of the queue, as in fio 3.42; the installed one may call.
        let queued = ["submit 1", sync, "getevents 1 1 = 1"];
        assert_eq!(ours.windows(3).filter(|calls| *calls == queued).count(), 1, "{ours:?}");
        let [theirs, ours] = [theirs, ours].map(|calls| syncs_as_calls(calls, &queued));
        Calls { theirs, ours }.same();
    }
}

#[test]
fn a_file_that_is_too_short_is_extended_where_fio_makes_it_anew() {
    let Some(both) = Both::new() else { return };
    let both = both.with("f", FILE / 2);
    let Calls { theirs, ours } = both.run(&format!("{PLAIN} --rw=read"));
    let theirs: Vec<String> = theirs
        .into_iter()
        .filter(|call| call != "unlink f" && call != "write f 0+16384")
        .filter(|call| call != "write f 16384+16384")
        .collect();
    Calls { theirs, ours }.same();
    both.same_files();
    let text = both.ours_in.read("f");
    assert!(text.bytes().take(FILE / 2).all(|byte| byte == b'u'), "the user's half is as it was");
}

#[test]
fn sync_and_dsync_are_flags_of_open() {
    let Some(both) = Both::new() else { return };
    let calls = both.run(&format!("{PLAIN} --rw=write --sync=1"));
    assert!(calls.ours.contains(&"open f RDWR|CREAT|SYNC".to_owned()), "{:?}", calls.ours);
    calls.same();
    let calls = both.run(&format!("{PLAIN} --rw=write --sync=dsync"));
    assert!(calls.ours.contains(&"open f RDWR|CREAT|DSYNC".to_owned()), "{:?}", calls.ours);
    calls.same();
}

#[test]
fn syncs_among_the_writes_are_those_of_fio_and_a_last_one_after_each() {
    let Some(both) = Both::new() else { return };
    let write = format!("{PLAIN} --rw=write");
    both.run(&format!("{write} --fsync=1")).same_but_for_the_last("fsync f");
    both.run(&format!("{write} --fsync=2")).same();
    both.run(&format!("{write} --fdatasync=3")).same();
    both.run(&format!("{write} --sync_file_range=wait_before,write:2")).same();
    // Jobs that read have nothing to sync.
    both.run(&format!("{PLAIN} --rw=read --fsync=1 --end_fsync=1 --fsync_on_close=1")).same();
}

#[test]
fn the_end_of_a_job_makes_durable_what_was_asked() {
    let Some(both) = Both::new() else { return };
    both.run(&format!("{PLAIN} --rw=write --fsync_on_close=1")).same();
    both.run(&format!("{PLAIN} --rw=rw --end_fsync=1")).same_in_any_order();
}

#[test]
fn a_file_is_read_before_its_job_where_pre_read_is_asked() {
    let Some(both) = Both::new() else { return };
    let both = both.with("f", FILE);
    let Calls { mut theirs, ours } = both.run(&format!("{PLAIN} --rw=read --pre_read=1"));
    // fio reads ahead in blocks of the job, ours in larger ones.
    let blocks: Vec<String> = theirs.drain(1..5).collect();
    assert!(blocks.iter().all(|call| call.starts_with("read f ")), "{blocks:?}");
    theirs.insert(1, "read f 0+65536".to_owned());
    Calls { theirs, ours }.same();
}

#[test]
fn files_are_removed_when_asked() {
    let Some(both) = Both::new() else { return };
    let Calls { mut theirs, ours } = both.run(&format!("{PLAIN} --rw=write --unlink=1"));
    // fio removes it twice.
    assert_eq!(theirs.pop().as_deref(), Some("unlink f ENOENT"));
    Calls { theirs, ours }.same();
    both.same_files();
    both.run(&format!("{PLAIN} --rw=write --loops=2 --unlink_each_loop=1")).same();
    both.same_files();
}

#[test]
fn space_is_reserved_in_each_way_that_fallocate_names() {
    let Some(both) = Both::new() else { return };
    for how in ["none", "native", "keep", "truncate", "posix"] {
        both.run(&format!("{PLAIN} --rw=write --fallocate={how}")).same();
        both.same_files();
        both.remove("f");
    }
}

#[test]
fn data_is_laid_out_after_reserving_in_each_way() {
    let Some(both) = Both::new() else { return };
    for how in ["native", "keep", "truncate", "posix"] {
        both.run(&format!("{PLAIN} --rw=read --fallocate={how}")).same();
        both.same_files();
        both.remove("f");
    }
    let Calls { mut theirs, ours } = both.run(&format!("{PLAIN} --rw=read --fallocate=none"));
    // Ours lets the file grow with its data, so that a file with a layout that was
    // killed is short, and not taken for whole by the next run.
    theirs.retain(|call| call != "ftruncate f 65536");
    Calls { theirs, ours }.same();
    both.same_files();
}

#[test]
fn cache_advice_to_the_kernel_can_be_left_out() {
    let Some(both) = Both::new() else { return };
    let both = both.with("f", FILE);
    both.run(&format!("{PLAIN} --rw=write --invalidate=0")).same();
    both.run(&format!("{PLAIN} --rw=write --fadvise_hint=0")).same();
    both.run(&format!("{PLAIN} --rw=read --fadvise_hint=random")).same();
}

#[test]
fn a_second_pass_closes_and_opens_files_as_fio_does() {
    let Some(both) = Both::new() else { return };
    let both = both.with("f", FILE);
    both.run(&format!("{PLAIN} --rw=write --loops=2")).same();
    both.run(&format!("{PLAIN} --rw=read --loops=2")).same();
}

#[test]
fn a_job_by_time_begins_again_as_fio_does() {
    let Some(both) = Both::new() else { return };
    let both = both.with("f", FILE);
    let line = format!("{PLAIN} --rw=read --time_based --runtime=1");
    let Calls { mut theirs, mut ours } = both.run(&line);
    // How far they come is a matter of speed: as far as both, three passes at most.
    let common = ours.len().min(theirs.len()).min(16);
    assert!(common >= 8, "no second pass: {ours:?}, fio {theirs:?}");
    theirs.truncate(common);
    ours.truncate(common);
    Calls { theirs, ours }.same();
}

#[test]
fn files_of_which_one_may_be_open_are_opened_in_turn() {
    let Some(both) = Both::new() else { return };
    let line = format!("--name=j --nrfiles=2 --openfiles=1 {PLAIN} --rw=write");
    both.run_as_is(&format!("{line} --file_service_type=sequential")).same();
    both.same_files();
}

#[test]
fn files_that_may_all_be_open_are_opened_before_the_clock_starts() {
    let Some(both) = Both::new() else { return };
    let line = format!("--name=j --nrfiles=2 {PLAIN} --rw=write --file_service_type=sequential");
    let Calls { theirs, ours } = both.run_as_is(&line);
    let opens = |calls: &[String]| -> Vec<String> {
        let prepares = |call: &&String| call.starts_with("open") || call.starts_with("fadvise");
        calls.iter().filter(prepares).cloned().collect()
    };
    assert_eq!(opens(&theirs), opens(&ours));
    let last_open = ours.iter().rposition(|call| call.starts_with("open")).unwrap();
    let first_write = ours.iter().position(|call| call.starts_with("write")).unwrap();
    assert!(last_open < first_write, "{ours:?}");
}

#[test]
fn a_file_can_come_to_be_when_its_job_opens_it() {
    let Some(both) = Both::new() else { return };
    both.run(&format!("{PLAIN} --rw=write --create_on_open=1")).same();
    both.same_files();
}

#[test]
fn files_can_be_laid_out_and_left_at_that() {
    let Some(both) = Both::new() else { return };
    both.run(&format!("{PLAIN} --rw=write --create_only=1")).same();
    both.same_files();
    both.remove("f");
    both.run(&format!("{PLAIN} --rw=read --create_fsync=0")).same();
}

#[test]
fn a_part_of_a_file_is_reserved_from_the_start_and_advised_alone() {
    let Some(both) = Both::new() else { return };
    both.run("--bs=16k --rw=write --offset=32k --size=32k").same();
    both.same_files();
    // A size that is no whole number of blocks ends before its last part.
    both.remove("f");
    both.run("--bs=24k --rw=write --size=64k").same();
    both.same_files();
}

#[test]
fn sixteen_small_files_share_one_sync_of_their_file_system() {
    let Some(both) = Both::new() else { return };
    let line = "--name=j --nrfiles=16 --bs=4k --size=64k --rw=read";
    let Calls { theirs, ours } = both.run_as_is(line);
    let count = |calls: &[String], act: &str| {
        calls.iter().filter(|call| call.starts_with(&format!("{act} "))).count()
    };
    assert_eq!((count(&theirs, "fsync"), count(&theirs, "syncfs")), (16, 0));
    assert_eq!((count(&ours, "fsync"), count(&ours, "syncfs")), (0, 1));
    let (last_write, sync) = (
        ours.iter().rposition(|call| call.starts_with("write ")).unwrap(),
        ours.iter().position(|call| call.starts_with("syncfs ")).unwrap(),
    );
    assert!(last_write < sync, "{ours:?}");
    both.same_files();
}

#[test]
fn a_link_that_leads_nowhere_is_followed_and_not_replaced() {
    let folder = Folder::new("link");
    std::os::unix::fs::symlink("target", folder.join("f")).unwrap();
    Who::AsFio.run(&folder, &words("--name=j --filename=f --rw=write --size=8k")).well();
    assert!(folder.join("f").symlink_metadata().unwrap().is_symlink());
    assert_eq!(std::fs::metadata(folder.join("target")).unwrap().len(), 8192);
}

#[test]
fn end_syncfs_syncs_the_file_system_after_the_last_write() {
    if !has_strace() {
        return;
    }
    // The installed fio may be older than the option.
    let folder = Folder::new("end-syncfs");
    let line = words(&format!("--name=j --filename=f {PLAIN} --rw=write --end_syncfs=1"));
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let (calls, code) = trace::calls(&link_named_fio(), folder.path(), &line);
    assert_eq!(code, Some(0));
    assert_eq!(calls.last().map(String::as_str), Some("syncfs f"));
}
