//! The ledger on stacks, mounts and files that give another answer than they seem to: mounted
//! without barriers, compressed, holes made meanwhile, names without data, no storage.

use crate::support::ledgers::{MIB, TestFileSystem, finds, ledger};
use iosonde_testing::{Folder, LoopDevice, Mounted, Overlay, is_root, or_skip, run, skip_part};

fn set_write_cache(device: &str, words: &str) -> bool {
    std::fs::write(format!("/sys/class/block/{device}/queue/write_cache"), words).is_ok()
}

#[test]
fn syncs_of_a_file_system_without_barriers_are_lost() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    if !set_write_cache(place.device.name(), "write back") {
        iosonde_testing::skip!("the write cache of {} cannot be set", place.device.name());
    }
    let on = place.mounted.0.to_str().unwrap();
    for (line, least) in
        [("--fsync=1", 64), ("--end_fsync=1", 1), ("--sync=dsync", 64), ("--fsync=32", 1)]
    {
        let line = format!("--rw=write --bs=4k --size=1m {line}");
        or_skip(run("mount", &["-o", "remount,barrier=1", on])).unwrap();
        let fine = place.ledger("f", &line);
        assert_eq!(finds(&fine, "lost-flushes"), None, "{line}: {}", fine["devices"]);
        let due = fine["devices"][0]["flushes_due"].as_u64().unwrap();
        assert!(due >= least, "{line}: {due} flushes were due");
        or_skip(run("mount", &["-o", "remount,barrier=0", on])).unwrap();
        let lost = place.ledger("f", &line);
        let found = finds(&lost, "lost-flushes").unwrap_or_else(|| panic!("{line}: {lost}"));
        assert!(found.contains("0 flushes reached"), "{line}: {found}");
        assert_eq!(lost["writes"]["in_volatile_cache"], true, "{line}");
    }
}

#[test]
fn an_overlay_that_ignores_syncs_has_no_durable_rate() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let overlay = Overlay::in_folder(&place.mounted.0);
    let Some(_mounted) = or_skip(overlay.mount("volatile,")) else { return };
    let merged = overlay.merged.display();
    let line = format!("--name=j --directory={merged} --rw=write --bs=1m --size=16m --end_fsync=1");
    let reported = ledger(&place.folder, &line);
    let durable = &reported["writes"]["durable_bytes_per_s"]["unknown"];
    assert!(durable.as_str().unwrap().contains("volatile"), "{}", reported["writes"]);
}

#[test]
fn holes_made_while_a_direct_job_reads_are_holes_and_nothing_else() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let path = place.path("f");
    std::fs::write(&path, vec![7; 16 * MIB as usize]).unwrap();
    std::fs::File::open(&path).unwrap().sync_all().unwrap();
    let punched = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(1500));
        run("fallocate", &["-p", "-o", "0", "-l", "16m", &path])
    });
    let line = "--rw=randread --bs=4k --size=16m --direct=1 --time_based --runtime=4";
    let reported = place.ledger("f", line);
    if or_skip(punched.join().unwrap()).is_none() {
        return;
    }
    assert_eq!(finds(&reported, "page-cache-reads"), None, "{}", reported["reads"]);
    assert_eq!(finds(&reported, "not-direct"), None, "{}", reported["jobs"][0]["direct"]);
    assert_eq!(reported["reads"]["cache_bytes"], 0);
}

