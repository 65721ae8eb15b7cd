//! A shared object that holds an engine: loading it, and believing nothing of
//! it that can be looked at first.

use super::abi::{self, Exported};
use crate::EngineError;
use iosonde_base::Errno;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::collections::BTreeSet;
use std::ffi::c_char;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// What an object exports.
const SYMBOL: &[u8] = b"iosonde_engine\0";
/// What an engine of fio exports, or a function that gives it, which ends so.
const SYMBOL_OF_FIO: &[u8] = b"ioengine\0";
/// Of an object's texts, no more is read than this.
const TEXT_BYTES: usize = 400;
/// Texts that are kept for good; later ones are left out.
const TEXTS: usize = 1000;

/// A loaded engine. Its code stays for as long as the program runs.
pub(super) struct Object {
    /// As it was asked for.
    pub path: &'static str,
    pub name: &'static str,
    pub about: Option<&'static str>,
    pub flags: u64,
    pub queue: abi::Queue,
    pub open: Option<abi::OpenCall>,
    pub close: Option<abi::CloseCall>,
    pub open_file: Option<abi::OpenFile>,
    pub close_file: Option<abi::CloseFile>,
    pub commit: Option<abi::Commit>,
    pub getevents: Option<abi::GetEvents>,
    pub cancel: Option<abi::Cancel>,
    pub error_text: Option<abi::ErrorText>,
}

