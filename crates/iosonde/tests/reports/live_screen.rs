//! The screen of a run on a separate terminal, by script(1): what is shown, and
//! that the terminal is afterwards as it was.

use crate::support::running::{PATIENCE, Running, wait_until};
use crate::support::{Who, words};
use iosonde_testing::{Folder, Undo, has};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

const JOB: &str = "--name=db --numjobs=2 --ioengine=null --size=1g --rw=randrw --time_based \
                   --rate_iops=500 --ledger=no";

/// A shell with a terminal.
struct Shell {
    child: Child,
    kill: Option<Undo>,
    shown: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Shell {
    /// Run a script on a new terminal of this size; `$IOSONDE` is the program. `None`, and
    /// said, where there is no script(1).
    fn run(folder: &Folder, columns: u16, rows: u16, script: &str) -> Option<Shell> {
        if !has("script", "bsdutils") {
            return None;
        }
        // Ctrl-C goes to every process of the terminal. With a trap the shell goes on, also
        // where it hears of it only after the program has ended.
        let script = format!(
            "trap : INT; stty rows {rows} cols {columns}; stty -g > before; tty > tty; {script}"
        );
        std::fs::write(folder.join("script.sh"), script).unwrap();
        // A test that runs in the background of a script has signals ignored. The shell that
        // script(1) starts, whichever it is, has no trap: it does not stay.
        let mut command = Command::new("env");
        command.args(["--default-signal", "script", "-qec", "exec bash script.sh", "/dev/null"]);
        command.current_dir(folder.path());
        command.env("IOSONDE", Who::Native.command(folder).get_program());
        command.env("TERM", "xterm").env("LC_ALL", "C.UTF-8").env_remove("NO_COLOR");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let shown = Arc::new(Mutex::new(Vec::new()));
        let kept = shown.clone();
        let read = move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = stdout.read(&mut buffer) {
                kept.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        };
        let kill = Some(Undo::kill(&child));
        Some(Shell { child, kill, shown, reader: Some(std::thread::spawn(read)) })
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    #[track_caller]
    fn wait_for(&self, text: &str) {
        wait_until(&format!("the terminal shows {text:?}"), || self.text().contains(text));
    }

    /// Press keys.
    fn press(&mut self, keys: &[u8]) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(keys).and_then(|()| stdin.flush()).unwrap();
    }

    /// Everything that was shown until the script's end.
    fn end(mut self) -> String {
        let mut status = None;
        wait_until("the script ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        self.kill.take().into_iter().for_each(Undo::cancel);
        self.reader.take().unwrap().join().unwrap();
        assert!(status.unwrap().success(), "{}", self.text());
        self.text()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        drop(self.kill.take());
        let _ = self.child.wait();
    }
}

/// Assert that the terminal was the same in a file that the script wrote as before.
#[track_caller]
fn assert_restored(folder: &Folder, after: &str) {
    assert_eq!(folder.read(after), folder.read("before"), "{after}");
}

#[test]
fn the_last_frame_stays_above_the_report_and_the_terminal_is_as_before() {
    let folder = Folder::new("screen-end");
    let script = format!("$IOSONDE {JOB} --runtime=2; stty -g > after");
    let Some(shell) = Shell::run(&folder, 80, 24, &script) else { return };
    let text = shell.end();
    assert_restored(&folder, "after");
    let frame = text.rfind("IOPS     MiB/s").unwrap();
    let report = text.rfind(concat!("iosonde ", env!("CARGO_PKG_VERSION"))).unwrap();
    assert!(frame < report, "{text}");
    assert!(text.contains(" read  ") && text.contains("p99.9"), "{text}");
    let (hidden, shown) = (text.rfind("\u{1b}[?25l").unwrap(), text.rfind("\u{1b}[?25h").unwrap());
    assert!(hidden < shown, "the cursor is shown again");
    assert!(!text.contains("\u{1b}[?1049h"), "the alternate screen is not used");
}

#[test]
fn keys_change_the_view_and_q_ends_the_run_with_its_report() {
    let folder = Folder::new("screen-keys");
    let script = format!("$IOSONDE {JOB} --runtime=3600; echo ended $?; stty -g > after");
    let Some(mut shell) = Shell::run(&folder, 80, 24, &script) else { return };
    shell.wait_for("q end and report");
    shell.press(b"j");
    shell.wait_for("jobs, the slowest first");
    shell.press(b"h");
    shell.wait_for("durations of I/Os over time");
    shell.press(b"?");
    shell.wait_for("prints the meaning of a finding");
    shell.press(b"p");
    shell.wait_for("paused");
    shell.press(b"q");
    let text = shell.end();
    assert!(text.contains("terminating on signal 2") && text.contains("ended 128"), "{text}");
    assert_restored(&folder, "after");
}

#[test]
fn ctrl_c_ends_the_run_and_leaves_the_terminal_as_before() {
    let folder = Folder::new("screen-signal");
    let script = format!("$IOSONDE {JOB} --runtime=3600; stty -g > after");
    let Some(mut shell) = Shell::run(&folder, 80, 24, &script) else { return };
    shell.wait_for("q end and report");
    shell.press(b"\x03");
    shell.end();
    assert_restored(&folder, "after");
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_fg_goes_on() {
    let folder = Folder::new("screen-suspend");
    let script = format!(
        "set -m; $IOSONDE {JOB} --runtime=3600; stty -g > stopped; echo is stopped; fg; \
         stty -g > after"
    );
    let Some(mut shell) = Shell::run(&folder, 80, 24, &script) else { return };
    shell.wait_for("q end and report");
    shell.press(b"\x1a");
    shell.wait_for("is stopped");
    assert_restored(&folder, "stopped");
    let shown = shell.text().rfind("is stopped").unwrap();
    wait_until("frames are drawn again", || shell.text()[shown..].contains("q end and report"));
    shell.press(b"q");
    shell.end();
    assert_restored(&folder, "after");
}

#[test]
fn a_resized_terminal_is_drawn_anew() {
    let folder = Folder::new("screen-resize");
    let script = format!("$IOSONDE {JOB} --runtime=3600; stty -g > after");
    let Some(mut shell) = Shell::run(&folder, 80, 24, &script) else { return };
    shell.wait_for("q end and report");
    let terminal = folder.read("tty").trim().to_owned();
    let resize = ["-F", &terminal, "rows", "20", "cols", "66"];
    assert!(Command::new("stty").args(resize).status().unwrap().success());
    // 66 columns have no p99.9, and a rule of their own for each row.
    wait_until("it is drawn for 66 columns", || {
        let text = shell.text();
        let title = text.rfind(" IOPS ").unwrap();
        let row = text[title..].lines().next().unwrap().to_owned();
        row.contains("errors") && !row.contains("p99.9")
    });
    shell.press(b"q");
    shell.end();
    assert!(!folder.read("after").is_empty());
}

#[test]
fn where_no_screen_can_be_shown_there_is_a_line_without_escapes() {
    for (name, begin, columns, rows) in [
        ("dumb", "TERM=dumb $IOSONDE", 80, 24),
        ("small", "$IOSONDE", 40, 10),
        ("line", "$IOSONDE --live=line", 80, 24),
    ] {
        let folder = Folder::new(&format!("screen-{name}"));
        let script = format!("{begin} {JOB} --runtime=3600 --color=never; true");
        let Some(mut shell) = Shell::run(&folder, columns, rows, &script) else { return };
        shell.wait_for(" left");
        shell.press(b"\x03");
        let text = shell.end();
        assert!(!text.contains('\u{1b}'), "{name}: {text}");
    }
}

#[test]
fn nothing_is_shown_beside_a_document_or_where_that_is_asked_for() {
    for (name, option) in [("no", "--live=no --color=never"), ("document", "--output-format=json")]
    {
        let folder = Folder::new(&format!("screen-{name}"));
        let script = format!("$IOSONDE {JOB} --runtime=1 {option}");
        let Some(shell) = Shell::run(&folder, 80, 24, &script) else { return };
        let text = shell.end();
        assert!(!text.contains('\u{1b}') && !text.contains(" left"), "{name}: {text}");
    }
    let folder = Folder::new("screen-refused");
    let line = format!("{JOB} --runtime=1 --live=line --output-format=json");
    let ran = Who::Native.run(&folder, &words(&line));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
    assert!(ran.stderr.contains("standard output carries a document"), "{ran:?}");
}

#[test]
fn without_colours_there_are_none() {
    let folder = Folder::new("screen-colour");
    let script = format!("NO_COLOR=1 $IOSONDE {JOB} --runtime=3600; true");
    let Some(mut shell) = Shell::run(&folder, 80, 24, &script) else { return };
    shell.wait_for("q end and report");
    shell.press(b"q");
    let text = shell.end();
    for style in ["\u{1b}[1m", "\u{1b}[2m", "\u{1b}[3"] {
        assert!(!text.contains(style), "{style:?} in {text:?}");
    }
}

#[test]
fn piped_it_shows_nothing_and_in_a_log_a_line_now_and_then() {
    let folder = Folder::new("screen-piped");
    let ran = Who::Native.run(&folder, &words(&format!("{JOB} --runtime=1"))).well();
    assert!(!ran.stdout.contains('\r') && !ran.stdout.contains('\u{1b}'), "{ran:?}");
    assert_eq!(ran.stderr, "");
    let line = format!("{JOB} --runtime=3600 --live=plain --eta-newline=250ms");
    let mut running = Running::start(Who::Native, &folder, &line);
    wait_until("there are two lines", || running.text().matches(" left\n").count() >= 2);
    running.signal(rustix::process::Signal::INT);
    let ran = running.end_within(PATIENCE);
    assert!(!ran.stdout.contains('\r'), "{ran:?}");
}

#[test]
fn objects_go_to_descriptor_3_or_to_a_file() {
    let folder = Folder::new("screen-json");
    let line = format!("{JOB} --runtime=2 --live=json --output-format=json");
    let program = Who::Native.command(&folder).get_program().to_owned();
    let script = format!("{} {line} 3> objects > report", program.to_str().unwrap());
    let shell = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).status();
    assert!(shell.unwrap().success());
    let report: serde_json::Value = serde_json::from_str(&folder.read("report")).unwrap();
    let text = folder.read("objects");
    let objects: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!objects.is_empty());
    let last = objects.last().unwrap();
    assert_eq!((last["phase"].as_str(), last["done"].as_f64()), (Some("end"), Some(1.0)));
    assert_eq!(last["jobs"].as_array().unwrap().len(), report["jobs"].as_array().unwrap().len());

    let to_file = format!("{line} --live-file=objects");
    let refused = Who::Native.run(&folder, &words(&to_file));
    assert!(refused.stderr.contains("--live-file: objects: it exists"), "{refused:?}");
    Who::Native.run(&folder, &words(&format!("{to_file} --force"))).well();
    assert!(
        serde_json::from_str::<serde_json::Value>(
            folder.read("objects").lines().next_back().unwrap()
        )
        .is_ok()
    );
    let closed = Who::Native.run(&folder, &words(&format!("{JOB} --runtime=1 --live=json")));
    assert_eq!(closed.code, Some(1), "{closed:?}");
    assert!(closed.stderr.contains("descriptor 3 cannot be written to"), "{closed:?}");
}

#[test]
fn findings_arise_while_jobs_run() {
    let folder = Folder::new("screen-findings");
    std::fs::write(folder.join("data"), vec![7; 1 << 20]).unwrap();
    // Just written, the file is in the page cache.
    let line = "--name=a --rw=randread --bs=4k --size=1m --filename=data --invalidate=0 \
                --time_based --runtime=3600 --live=json --live-file=objects";
    let mut running = Running::start(Who::Native, &folder, line);
    let found = || std::fs::read_to_string(folder.join("objects")).unwrap_or_default();
    wait_until("the reads are found to be of the page cache", || {
        found().contains("\"id\":\"page-cache-reads\",\"severity\":\"wrong\"")
    });
    running.signal(rustix::process::Signal::INT);
    let ran = running.end_within(PATIENCE);
    assert_eq!(ran.code, Some(128), "{ran:?}");
    assert!(ran.stdout.contains("page-cache-reads"), "{ran:?}");
}

#[test]
fn a_report_so_far_is_printed_above_the_screen() {
    let folder = Folder::new("screen-status");
    let script = format!("$IOSONDE {JOB} --runtime=3600; stty -g > after");
    let Some(mut shell) = Shell::run(&folder, 80, 24, &script) else { return };
    shell.wait_for("q end and report");
    shell.press(b"s");
    shell.wait_for("job                   IOPS");
    let report = shell.text().rfind("job                   IOPS").unwrap();
    wait_until("frames are drawn below", || shell.text()[report..].contains("q end and report"));
    shell.press(b"q");
    shell.end();
    assert_restored(&folder, "after");
}

#[test]
fn called_as_fio_it_is_fios_line() {
    let folder = Folder::new("screen-fio");
    for option in ["--live=screen", "--live-file=x"] {
        let line = format!("--name=a --ioengine=null --size=4k {option}");
        let ran = Who::AsFio.run(&folder, &words(&line));
        assert_eq!(ran.code, Some(1), "{ran:?}");
    }
}
