//! The command line of `iosonde cache`.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// What `--help` says below the summary.
pub const DETAILS: &str = "\
Shows how much of each file the page cache holds: cached, dirty, under
writeback and recently evicted bytes, and where in the file they are. Only the
named files are dropped or read; root is not needed.";

/// Which files, and what to do with their cached pages.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct CacheArgs {
    /// Files, block devices, or directories with --recursive
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
    /// Write dirty pages, then drop the files from the page cache
    #[arg(long, conflicts_with_all = ["warm", "watch"])]
    drop: bool,
    /// Read the files into the page cache
    #[arg(long, conflicts_with = "watch")]
    warm: bool,
    /// Print a line each second, until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Include files below directories, on the same file system
    #[arg(long, short)]
    pub recursive: bool,
    /// Print JSON; docs/tools.md describes its keys
    #[arg(long)]
    pub json: bool,
}

/// What to do with cached pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheAction {
    /// Show what is cached.
    Show,
    /// Drop it.
    Drop,
    /// Read the files into the cache.
    Warm,
    /// Show it each second.
    Watch,
}

impl CacheArgs {
    /// What to do.
    pub fn action(&self) -> CacheAction {
        match (self.drop, self.warm, self.watch) {
            (true, ..) => CacheAction::Drop,
            (_, true, _) => CacheAction::Warm,
            (.., true) => CacheAction::Watch,
            _ => CacheAction::Show,
        }
    }
}

impl CacheAction {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            CacheAction::Show => "show",
            CacheAction::Drop => "drop",
            CacheAction::Warm => "warm",
            CacheAction::Watch => "watch",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::FromArgMatches;

    fn parsed(line: &str) -> Result<CacheArgs, clap::Error> {
        let words = std::iter::once("cache").chain(line.split_whitespace());
        let matches = super::super::COMMAND.definition().try_get_matches_from(words)?;
        CacheArgs::from_arg_matches(&matches)
    }

    #[test]
    fn a_line_is_paths_and_one_action() {
        let args = parsed("a --drop b --json -r -- --c").unwrap();
        assert_eq!(args.paths, ["a", "b", "--c"].map(PathBuf::from));
        assert_eq!((args.action(), args.recursive, args.json), (CacheAction::Drop, true, true));
        assert_eq!(parsed("a").unwrap().action(), CacheAction::Show);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |line: &str| parsed(line).unwrap_err().to_string();
        assert!(error("").contains("<PATH>"), "{}", error(""));
        let both = error("--drop a --warm");
        assert!(both.contains("--drop") && both.contains("--warm"), "{both}");
        assert!(error("--dorp a").contains("'--dorp'"));
    }
}
