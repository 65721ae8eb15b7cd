//! A file that ranks write and read in turns (`--split=interleaved`): rank r of N has the blocks
//! r, r+N, r+2N ..., which is a strided job.

use iosonde_options::{Amount, Bytes};
use iosonde_run::plan::RankShare;
use iosonde_spec::cli::ParsedJob;
use iosonde_spec::values::ZoneMode;

/// Give a job the blocks of a rank.
///
/// # Errors
/// The job cannot be interleaved: why.
pub fn apply(job: &mut ParsedJob, share: RankShare) -> Result<(), String> {
    let refused = |why: &str| Err(format!("--split=interleaved: job {}: {why}", job.name));
    let spec = &job.spec;
    let block = spec.block.bs.get().0[0].0;
    if spec.block.bs.get().0.iter().any(|bytes| bytes.0 != block)
        || ["bsrange", "bssplit"]
            .iter()
            .any(|name| spec.show(name).is_some_and(|set| !set.is_empty()))
    {
        return refused("all its blocks must have one size (bs=)");
    }
    if spec.order.rw.get().word.is_random() {
        return refused("it must be in order (rw=read or write)");
    }
    if *spec.zones.zonemode.get() != ZoneMode::None {
        return refused("leave out zonemode, which it sets itself");
    }
    let (Some(Amount::Bytes(size)), Amount::Bytes(offset)) =
        (spec.size.size.get(), *spec.order.offset.get())
    else {
        return refused("give size= in bytes: that of the file for all ranks");
    };
    let (blocks, rank, ranks) = (size / block, u64::from(share.rank), u64::from(share.ranks));
    if blocks < ranks {
        return refused(&format!(
            "{blocks} blocks of {block} bytes are not one for each of {ranks} ranks"
        ));
    }
    let own = (blocks - rank).div_ceil(ranks);
    let by = "split=interleaved";
    let spec = &mut job.spec;
    spec.zones.zonemode.force(ZoneMode::Strided, by);
    spec.zones.zonesize.force(Bytes(block), by);
    spec.zones.zonerange.force(Bytes(ranks * block), by);
    spec.order.offset.force(Amount::Bytes(offset + rank * block), by);
    spec.size.size.force(Some(Amount::Bytes((blocks - rank) * block)), by);
    spec.size.io_size.force(Some(Amount::Bytes(own * block)), by);
    Ok(())
}
