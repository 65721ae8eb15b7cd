//! What the backing file of a loop device lies on: a device, memory, a program.

use iosonde_direct::sysfs::Tree;
use iosonde_report::is_served;
use iosonde_sys::stack::{Layer, LayerKind, Stack};
use std::path::Path;

/// Overlays on overlays: more than the kernel stacks (FILESYSTEM_MAX_STACK_DEPTH).
const OVERLAYS_MOST: u32 = 4;

/// A loop device among the layers below files, and where its backing file is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopBacking {
    /// The kernel's name of the loop device.
    pub device: String,
    /// The type of the file system that has the backing file; empty of a device.
    pub filesystem: String,
    /// It is in memory.
    pub in_memory: bool,
    /// Why nobody sees where its data is, if so.
    pub unseen: Option<String>,
}

/// The loop devices among these layers and below them.
pub(super) fn loop_backings(layers: &[Layer]) -> Vec<LoopBacking> {
    let mut found: Vec<LoopBacking> = Vec::new();
    for layer in layers.iter().flat_map(Layer::walk) {
        if let LayerKind::Loop(path) = &layer.kind
            && !found.iter().any(|known| known.device == layer.name)
        {
            found.push(backing(&layer.name, path));
        }
    }
    found
}

fn backing(device: &str, path: &Path) -> LoopBacking {
    let mut path = path.to_owned();
    let mut kinds: Vec<String> = Vec::new();
    let named = |kinds: &[String]| LoopBacking {
        device: device.to_owned(),
        filesystem: kinds.first().cloned().unwrap_or_default(),
        ..LoopBacking::default()
    };
    for _ in 0..OVERLAYS_MOST {
        let Ok(stack) = Stack::under(&path) else { break };
        let Some(mount) = &stack.mount else { return named(&kinds) };
        kinds.push(mount.filesystem.clone());
        match Tree::here().behind_overlay(mount, &stack.path) {
            Some(behind) => path = behind,
            None => return judged(named(&kinds), &mount.filesystem, stack.devices.is_empty()),
        }
    }
    LoopBacking {
        unseen: Some(format!("what {device} lies on is not visible here")),
        ..named(&kinds)
    }
}

/// By the file system that has the data in the end, and whether that has no device.
fn judged(backing: LoopBacking, kind: &str, is_bare: bool) -> LoopBacking {
    let device = &backing.device;
    let unseen = if crate::ledger::MEMORY.contains(&kind) || !is_bare && !is_served(kind) {
        None
    } else if is_served(kind) {
        Some(format!(
            "the backing file of {device} is on {kind}, which a program or another machine \
             serves: it may keep data in memory"
        ))
    } else {
        Some(format!("the backing file of {device} is on {kind}, which shows no device"))
    };
    LoopBacking { in_memory: crate::ledger::MEMORY.contains(&kind), unseen, ..backing }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(kind: &str, is_bare: bool) -> LoopBacking {
        let named = LoopBacking { device: "loop0".into(), ..LoopBacking::default() };
        judged(named, kind, is_bare)
    }

    #[test]
    fn a_backing_file_is_on_a_device_in_memory_or_out_of_sight() {
        assert_eq!((on("ext4", false).in_memory, on("ext4", false).unseen), (false, None));
        assert_eq!((on("tmpfs", true).in_memory, on("tmpfs", true).unseen), (true, None));
        for (kind, is_bare) in [
            ("fuse.nbdfuse", true),
            ("fuseblk", false),
            ("9p", true),
            ("overlay", true),
            ("nfs4", true),
        ] {
            let found = on(kind, is_bare);
            assert!(!found.in_memory && found.unseen.unwrap().contains(kind), "{kind}");
        }
    }

    #[test]
    fn each_loop_device_is_looked_at_once() {
        let folder = iosonde_testing::Folder::new("loop-backing");
        let layer = |name: &str, below: Vec<Layer>| Layer {
            name: name.into(),
            id: iosonde_sys::stack::DeviceId { major: 7, minor: 0 },
            kind: LayerKind::Loop(folder.path().join("image")),
            below,
        };
        let layers = [layer("loop0", vec![layer("loop1", Vec::new())]), layer("loop1", Vec::new())];
        let names: Vec<String> =
            loop_backings(&layers).into_iter().map(|backing| backing.device).collect();
        assert_eq!(names, ["loop0", "loop1"]);
    }
}
