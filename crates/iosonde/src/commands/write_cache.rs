//! `iosonde write-cache DEVICE`: what the kernel takes a write cache for, and
//! changing that, for good or around a job. docs/tools.md tells all.

mod around;
mod ask;
mod device;
mod table;
mod tell;
mod work;

use crate::exit;
use crate::output::{complain, say};
use ask::{Act, Wish};
use device::Switch;
use iosonde_direct::WriteCache;
use serde_json::Value;
use std::path::Path;
use tell::Change;

/// Do what the arguments ask.
pub fn run(arguments: &[String]) -> u8 {
    let ask = match ask::read(arguments) {
        Ok(Wish::Help) => {
            say(ask::HELP);
            return exit::OK;
        }
        Ok(Wish::Do(ask)) => ask,
        Err(why) => return refuse(&why),
    };
    let path = &ask.path;
    let done = match ask.act {
        Act::Show => device::below(path).map(|(stack, disks)| match ask.json {
            true => document(&tell::all_document(path, &disks)),
            false => tell::all(path, &stack, &disks),
        }),
        Act::WouldSet(view) => would_set(path, view).map(|change| change_told(&change, &ask)),
        Act::Set(view) => set(path, view).map(|change| change_told(&change, &ask)),
        Act::Around { rounds, ref job } => return around::run(path, job, rounds, ask.json),
    };
    match done {
        Ok(text) => {
            say(&text);
            exit::OK
        }
        Err(why) => refuse(&why),
    }
}

fn refuse(why: &str) -> u8 {
    complain(&format!("iosonde: write-cache: {why}"));
    exit::REFUSED
}

fn document(value: &Value) -> String {
    format!("{value:#}\n")
}

fn change_told(change: &Change, ask: &ask::Ask) -> String {
    match ask.json {
        true => document(&change.document(&ask.path)),
        false => change.text(&ask.path),
    }
}

fn would_set(path: &Path, asked: WriteCache) -> Result<Change, String> {
    let (before, _) = device::disk_at(path)?;
    Ok(Change { before, asked, now: None, flushed: None })
}

fn set(path: &Path, asked: WriteCache) -> Result<Change, String> {
    let (switch, before) = Switch::open(path)?;
    switch.set(asked)?;
    let was_through = before.kernel.get() == Some(WriteCache::Through);
    let flushed = (asked == WriteCache::Back && was_through)
        .then(|| switch.flush().map_err(|error| format!("flush {}: {error}", before.disk)));
    Ok(Change { before, asked, now: switch.now(), flushed })
}
