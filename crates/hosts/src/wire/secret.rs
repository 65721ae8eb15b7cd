//! The secret that servers and their clients share, from a file.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Shorter ones are words that somebody thought of, which a recorded connection lets others
/// try out at leisure.
const BYTES_LEAST: usize = 32;
const BYTES_MOST: u64 = 4096;
/// What makes the key from the secret is for this use alone.
const PURPOSE: &[u8] = b"iosonde server and client, 1\0";

/// A key that both ends have.
#[derive(Clone)]
pub struct Secret([u8; 32]);

impl Secret {
    /// Read it: what stands in the file, without spaces and ends of lines around it.
    ///
    /// # Errors
    /// The file cannot be read, others can read it, or it holds too little: a sentence.
    pub fn read(path: &Path) -> Result<Secret, String> {
        let name = path.display();
        let failed = |error: std::io::Error| format!("cannot read the secret {name}: {error}");
        let file = File::open(path).map_err(failed)?;
        let mode = iosonde_sys::files::status_of(&file).map_err(failed)?.mode();
        if mode & 0o007 != 0 {
            return Err(format!("the secret {name} can be read by all users: chmod 600 {name}"));
        }
        let mut text = Vec::new();
        file.take(BYTES_MOST + 1).read_to_end(&mut text).map_err(failed)?;
        Secret::of(&text).map_err(|why| format!("the secret {name} {why}"))
    }

    /// The key of a file's content.
    fn of(text: &[u8]) -> Result<Secret, String> {
        let text = text.trim_ascii();
        if text.len() as u64 > BYTES_MOST {
            return Err(format!("is longer than {BYTES_MOST} bytes"));
        }
        if text.len() < BYTES_LEAST {
            return Err(format!(
                "has {} of at least {BYTES_LEAST} bytes: make one with openssl rand -hex 32",
                text.len()
            ));
        }
        Ok(Secret(Sha256::new().chain_update(PURPOSE).chain_update(text).finalize().into()))
    }

    pub(super) fn key(&self) -> &[u8; 32] {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_secret_is_what_its_file_holds_if_others_cannot_read_it() {
        let folder = Folder::new("secret");
        let path = folder.join("s");
        let read = |text: &str, mode: u32| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            Secret::read(&path).map(|secret| *secret.key())
        };
        let text = "0123456789abcdef0123456789abcdef";
        let own = read(text, 0o600);
        assert_eq!(read(&format!(" {text}\n"), 0o440), own);
        assert_ne!(read(&format!("{text}0"), 0o600), own);
        for (text, mode, words) in [
            (text, 0o604, "can be read by all users: chmod 600"),
            ("short\n", 0o600, "has 5 of at least 32 bytes: make one with"),
            ("", 0o600, "has 0 of"),
            (&"x".repeat(5000), 0o600, "is longer than 4096 bytes"),
        ] {
            let why = read(text, mode).unwrap_err();
            assert!(why.contains(words), "{why}");
        }
        assert!(Secret::read(&folder.join("none")).unwrap_err().contains("cannot read"));
    }
}
