//! The commands as a newcomer meets them: help, mistyped names, completions.

use crate::support::{Ran, Who, words};
use iosonde_testing::Folder;

fn run(folder: &Folder, line: &str) -> Ran {
    Who::Native.run(folder, &words(line))
}

/// The names that `--help` lists.
fn commands(folder: &Folder) -> Vec<String> {
    let help = run(folder, "--help").well().stdout;
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let list = list.take_while(|line| !line.is_empty());
    list.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn each_command_prints_its_help_on_standard_output() {
    let folder = Folder::new("commands-help");
    let commands = commands(&folder);
    assert!(commands.iter().any(|name| name == "sbk"), "{commands:?}");
    for command in &commands {
        for line in
            [format!("{command} --help"), format!("{command} -h"), format!("help {command}")]
        {
            let ran = run(&folder, &line).well();
            assert!(!ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran:?}");
        }
    }
    assert!(folder.names().is_empty(), "help makes no files");
    assert_eq!(run(&folder, "help").well().stdout, run(&folder, "--help").well().stdout);
}

#[test]
fn help_begins_with_the_summary_of_the_command_however_it_is_called() {
    let folder = Folder::new("commands-summary");
    for command in commands(&folder).iter().filter(|name| *name != "fio") {
        let first =
            |line: String| run(&folder, &line).well().stdout.lines().next().map(str::to_owned);
        assert_eq!(first(format!("{command} -h")), first(format!("help {command}")), "{command}");
    }
}

#[test]
fn a_mistyped_command_is_recognised() {
    let folder = Folder::new("commands-mistyped");
    for line in ["matrx", "help matrx", "matrx --quick"] {
        let ran = run(&folder, line);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
        assert_eq!(ran.stderr, "iosonde: unknown command \"matrx\": did you mean matrix?\n");
    }
    // A job file of that name is one.
    folder.write("matrx", "[a]\nioengine=null\nrw=read\nsize=4k\n");
    run(&folder, "--parse-only matrx").well();
    run(&folder, "explain matrx").well();
    run(&folder, "matrx").well();
}

#[test]
fn explain_without_a_job_says_what_to_name() {
    let folder = Folder::new("commands-explain");
    let ran = run(&folder, "explain");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
    assert!(ran.stderr.contains("name a job file"), "{ran:?}");
}

#[test]
fn completions_know_commands_flags_options_and_their_values() {
    let folder = Folder::new("commands-completions");
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&folder, &format!("completions {shell}")).well().stdout;
        for word in ["write-cache", "output-format", "iodepth", "randrw", "hipri", "no-touch"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let ran = run(&folder, "completions tcsh");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("bash, zsh, fish"), "{ran:?}");
}

#[test]
fn zsh_completes_findings_and_job_files_after_explain() {
    let folder = Folder::new("commands-zsh");
    let script = run(&folder, "completions zsh").well().stdout;
    assert_eq!(script.matches(":_iosonde_explained'").count(), 1, "the operand of explain");
    folder.write("_iosonde", script);
    if !iosonde_testing::has("zsh", "zsh") {
        return;
    }
    // The functions of zsh that complete, replaced by ones that show what they are given.
    let shown = "compdef() {}; source ./_iosonde; _alternative() { print -rl -- $@ }; \
                 _iosonde_explained";
    let ran = std::process::Command::new("zsh")
        .args(["-f", "-c", shown])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let words = String::from_utf8(ran.stdout).unwrap();
    let (findings, files) = words.split_once('\n').unwrap_or_default();
    assert!(
        findings.starts_with("findings:finding:(") && findings.contains("not-durable"),
        "{words}"
    );
    assert_eq!(files, "files:job file:_files\n");
}

#[test]
fn bash_completes_a_value_behind_an_equals_sign() {
    let folder = Folder::new("commands-bash");
    let script = run(&folder, "completions bash").well().stdout;
    folder.write("iosonde.bash", script);
    // What bash does when a person types `iosonde --rw=randr` and presses Tab.
    let typed = r#"
        source ./iosonde.bash
        COMP_WORDS=(iosonde --rw = randr) COMP_CWORD=3 COMPREPLY=()
        _iosonde_after_equals iosonde randr =
        printf '%s\n' "${COMPREPLY[@]}"
        COMP_WORDS=(iosonde prob) COMP_CWORD=1 COMPREPLY=()
        _iosonde_after_equals iosonde prob iosonde
        printf '%s\n' "${COMPREPLY[@]}"
        complete() {
            COMP_WORDS=(iosonde "$1" "$2") COMP_CWORD=2 COMPREPLY=()
            _iosonde_after_equals iosonde "$2" "$1"
            printf '%s\n' "${COMPREPLY[@]}"
        }
        complete like etcd
        complete explain not-du
        complete help swe
        COMP_WORDS=(iosonde --output-format = js) COMP_CWORD=3 COMPREPLY=()
        _iosonde_after_equals iosonde js =
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    if !iosonde_testing::has("bash", "bash") {
        return;
    }
    let mut bash = std::process::Command::new("bash");
    let output = bash.arg("-c").arg(typed).current_dir(folder.path()).output().unwrap();
    let found = String::from_utf8(output.stdout).unwrap();
    let found: Vec<&str> = found.lines().collect();
    let wanted =
        ["randread", "randrw", "probe", "etcd-wal", "not-durable", "sweep", "json", "json+"];
    assert_eq!(found, wanted, "{:?}", String::from_utf8(output.stderr));
}

