//! Jobs that storage engineers run every day, small, by the installed fio and
//! by us: the same counts, syncs, files, and reads of the device.

use crate::support::{Who, with};
use iosonde_testing::{Folder, LoopDevice, has_fio_for_part, is_root, or_skip};
use serde_json::Value;
use std::path::Path;

/// Who is there to be compared.
fn both() -> Vec<Who> {
    if has_fio_for_part() { vec![Who::AsFio, Who::Fio] } else { vec![Who::AsFio] }
}

fn run(who: Who, folder: &Folder, options: &str) -> Value {
    who.run(folder, &with("--name=v --output-format=json", options)).well().json()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// I/Os, bytes and short I/Os of the first job, by direction.
fn counts(document: &Value) -> [[u64; 3]; 2] {
    let job = &document["jobs"][0];
    ["read", "write"]
        .map(|dir| ["total_ios", "io_bytes", "short_ios"].map(|key| number(&job[dir][key])))
}

#[test]
fn a_random_mix_with_a_sync_after_each_write_syncs_each_write() {
    let job = "--ioengine=libaio --iodepth=16 --rw=randrw --bs=16k --size=4m --fsync=1";
    for who in both() {
        let folder = Folder::new("seed");
        let document = run(who, &folder, job);
        let [reads, writes] = counts(&document);
        // How many of each is drawn: 3.33 draws otherwise.
        assert_eq!((reads[0] + writes[0], reads[1] + writes[1]), (256, 4 << 20), "{who:?}");
        // 3.33 counts the syncs of libaio nearly twice.
        if who == Who::AsFio {
            assert_eq!(number(&document["jobs"][0]["sync"]["total_ios"]), writes[0]);
        }
        assert_eq!(folder.sizes(), [("v.0.0".to_owned(), 4 << 20)], "{who:?}");
    }
}

#[test]
fn a_random_mix_with_a_data_sync_now_and_then_syncs_so_often() {
    let job = "--ioengine=libaio --iodepth=16 --rw=randrw --bs=16k --size=4m --fsync=0 --fdatasync";
    for (every, who) in
        [100, 10].into_iter().flat_map(|every| both().into_iter().map(move |who| (every, who)))
    {
        let document = run(who, &Folder::new("seed"), &format!("{job}={every}"));
        let [reads, writes] = counts(&document);
        assert_eq!(reads[0] + writes[0], 256, "{who:?}");
        // fio 3.33 counts data syncs nowhere near where it counts syncs.
        if who == Who::AsFio {
            let syncs = number(&document["jobs"][0]["sync"]["total_ios"]);
            assert_eq!(syncs, writes[0] / every, "{} writes", writes[0]);
        }
    }
}

/// Sectors that a block device has read, for any program: the third number of
/// its `stat` (Linux, Documentation/block/stat).
fn sectors_read(device: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/sys/block/{device}/stat")).ok()?;
    text.split_whitespace().nth(2)?.parse().ok()
}

/// A loop device over a file of so many bytes.
fn loop_device(folder: &Folder, bytes: usize) -> Option<LoopDevice> {
    if !is_root("attach a loop device") {
        return None;
    }
    let image = folder.write("image", vec![b'x'; bytes]);
    or_skip(LoopDevice::attach(Path::new(&image), &[]))
}

#[test]
fn what_is_cached_is_not_read_from_the_device_again() {
    const BYTES: usize = 4 << 20;
    let read = "--ioengine=psync --rw=randread --bs=4k";
    for who in both() {
        let folder = Folder::new("seed");
        let Some(device) = loop_device(&folder, BYTES) else { return };
        // The last one to close a device drops what is cached of it.
        let _open = std::fs::File::open(&device.0).unwrap();
        let again = |more: &str| {
            let before = sectors_read(device.name()).unwrap();
            let options = format!("--filename={} {read} {more}", device.text());
            let document = run(who, &folder, &options);
            assert_eq!(counts(&document)[0], [1024, BYTES as u64, 0], "{who:?} {more}");
            sectors_read(device.name()).unwrap() - before
        };
        let whole = BYTES as u64 / 512;
        // The first run drops what is cached, then reads all of it.
        assert!(again("") >= whole, "{who:?}");
        // udev may read the start of a new device too, but not all of it.
        let cached = again("--invalidate=0");
        assert!(cached < whole, "{who:?}: what is cached was read again: {cached} sectors");
        let direct = again("--direct=1 --invalidate=0");
        assert!((whole..2 * whole).contains(&direct), "{who:?}: {direct} sectors, not {whole}");
    }
}

#[test]
fn cached_reads_of_a_file_count_the_same_each_time() {
    for who in both() {
        let folder = Folder::new("seed");
        let job = "--ioengine=psync --rw=randread --bs=4k --size=2m --invalidate=0";
        let expected = [[512, 2 << 20, 0], [0, 0, 0]];
        for more in ["", "", "--direct=1"] {
            assert_eq!(counts(&run(who, &folder, &format!("{job} {more}"))), expected, "{who:?}");
        }
    }
}

#[test]
fn synchronous_writes_and_reads_of_a_megabyte_move_what_was_asked() {
    for who in both() {
        let folder = Folder::new("seed");
        for engine in ["", "--ioengine=psync"] {
            for thread in ["", "--thread"] {
                for rw in ["write", "read"] {
                    let options = format!(
                        "{engine} --iodepth=1 --rw={rw} --bs=1048576 --size=8M --numjobs=1 \
                         --group_reporting --nrfiles=1 --sync=1 {thread}"
                    );
                    let moved = [8, 8 << 20, 0];
                    let expected = if rw == "read" { [moved, [0; 3]] } else { [[0; 3], moved] };
                    assert_eq!(counts(&run(who, &folder, &options)), expected, "{who:?} {options}");
                }
            }
        }
        assert_eq!(folder.sizes(), [("v.0.0".to_owned(), 8 << 20)]);
    }
}

#[test]
fn a_file_is_written_overwritten_appended_to_and_read() {
    const SIZE: u64 = 1 << 20;
    for who in both() {
        let folder = Folder::new("seed");
        let directory = folder.path().to_str().unwrap().to_owned();
        let base = format!(
            "--ioengine=libaio --iodepth=4 --direct=1 --bs=64k --size=1m --end_fsync=1 \
             --directory={directory}"
        );
        let written = [[0; 3], [16, SIZE, 0]];
        let steps = [
            ("--rw=write", written, SIZE),
            ("--rw=write", written, SIZE),
            ("--rw=write --overwrite=1", written, SIZE),
            ("--rw=write --file_append=1", written, 2 * SIZE),
            ("--rw=randread", [[16, SIZE, 0], [0; 3]], 2 * SIZE),
        ];
        for (more, expected, size) in steps {
            assert_eq!(counts(&run(who, &folder, &format!("{base} {more}"))), expected, "{more}");
            assert_eq!(folder.sizes(), [("v.0.0".to_owned(), size)], "{who:?} {more}");
        }
    }
}

#[test]
fn a_device_is_written_to_its_end_when_no_size_is_given() {
    let folder = Folder::new("seed");
    let Some(device) = loop_device(&folder, 1 << 20) else { return };
    let options = format!("--filename={} --rw=write --bs=64k --direct=1", device.text());
    for who in both() {
        let ran = who.run(&folder, &with("--name=v --output-format=json", &options)).well();
        assert_eq!(counts(&ran.json())[1], [16, 1 << 20, 0], "{ran:?}");
    }
}
