//! What happens beside a job: other programs, and one that counts dirty pages.

use iosonde_testing::Undo;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A program beside the job; killed with all that it started when dropped.
pub(crate) struct Beside {
    child: Child,
    kill: Option<Undo>,
}

impl Beside {
    pub(crate) fn start(line: &str, directory: &Path) -> Result<Beside, String> {
        let started = Command::new("sh")
            .args(["-c", line])
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        let child = started.map_err(|error| format!("sh: {error}"))?;
        let kill = Some(Undo::kill_group(&child));
        Ok(Beside { child, kill })
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        drop(self.kill.take());
        let _ = self.child.wait();
    }
}

/// The most dirty bytes that a file had: cachestat(2) every few milliseconds, by perl(1).
pub(crate) struct DirtySampler {
    child: Child,
    kill: Undo,
}

/// The call's number is the same on all architectures; range and result are
/// structures of 64-bit numbers: cached, dirty, under write-back, ...
const CACHESTAT: &str = r#"$| = 1; my ($path) = @ARGV; my $most = 0; my $end = 0;
$SIG{TERM} = sub { $end = 1 };
until ($end) {
    if (open(my $file, "<", $path)) {
        my ($range, $found) = (pack("QQ", 0, 0), pack("Q5", 0, 0, 0, 0, 0));
        if (syscall(451, fileno($file), $range, $found, 0) != 0) { print "none"; exit }
        my (undef, $dirty, $back) = unpack("Q5", $found);
        $most = $dirty + $back if $dirty + $back > $most;
    }
    select(undef, undef, undef, 0.003);
}
print $most * 4096;"#;

impl DirtySampler {
    pub(crate) fn start(file: &str) -> Result<DirtySampler, String> {
        let started = Command::new("perl")
            .args(["-e", CACHESTAT, file])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        let child = started.map_err(|error| format!("perl: {error}"))?;
        let kill = Undo::kill_group(&child);
        Ok(DirtySampler { child, kill })
    }

    /// The most that was seen; `None` where cachestat(2) is missing.
    pub(crate) fn end(mut self) -> Option<f64> {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::TERM);
        let mut text = String::new();
        self.child.stdout.take()?.read_to_string(&mut text).ok()?;
        let _ = self.child.wait();
        self.kill.cancel();
        text.trim().parse().ok()
    }
}
