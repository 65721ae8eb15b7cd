//! Logs of jobs go to the client: a server writes them where nobody looks, and sends those alone.

use iosonde_hosts::remote::ServerLink;
use iosonde_run::job::Plan;
use iosonde_sys::files::{make_private_folder, random_bytes};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The logs of a run: as the job names them, and where they are meanwhile.
#[derive(Debug, Default)]
pub struct ReturnedFiles {
    directory: Option<PathBuf>,
    logs: Vec<(PathBuf, PathBuf)>,
}

impl ReturnedFiles {
    /// Let the plan's logs be written apart.
    ///
    /// # Errors
    /// There is no directory for them.
    pub fn take_logs(&mut self, plan: &mut Plan) -> io::Result<()> {
        for logs in plan.jobs.iter_mut().filter_map(|job| job.measure.logs.as_mut()) {
            for (_, path) in &mut logs.files {
                self.take(path)?;
            }
            for path in &mut logs.empty {
                self.take(path)?;
            }
            if let Some(histogram) = &mut logs.histogram {
                self.take(&mut histogram.path)?;
            }
        }
        Ok(())
    }

    /// Another path for a log; jobs that share one go on sharing it.
    fn take(&mut self, path: &mut PathBuf) -> io::Result<()> {
        let known = self.logs.iter().find(|(name, _)| name == path).map(|(_, apart)| apart.clone());
        let apart = match known {
            Some(apart) => apart,
            None => {
                let name = format!("{}.log", self.logs.len());
                let apart = self.directory()?.join(name);
                self.logs.push((path.clone(), apart.clone()));
                apart
            }
        };
        *path = apart;
        Ok(())
    }

    fn directory(&mut self) -> io::Result<&Path> {
        if self.directory.is_none() {
            let name = format!("iosonde-server-{}-{:016x}", std::process::id(), random()?);
            let path = std::env::temp_dir().join(name);
            make_private_folder(&path)?;
            self.directory = Some(path);
        }
        self.directory.as_deref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Send them to the client.
    ///
    /// # Errors
    /// One cannot be read: a sentence.
    pub fn send(&mut self, link: &mut ServerLink) -> Result<(), String> {
        for (name, apart) in std::mem::take(&mut self.logs) {
            let file = match File::open(&apart) {
                Ok(file) => file,
                // A job that did not start has none.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(&name, &error)),
            };
            link.send_file(&name.to_string_lossy(), file).map_err(|error| failed(&name, &error))?;
        }
        Ok(())
    }
}

fn failed(name: &Path, error: &io::Error) -> String {
    format!("cannot read the log {}: {error}", name.display())
}

fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    random_bytes(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

impl Drop for ReturnedFiles {
    fn drop(&mut self) {
        if let Some(directory) = self.directory.take() {
            // It is in the directory for such files: nothing depends on its removal.
            let _ = fs::remove_dir_all(directory);
        }
    }
}
