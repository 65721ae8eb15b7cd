//! Job files from the disk, as far as they can be any.

use iosonde_spec::text::include::{DiskJobFiles, JobFiles};
use std::fs::File;
use std::io::{self, Error, ErrorKind, Read};
use std::path::Path;

/// Job files on the disk. What cannot be a job file is refused before it is
/// read: devices, directories, binary data.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckedJobFiles;

/// Looked at to tell text from data.
const HEAD_BYTES: u64 = 4096;

impl JobFiles for CheckedJobFiles {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        if path != "-" {
            let kind = iosonde_sys::files::status(path)?.file_type();
            if kind.is_block_device() || kind.is_char_device() {
                return Err(refused(
                    "it is a device and no job file; for a test of it use \
                     --name=NAME --filename=DEVICE",
                ));
            }
            if kind.is_dir() {
                return Err(refused("it is a directory and no job file"));
            }
            if kind.is_file() && is_binary(path)? {
                return Err(refused(
                    "it contains binary data and is no job file; for a test of \
                     it use --name=NAME --filename=FILE",
                ));
            }
        }
        DiskJobFiles.read(path)
    }
}

fn refused(reason: &str) -> Error {
    Error::new(ErrorKind::InvalidData, reason)
}

/// Whether a file may be a job file: text, as far as its beginning shows. A
/// file that cannot be read may be one: the error is reported later.
pub fn is_text(path: &Path) -> bool {
    !is_binary(path).unwrap_or(false)
}

fn is_binary(path: impl AsRef<Path>) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head.contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_and_devices_are_not_read_as_job_files() {
        let path = std::env::temp_dir().join(format!("iosonde-job-file-{}", std::process::id()));
        let text = path.to_str().unwrap();
        std::fs::write(&path, [b'a', 0, b'b']).unwrap();
        let binary = CheckedJobFiles.read(text);
        std::fs::write(&path, "[job]\nrw=read\n").unwrap();
        let job_file = CheckedJobFiles.read(text);
        std::fs::remove_file(&path).unwrap();
        assert!(binary.unwrap_err().to_string().contains("binary data"));
        assert_eq!(job_file.unwrap(), b"[job]\nrw=read\n");
        assert!(CheckedJobFiles.read("/dev/null").unwrap_err().to_string().contains("is a device"));
        assert!(CheckedJobFiles.read("/").unwrap_err().to_string().contains("a directory"));
    }
}
