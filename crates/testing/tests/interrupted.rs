//! A test or bench that a signal ends leaves no loop device, mount or process behind. (INT and HUP are
//! ignored where a whole run is in the background.)
#![cfg(target_os = "linux")]

use iosonde_testing::{Folder, LoopDevice, Mounted, Undo, is_root, run};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Where the program that is to be ended makes its devices.
const PLACE: &str = "IOSONDE_INTERRUPTED_IN";

/// What is made: its file system in an image, and who waits.
struct Made {
    device: String,
    mounted: String,
    process: String,
}

impl Made {
    /// What is still there.
    fn left(&self, image: &Path) -> Vec<&str> {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let backing = read(&format!("/sys/block/{}/loop/backing_file", self.device));
        // Another test may have the number by now.
        let is_attached = backing.contains(image.to_str().unwrap());
        let is_mounted = read("/proc/self/mounts").contains(&format!(" {} ", self.mounted));
        let status = read(&format!("/proc/{}/stat", self.process));
        // A zombie has ended; whoever adopted it may collect it late.
        let runs = !status.is_empty() && !status.contains(") Z ");
        let all = [(is_attached, "a loop device"), (is_mounted, "a mount"), (runs, "a process")];
        all.into_iter().filter_map(|(is_there, what)| is_there.then_some(what)).collect()
    }
}

/// What a test does that is interrupted; it says what it made, and waits.
fn make_and_wait(place: PathBuf) -> ! {
    let image = place.join("image");
    let device = LoopDevice::attach(&image, &[]).unwrap();
    let mounted = Mounted::mount(&device.0, &place.join("on")).unwrap();
    let mut process =
        Command::new("sleep").arg("1000").process_group(0).stdout(Stdio::null()).spawn().unwrap();
    let _kill = Undo::kill_group(&process);
    println!("\nmade {} {} {}", device.name(), mounted.0.display(), process.id());
    process.wait().unwrap();
    unreachable!("it ends after whoever started it");
}

#[test]
fn what_an_interrupted_test_made_is_gone() {
    if let Some(place) = std::env::var_os(PLACE) {
        make_and_wait(place.into());
    }
    if !is_root("attach devices") {
        return;
    }
    for signal in ["TERM", "KILL"] {
        let folder = Folder::temporary(&format!("interrupted-{signal}"));
        let image = folder.image("image", 16 << 20);
        run("mkfs.ext4", &["-q", image.to_str().unwrap()]).unwrap();
        let mut program = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "what_an_interrupted_test_made_is_gone", "--nocapture"])
            .env(PLACE, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(program.stdout.take().unwrap()).lines();
        let line = lines.map_while(Result::ok).find(|line| line.starts_with("made "));
        let line = line.unwrap_or_else(|| panic!("nothing was made: {:?}", program.wait()));
        let words: Vec<&str> = line.split(' ').collect();
        let made = Made {
            device: words[1].to_owned(),
            mounted: words[2].to_owned(),
            process: words[3].to_owned(),
        };
        assert_eq!(made.left(&image).len(), 3, "{signal}: it is all there at first");
        let id = program.id().to_string();
        let killed = Command::new("sh").args(["-c", "kill -s $0 $1", signal, &id]).status();
        assert!(killed.unwrap().success());
        program.wait().unwrap();
        let began = Instant::now();
        while !made.left(&image).is_empty() {
            assert!(began.elapsed() < Duration::from_secs(60), "{signal}: {:?}", made.left(&image));
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
