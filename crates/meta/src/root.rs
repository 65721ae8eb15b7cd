//! The directory that a run works in: made for it, and removed with all that is
//! in it.

use crate::arguments::MetaOptions;
use crate::leftovers;
use crate::ranks::{self, Ranks};
use iosonde_base::text;
use iosonde_sys::files::FileSystem;
use iosonde_sys::temporary::OwnDirectory;
use std::path::{Path, PathBuf};

/// The directory of a run.
pub struct RunRoot {
    path: PathBuf,
    /// It was made here, and not by rank 0 of several.
    own: Option<OwnDirectory>,
}

impl RunRoot {
    /// A new directory inside the one that was named, if there is room for the tree.
    ///
    /// # Errors
    /// The reason, with what to do.
    pub fn make(options: &MetaOptions) -> Result<RunRoot, String> {
        is_directory(&options.dir)?;
        has_room(options)?;
        leftovers::name(&options.dir);
        RunRoot::new(&options.dir)
    }

    /// The directory that rank 0 made, where this rank sees it; else one of this rank's own.
    ///
    /// # Errors
    /// The reason, which all ranks have.
    pub fn among(
        options: &MetaOptions,
        words: &[String],
        ranks: &mut Ranks,
    ) -> Result<RunRoot, String> {
        let first = ranks.speaks().then(|| RunRoot::make(options)).transpose();
        let path = match &first {
            Ok(first) => Ok(first.as_ref().map(|first| first.path.clone())),
            Err(why) => Err(why.clone()),
        };
        let path = ranks.share_root(path, words)?;
        if let Some(first) = first? {
            return Ok(first);
        }
        if ranks::sees(&path) {
            return Ok(RunRoot { path, own: None });
        }
        let refused = if options.shared || options.shift > 0 {
            Err(format!(
                "--shared and --shift need a file system that all ranks share: {} of rank 0 is not there",
                path.display()
            ))
        } else {
            is_directory(&options.dir).and_then(|()| RunRoot::new(&options.dir))
        };
        refused.inspect_err(|why| ranks.stop_all(why))
    }

    fn new(dir: &Path) -> Result<RunRoot, String> {
        let own = OwnDirectory::make(dir, leftovers::STEM)
            .map_err(|error| format!("cannot create a directory in {}: {error}", dir.display()))?;
        Ok(RunRoot { path: own.path().to_owned(), own: Some(own) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Say how to remove it, if this process is ended before it has done so.
    pub fn name_leftovers(&self) {
        let dir = self.own.as_ref().and(self.path.parent());
        let Some(dir) = dir else { return };
        iosonde_sys::standard_error::print_line(format_args!(
            "iosonde: removing {}; if the launcher leaves no time for that: iosonde meta --clean {}",
            self.path.display(),
            dir.display()
        ));
    }

    /// Leave it where it is.
    pub fn keep(&mut self) {
        if let Some(own) = &mut self.own {
            own.keep();
        }
    }
}

fn is_directory(dir: &Path) -> Result<(), String> {
    let status = std::fs::metadata(dir)
        .map_err(|error| format!("cannot read the metadata of {}: {error}", dir.display()))?;
    if status.is_dir() { Ok(()) } else { Err(format!("{} is not a directory", dir.display())) }
}

/// Whether the file system has the bytes and the inodes.
fn has_room(options: &MetaOptions) -> Result<(), String> {
    let dir = options.dir.display();
    // A limit of time ends what would be too much.
    let state = FileSystem::of(&options.dir).ok().filter(|_| options.limit.is_none());
    let Some(state) = state else { return Ok(()) };
    let (bytes, free) = (options.bytes(), state.available_bytes);
    if bytes > free {
        let (bytes, free) = (text::bytes(bytes), text::bytes(free));
        return Err(format!(
            "the files need {bytes}, and {dir} has {free} free: use fewer --files or a smaller --size"
        ));
    }
    let inodes = options.files.saturating_add(options.dirs);
    if let Some(left) = state.files_available.filter(|left| inodes > *left) {
        return Err(format!(
            "the tree needs {inodes} inodes, and {dir} has {left} free: use fewer --files"
        ));
    }
    Ok(())
}