impl Object {
    /// Load what lies at `path`. A name without a slash is one of this
    /// directory, not of the loader's.
    pub(super) fn load(path: &'static str) -> Result<Object, EngineError> {
        let place = if path.contains('/') { path.to_owned() } else { format!("./{path}") };
        let bytes = read(Path::new(&place)).map_err(|error| EngineError {
            help: None,
            ..EngineError::system(&format!("cannot load {path}"), error)
        })?;
        if bytes.starts_with(b"\x7fELF") {
            // Before the loader runs any code of it: an engine of fio needs
            // fio around it, and ends the program where that is not there.
            exports_it(&bytes).map_err(|why| refused(path, &why))?;
        }
        // SAFETY: loading runs the object's initializers, and what they do is
        // the user's doing: he named the object so that its code be run.
        let library = unsafe { Library::open(Some(&place), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(|error| refused(path, &loader_says(&error)))?;
        // SAFETY: the symbol is only looked at as bytes, by `Exported::checked`,
        // which asks for the first ones before it believes in the rest.
        let exported = unsafe { library.get::<*const Exported>(SYMBOL) };
        let exported = exported.map_err(|error| refused(path, &loader_says(&error)))?.into_raw();
        // Its code and data stay where they are.
        std::mem::forget(library);
        checked(exported.cast_const().cast())
            .and_then(|exported| Object::of(path, exported))
            .map_err(|why| refused(path, &why))
    }

    fn of(path: &'static str, exported: Exported) -> Result<Object, String> {
        let name = text(exported.name).ok_or("its name is null")?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > 32 || !name.chars().all(is_plain) {
            return Err(format!(
                "its name, {name:?}, is not 1 to 32 letters, digits, hyphens and underscores"
            ));
        }
        let unknown = exported.flags & !abi::FLAGS;
        if unknown != 0 {
            return Err(format!("it sets flags that this iosonde does not know: {unknown:#x}"));
        }
        let has = |flag| exported.flags & flag != 0;
        if !has(abi::SYNCHRONOUS) && exported.getevents.is_none() {
            return Err("getevents is null, and it is not IOSONDE_SYNCHRONOUS".to_owned());
        }
        if has(abi::OWN_FILES) && exported.open_file.is_none() {
            return Err("open_file is null, and its files are IOSONDE_OWN_FILES".to_owned());
        }
        Ok(Object {
            path,
            name: keep(name).unwrap_or("external"),
            about: text(exported.about).and_then(keep),
            flags: exported.flags,
            queue: exported.queue.ok_or("queue is null")?,
            open: exported.open,
            close: exported.close,
            open_file: exported.open_file,
            close_file: exported.close_file,
            commit: exported.commit,
            getevents: exported.getevents,
            cancel: exported.cancel,
            error_text: exported.error_text,
        })
    }

    /// Whether it sets this flag.
    pub(super) fn has(&self, flag: u64) -> bool {
        self.flags & flag != 0
    }
}

fn refused(path: &str, why: &str) -> EngineError {
    EngineError { message: format!("cannot use {path}: {why}"), help: None, errno: Errno::ELIBBAD }
}

/// All of a regular file.
fn read(path: &Path) -> Result<Vec<u8>, Errno> {
    let facts = std::fs::metadata(path)?;
    if facts.is_dir() {
        return Err(Errno::EISDIR);
    }
    /// No object is larger.
    const MOST: u64 = 1 << 30;
    if !facts.is_file() || facts.len() > MOST {
        // To read a pipe would be to wait.
        return Err(Errno::ENOEXEC);
    }
    Ok(std::fs::read(path)?)
}

/// Whether the names in the object are those of an engine for us.
fn exports_it(bytes: &[u8]) -> Result<(), String> {
    let names = |name: &[u8]| bytes.windows(name.len()).any(|window| window == name);
    if names(SYMBOL) {
        return Ok(());
    }
    Err(if names(SYMBOL_OF_FIO) {
        "it is built for fio's internal interface, and must be rebuilt against \
         iosonde_engine.h"
            .to_owned()
    } else {
        "it does not export iosonde_engine (see iosonde_engine.h)".to_owned()
    })
}

/// The loader's own words, without the number of our call.
fn loader_says(error: &libloading::Error) -> String {
    use std::error::Error;
    let words = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    words.replace('\n', " ")
}

/// The structure, once its first bytes say what it is.
fn checked(start: *const u8) -> Result<Exported, String> {
    if start.is_null() {
        return Err("iosonde_engine is null".to_owned());
    }
    if !start.cast::<Exported>().is_aligned() {
        return Err("iosonde_engine is no structure of iosonde_engine.h".to_owned());
    }
    let word = |at: usize| {
        // SAFETY: what an object exports lies in a mapped page of it, where 8
        // aligned bytes are whole; the next 8 are looked at only once the first
        // say that a structure of the interface begins here.
        unsafe { start.add(at).cast::<u64>().read() }
    };
    if word(0) != abi::MAGIC {
        return Err("iosonde_engine is no structure of iosonde_engine.h".to_owned());
    }
    let bytes = word(8).to_ne_bytes();
    let half =
        |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let (number, size) = (half(0), half(4));
    if number != abi::ABI {
        return Err(format!(
            "it is built for interface {number}, and this iosonde has {}",
            abi::ABI
        ));
    }
    if (size as usize) < size_of::<Exported>() {
        return Err(format!(
            "it says that iosonde_engine has {size} bytes, which are {} at least",
            size_of::<Exported>()
        ));
    }
    // SAFETY: it is aligned, and by its own word as long as what is read. A
    // function pointer that is not null is believed, as all C code must be.
    Ok(unsafe { start.cast::<Exported>().read() })
}

/// A text of an object, on one line; none for a null pointer.
pub(super) fn text(start: *const c_char) -> Option<String> {
    if start.is_null() {
        return None;
    }
    let mut bytes = Vec::new();
    for at in 0..TEXT_BYTES {
        // SAFETY: the interface says that a text ends with a zero, and nothing
        // is read after that.
        match unsafe { start.add(at).read() } {
            0 => break,
            byte => bytes.push(byte as u8),
        }
    }
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    Some(String::from_utf8_lossy(&bytes).chars().map(plain).collect())
}

/// A text for good; none where there are too many.
pub(super) fn keep(text: String) -> Option<&'static str> {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = kept.get(text.as_str()) {
        return Some(text);
    }
    if kept.len() >= TEXTS {
        return None;
    }
    let text = &*text.leak();
    kept.insert(text);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_line_and_ends_somewhere() {
        assert_eq!(text(std::ptr::null()), None);
        assert_eq!(text(c"two\nlines".as_ptr()).unwrap(), "two lines");
        let endless = [b'a'; 5000].map(|byte| byte as c_char);
        assert_eq!(text(endless.as_ptr()).unwrap().len(), TEXT_BYTES);
    }

    #[test]
    fn the_names_in_an_object_say_whom_it_is_for() {
        assert!(exports_it(b"\0iosonde_engine\0").is_ok());
        assert!(exports_it(b"\0get_ioengine\0").unwrap_err().contains("fio's internal interface"));
        assert!(exports_it(b"\0main\0").unwrap_err().contains("does not export"));
    }
}
