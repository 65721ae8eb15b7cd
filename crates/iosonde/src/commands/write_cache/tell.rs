//! What the views are and what they mean, for a person and for programs.

use super::device::{Switch, Told, words_of};
use crate::commands::words::{fact, shown, wrapped};
use iosonde_direct::stack::{Kind, Stack};
use iosonde_direct::{Fact, WriteCache};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// Raised when a key changes its meaning or goes.
const SCHEMA: u32 = 1;

/// What the kernel's view of this disk means, a sentence.
pub fn meaning(told: &Told) -> String {
    match &told.kernel {
        Fact::Unknown(why) => format!("whether flushes are sent is unknown: {why}"),
        Fact::Known(WriteCache::Back) => meaning_of_back(told),
        Fact::Known(WriteCache::Through) => meaning_of_through(told),
    }
}

fn meaning_of_back(told: &Told) -> String {
    match told.own.known() {
        Some(own) if !own.is_volatile() => format!(
            "flushes are sent on fsync, though the device says \"{}\" and has nothing to flush",
            own.words
        ),
        _ => "flushes are sent on fsync, so that what was written does not stay in a volatile \
              cache"
            .into(),
    }
}

fn meaning_of_through(told: &Told) -> String {
    match (&told.kind, told.own.known()) {
        (Kind::Loop(_), _) => "NO flushes are sent, so an fsync ends in the memory of this \
             machine, which caches the file: what was synced is lost with the power"
            .into(),
        (Kind::Mapped(_) | Kind::Raid, _) => "no flushes are sent, nor passed on to the devices \
             below: where one of them has a volatile cache, what was synced is lost when the \
             power fails"
            .into(),
        (_, Some(own)) if own.is_volatile() => format!(
            "NO flushes are sent, but the device says \"{}\": what was synced is lost when the \
             power fails while it is in the device's cache",
            own.words
        ),
        (_, Some(_)) => "no flushes are sent; the device says that what it has acknowledged is on \
             the medium"
            .into(),
        (_, None) => "no flushes are sent: if the device has a volatile cache in truth, what was \
             synced is lost when the power fails"
            .into(),
    }
}

/// What a view would mean, once it is taken, a sentence.
fn consequence(view: WriteCache, told: &Told) -> String {
    meaning(&Told { kernel: Fact::Known(view), ..told.clone() })
}

/// All disks below a path.
pub fn all(path: &Path, stack: &Stack, disks: &[Told]) -> String {
    let mut out = String::new();
    let part = stack.devices.iter().find(|device| device.kind == Kind::Partition);
    let what = match (&stack.mount, part) {
        (Some(mount), _) => format!(" ({} at {})", mount.filesystem, shown(&mount.point)),
        (None, Some(part)) => format!(" (a part of {})", part.disk().name),
        (None, None) => String::new(),
    };
    let _ = writeln!(out, "{}{what}", shown(path));
    if disks.is_empty() {
        wrapped(
            &mut out,
            "  ",
            "no block device is known to be below it, so none has a cache here",
        );
    }
    for told in disks {
        let kind = match &told.kind {
            Kind::Loop(file) => format!(", the file {}", shown(file)),
            Kind::Mapped(Some(name)) => format!(", {name} of device-mapper"),
            Kind::Mapped(None) => ", of device-mapper".into(),
            Kind::Raid => ", a RAID of md".into(),
            Kind::Disk | Kind::Partition => String::new(),
        };
        let below = match told.below.as_slice() {
            [] => String::new(),
            below => format!(", on {}", below.join(", ")),
        };
        let _ = writeln!(out);
        wrapped(&mut out, "  ", &format!("{}{kind}{below}", told.disk));
        one(&mut out, told);
    }
    out
}

fn one(out: &mut String, told: &Told) {
    let kernel = match &told.kernel {
        Fact::Known(view) => format!("{} (queue/write_cache)", words_of(*view)),
        Fact::Unknown(why) => format!("unknown: {why}"),
    };
    wrapped(out, "    kernel   ", &kernel);
    let own = match &told.own {
        Fact::Known(own) => format!("{} ({})", own.words, own.place),
        Fact::Unknown(why) => format!("unknown: {why}"),
    };
    wrapped(out, "    device   ", &own);
    let fua = match &told.fua {
        Fact::Known(true) => "yes: a single write can be durable without a flush".into(),
        Fact::Known(false) => "no".into(),
        Fact::Unknown(why) => format!("unknown: {why}"),
    };
    wrapped(out, "    FUA      ", &fua);
    wrapped(out, "    means    ", &meaning(told));
}

/// Of a change: what it was, what was asked, whether it was done.
pub struct Change {
    /// As it was found.
    pub before: Told,
    /// What was asked.
    pub asked: WriteCache,
    /// What the kernel holds now; `None` if nothing was to be changed.
    pub now: Option<WriteCache>,
    /// Whether the disk put its cache on the medium after it; or why not.
    pub flushed: Option<Result<(), String>>,
}

