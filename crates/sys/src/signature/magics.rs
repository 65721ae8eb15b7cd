//! Signatures that are constants at fixed places from the start.

/// A constant at a fixed offset from the start.
pub(super) struct Magic {
    pub name: &'static str,
    pub at: usize,
    pub bytes: &'static [u8],
}

const fn magic(name: &'static str, at: usize, bytes: &'static [u8]) -> Magic {
    Magic { name, at, bytes }
}

pub(super) const SWAP: &str = "swap space";
pub(super) const HIBERNATED: &str = "a hibernated system's memory";
pub(super) const FIRMWARE_RAID: &str = "a member of a firmware RAID";
pub(super) const GPT: &str = "a partition table (GPT)";
const LVM: &str = "an LVM physical volume";
pub(super) const RAID: &str = "a member of a Linux RAID (md)";
const LUKS: &str = "a LUKS encrypted volume";
const OCFS2: &str = "an OCFS2 file system";
const REISERFS: &str = "a ReiserFS file system";
const UFS: &str = "a UFS file system";
const UFS1: u32 = 0x0001_1954;
const UFS2: u32 = 0x1954_0119;

/// Formats that are found by a constant: of file systems, volumes, tables, and images
/// of disks on raw volumes. Offsets are those of the formats' specifications. Magics of two bytes are not in this list: random
/// data would match them, so their formats are checked further.
pub(super) const MAGICS: &[Magic] = &[
    magic("an XFS file system", 0, b"XFSB"),
    magic("a Btrfs file system", 0x1_0040, b"_BHRfS_M"),
    magic("an F2FS file system", 1024, &0xf2f5_2010_u32.to_le_bytes()),
    magic("a NILFS2 file system", 1024, &[2, 0, 0, 0, 0, 0, 0x34, 0x34]),
    magic("an EROFS file system", 1024, &0xe0f5_e1e2_u32.to_le_bytes()),
    magic("a SquashFS file system", 0, b"hsqs"),
    magic("a cramfs file system", 0, &0x28cd_3d45_u32.to_le_bytes()),
    magic("a romfs file system", 0, b"-rom1fs-"),
    magic("a JFS file system", 0x8000, b"JFS1"),
    magic(REISERFS, 0x1_0034, b"ReIsEr"),
    magic(REISERFS, 0x2034, b"ReIsEr"),
    magic("a Reiser4 file system", 0x1_0000, b"ReIsEr4"),
    magic("a GFS2 file system", 0x1_0000, &0x0116_1970_u32.to_be_bytes()),
    magic(OCFS2, 1024, b"OCFSV2"),
    magic(OCFS2, 2048, b"OCFSV2"),
    magic(OCFS2, 4096, b"OCFSV2"),
    magic(OCFS2, 8192, b"OCFSV2"),
    magic("an NTFS file system", 3, b"NTFS    "),
    magic("an exFAT file system", 3, b"EXFAT   "),
    magic("a ReFS file system", 3, b"ReFS\0\0\0\0"),
    magic("a BitLocker encrypted volume", 3, b"-FVE-FS-"),
    magic("an APFS container", 32, b"NXSB"),
    magic("an HFS+ file system", 1024, b"H+\0\x04"),
    magic("an HFS+ file system", 1024, b"HX\0\x05"),
    magic("an ISO 9660 file system", 0x8001, b"CD001"),
    magic("a UDF file system", 0x8001, b"BEA01"),
    magic("a bcachefs or bcache device", 4096 + 24, b"\xc6\x85\x73\xf6"),
    magic("a Ceph BlueStore device", 0, b"bluestore block device"),
    magic("an Oracle ASM disk", 32, b"ORCLDISK"),
    magic("a Stratis pool", 512 + 4, b"!Stra0tis\x86\xff\x02^\x41rh"),
    magic(LUKS, 0, b"LUKS\xba\xbe"),
    magic(LUKS, 0x4000, b"SKUL\xba\xbe"),
    magic("a dm-integrity volume", 0, b"integrt\0"),
    magic("a dm-verity volume", 0, b"verity\0\0"),
    magic("a VDO volume", 0, b"dmvdo001"),
    magic("an LVM snapshot", 0, b"SnAp"),
    magic(RAID, 0, &0xa92b_4efc_u32.to_le_bytes()),
    magic(RAID, 4096, &0xa92b_4efc_u32.to_le_bytes()),
    magic(LVM, 0, b"LABELONE"),
    magic(LVM, 512, b"LABELONE"),
    magic(LVM, 1024, b"LABELONE"),
    magic(LVM, 1536, b"LABELONE"),
    magic(GPT, 512, b"EFI PART"),
    magic(GPT, 4096, b"EFI PART"),
    magic("a VMFS volume", 1 << 20, &0xc001_d00d_u32.to_le_bytes()),
    magic("a VMFS file system", 2 << 20, &0x2fab_f15e_u32.to_le_bytes()),
    magic(UFS, 1372, &UFS1.to_le_bytes()),
    magic(UFS, 8192 + 1372, &UFS1.to_le_bytes()),
    magic(UFS, 8192 + 1372, &UFS1.to_be_bytes()),
    magic(UFS, 1372, &UFS2.to_le_bytes()),
    magic(UFS, 0x1_0000 + 1372, &UFS2.to_le_bytes()),
    magic(UFS, 0x1_0000 + 1372, &UFS2.to_be_bytes()),
    magic(UFS, 0x4_0000 + 1372, &UFS2.to_le_bytes()),
    magic(UFS, 0x4_0000 + 1372, &UFS2.to_be_bytes()),
    magic("a VxFS file system", 1024, &0xa501_fcf5_u32.to_le_bytes()),
    magic("a VxFS file system", 8192, &0xa501_fcf5_u32.to_be_bytes()),
    magic("a zonefs file system", 0, b"SFOZ"),
    magic("a UBI device", 0, b"UBI#"),
    magic("a UBIFS file system", 0, &0x0610_1831_u32.to_le_bytes()),
    magic("an NSS pool", 4096, b"SPB5"),
    magic("a BFS file system", 0, &0x1bad_face_u32.to_le_bytes()),
    magic("a System V file system", 512 + 504, &0xfd18_7e20_u32.to_le_bytes()),
    magic("a System V file system", 512 + 504, &0xfd18_7e20_u32.to_be_bytes()),
    magic("a SquashFS file system", 0, b"sqsh"),
    magic("a cramfs file system", 0, &0x28cd_3d45_u32.to_be_bytes()),
    magic("an ISO 9660 file system", 0x8009, b"CDROM"),
    magic("an AIX disk label", 0, b"\xc9\xc2\xd4\xc1"),
    magic("an LVM1 physical volume", 0, b"HM\x01\0"),
    magic("an LVM1 physical volume", 0, b"HM\x02\0"),
    magic(HIBERNATED, 0, b"\xed\xc3\x02\xe9\x98\x56\xe5\x0c"),
    magic("a DRBD proxy log", 0, b"DRBDdlh*"),
    magic(FIRMWARE_RAID, 9 * 512 + 32, &0x5a78_16f0_u32.to_le_bytes()),
    magic(FIRMWARE_RAID, 9 * 512 + 32, &0x5a78_16fd_u32.to_le_bytes()),
    magic("a disk image (qcow2)", 0, b"QFI\xfb"),
    magic("a disk image (QED)", 0, b"QED\0"),
    magic("a disk image (VMDK)", 0, b"KDMV"),
    magic("a disk image (VMDK)", 0, b"COWD"),
    magic("a disk image (VMDK)", 0, b"# Disk DescriptorFile"),
    magic("a disk image (VHDX)", 0, b"vhdxfile"),
    magic("a disk image (VHD)", 0, b"conectix"),
    magic("a disk image (VDI)", 64, &0xbeda_107f_u32.to_le_bytes()),
    magic("a disk image (Parallels)", 0, b"WithoutFreeSpace"),
    magic("a disk image (Parallels)", 0, b"WithouFreSpacExt"),
    magic("a BSD disk label", 512, &0x8256_4557_u32.to_le_bytes()),
    magic("an Apple partition map", 512, b"PM\0\0"),
];