#[test]
fn compressed_file_systems_are_cold_when_nothing_was_cached() {
    if !is_root("mount") {
        return;
    }
    let folder = Folder::new("ledger-packed");
    let (files, on) = (folder.join("files"), folder.join("on"));
    std::fs::create_dir_all(&files).unwrap();
    std::fs::write(files.join("f"), "a line that shrinks\n".repeat(400_000)).unwrap();
    for (kind, program, options) in
        [("squashfs", "mksquashfs", ""), ("erofs", "mkfs.erofs", "-zlz4")]
    {
        let image = folder.join(kind).to_str().unwrap().to_owned();
        let source = files.to_str().unwrap();
        let arguments = match kind {
            "squashfs" => vec![source, &image, "-quiet", "-no-progress"],
            _ => vec![options, &image, source],
        };
        if let Err(why) = run(program, &arguments) {
            skip_part!("{program}: {why}");
            continue;
        }
        let Some(device) = or_skip(LoopDevice::attach(image.as_ref(), &["-r"])) else { return };
        let Ok(mounted) = Mounted::mount(&device.0, &on) else {
            skip_part!("{kind} cannot be mounted");
            continue;
        };
        let file = mounted.0.join("f");
        let line = format!("--name=j --filename={} --rw=read --bs=64k --readonly", file.display());
        let reported = ledger(&folder, &line);
        assert_eq!(finds(&reported, "page-cache-reads"), None, "{kind}: {}", reported["reads"]);
        assert_eq!(reported["reads"]["cache_bytes"], 0, "{kind}");
        let (read, device) =
            (&reported["reads"]["completed_bytes"], &reported["reads"]["device_bytes"]);
        assert!(
            device.as_u64().unwrap() * 4 < read.as_u64().unwrap(),
            "{kind}: {}",
            reported["reads"]
        );
    }
}

#[test]
fn engines_that_act_on_names_have_no_findings_about_data() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let on = place.mounted.0.to_str().unwrap();
    for engine in ["filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"] {
        let line = format!(
            "--name={engine} --directory={on} --ioengine={engine} --nrfiles=20 --filesize=4k \
             --size=80k"
        );
        let reported = ledger(&place.folder, &line);
        assert!(reported["reads"].is_null() && reported["writes"].is_null(), "{engine}");
        for rule in ["page-cache-reads", "holes-read", "overwritten-in-memory", "not-durable"] {
            assert_eq!(finds(&reported, rule), None, "{engine}");
        }
    }
}

#[test]
fn dev_null_is_no_storage_and_has_no_durable_rate() {
    let folder = Folder::new("ledger-null");
    let reported = ledger(&folder, "--name=j --filename=/dev/null --rw=write --bs=64k --size=16m");
    assert!(finds(&reported, "no-storage").unwrap().starts_with("/dev/null is no storage"));
    assert!(reported["writes"].is_null(), "{}", reported["writes"]);
}

#[test]
fn a_journal_on_another_device_is_a_device_of_the_run() {
    if !is_root("mount") {
        return;
    }
    let folder = Folder::new("ledger-journal");
    let attach = |name: &str| or_skip(LoopDevice::attach(&folder.image(name, 128 * MIB), &[]));
    let (Some(data), Some(journal)) = (attach("data"), attach("journal")) else { return };
    let (data_path, journal_path) = (data.0.to_str().unwrap(), journal.0.to_str().unwrap());
    let made = run("mke2fs", &["-q", "-F", "-O", "journal_dev", "-b", "4096", journal_path])
        .and_then(|_| {
            let on = format!("device={journal_path}");
            run("mke2fs", &["-q", "-F", "-t", "ext4", "-b", "4096", "-J", &on, data_path])
        });
    if or_skip(made).is_none() {
        return;
    }
    let Some(mounted) = or_skip(Mounted::mount(&data.0, &folder.join("on"))) else { return };
    let line = format!(
        "--name=j --directory={} --rw=write --bs=4k --size=1m --fsync=1",
        mounted.0.display()
    );
    let reported = ledger(&folder, &line);
    let devices = reported["devices"].as_array().unwrap();
    let found = devices.iter().find(|device| device["name"] == journal.name());
    let found = found.unwrap_or_else(|| panic!("{} is not among {devices:?}", journal.name()));
    assert_eq!(found["level"], 0);
    assert!(found["counters"]["write_bytes"].as_u64().unwrap() > MIB / 4, "{found}");
}
