//! `iosonde-direct` for Node. The addon exports two objects: `dropIn`, which is
//! what `@ronomon/direct-io` exports, and `more`, which `promises.js` wraps.
//! What is known of files and devices is known by `iosonde-direct`; here it is
//! only carried over.

mod arguments;
mod drop_in;
mod edge;
mod facts;
mod failure;
mod memory;
mod more;
mod platform;
mod pool;
mod transfer;
mod tree;

use napi::bindgen_prelude::{JsObjectValue, Object};
use napi::{Env, Result};
use napi_derive::napi;

/// Called once for each thread that loads the addon.
#[napi(module_exports)]
pub fn exports(mut exports: Object, env: Env) -> Result<()> {
    let memory = memory::Memory::new(&env)?;
    exports.set_named_property("dropIn", drop_in::exports(&env, &memory)?)?;
    exports.set_named_property("more", more::exports(&env, &memory)?)?;
    Ok(())
}
