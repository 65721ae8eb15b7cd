//! The file operations of a program, as strace(1) shows them, in a form in which two
//! programs can be compared.

use iosonde_testing::Folder;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const CALLS: &str = "trace=open,openat,creat,unlink,unlinkat,fallocate,ftruncate,fadvise64,\
    read,pread64,preadv,preadv2,write,pwrite64,pwritev,pwritev2,lseek,fsync,fdatasync,\
    sync_file_range,syncfs,io_submit,io_getevents";

/// Flags of open(2) that say nothing about what happens to the file.
const QUIET_FLAGS: [&str; 3] = ["O_CLOEXEC", "O_LARGEFILE", "O_NOATIME"];

/// Run `program` under strace in `folder`; each call on files of that folder,
/// in the order in which they began, and the exit code. Files go by their
/// names, buffers by their lengths: `write f 4096+4096`.
pub fn calls(program: &Path, folder: &Path, arguments: &[&str]) -> (Vec<String>, Option<i32>) {
    let logs = Folder::new("trace");
    let output = Command::new("strace")
        .args(["-f", "-ff", "-ttt", "-y", "-s", "8", "-e", CALLS, "-e", "signal=none", "-o"])
        .arg(logs.join("log"))
        .arg(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let mut lines: Vec<(String, String)> = Vec::new();
    for log in std::fs::read_dir(logs.path()).unwrap() {
        let text = std::fs::read(log.unwrap().path()).unwrap();
        for line in String::from_utf8_lossy(&text).lines() {
            if let Some((moment, call)) = line.split_once(' ') {
                lines.push((moment.to_owned(), call.to_owned()));
            }
        }
    }
    lines.sort_by(|(one, _), (other, _)| one.cmp(other));
    let folder = folder.canonicalize().unwrap();
    let mut reader = Reader { folder: folder.to_str().unwrap().to_owned(), ..Reader::default() };
    let calls = lines.iter().flat_map(|(_, line)| reader.read(line)).collect();
    (calls, output.status.code())
}

#[derive(Default)]
struct Reader {
    folder: String,
    /// Where read(2) and write(2) go on, by file.
    position: BTreeMap<String, u64>,
}

impl Reader {
    fn read(&mut self, line: &str) -> Vec<String> {
        let Some((call, rest)) = line.split_once('(') else { return Vec::new() };
        let Some(end) = rest.rfind(" = ") else { return Vec::new() };
        let (inside, result) = (&rest[..end], rest[end + 3..].trim());
        let inside = inside.trim_end().trim_end_matches(')');
        if call == "io_submit" {
            return self.submitted(inside);
        }
        if call == "io_getevents" {
            return collected(inside, result);
        }
        let Some(file) = self.file(inside).filter(|file| file != ".") else { return Vec::new() };
        let words: Vec<&str> = inside.split(", ").collect();
        let word = |index: usize| words.get(index).copied().unwrap_or("?");
        let described = match call {
            "open" | "openat" | "creat" => {
                self.position.insert(file.clone(), 0);
                let at = words.iter().position(|word| word.starts_with("O_")).unwrap_or(0);
                let flags = word(at).split('|').filter(|flag| !QUIET_FLAGS.contains(flag));
                let flags: Vec<&str> = flags.map(|flag| flag.trim_start_matches("O_")).collect();
                // The guard asks for locks of others before anything runs, and does no I/O there.
                if flags == ["RDONLY", "NONBLOCK"] {
                    return Vec::new();
                }
                format!("open {file} {}", flags.join("|"))
            }
            "unlink" | "unlinkat" => format!("unlink {file}"),
            "fallocate" => format!("fallocate {file} {} {}+{}", word(1), word(2), word(3)),
            "ftruncate" => format!("ftruncate {file} {}", word(1)),
            "fadvise64" => {
                let advice = word(3).trim_start_matches("POSIX_FADV_");
                format!("fadvise {file} {advice} {}+{}", word(1), word(2))
            }
            "pread64" => format!("read {file} {}+{}", word(3), word(2)),
            "pwrite64" => format!("write {file} {}+{}", word(3), word(2)),
            "read" | "write" => {
                let moved: u64 = result.parse().unwrap_or(0);
                let position = self.position.entry(file.clone()).or_default();
                let described = format!("{call} {file} {position}+{moved}");
                *position += moved;
                described
            }
            "lseek" => {
                self.position.insert(file, result.parse().unwrap_or(0));
                return Vec::new();
            }
            "sync_file_range" => {
                let flags = word(3).replace("SYNC_FILE_RANGE_", "");
                format!("sync_file_range {file} {}+{} {flags}", word(1), word(2))
            }
            _ => format!("{call} {file}"),
        };
        let failed = result.starts_with("-1").then(|| result.split(' ').nth(1)).flatten();
        vec![failed.map_or(described.clone(), |errno| format!("{described} {errno}"))]
    }

    /// The file of our folder that a call is about: its descriptor's path, or
    /// its own.
    fn file(&self, inside: &str) -> Option<String> {
        let absolute = inside.find(&format!("{}/", self.folder)).map(|at| {
            let name = &inside[at + self.folder.len() + 1..];
            name.split(['>', '"', ',', '}']).next().unwrap_or("").to_owned()
        });
        // A name relative to the folder: `AT_FDCWD</folder>, "f"` or `"f"`.
        let relative = || {
            let here = inside.starts_with('"')
                || inside.starts_with(&format!("AT_FDCWD<{}>", self.folder));
            let name = inside.split('"').nth(1).filter(|name| here && !name.starts_with('/'));
            name.map(str::to_owned)
        };
        absolute.or_else(relative)
    }

    fn submitted(&self, inside: &str) -> Vec<String> {
        let requests = inside.split("aio_data=").skip(1);
        let described = requests.filter_map(|request| {
            let file = self.file(request)?;
            let number = |name: &str| {
                let value = request.split(name).nth(1)?;
                value.split([',', '}']).next().map(str::to_owned)
            };
            let act = match request {
                _ if request.contains("CMD_PWRITE") => "write",
                _ if request.contains("CMD_PREAD") => "read",
                _ if request.contains("CMD_FDSYNC") => return Some(format!("fdatasync {file}")),
                _ => return Some(format!("fsync {file}")),
            };
            let (at, len) = (number("aio_offset=").unwrap_or("0".into()), number("aio_nbytes=")?);
            Some(format!("{act} {file} {at}+{len}"))
        });
        let described: Vec<String> = described.collect();
        match described.len() {
            0 => described,
            count => [vec![format!("submit {count}")], described].concat(),
        }
    }
}

/// `io_getevents(ctx, least, most, [...], timeout) = n`, when it got any.
fn collected(inside: &str, result: &str) -> Vec<String> {
    let words: Vec<&str> = inside.splitn(4, ", ").collect();
    match result.parse::<u32>() {
        Ok(0) | Err(_) => Vec::new(),
        Ok(got) => vec![format!("getevents {} {} = {got}", words[1], words[2])],
    }
}
