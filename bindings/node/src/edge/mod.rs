//! Where Node-API and descriptors by number ask for `unsafe`: memory that
//! JavaScript holds, tasks on Node's pool of threads, files of the caller's.
#![allow(unsafe_code)]

mod buffer;
mod held;
mod lent;
mod operations;
mod returned;
mod task;

pub(crate) use buffer::{
    Bytes, External, address, detach, drop_with, external, forget_exception, whole,
};
pub(crate) use held::Held;
pub(crate) use lent::Lent;
pub(crate) use operations::operations_in_flight;
pub(crate) use returned::{Returned, error};
pub(crate) use task::queue;
