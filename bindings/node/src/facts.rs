//! Facts of devices and files, as JavaScript has them. What is not known is
//! `null`, and the object's `unknown` says why, by the property's name.

use std::fs::File;
use std::path::Path;

use iosonde_direct::stack::{LayerKind, Mount};
use iosonde_direct::{
    Answer, AtomicWrite, DeviceFacts, DirectIo, Discard, Fact, Facts, Honoured, Known, OpenOptions,
    PathKind, WriteCache, ZoneModel, honoured,
};

use crate::tree::Tree;

/// An object in the making: properties, and why some are `null`.
#[derive(Default)]
struct Sheet {
    properties: Vec<(&'static str, Tree)>,
    unknown: Vec<(&'static str, Tree)>,
}

impl Sheet {
    fn set(&mut self, name: &'static str, value: impl Into<Tree>) -> &mut Sheet {
        self.properties.push((name, value.into()));
        self
    }

    fn fact<T: Clone + Into<Tree>>(&mut self, name: &'static str, fact: &Fact<T>) -> &mut Sheet {
        if let Some(why) = fact.why() {
            self.unknown.push((name, why.into()));
        }
        self.set(name, fact.known().cloned())
    }

    fn done(mut self) -> Tree {
        self.properties.push(("unknown", Tree::Object(self.unknown)));
        Tree::Object(self.properties)
    }
}

/// What `getBlockDevice` resolves to. The drop-in's four properties come first.
pub(crate) fn device(facts: &DeviceFacts) -> Tree {
    let mut sheet = Sheet::default();
    sheet
        .fact("logicalSectorSize", &facts.logical_sector)
        .fact("physicalSectorSize", &facts.physical_sector)
        .fact("size", &facts.bytes)
        .fact("serialNumber", &facts.serial)
        .set("name", facts.name.as_str())
        .set("major", facts.id.major)
        .set("minor", facts.id.minor);
    let (kind, backing_file, mapped_name) = match &facts.kind {
        LayerKind::Disk => ("disk", None, None),
        LayerKind::Partition => ("partition", None, None),
        LayerKind::Mapped(name) => ("mapped", None, name.clone()),
        LayerKind::Raid => ("raid", None, None),
        LayerKind::Loop(file) => ("loop", Some(text(file)), None),
    };
    sheet
        .set("kind", kind)
        .set("backingFile", backing_file)
        .set("mappedName", mapped_name)
        .fact("transport", &facts.transport)
        .fact("vendor", &facts.vendor)
        .fact("model", &facts.model)
        .fact("firmware", &facts.firmware)
        .fact("worldWideId", &facts.world_wide_id)
        .fact("ioSizeMin", &facts.io_bytes_min)
        .fact("ioSizeOptimal", &facts.io_bytes_optimal)
        .fact("ioSizeMax", &facts.io_bytes_max)
        .fact("memoryAlignment", &facts.memory_alignment)
        .fact("alignmentOffset", &facts.alignment_offset)
        .fact("rotational", &facts.rotational)
        .fact("discard", &facts.discard)
        .fact("writeZeroesMax", &facts.write_zeroes_bytes_max)
        .fact("writeCache", &facts.write_cache)
        .fact("fua", &facts.fua)
        .fact("zones", &facts.zones)
        .fact("atomicWrite", &facts.atomic_write)
        .fact("scheduler", &facts.scheduler)
        .fact("requestsMax", &facts.requests_max)
        .fact("polled", &facts.polled)
        .fact("stableWrites", &facts.stable_writes)
        .fact("dax", &facts.dax)
        .fact("readOnly", &facts.read_only)
        .fact("removable", &facts.removable)
        .fact("loopDirect", &facts.loop_direct)
        .fact("diskSequence", &facts.disk_sequence)
        .set("holders", facts.holders.iter().map(String::as_str).collect::<Tree>())
        .set("mounts", facts.mounts.iter().map(|mount| text(mount)).collect::<Tree>())
        .set("swap", facts.swap)
        .set("used", facts.is_used());
    sheet.done()
}

/// What `probe` resolves to.
pub(crate) fn probed(path: &Path, facts: &Facts) -> Tree {
    let mut sheet = Sheet::default();
    let kind = match facts.kind {
        PathKind::File => "file",
        PathKind::BlockDevice => "blockDevice",
        PathKind::CharacterDevice => "characterDevice",
        PathKind::Folder => "folder",
        PathKind::Other => "other",
    };
    sheet
        .set("path", text(&facts.stack.path))
        .set("kind", kind)
        .fact("size", &facts.bytes)
        .set("direct", direct(&facts.direct))
        .fact("honoured", &opened_direct(path, facts.kind))
        .fact("atomicWrite", &facts.atomic_write)
        .set("mount", facts.mount().map(mount))
        .set("devices", facts.devices.iter().map(device).collect::<Tree>());
    sheet.done()
}

fn direct(direct: &DirectIo) -> Tree {
    let (known, reason) = match direct.known {
        Known::Stated => ("stated", None),
        Known::Sector => ("sector", None),
        Known::Tried => ("tried", None),
        Known::Guessed(why) => ("guessed", Some(why)),
    };
    Tree::Object(vec![
        ("possible", direct.possible.into()),
        ("memoryAlignment", direct.memory_alignment.into()),
        ("offsetAlignment", direct.offset_alignment.into()),
        ("readOffsetAlignment", direct.read_offset_alignment.into()),
        ("known", known.into()),
        ("reason", reason.into()),
    ])
}

/// Whether reading past the page cache is what one gets: the path is opened
/// for that and asked. Opening a pipe could wait for ever.
fn opened_direct(path: &Path, kind: PathKind) -> Fact<Honoured> {
    if !matches!(kind, PathKind::File | PathKind::BlockDevice) {
        return Fact::unknown("neither a file nor a block device");
    }
    let file = OpenOptions::new().read(true).direct(true).open(path);
    match file.map_err(|error| error.to_string()).and_then(|file: File| {
        honoured(&file).map_err(|error| format!("check whether direct I/O is honoured: {error}"))
    }) {
        Ok(answer) => Fact::Known(answer),
        Err(why) => Fact::unknown(format!("cannot {why}")),
    }
}

fn mount(mount: &Mount) -> Tree {
    Tree::Object(vec![
        ("point", text(&mount.point).into()),
        ("filesystem", mount.filesystem.as_str().into()),
        ("source", mount.source.to_string_lossy().into_owned().into()),
        ("options", mount.options.as_str().into()),
        ("superOptions", mount.super_options.as_str().into()),
    ])
}

impl From<Honoured> for Tree {
    fn from(honoured: Honoured) -> Tree {
        Tree::Object(vec![
            ("reads", honoured.reads.into()),
            ("cacheBelow", honoured.cache_below.into()),
        ])
    }
}

impl From<Answer> for Tree {
    fn from(answer: Answer) -> Tree {
        Tree::Object(vec![
            ("verdict", answer.verdict.to_string().into()),
            ("why", answer.why.into_owned().into()),
        ])
    }
}

impl From<Discard> for Tree {
    fn from(discard: Discard) -> Tree {
        Tree::Object(vec![
            ("granularity", discard.granularity.into()),
            ("sizeMax", discard.bytes_max.into()),
        ])
    }
}

impl From<WriteCache> for Tree {
    fn from(cache: WriteCache) -> Tree {
        match cache {
            WriteCache::Back => "back".into(),
            WriteCache::Through => "through".into(),
        }
    }
}

impl From<ZoneModel> for Tree {
    fn from(zones: ZoneModel) -> Tree {
        let (model, size) = match zones {
            ZoneModel::None => ("none", None),
            ZoneModel::Aware(size) => ("aware", Some(size)),
            ZoneModel::Managed(size) => ("managed", Some(size)),
        };
        Tree::Object(vec![("model", model.into()), ("zoneSize", size.into())])
    }
}

impl From<AtomicWrite> for Tree {
    fn from(atomic: AtomicWrite) -> Tree {
        Tree::Object(vec![
            ("unitMin", atomic.unit_min.into()),
            ("unitMax", atomic.unit_max.into()),
            ("unitMaxFast", atomic.unit_max_fast.into()),
            ("segmentsMax", atomic.segments_max.into()),
        ])
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
