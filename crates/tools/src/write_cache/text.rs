//! The settings and what they mean, as text and as JSON.

use super::device::{CacheFacts, WriteCacheSetting, words_of};
use iosonde_command::format::{printable, wrapped};
use iosonde_direct::stack::{LayerKind, Stack};
use iosonde_direct::{Fact, WriteCache};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// Raised when a key changes its meaning or goes.
const SCHEMA: u32 = 1;

/// What the kernel's setting means for this disk, a sentence.
pub fn meaning(facts: &CacheFacts) -> String {
    match &facts.kernel {
        Fact::Unknown(why) => format!("whether flushes are sent is unknown: {why}"),
        Fact::Known(WriteCache::Back) => meaning_of_back(facts),
        Fact::Known(WriteCache::Through) => meaning_of_through(facts),
    }
}

fn meaning_of_back(facts: &CacheFacts) -> String {
    if let Some(option) = facts.no_barriers {
        return format!(
            "NO flushes are sent, as the file system is mounted with {option}: synced data that is \
             still in a volatile cache is lost in a power failure"
        );
    }
    match facts.reported.known() {
        Some(reported) if !reported.is_volatile() => format!(
            "fsync sends a flush, although the device reports \"{}\" and has nothing to flush",
            reported.words
        ),
        _ => "fsync sends a flush, so synced data does not stay in a volatile cache".into(),
    }
}

fn meaning_of_through(facts: &CacheFacts) -> String {
    match (&facts.kind, facts.reported.known()) {
        (LayerKind::Loop(_), _) => {
            "NO flushes are sent, so fsync leaves data in the page cache of \
             the file: synced data is lost in a power failure"
                .into()
        }
        (LayerKind::Mapped(_) | LayerKind::Raid, _) => {
            "no flushes are sent or passed on to the devices \
             below: where one of them has a volatile cache, synced data is lost in a power failure"
                .into()
        }
        (_, Some(reported)) if reported.is_volatile() => format!(
            "NO flushes are sent, but the device reports \"{}\": synced data that is still in the \
             device's cache is lost in a power failure",
            reported.words
        ),
        (_, Some(_)) => {
            "no flushes are sent; the device reports that acknowledged writes are on the medium"
                .into()
        }
        (_, None) => {
            "no flushes are sent: if the device does have a volatile cache, synced data is \
             lost in a power failure"
                .into()
        }
    }
}

/// The effect of a setting, a sentence.
fn consequence(view: WriteCache, facts: &CacheFacts) -> String {
    meaning(&CacheFacts { kernel: Fact::Known(view), ..facts.clone() })
}

/// All disks below a path.
pub fn all(path: &Path, stack: &Stack, disks: &[CacheFacts]) -> String {
    let mut out = String::new();
    let part = stack.devices.iter().find(|device| device.kind == LayerKind::Partition);
    let what = match (&stack.mount, part) {
        (Some(mount), _) => format!(" ({} at {})", mount.filesystem, printable(&mount.point)),
        (None, Some(part)) => format!(" (a partition of {})", part.disk().name),
        (None, None) => String::new(),
    };
    let _ = writeln!(out, "{}{what}", printable(path));
    if disks.is_empty() {
        wrapped(&mut out, "  ", "no block device found below this path");
    }
    for facts in disks {
        let kind = match &facts.kind {
            LayerKind::Loop(file) => format!(", backed by the file {}", printable(file)),
            LayerKind::Mapped(Some(name)) => format!(", device-mapper {name}"),
            LayerKind::Mapped(None) => ", device-mapper".into(),
            LayerKind::Raid => ", md RAID".into(),
            LayerKind::Disk | LayerKind::Partition => String::new(),
        };
        let below = match facts.below.as_slice() {
            [] => String::new(),
            below => format!(", on {}", below.join(", ")),
        };
        let _ = writeln!(out);
        wrapped(&mut out, "  ", &format!("{}{kind}{below}", facts.disk));
        one(&mut out, facts);
    }
    out
}

fn one(out: &mut String, facts: &CacheFacts) {
    let kernel = match &facts.kernel {
        Fact::Known(view) => format!("{} (queue/write_cache)", words_of(*view)),
        Fact::Unknown(why) => format!("unknown: {why}"),
    };
    wrapped(out, "    kernel   ", &kernel);
    let reported = match &facts.reported {
        Fact::Known(reported) => format!("{} ({})", reported.words, reported.place),
        Fact::Unknown(why) => format!("unknown: {why}"),
    };
    wrapped(out, "    device   ", &reported);
    let fua = match &facts.fua {
        Fact::Known(true) => "yes: a single write can be durable without a flush".into(),
        Fact::Known(false) => "no".into(),
        Fact::Unknown(why) => format!("unknown: {why}"),
    };
    wrapped(out, "    FUA      ", &fua);
    wrapped(out, "    effect   ", &meaning(facts));
}

/// A change of the setting: before, requested, now.
pub struct Change {
    /// The state before.
    pub before: CacheFacts,
    /// The requested setting.
    pub requested: WriteCache,
    /// The kernel's setting now; `None` for a preview.
    pub now: Option<WriteCache>,
    /// Whether the disk flushed its cache afterwards; or why not.
    pub flushed: Option<Result<(), String>>,
}

