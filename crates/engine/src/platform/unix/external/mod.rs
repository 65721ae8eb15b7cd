//! external: engines from shared objects, by include/iosonde_engine.h.
//!
//! What an object says is looked at before it is believed, as far as that is
//! possible with code that runs within the program; the first thing that
//! cannot be so ends the job.
#![allow(unsafe_code)]

mod abi;
mod object;
mod queued;

use super::{always, shared_one_shot};
use crate::engines::external_settings::ExternalSettings;
use crate::{Accounting, Caps, EngineDef, EngineError, Io, Loop, OneShot, OpenWith, Opened};
use iosonde_base::{Errno, FileId, Op};
use object::Object;
use std::cell::Cell;
use std::ffi::{CString, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// What the job stops with when an object does what it must not.
const BROKEN: Errno = Errno::EPROTO;

/// What is known of a loaded object.
struct Loaded {
    object: &'static Object,
    def: &'static EngineDef,
}

/// The engine in the shared object at `path`, loaded once and for good.
///
/// # Errors
/// Where it cannot be loaded, or is not an engine for us.
pub(crate) fn external(path: &str) -> Result<&'static EngineDef, EngineError> {
    loaded(path, |loaded| loaded.def)
}

fn loaded<T>(path: &str, pick: impl FnOnce(&Loaded) -> T) -> Result<T, EngineError> {
    static LOADED: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());
    let mut all = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(one) = all.iter().find(|one| one.object.path == path) {
        return Ok(pick(one));
    }
    let object = Box::leak(Box::new(Object::load(String::from(path).leak())?));
    let one = Loaded { object, def: Box::leak(Box::new(definition(object))) };
    let picked = pick(&one);
    all.push(one);
    Ok(picked)
}

/// The line of the catalogue that an object amounts to.
fn definition(object: &'static Object) -> EngineDef {
    let alone = object.has(abi::SYNCHRONOUS);
    EngineDef {
        name: format!("external:{}", object.name).leak(),
        aliases: &[],
        summary: "an engine from a shared object",
        doc: object.about.unwrap_or("An engine from a shared object."),
        caps: Caps {
            sync: alone,
            diskless: object.has(abi::OWN_FILES),
            trim: object.has(abi::TRIMS),
            trims_files: true,
            slat: !alone,
            ..Caps::NONE
        },
        options: None,
        offload: None,
        available: always,
        open: if alone { open_alone } else { queued::open },
    }
}

fn open_alone(with: &OpenWith, accounting: Accounting) -> Result<Box<dyn Loop>, EngineError> {
    let link = Link::open(with)?;
    Ok(shared_one_shot(ExternalOneShot { link, ios: 0 }, accounting))
}

/// One job's use of an object.
struct Link {
    object: &'static Object,
    context: *mut c_void,
    /// Of each file, what the object gave when it was opened.
    files: Vec<Option<*mut c_void>>,
    names: Vec<CString>,
    /// Why nothing that the object says can be believed any more.
    broken: Cell<Option<&'static str>>,
}

impl Link {
    fn open(with: &OpenWith) -> Result<Link, EngineError> {
        let ExternalSettings { path, names } = with.settings.of();
        let object = loaded(&path, |loaded| loaded.object)?;
        let mut link = Link {
            object,
            context: ptr::null_mut(),
            files: vec![None; with.files as usize],
            names: names.iter().map(|name| c_text(name)).collect(),
            broken: Cell::new(None),
        };
        let job = abi::Job {
            size: size_of::<abi::Job>() as u32,
            depth: with.depth,
            files: with.files,
            reserved: 0,
            memory: with.memory.0.cast(),
            memory_bytes: with.memory.1 as u64,
        };
        if let Some(open) = object.open {
            let mut context = ptr::null_mut();
            // SAFETY: both structures outlive the call, and the memory the
            // engine, as `OpenWith` promises.
            let said = unsafe { open(&job, &mut context) };
            if said != 0 {
                let error = link.refusal("open", said);
                // What was not opened is not closed.
                link.object = &UNOPENED;
                return Err(error);
            }
            link.context = context;
        }
        Ok(link)
    }

    /// A return value that is not 0.
    fn refusal(&self, call: &str, said: c_int) -> EngineError {
        let path = self.object.path;
        match error_number(said.into()) {
            None => EngineError {
                message: format!("{path} returns {said} from {call}, which is not an errno"),
                help: None,
                errno: BROKEN,
            },
            Some(errno) => {
                let words =
                    self.words(errno).map_or_else(String::new, |words| format!(": {words}"));
                EngineError { message: format!("{path}{words}"), help: None, errno }
            }
        }
    }

