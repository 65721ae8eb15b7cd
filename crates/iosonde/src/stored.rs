//! Stored results from files: ours and fio's.

use iosonde_result::StoredResult;
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
    let mut bytes = Vec::new();
    match file {
        "-" => std::io::stdin().read_to_end(&mut bytes).map(drop),
        path => std::fs::read(path).map(|read| bytes = read),
    }
    .map_err(|error| format!("cannot read it: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|_| "it is not text, so it is not a result")?;
    let stored = iosonde_result::read(&text).map_err(|error| error.to_string())?;
    Ok((text, stored))
}