#[test]
fn the_manual_page_lists_commands_and_options() {
    let folder = Folder::new("commands-man");
    let page = run(&folder, "man").well().stdout;
    assert!(page.contains(".TH iosonde 1") && page.contains("iodepth"), "{}", &page[..200]);
    for title in ["EXAMPLES", "EXIT STATUS", "FILES", "ENVIRONMENT", "SEE ALSO"] {
        assert!(page.contains(&format!("\n.SH {title}\n")), "{title}");
    }
    let (_, synopsis) = page.split_once(".SH SYNOPSIS\n").unwrap();
    let (synopsis, _) = synopsis.split_once(".SH ").unwrap();
    assert!(synopsis.lines().count() < 8, "{synopsis}");
    for command in commands(&folder) {
        let page = run(&folder, &format!("man {command}")).well().stdout;
        assert!(page.contains(&format!("iosonde\\-{}", command.replace('-', "\\-"))), "{page}");
    }
    assert_eq!(run(&folder, "man nothing").code, Some(1));
}

#[test]
fn words_of_other_programs_name_what_to_type() {
    let folder = Folder::new("commands-words");
    for (line, words) in [
        ("run job.fio", "jobs run without a command: iosonde JOBFILE"),
        ("version", "use iosonde --version"),
        ("like etcd-wal --with rwmixrd=3", "did you mean rwmixread?"),
        ("plot --x iodept a.json", "--x: unknown option \"iodept\": did you mean iodepth?"),
    ] {
        let ran = run(&folder, line);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
        assert!(ran.stderr.contains(words), "{ran:?}");
    }
}

#[test]
fn a_mistyped_directory_is_not_created_in_our_own_name() {
    let folder = Folder::new("commands-directory");
    let job = "--name=j --filename=typo/y/file --size=8k --rw=write";
    let ran = run(&folder, job);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let why =
        "the directory typo/y does not exist (correct filename, or create it: mkdir -p typo/y)";
    assert!(ran.stderr.contains(why), "{ran:?}");
    let line = "sweep --name=j --ioengine=null --rw=read --size=1m --over bs=4k,8k --out=typo/d";
    let ran = run(&folder, line);
    assert!(ran.code == Some(1) && ran.stderr.contains("cannot create typo/d"), "{ran:?}");
    assert!(!folder.join("typo").exists());
    // fio creates it.
    Who::AsFio.run(&folder, &words(job)).well();
    assert!(folder.join("typo/y/file").exists());
}

#[test]
fn commands_print_in_a_format_and_to_a_file_in_one_way() {
    let folder = Folder::new("commands-outputs");
    folder.write("data", vec![7; 8192]);
    let json = run(&folder, "probe data --format=json").well();
    assert!(json.json().is_object());
    let ran = run(&folder, "probe data --json --output=probe.json").well();
    assert_eq!((ran.stdout.as_str(), ran.stderr.trim()), ("", "iosonde: wrote probe.json"));
    let kept: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("probe.json")).unwrap()).unwrap();
    assert!(kept.is_object());
    // Known before anything runs, and nothing is overwritten.
    for (line, why) in [
        ("probe data --output=probe.json", "it exists; use --force"),
        ("like etcd-wal . --output=no/x.txt", "no is not a directory"),
    ] {
        let ran = run(&folder, line);
        assert!(ran.code == Some(1) && ran.stderr.contains(why), "{ran:?}");
    }
    run(&folder, "probe data --output=probe.json --force").well();
    assert!(std::fs::read_to_string(folder.join("probe.json")).unwrap().contains("data"));
}

#[test]
fn what_is_no_job_file_is_refused_in_a_few_lines() {
    let folder = Folder::new("commands-data");
    folder.write("binary", [7, 0, 7, 0]);
    folder.write("text", "a line of a log\n".repeat(10_000));
    for (line, reason) in [
        // A directory or binary data alone is measured: iosonde PATH.
        ("--parse-only binary", "contains binary data and is no job file"),
        ("text", "more errors like these: is this a job file?"),
        ("/dev/zero", "it is a device and no job file"),
        ("--parse-only .", "it is a directory and no job file"),
    ] {
        // Explain runs nothing without being asked.
        let explained = format!("explain {}", line.trim_start_matches("--parse-only "));
        for line in [line.to_owned(), explained] {
            let ran = run(&folder, &line);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
            assert!(ran.stderr.contains(reason), "{ran:?}");
            assert!(ran.stderr.lines().count() <= 6, "{ran:?}");
        }
    }
}

#[test]
fn overwriting_and_removing_what_exists_is_announced_but_not_in_documents() {
    let folder = Folder::new("commands-overwrite");
    folder.write("data", vec![7; 8192]);
    let job = "--name=j --filename=data --size=8k --bs=4k --rw=write";
    let explained = run(&folder, &format!("explain {job} --unlink=1")).well().stdout;
    assert!(explained.contains("data: job j overwrites and removes this existing file"));
    let ran = run(&folder, &format!("{job} --output-format=json")).well();
    assert!(ran.json()["jobs"].is_array() && !ran.stdout.contains("overwrites"), "{ran:?}");
    let ran = run(&folder, job).well();
    assert!(ran.stdout.contains("data: job j overwrites data in this existing file"), "{ran:?}");
    for quiet in [job.replace("write", "read"), job.replace("=data", "=new")] {
        let ran = run(&folder, &quiet).well();
        assert!(!ran.stdout.contains("existing file"), "{ran:?}");
    }
    let ran = Who::AsFio.run(&folder, &words(job)).well();
    assert!(!ran.stdout.contains("existing file"), "fio announces nothing: {ran:?}");
}

#[test]
fn the_command_of_the_first_job_removes_nothing() {
    let folder = Folder::new("commands-first");
    let ran = run(&folder, "").well();
    let command = ran.stdout.lines().find(|line| line.contains("--name=first-job")).unwrap();
    assert!(!command.contains("unlink") && !command.contains("filename"), "{command}");
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}