    /// The object's own words for an error.
    fn words(&self, errno: Errno) -> Option<&'static str> {
        let error_text = self.object.error_text?;
        // SAFETY: the context is what `open` gave, or null before that.
        let words = object::text(unsafe { error_text(self.context, errno.0) })?;
        if words.is_empty() { None } else { object::keep(words) }
    }

    /// As [`OneShot::explain`].
    fn explain(&self, errno: Errno) -> Option<&'static str> {
        self.broken.get().or_else(|| self.words(errno))
    }

    /// From now on nothing is believed.
    #[cold]
    fn break_off(&self, why: &str) -> Errno {
        if self.broken.get().is_none() {
            let why = format!("{} {why}", self.object.path);
            self.broken.set(Some(object::keep(why).unwrap_or("the external engine is broken")));
        }
        BROKEN
    }

    /// Hand one I/O over: what was said, and the result that goes with DONE.
    fn offer(&self, io: &Io, id: u64) -> (c_int, i64) {
        let context = self.files.get(io.file.0 as usize).copied().flatten();
        let handed = abi::AbiIo {
            size: size_of::<abi::AbiIo>() as u32,
            op: io.op as u32,
            id,
            offset: io.offset,
            length: io.len.into(),
            buffer: io.buffer.cast(),
            file: io.file.0,
            fd: io.fd,
            file_context: context.unwrap_or(ptr::null_mut()),
        };
        let mut result = 0;
        // SAFETY: both outlive the call; `Io` promises the buffer until the
        // completion is handed back.
        let said = unsafe { (self.object.queue)(self.context, &handed, &mut result) };
        (said, result)
    }

    /// What came of an I/O of `len` bytes.
    fn judge(&self, result: i64, len: u32) -> Result<u32, Errno> {
        match u32::try_from(result) {
            Ok(moved) if moved <= len => Ok(moved),
            _ if result >= 0 => {
                Err(self.break_off(&format!("moved {result} bytes where {len} were asked")))
            }
            _ => Err(error_number(result).unwrap_or_else(|| {
                self.break_off(&format!("ended an I/O with {result}, which is not an errno"))
            })),
        }
    }

    fn opened(&mut self, file: &Opened) -> Result<(), Errno> {
        let index = file.file.0 as usize;
        if self.files[index].is_some() {
            return Ok(());
        }
        let mut context = ptr::null_mut();
        if let Some(open_file) = self.object.open_file {
            let file = abi::File {
                size: size_of::<abi::File>() as u32,
                index: file.file.0,
                fd: file.fd,
                writes: file.writes.into(),
                bytes: file.bytes,
                name: self.names.get(index).map_or(c"".as_ptr(), |name| name.as_ptr()),
            };
            // SAFETY: the structure, its text and the context's place outlive
            // the call.
            let said = unsafe { open_file(self.context, &file, &mut context) };
            if said != 0 {
                return Err(error_number(said.into()).unwrap_or_else(|| {
                    self.break_off(&format!("returns {said} from open_file, which is not an errno"))
                }));
            }
        }
        self.files[index] = Some(context);
        Ok(())
    }

    fn closing(&mut self, file: FileId) {
        let context = self.files.get_mut(file.0 as usize).and_then(Option::take);
        if let (Some(context), Some(close_file)) = (context, self.object.close_file) {
            // SAFETY: the context of the file is what `open_file` gave, and is
            // given back once.
            unsafe { close_file(self.context, file.0, context) };
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        for file in 0..self.files.len() as u32 {
            self.closing(FileId(file));
        }
        if let Some(close) = self.object.close {
            // SAFETY: the context is what `open` gave, and this is its last use.
            unsafe { close(self.context) };
        }
    }
}

/// An errno, if it is minus one.
fn error_number(said: i64) -> Option<Errno> {
    (-4095..0).contains(&said).then(|| Errno(-said as i32))
}

/// As C has it. A name with a zero in it cannot be one of a file.
fn c_text(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

/// What stands in for an object that did not open: nothing to call.
static UNOPENED: Object = Object {
    path: "",
    name: "",
    about: None,
    flags: 0,
    queue: refuse,
    open: None,
    close: None,
    open_file: None,
    close_file: None,
    commit: None,
    getevents: None,
    cancel: None,
    error_text: None,
};

unsafe extern "C" fn refuse(_: *mut c_void, _: *const abi::AbiIo, _: *mut i64) -> c_int {
    -libc::ENXIO
}

/// An engine that does one thing at a time.
struct ExternalOneShot {
    link: Link,
    ios: u64,
}

impl OneShot for ExternalOneShot {
    fn syncs(&self) -> bool {
        self.link.object.has(abi::SYNCS)
    }

    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        if self.link.broken.get().is_some() {
            return Err(BROKEN);
        }
        self.ios += 1;
        let (said, result) = self.link.offer(io, self.ios);
        match said {
            abi::DONE => self.link.judge(result, io.len),
            _ => Err(error_number(said.into()).unwrap_or_else(|| {
                self.link.break_off(&format!(
                    "is IOSONDE_SYNCHRONOUS and says {said} to queue, neither IOSONDE_DONE nor an errno"
                ))
            })),
        }
    }

    fn opened(&mut self, file: &Opened) -> Result<(), Errno> {
        self.link.opened(file)
    }

    fn closing(&mut self, file: FileId) {
        self.link.closing(file);
    }

    fn explain(&self, _: Op, errno: Errno) -> Option<&'static str> {
        self.link.explain(errno)
    }

    fn broken(&self) -> Option<&'static str> {
        self.link.broken.get()
    }
}