impl Change {
    /// For a person.
    pub fn text(&self, named: &Path) -> String {
        let Change { before, requested, .. } = self;
        let disk = &before.disk;
        let was = before.kernel.get().map_or("unknown", words_of);
        let words = words_of(*requested);
        let mut out = String::new();
        let is_part = named.file_name().is_some_and(|name| name.to_str() != Some(disk));
        if is_part {
            wrapped(
                &mut out,
                "",
                &format!(
                    "{} is part of {disk}: the setting applies to the whole disk",
                    printable(named)
                ),
            );
        }
        match self.now {
            Some(now) if was == words => {
                wrapped(&mut out, "", &format!("{disk}: is {}, unchanged", words_of(now)));
            }
            Some(now) => {
                wrapped(&mut out, "", &format!("{disk}: is now {}, was {was}", words_of(now)));
            }
            None if was == words => {
                wrapped(&mut out, "", &format!("{disk}: is already {was}; nothing would change"));
            }
            None => {
                let says = format!("{disk}: is {was}, would be {words}; nothing was changed");
                wrapped(&mut out, "", &says);
            }
        }
        wrapped(&mut out, "  ", &consequence(*requested, before));
        wrapped(
            &mut out,
            "  ",
            "this changes the kernel's setting only, until reboot or until the device is attached \
             again (a loop device keeps it for its next file); the device's own cache setting does \
             not change",
        );
        match &self.flushed {
            Some(Ok(())) => {
                let says = "data written while no flushes were sent has now been flushed";
                wrapped(&mut out, "  ", says);
            }
            Some(Err(why)) => wrapped(
                &mut out,
                "  ",
                &format!("data written while no flushes were sent may not be durable: {why}"),
            ),
            None => {}
        }
        if self.now.is_none() && was != words {
            let word = if *requested == WriteCache::Back { "back" } else { "through" };
            let named = printable(named);
            let line = format!("to change it, as root: iosonde write-cache {named} {word} --set");
            wrapped(&mut out, "  ", &line);
        }
        out
    }

    /// For programs.
    pub fn document(&self, named: &Path) -> Value {
        let action = if self.now.is_some() { "set" } else { "preview" };
        let mut head = head(action, named);
        head["device"] = disk(&self.before);
        head["requested"] = words_of(self.requested).into();
        head["now"] = self.now.map(words_of).into();
        head["requested_effect"] = consequence(self.requested, &self.before).into();
        head["flushed"] = match &self.flushed {
            Some(Ok(())) => true.into(),
            Some(Err(why)) => json!({ "unknown": why }),
            None => Value::Null,
        };
        head
    }
}

/// The first keys of each document.
pub fn head(action: &str, named: &Path) -> Value {
    json!({
        "iosonde": env!("CARGO_PKG_VERSION"),
        "report": "write-cache",
        "schema": SCHEMA,
        "action": action,
        "path": named.to_string_lossy(),
    })
}

/// All disks below a path, for programs.
pub fn all_document(path: &Path, disks: &[CacheFacts]) -> Value {
    let mut head = head("show", path);
    head["devices"] = disks.iter().map(disk).collect();
    head
}

/// One disk, for programs.
pub fn disk(facts: &CacheFacts) -> Value {
    let (kind, file) = match &facts.kind {
        LayerKind::Loop(file) => ("loop", Some(file.to_string_lossy().into_owned())),
        LayerKind::Mapped(_) => ("mapped", None),
        LayerKind::Raid => ("raid", None),
        LayerKind::Disk | LayerKind::Partition => ("disk", None),
    };
    let reported = facts.reported.as_ref();
    json!({
        "name": facts.disk,
        "kind": kind,
        "file": file,
        "below": facts.below,
        "write_cache": facts.kernel.clone().map(words_of),
        "fua": facts.fua,
        "device": reported.map(|it| json!({ "reports": it.words, "source": it.place })),
        "effect": meaning(facts),
    })
}

/// The command that restores the setting by hand.
pub fn by_hand(setting: &WriteCacheSetting, view: WriteCache) -> String {
    format!("echo '{}' > {}", words_of(view), setting.attribute().display())
}

#[cfg(test)]
mod tests {
    use super::super::device::DeviceReport;
    use super::*;

    fn facts(kernel: WriteCache, reported: Option<&str>) -> CacheFacts {
        let reported =
            reported.map(|words| DeviceReport { words: words.into(), place: "there".into() });
        CacheFacts {
            disk: "sda".into(),
            kind: LayerKind::Disk,
            below: Vec::new(),
            kernel: Fact::Known(kernel),
            no_barriers: None,
            fua: Fact::Known(false),
            reported: Fact::or_why(reported, "not reported"),
        }
    }

    #[test]
    fn a_volatile_cache_without_flushes_is_shouted_about() {
        let lies = meaning(&facts(WriteCache::Through, Some("write back")));
        assert!(lies.contains("NO flushes") && lies.contains("lost"), "{lies}");
        let fine = meaning(&facts(WriteCache::Through, Some("write through")));
        assert!(!fine.contains("lost"), "{fine}");
        assert!(meaning(&facts(WriteCache::Through, None)).contains("if the device does have"));
        assert!(meaning(&facts(WriteCache::Back, None)).contains("fsync sends a flush"));
        let no_barriers = Some("nobarrier");
        let unguarded = CacheFacts { no_barriers, ..facts(WriteCache::Back, None) };
        assert!(meaning(&unguarded).contains("NO flushes are sent, as the file system is mounted"));
    }

    #[test]
    fn what_is_not_done_is_told_with_what_to_type() {
        let mut change = Change {
            before: facts(WriteCache::Back, None),
            requested: WriteCache::Through,
            now: None,
            flushed: None,
        };
        let text = change.text(Path::new("/dev/sda1"));
        assert!(text.contains("/dev/sda1 is part of sda"), "{text}");
        assert!(text.contains("nothing was changed"), "{text}");
        assert!(text.contains("write-cache /dev/sda1 through --set"), "{text}");
        change.now = Some(WriteCache::Through);
        let text = change.text(Path::new("/dev/sda"));
        assert!(text.contains("is now write through, was write back"), "{text}");
        assert!(text.contains("the kernel's setting only"), "{text}");
        assert!(!text.contains("--set"), "{text}");
    }
}
