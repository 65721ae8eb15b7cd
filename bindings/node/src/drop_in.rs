//! The ten exports of `@ronomon/direct-io` 3.0.1: five numbers, then five
//! functions without a name, in its order and with its texts.

use std::rc::Rc;

use iosonde_direct::{Device, Fact};
use napi::bindgen_prelude::{FunctionCallContext, JsObjectValue, Object, ToNapiValue, Unknown};
use napi::{Env, JsValue, Result};

use crate::arguments::{function, integer, throw};
use crate::edge::{self, Held, Returned, error};
use crate::memory::Memory;
use crate::platform::{self, FLAGS, Setter};

const ALIGNMENT_BYTES_MIN: usize = 8;
const ALIGNMENT_BYTES_MAX: usize = 4 << 20;

/// What `getBlockDevice` calls back with.
pub(crate) struct BlockDevice {
    pub logical_sector_bytes: u32,
    pub physical_sector_bytes: u32,
    pub bytes: u64,
    /// Empty if the device has none.
    pub serial: String,
}

/// The object that `require` gives.
pub(crate) fn exports<'env>(env: &'env Env, memory: &Rc<Memory>) -> Result<Object<'env>> {
    let mut exports = Object::new(env)?;
    for (name, flag) in FLAGS {
        exports.set_named_property(name, flag)?;
    }
    let mut method = |name: &str, body: Body| -> Result<()> {
        exports.set_named_property(
            name,
            env.create_function_from_closure::<(), Returned, _>("", body)?,
        )
    };
    let memory = Rc::clone(memory);
    method("getAlignedBuffer", Box::new(move |call| aligned_buffer(&call, &memory)))?;
    method("getBlockDevice", Box::new(|call| block_device(&call)))?;
    for (name, setter) in platform::SETTERS {
        method(name, Box::new(move |call| set(&call, setter)))?;
    }
    Ok(exports)
}

type Body = Box<dyn Fn(FunctionCallContext) -> Result<Returned>>;

fn aligned_buffer(call: &FunctionCallContext, memory: &Memory) -> Result<Returned> {
    let (2, Some(bytes), Some(alignment)) = (call.length(), integer(call, 0), integer(call, 1))
    else {
        return throw(call.env, "bad arguments, expected: (size, alignment)");
    };
    let (bytes, alignment) = (bytes as usize, alignment as usize);
    match refusal(bytes, alignment) {
        Some(text) => throw(call.env, text),
        None => match memory.buffer(call.env, bytes, alignment) {
            Ok(buffer) => Ok(buffer.into()),
            Err(_) => throw(call.env, "insufficient memory"),
        },
    }
}

/// Why there is no such buffer, in the original's order.
pub(crate) fn refusal(bytes: usize, alignment: usize) -> Option<&'static str> {
    if bytes == 0 {
        Some("size must not be 0")
    } else if alignment == 0 {
        Some("alignment must not be 0")
    } else if !alignment.is_power_of_two() {
        Some("alignment must be a power of 2")
    } else if alignment < ALIGNMENT_BYTES_MIN {
        Some("alignment must be at least 8 bytes")
    } else if alignment > ALIGNMENT_BYTES_MAX {
        Some("alignment must be at most 4194304 bytes")
    } else {
        None
    }
}

fn block_device(call: &FunctionCallContext) -> Result<Returned> {
    let (2, Some(fd), Some(callback)) = (call.length(), integer(call, 0), function(call, 1)) else {
        return throw(call.env, "bad arguments, expected: (fd, callback)");
    };
    let file = Held::of(fd);
    let ask = move || match file {
        Ok(file) => platform::block_device(file.file()),
        Err(_) => Err(platform::NOT_OPEN),
    };
    edge::queue(call.env, callback, ask, |env, device| match device {
        Ok(device) => Ok(vec![().into_unknown(env)?, device.object(env)?]),
        Err(text) => Ok(vec![error(env, text)?]),
    })?;
    Returned::nothing(call.env)
}

impl BlockDevice {
    /// Of the two that are known of it. Spaces around a serial are padding.
    pub(crate) fn of(device: &Device, serial: &Fact<String>) -> BlockDevice {
        BlockDevice {
            logical_sector_bytes: device.logical_sector,
            physical_sector_bytes: device.physical_sector,
            bytes: device.bytes,
            serial: serial.known().map_or("", |serial| serial.trim_matches(' ')).to_owned(),
        }
    }

    fn object<'env>(&self, env: &'env Env) -> Result<Unknown<'env>> {
        let mut object = Object::new(env)?;
        object.set_named_property("logicalSectorSize", self.logical_sector_bytes)?;
        object.set_named_property("physicalSectorSize", self.physical_sector_bytes)?;
        // A Number, as ever: exact up to 8 PiB.
        object.set_named_property("size", self.bytes as f64)?;
        object.set_named_property("serialNumber", self.serial.as_str())?;
        Ok(object.to_unknown())
    }
}

fn set(call: &FunctionCallContext, setter: Setter) -> Result<Returned> {
    let act = match setter {
        Setter::Here(act) => act,
        // Before any look at the arguments.
        Setter::Elsewhere(text) => return throw(call.env, text),
    };
    let (3, Some(fd), Some(value @ (0 | 1)), Some(callback)) =
        (call.length(), integer(call, 0), integer(call, 1), function(call, 2))
    else {
        return throw(call.env, "bad arguments, expected: (fd, value=0/1, callback)");
    };
    let file = Held::of(fd);
    let set = move || match file {
        Ok(file) => act(Ok(file.file()), value == 1),
        Err(error) => act(Err(error), value == 1),
    };
    edge::queue(call.env, callback, set, |env, done| match done {
        Ok(()) => Ok(vec![().into_unknown(env)?]),
        Err(text) => Ok(vec![error(env, text)?]),
    })?;
    Returned::nothing(call.env)
}
