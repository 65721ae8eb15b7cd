//! `zonemode=zbd` on a block device, down to the requests of the kernel: a loop device that a
//! preloaded library makes answer as a host-managed one. Real zoned devices are not to be had.

use crate::support::{Ran, Who, words};
use iosonde_testing::{Folder, LoopDevice, skip};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

const SHIM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/zoned_shim.c");
const ZONE: u64 = 64 << 10;

/// A zoned device of eight zones.
struct ZonedDevice {
    device: LoopDevice,
    folder: Folder,
}

/// Limits of a device, and the write that fails half done; 0 for none.
#[derive(Clone, Copy, Default)]
struct Behaviour {
    open_max: u32,
    active_max: u32,
    fails: u32,
}

impl ZonedDevice {
    /// `None`, and a skip, without root or a compiler.
    fn new() -> Option<ZonedDevice> {
        let folder = Folder::new("zoned-device");
        folder.image("disk", 8 * ZONE);
        let device = skip::or_skip(LoopDevice::attach(&folder.join("disk"), &[]))?;
        let mut cc = Command::new("cc");
        cc.args(["-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"]);
        cc.arg(folder.join("shim.so")).arg(SHIM).args(["-ldl", "-lpthread"]);
        let Ok(output) = cc.output() else {
            skip::test(format_args!("there is no cc to compile the zoned device with"));
            return None;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(ZonedDevice { device, folder })
    }

    /// Put its zones into the state that a recording has at the start.
    fn prepare(&self, zones: &Value, behaviour: Behaviour) {
        let number = |key: &str| zones[key].as_u64().unwrap();
        let open = zones["implicitly_open"].as_array().unwrap();
        let mut state = fs::metadata(&self.device.0).unwrap().rdev().to_ne_bytes().to_vec();
        let Behaviour { open_max, active_max, fails } = behaviour;
        for word in [number("zones") as u32, open_max, active_max, fails] {
            state.extend(word.to_ne_bytes());
        }
        for zone in 0..number("zones") {
            let (start, capacity) = (zone * ZONE, number("capacity"));
            let written = zones["written"][zone.to_string()].as_u64().unwrap_or(0);
            let (words, kind, condition) = match written {
                _ if zone < number("conventional") => ([start, start + ZONE, ZONE, ZONE], 1, 0),
                _ if open.contains(&zone.into()) => {
                    ([start, start + written, ZONE, capacity], 2, 2)
                }
                0 => ([start, start, ZONE, capacity], 2, 1),
                full if full >= capacity => ([start, start + written, ZONE, capacity], 2, 14),
                _ => ([start, start + written, ZONE, capacity], 2, 4),
            };
            words.iter().for_each(|word| state.extend(word.to_ne_bytes()));
            [kind, condition].iter().for_each(|word: &u32| state.extend(word.to_ne_bytes()));
        }
        state.resize(8 + 16 + 64 * 40, 0);
        fs::write(self.folder.join("state"), state).unwrap();
        fs::write(self.folder.join("log"), "").unwrap();
    }

    /// Run a job on it. What it was sent, without reports.
    fn run(&self, options: &[String]) -> (Ran, Vec<String>) {
        let mut arguments = words(
            "--name=v --group_reporting --randrepeat=1 --zonemode=zbd --direct=1 --ioengine=pvsync",
        );
        arguments.push(format!("--filename={}", self.device.text()));
        arguments.extend_from_slice(options);
        let mut command = Who::AsFio.command(&self.folder);
        command.args(&arguments);
        command.env("LD_PRELOAD", self.folder.join("shim.so"));
        command.env("ZONED_STATE", self.folder.join("state"));
        command.env("ZONED_LOG", self.folder.join("log"));
        let output = command.output().unwrap();
        let ran = Ran {
            who: Who::AsFio,
            arguments: arguments.join(" "),
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        (ran, lines(&self.folder.join("log")))
    }
}

fn lines(log: &Path) -> Vec<String> {
    let text = fs::read_to_string(log).unwrap();
    let sent = text.lines().filter(|line| !line.starts_with("report"));
    sent.map(str::to_owned).collect()
}

fn empty_zones() -> Value {
    json!({"zones": 8, "conventional": 0, "capacity": ZONE, "written": {}, "implicitly_open": []})
}

#[test]
fn a_host_managed_device_is_sent_what_fio_342_sends() {
    let Some(device) = ZonedDevice::new() else { return };
    let recorded: Value =
        serde_json::from_str(include_str!("../../../workload/vectors/zbd-hostmanaged.json"))
            .unwrap();
    let mut wrong = Vec::new();
    for (name, job) in recorded.as_object().unwrap() {
        let strings = |key: &str| -> Vec<String> {
            let list = job[key].as_array().unwrap();
            list.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
        };
        let open_max = job["device"]["max_open"].as_u64().unwrap() as u32;
        device.prepare(&job["device"], Behaviour { open_max, ..Behaviour::default() });
        let (ran, sent) = device.run(&strings("arguments"));
        let ours: Vec<String> = sent.iter().map(|line| format!("dev {line}")).collect();
        if ran.code != Some(0) || ours != strings("ios") {
            wrong.push(format!("{name}: {ours:?}\n{ran:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_write_that_failed_half_done_is_completed_where_that_is_wanted() {
    let Some(device) = ZonedDevice::new() else { return };
    let half = Behaviour { fails: 3, ..Behaviour::default() };
    let job = words("--rw=write --bs=16k --size=2z --continue_on_error=write");
    device.prepare(&empty_zones(), half);
    let (ran, sent) = device.run(&[job.clone(), words("--recover_zbd_write_error=1")].concat());
    ran.well();
    assert_eq!(
        sent[2..5],
        ["write 32768 16384 FAILS half", "write 36864 12288", "write 49152 16384"]
    );
    assert!(!sent.iter().any(|line| line.contains("REFUSED")), "{sent:?}");
    // Without it the pointer that fio knows is not the device's any more.
    device.prepare(&empty_zones(), half);
    let (_, sent) = device.run(&job);
    assert!(sent[3].contains("write 32768 16384 REFUSED not at the write pointer"), "{sent:?}");
}

#[test]
fn limits_and_demands_of_the_device_are_said_before_the_run_or_with_the_error() {
    let Some(device) = ZonedDevice::new() else { return };
    let none = Behaviour::default();
    let two_open = Behaviour { open_max: 2, ..none };
    let two_active = Behaviour { open_max: 3, active_max: 2, ..none };
    let write = "--rw=randwrite --bs=16k";
    for (behaviour, options, says, sends) in [
        (two_open, "--max_open_zones=3", "(3) is larger than max (2)", 0),
        (none, "--direct=0", "Using direct I/O is mandatory", 0),
        (none, "--zonesize=128k", "does not match disk zone size 65536", 0),
        (none, "--size=8z --zoneskip=1k", "is not a multiple of the device zone size", 0),
        (two_active, "--ignore_zone_limits=1", "as many active zones as it may", 3),
        (none, "--zonemode=none --offset=32k", "set zonemode=zbd", 1),
    ] {
        device.prepare(&empty_zones(), behaviour);
        let (ran, sent) = device.run(&words(&format!("{write} {options}")));
        assert_eq!(ran.code, Some(1), "{options}: {ran:?}");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains(says), "{options}: {ran:?}");
        assert_eq!(sent.len(), sends, "{options}: {sent:?}");
    }
}
