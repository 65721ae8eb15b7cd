//! A disk's answer to IOCTL_STORAGE_QUERY_PROPERTY, as bytes: fields of
//! <ntddstor.h> at their places. An answer that is too short reports nothing.

use crate::WriteCache;

fn number(answer: &[u8], at: usize) -> Option<u32> {
    let bytes = answer.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// Logical and physical sector of STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR.
pub(super) fn sectors(answer: &[u8]) -> Option<(u32, u32)> {
    Some((number(answer, 16)?, number(answer, 20)?)).filter(|&(logical, _)| logical > 0)
}

/// The one flag of DEVICE_SEEK_PENALTY_DESCRIPTOR and its like.
pub(super) fn flag(answer: &[u8]) -> Option<bool> {
    answer.get(8).map(|&byte| byte != 0)
}

/// WriteCacheEnabled of STORAGE_WRITE_CACHE_PROPERTY.
pub(super) fn write_cache(answer: &[u8]) -> Option<WriteCache> {
    match number(answer, 12)? {
        1 => Some(WriteCache::Through),
        2 => Some(WriteCache::Back),
        _ => None,
    }
}

/// Identification of a disk, from STORAGE_DEVICE_DESCRIPTOR.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DriveNames {
    pub(super) vendor: Option<String>,
    pub(super) model: Option<String>,
    pub(super) firmware: Option<String>,
    pub(super) serial: Option<String>,
    pub(super) removable: Option<bool>,
    pub(super) bus: Option<&'static str>,
}

pub(super) fn names(answer: &[u8]) -> DriveNames {
    let text = |at: usize| {
        // Zero: not reported.
        let start = number(answer, at).filter(|&start| start > 0)? as usize;
        let rest = answer.get(start..)?;
        let end = rest.iter().position(|&byte| byte == 0).unwrap_or(rest.len());
        let text = String::from_utf8_lossy(&rest[..end]).trim().to_owned();
        (!text.is_empty()).then_some(text)
    };
    DriveNames {
        vendor: text(12),
        model: text(16),
        firmware: text(20),
        serial: text(24),
        removable: answer.get(10).map(|&byte| byte != 0),
        bus: number(answer, 28).and_then(bus),
    }
}

/// STORAGE_BUS_TYPE, in the words used elsewhere.
fn bus(kind: u32) -> Option<&'static str> {
    Some(match kind {
        1 | 10 => "scsi",
        3 | 11 => "ata",
        7 => "usb",
        8 => "raid",
        9 => "iscsi",
        12 => "mmc",
        14 | 15 => "virtual",
        16 => "spaces",
        17 => "nvme",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor() -> Vec<u8> {
        let mut answer = vec![0; 36];
        answer[10] = 1;
        for (at, value) in [(12, 36_u32), (16, 41), (24, 50), (28, 17)] {
            answer[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        answer.extend(b"ACME\0Disk 2  \0S/N-7");
        answer
    }

    #[test]
    fn a_disk_is_read_by_its_offsets() {
        let names = names(&descriptor());
        assert_eq!(names.vendor.as_deref(), Some("ACME"));
        assert_eq!(names.model.as_deref(), Some("Disk 2"));
        assert_eq!(names.serial.as_deref(), Some("S/N-7"), "unended");
        assert_eq!((names.firmware, names.removable, names.bus), (None, Some(true), Some("nvme")));
    }

    #[test]
    fn an_answer_cut_anywhere_gives_fewer_facts_and_never_panics() {
        let whole = descriptor();
        for end in 0..whole.len() {
            let _ = (names(&whole[..end]), sectors(&whole[..end]), flag(&whole[..end]));
            let _ = write_cache(&whole[..end]);
        }
        let mut beyond = whole;
        beyond[24..28].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(names(&beyond).serial, None);
        assert_eq!(names(&[]), DriveNames::default());
    }
}
