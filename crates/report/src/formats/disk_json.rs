//! Disks as objects of fio's JSON.

use crate::report::{DiskCounts, DiskReport};
use serde_json::{Map, Value};

/// A disk and those below it, as one list.
pub(super) fn add_disk(disk: &DiskReport, list: &mut Vec<Value>) {
    let mut value = Map::new();
    value.insert("name".into(), disk.name.as_str().into());
    const PLAIN: [&str; 10] = [
        "read_ios",
        "write_ios",
        "read_sectors",
        "write_sectors",
        "read_merges",
        "write_merges",
        "read_ticks",
        "write_ticks",
        "in_queue",
        "util",
    ];
    // `write_merge` lacks its s in fio.
    const AGGREGATE: [&str; 10] = [
        "aggr_read_ios",
        "aggr_write_ios",
        "aggr_read_sectors",
        "aggr_write_sectors",
        "aggr_read_merges",
        "aggr_write_merge",
        "aggr_read_ticks",
        "aggr_write_ticks",
        "aggr_in_queue",
        "aggr_util",
    ];
    let mut put = |keys: [&str; 10], counts: &DiskCounts| {
        let DiskCounts { ios, sectors, merges, ticks_ms, in_queue_ms, util_percent } = *counts;
        let pairs = [ios, sectors.unwrap_or_default(), merges, ticks_ms].into_iter().flatten();
        for (key, count) in keys.iter().zip(pairs.chain([in_queue_ms])) {
            value.insert((*key).into(), count.into());
        }
        value.insert(keys[9].into(), util_percent.into());
    };
    put(PLAIN, &disk.counts);
    if let Some(aggregate) = &disk.aggregate {
        put(AGGREGATE, aggregate);
    }
    list.push(Value::Object(value));
    disk.slaves.iter().for_each(|slave| add_disk(slave, list));
}
