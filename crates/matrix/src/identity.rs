//! What a disk is called by its maker: the words that allow its erasure.

use std::path::Path;

/// Model and serial number, where the disk has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Its model.
    pub model: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
}

impl Identity {
    /// Of the disk named `name` as in /sys/block.
    pub fn of(name: &str) -> Identity {
        // A name with a slash in it (cciss/c0d0) has a bang in sysfs.
        Identity::within(&Path::new("/sys/block").join(name.replace('/', "!")))
    }

    /// As a disk's folder in sysfs has it: `device/model` of SCSI, SATA and
    /// NVMe, `device/name` of MMC; `device/serial` of NVMe and MMC, `serial`
    /// of virtio, the unit serial number page of SCSI.
    fn within(disk: &Path) -> Identity {
        let word = |name: &str| {
            let bytes = std::fs::read(disk.join(name)).ok()?;
            printable(&bytes)
        };
        let page = |name: &str| {
            // Four bytes of head, then the number (SPC-4, 7.8.18).
            let bytes = std::fs::read(disk.join(name)).ok()?;
            printable(bytes.get(4..)?)
        };
        Identity {
            model: word("device/model").or_else(|| word("device/name")),
            serial: word("device/serial")
                .or_else(|| word("serial"))
                .or_else(|| page("device/vpd_pg80")),
        }
    }
}

/// A text without the blanks around it; `None` if it has nothing to show.
fn printable(bytes: &[u8]) -> Option<String> {
    let text: String = String::from_utf8_lossy(bytes).chars().filter(|c| !c.is_control()).collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_from_where_each_kind_of_disk_keeps_them() {
        let folder = std::env::temp_dir().join(format!("iosonde-identity-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("device")).unwrap();
        assert_eq!(Identity::within(&folder), Identity::default());
        std::fs::write(folder.join("device/model"), "QEMU HARDDISK   \n").unwrap();
        std::fs::write(folder.join("device/vpd_pg80"), b"\0\x80\0\x08  ABC-123").unwrap();
        let scsi = Identity::within(&folder);
        assert_eq!(scsi.model.as_deref(), Some("QEMU HARDDISK"));
        assert_eq!(scsi.serial.as_deref(), Some("ABC-123"));
        std::fs::write(folder.join("serial"), "overlayblk").unwrap();
        assert_eq!(Identity::within(&folder).serial.as_deref(), Some("overlayblk"));
        std::fs::write(folder.join("device/vpd_pg80"), b"\0\x80").unwrap();
        std::fs::write(folder.join("serial"), " \n").unwrap();
        assert_eq!(Identity::within(&folder).serial, None);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
