//! Stored results from files: ours and fio's.

use iosonde_result::StoredResult;
use std::fs::File;
use std::io::Read;

/// The result in a file; `-` is standard input.
///
/// # Errors
/// A sentence that fits after the file's name and a colon.
pub fn read(file: &str) -> Result<StoredResult, String> {
    read_text(file).map(|(_, stored)| stored)
}

/// The same with the text that it was read from.
///
/// # Errors
/// As of [`read`].
pub fn read_text(file: &str) -> Result<(String, StoredResult), String> {
    /// Results of ten thousand jobs with all latency bins are smaller, and /dev/zero
    /// never ends.
    const MOST: u64 = 1 << 30;
    let mut bytes = Vec::new();
    match file {
        "-" => std::io::stdin().take(MOST + 1).read_to_end(&mut bytes),
        path => File::open(path).and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes)),
    }
    .map_err(|error| format!("cannot read it: {error}"))?;
    if bytes.len() as u64 > MOST {
        return Err("it is longer than 1 GiB, so it is not a result".to_owned());
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not text, so it is not a result")?;
    let stored = iosonde_result::read(&text).map_err(|error| error.to_string())?;
    Ok((text, stored))
}
