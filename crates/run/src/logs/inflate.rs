//! `--inflate-log`: the text of a compressed log.

use flate2::bufread::ZlibDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

/// Write the text of the compressed log at `path` to `out`.
///
/// # Errors
/// Those of the file and of `out`; `InvalidData` for what is no log of ours.
pub fn inflate(path: &Path, out: &mut dyn Write) -> io::Result<()> {
    let mut file = BufReader::new(File::open(path)?);
    let mut text = vec![0; 1 << 16];
    while !file.fill_buf()?.is_empty() {
        // A stream for each time that the log was written.
        let mut stream = ZlibDecoder::new(&mut file);
        loop {
            let n = stream.read(&mut text)?;
            if n == 0 {
                break;
            }
            let is_text = |&byte: &u8| byte == b'\n' || (b' '..=b'~').contains(&byte);
            if !text[..n].iter().all(is_text) {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "it holds binary records, as fio's own compressed logs do: \
                     inflate it with the fio that wrote it",
                ));
            }
            out.write_all(&text[..n])?;
        }
    }
    out.flush()
}
