//! Sets the linker flags of a Node addon.

use std::env;

fn main() {
    // There the flags are a library to import from; all is looked up at run time.
    let is_mingw = env::var("TARGET").is_ok_and(|target| target.ends_with("-windows-gnu"));
    if !is_mingw {
        napi_build::setup();
    }
}
