//! Mounting the file system of faults where nobody else sees it.

use crate::files::FaultFiles;
use crate::store::{Caching, Store};
use fuser::{BackgroundSession, Config, MountOption};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Threads that serve a mount: a request that hangs holds one of them.
const THREADS: usize = 4;

/// Run something in a thread whose mounts are its own: they vanish with it and
/// the programs that it starts, however those end, also by Ctrl-C or SIGKILL.
pub fn with_own_mounts<T: Send>(act: impl FnOnce() -> T + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            unshare(CloneFlags::CLONE_NEWNS)
                .map_err(|error| format!("mounts of one's own need root: {error}"))?;
            let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
            mount(None::<&str>, "/", None::<&str>, private, None::<&str>)
                .map_err(|error| format!("make the mounts private: {error}"))?;
            Ok(act())
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// A mounted file system of faults; unmounted when dropped.
pub struct FaultMount {
    path: PathBuf,
    store: Arc<Mutex<Store>>,
    session: Option<BackgroundSession>,
}

impl FaultMount {
    /// Serve `store` at `path`, an empty directory that exists.
    pub fn mount(store: Store, caching: Caching, path: &Path) -> Result<FaultMount, String> {
        let store = Arc::new(Mutex::new(store));
        let files = FaultFiles { store: store.clone(), caching };
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("faults".to_owned()), MountOption::RW];
        config.n_threads = Some(THREADS);
        let session = fuser::spawn_mount(files, path, &config)
            .map_err(|error| format!("mount a FUSE file system on {}: {error}", path.display()))?;
        Ok(FaultMount { path: path.to_owned(), store, session: Some(session) })
    }

    /// The files and counts; requests wait meanwhile.
    pub fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for FaultMount {
    fn drop(&mut self) {
        // Lazily: a program that was killed may still hold it.
        let _ = umount2(&self.path, MntFlags::MNT_DETACH);
        drop(self.session.take());
    }
}
