//! Reference values next to the figures of a disk of a known class, on a page and in text.

use crate::support::{Who, words};
use iosonde_testing::{Folder, is_root, skip};
use std::process::Command;

/// In a mount namespace of its own the disk below the folder is an NVMe SSD of PCIe 4: its
/// name, model and link are made, its counters those of the real one.
const AS_NVME: &str = r#"
set -e
here=$(stat -c %d .); disk=$(( here >> 8 & 4095 )):$(( here & 255 | here >> 12 & 1048320 ))
real=$(readlink -f /sys/dev/block/$disk) && [ -f "$real/stat" ] || { echo no disk: $disk; exit 77; }
[ ! -f "$real/partition" ] || { echo a partition: $disk; exit 77; }
mkdir space && mount -t tmpfs none space && cd space && mkdir real sys
mount --rbind /sys real
real=$PWD/real${real#/sys}
cd sys
mkdir -p dev/block class/block block fs devices/system devices/pci/nvme0/nvme0n1
cd devices/pci
echo "16.0 GT/s PCIe" > current_link_speed
echo 4 > current_link_width
echo "EXAMPLE SSD" > nvme0/model
ln -s .. nvme0/device
cd nvme0/nvme0n1
ln -s .. device
mkdir holders slaves queue
cp "$real"/queue/* queue 2>/dev/null || true
echo 0 > queue/rotational
cp "$real"/dev "$real"/size "$real"/ro .
touch stat && mount --bind "$real"/stat stat
cd ../../../..
ln -s ../../devices/pci/nvme0/nvme0n1 dev/block/$disk
ln -s ../../devices/pci/nvme0/nvme0n1 class/block/nvme0n1
ln -s ../devices/pci/nvme0/nvme0n1 block/nvme0n1
mount --rbind ../real/fs fs
mount --rbind ../real/devices/system devices/system
mount --rbind . /sys
cd ../..
echo shown as another >&2
exec "$@"
"#;

#[test]
fn a_direct_read_of_a_known_disk_has_its_band_in_text_and_on_the_page() {
    if !is_root("mount in a namespace") {
        return;
    }
    let folder = Folder::new("reference-values");
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", AS_NVME, "sh"]);
    command.arg(Who::Native.command(&folder).get_program()).current_dir(folder.path());
    command.args(words(
        "--name=j --filename=f --size=16m --rw=randread --bs=4k --direct=1 --verbose --html=j.html",
    ));
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = String::from_utf8_lossy(&output.stderr);
    if !messages.contains("shown as another") {
        skip!("the disk cannot be shown as another: {text} {messages}");
    }
    assert!(output.status.success(), "{messages}");
    let band = "typical of an NVMe SSD of PCIe 4: 17.0k to 20.0k IOPS";
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains(&format!("random read of 4 KiB at depth 1, {band}")), "{text}");
    assert!(!line.contains("random write of"), "nothing was written: {text}");
    let page = folder.read("j.html");
    assert!(page.contains(band) && page.contains("Not used for a verdict"), "{band}");
    assert!(!page.contains("[990-pro]"), "links are without their addresses");
}
