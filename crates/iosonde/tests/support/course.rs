//! The pages of the course: their commands, run by a shell, and their outputs, written by a run.
//!
//! A block ```` ```console ```` holds commands (`$ COMMAND`) with their outputs, a block ```` ```ini NAME ```` a
//! job file. Comments before a block say what the check cannot see in it: `<!-- exit 0 6 -->` the exit codes that
//! its commands may have, `<!-- shows: A | B -->` what its outputs have on every machine. Before a picture,
//! `<!-- chart: PAGE.html, TITLE -->` names the chart it is made from.

use std::path::Path;
use std::process::{Command, Stdio};

/// A page in parts; put together again it is the same page.
pub enum Part {
    /// Lines that stay as they are.
    Text(Vec<String>),
    /// A job file and its lines.
    File { name: String, lines: Vec<String> },
    /// Commands and what they print.
    Console { steps: Vec<Step>, expected: Expected },
    /// The picture at `path`, made of a chart of an HTML page.
    Chart { page: String, title: String, path: String, line: String },
}

/// A command, as it is written, and its output.
pub struct Step {
    pub command: Vec<String>,
    pub output: Vec<String>,
}

/// What the comments before a block say of it.
#[derive(Default)]
pub struct Expected {
    pub codes: Vec<i32>,
    pub shows: Vec<String>,
}

/// The parts of a page.
pub fn parse(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = Vec::new();
    let mut expected = Expected::default();
    let mut chart: Option<(String, String)> = None;
    let mut lines = page.lines().map(str::to_owned);
    while let Some(line) = lines.next() {
        if let Some((page, title)) = chart.take() {
            let path = line.split_once("](").and_then(|(_, rest)| rest.strip_suffix(')'));
            let path =
                path.unwrap_or_else(|| panic!("no picture follows its comment: {line}")).to_owned();
            parts.push(Part::Text(std::mem::take(&mut text)));
            parts.push(Part::Chart { page, title, path, line });
            continue;
        }
        let name = line.strip_prefix("```ini ").map(str::to_owned);
        if line != "```console" && name.is_none() {
            chart = comment(&line, "chart: ")
                .map(|words| words.split_once(", ").expect("a page, and a title"))
                .map(|(page, title)| (page.to_owned(), title.to_owned()));
            expected.read(&line);
            text.push(line);
            continue;
        }
        text.push(line);
        parts.push(Part::Text(std::mem::take(&mut text)));
        let block: Vec<String> = lines.by_ref().take_while(|line| line != "```").collect();
        let expected = std::mem::take(&mut expected);
        parts.push(match name {
            Some(name) => Part::File { name, lines: block },
            None => Part::Console { steps: steps(block), expected },
        });
        text.push("```".to_owned());
    }
    parts.push(Part::Text(text));
    parts
}

/// The page of these parts.
pub fn write(parts: &[Part]) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => lines.extend(text.iter().map(String::as_str)),
            Part::File { lines: file, .. } => lines.extend(file.iter().map(String::as_str)),
            Part::Chart { line, .. } => lines.push(line),
            Part::Console { steps, .. } => {
                for step in steps {
                    lines.extend(step.command.iter().map(String::as_str));
                    lines.extend(step.output.iter().map(String::as_str));
                }
            }
        }
    }
    lines.join("\n") + "\n"
}

impl Expected {
    fn read(&mut self, line: &str) {
        if let Some(codes) = comment(line, "exit ") {
            self.codes = codes.split(' ').map(|code| code.parse().unwrap()).collect();
        }
        if let Some(words) = comment(line, "shows: ") {
            self.shows = words.split(" | ").map(str::to_owned).collect();
        }
    }

    /// Whether a command may end with this code.
    pub fn allows(&self, code: Option<i32>) -> bool {
        if self.codes.is_empty() {
            code == Some(0)
        } else {
            code.is_some_and(|code| self.codes.contains(&code))
        }
    }
}

/// The words after `key` of a line that is a comment.
fn comment<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix("<!-- ")?.strip_suffix(" -->")?.strip_prefix(key)
}

fn steps(block: Vec<String>) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut more = false;
    for line in block {
        let begins = line.starts_with("$ ");
        if begins {
            steps.push(Step { command: Vec::new(), output: Vec::new() });
        }
        let step = steps.last_mut().expect("a block begins with a command");
        if begins || more {
            more = line.ends_with('\\');
            step.command.push(line);
        } else {
            step.output.push(line)
        }
    }
    steps
}

impl Step {
    /// Run it in `folder`, with the directory `programs` first in PATH: its exit
    /// code and the lines that it printed.
    pub fn run(&self, folder: &Path, programs: &Path) -> (Option<i32>, Vec<String>) {
        let command = self.command.join("\n");
        let command = command.strip_prefix("$ ").expect("a command begins so");
        let path = std::env::var("PATH").unwrap_or_default();
        let ran = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .current_dir(folder)
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("LC_ALL", "C.UTF-8")
            .env("COLUMNS", "80")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&ran.stdout);
        (ran.status.code(), text.lines().map(|line| line.trim_end().to_owned()).collect())
    }
}

/// The chart with this title out of an HTML page of ours, as an SVG file: with the
/// page's styles and patterns, which it refers to.
pub fn chart(page: &str, title: &str) -> Option<String> {
    let begin = page.match_indices("<svg viewBox=").map(|(at, _)| at).find(|&at| {
        let end = at + page[at..].find('>').unwrap_or(0);
        page[at..end].contains(&format!("aria-label=\"{title}\""))
    })?;
    let chart = &page[begin..begin + page[begin..].find("</svg>")?];
    let (head, body) = chart.split_once('>')?;
    let inside = |from: &str, to: &str| {
        let rest = page.split_once(from)?.1;
        rest.split_once(to).map(|(text, _)| text)
    };
    let style = inside("<style>", "</style>")?;
    let patterns =
        inside("<svg class=\"patterns\" width=\"0\" height=\"0\" aria-hidden=\"true\">", "</svg>")?;
    let head = head.replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1);
    Some(format!(
        "{head}><style>{style}svg{{background:var(--ground);font:16px system-ui,sans-serif}}</style>\
         {patterns}{body}</svg>\n"
    ))
}