impl Change {
    /// For a person.
    pub fn text(&self, named: &Path) -> String {
        let Change { before, asked, .. } = self;
        let disk = &before.disk;
        let was = before.kernel.get().map_or("unknown", words_of);
        let words = words_of(*asked);
        let mut out = String::new();
        let is_part = named.file_name().is_some_and(|name| name.to_str() != Some(disk));
        if is_part {
            wrapped(&mut out, "", &format!("{} is of {disk}: all of it changes", shown(named)));
        }
        match self.now {
            Some(now) if was == words => {
                wrapped(&mut out, "", &format!("{disk}: is {} as it was", words_of(now)));
            }
            Some(now) => {
                wrapped(&mut out, "", &format!("{disk}: is {} now, was {was}", words_of(now)));
            }
            None if was == words => {
                wrapped(&mut out, "", &format!("{disk}: is {was} already; nothing would change"));
            }
            None => {
                let says = format!("{disk}: is {was}, would be {words}; nothing was changed");
                wrapped(&mut out, "", &says);
            }
        }
        wrapped(&mut out, "  ", &consequence(*asked, before));
        wrapped(
            &mut out,
            "  ",
            "this is the kernel's view only, until the next boot or until the device is plugged in \
             anew (a loop device keeps it for its next file): the device's own cache stays on or \
             off as it is",
        );
        match &self.flushed {
            Some(Ok(())) => {
                let says = "what was written while no flushes were sent has been flushed now";
                wrapped(&mut out, "  ", says);
            }
            Some(Err(why)) => wrapped(
                &mut out,
                "  ",
                &format!("what was written while no flushes were sent may not be durable: {why}"),
            ),
            None => {}
        }
        if self.now.is_none() && was != words {
            let word = if *asked == WriteCache::Back { "back" } else { "through" };
            let named = shown(named);
            let line = format!("to do it, as root: iosonde write-cache {named} {word} --set");
            wrapped(&mut out, "  ", &line);
        }
        out
    }

    /// For programs.
    pub fn document(&self, named: &Path) -> Value {
        let did = if self.now.is_some() { "set" } else { "would set" };
        let mut head = head(did, named);
        head["device"] = disk(&self.before);
        head["asked"] = words_of(self.asked).into();
        head["now"] = self.now.map(words_of).into();
        head["would_mean"] = consequence(self.asked, &self.before).into();
        head["flushed"] = match &self.flushed {
            Some(Ok(())) => true.into(),
            Some(Err(why)) => json!({ "unknown": why }),
            None => Value::Null,
        };
        head
    }
}

/// What each document begins with.
pub fn head(did: &str, named: &Path) -> Value {
    json!({
        "iosonde": env!("CARGO_PKG_VERSION"),
        "report": "write-cache",
        "schema": SCHEMA,
        "did": did,
        "path": named.to_string_lossy(),
    })
}

/// All disks below a path, for programs.
pub fn all_document(path: &Path, disks: &[Told]) -> Value {
    let mut head = head("show", path);
    head["devices"] = disks.iter().map(disk).collect();
    head
}

/// One disk, for programs.
pub fn disk(told: &Told) -> Value {
    let (kind, file) = match &told.kind {
        Kind::Loop(file) => ("loop", Some(file.to_string_lossy().into_owned())),
        Kind::Mapped(_) => ("mapped", None),
        Kind::Raid => ("raid", None),
        Kind::Disk | Kind::Partition => ("disk", None),
    };
    let own = match &told.own {
        Fact::Known(own) => json!({ "says": own.words, "where": own.place }),
        Fact::Unknown(why) => json!({ "unknown": why }),
    };
    json!({
        "name": told.disk,
        "kind": kind,
        "file": file,
        "below": told.below,
        "write_cache": fact(&told.kernel.clone().map(words_of)),
        "fua": fact(&told.fua),
        "device": own,
        "means": meaning(told),
    })
}

/// What to type when we cannot put it back ourselves.
pub fn by_hand(switch: &Switch, view: WriteCache) -> String {
    format!("echo '{}' > {}", words_of(view), switch.attribute().display())
}

#[cfg(test)]
mod tests {
    use super::super::device::Own;
    use super::*;

    fn told(kernel: WriteCache, own: Option<&str>) -> Told {
        let own = own.map(|words| Own { words: words.into(), place: "there".into() });
        Told {
            disk: "sda".into(),
            kind: Kind::Disk,
            below: Vec::new(),
            kernel: Fact::Known(kernel),
            fua: Fact::Known(false),
            own: Fact::or_why(own, "it does not say"),
        }
    }

    #[test]
    fn a_volatile_cache_without_flushes_is_shouted_about() {
        let lies = meaning(&told(WriteCache::Through, Some("write back")));
        assert!(lies.contains("NO flushes") && lies.contains("lost"), "{lies}");
        let fine = meaning(&told(WriteCache::Through, Some("write through")));
        assert!(!fine.contains("lost"), "{fine}");
        assert!(meaning(&told(WriteCache::Through, None)).contains("if the device has"));
        assert!(meaning(&told(WriteCache::Back, None)).contains("sent on fsync"));
    }

    #[test]
    fn what_is_not_done_is_told_with_what_to_type() {
        let mut change = Change {
            before: told(WriteCache::Back, None),
            asked: WriteCache::Through,
            now: None,
            flushed: None,
        };
        let text = change.text(Path::new("/dev/sda1"));
        assert!(text.contains("/dev/sda1 is of sda"), "{text}");
        assert!(text.contains("nothing was changed"), "{text}");
        assert!(text.contains("write-cache /dev/sda1 through --set"), "{text}");
        change.now = Some(WriteCache::Through);
        let text = change.text(Path::new("/dev/sda"));
        assert!(text.contains("is write through now, was write back"), "{text}");
        assert!(text.contains("the kernel's view only"), "{text}");
        assert!(!text.contains("--set"), "{text}");
    }
}
