//! Names of files and directories, and how long the files are.

use super::{ENOENT, ENOSPC, FileContent, Store};

impl Store {
    /// The entries of a directory: id, name, whether it is a directory.
    pub(crate) fn list(&self, directory: u64) -> Vec<(u64, String, bool)> {
        let files = self.files.iter().map(|(id, file)| (*id, file.name.as_str(), false));
        let within = self.directories.iter().map(|(id, path)| (*id, path.as_str(), true));
        let start = self.path_of(directory, "");
        files
            .chain(within)
            .filter_map(|(id, path, is_directory)| {
                let name = path.strip_prefix(&start)?;
                let is_entry = !name.is_empty() && !name.contains('/');
                is_entry.then(|| (id, name.to_owned(), is_directory))
            })
            .collect()
    }

    /// The path of a name in a directory.
    pub(crate) fn path_of(&self, directory: u64, name: &str) -> String {
        match self.directories.get(&directory) {
            Some(path) => format!("{path}/{name}"),
            None => name.to_owned(),
        }
    }

    pub(crate) fn is_directory(&self, id: u64) -> bool {
        self.directories.contains_key(&id)
    }

    pub(crate) fn make_directory(&mut self, path: &str) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.directories.insert(id, path.to_owned());
        id
    }

    /// Remove an empty directory; whether there was one.
    pub(crate) fn remove_directory(&mut self, path: &str) -> bool {
        let before = self.directories.len();
        self.directories.retain(|_, one| one != path);
        self.directories.len() < before
    }

    pub(crate) fn find(&self, name: &str) -> Option<u64> {
        let directory = self.directories.iter().find(|(_, path)| *path == name);
        let file = self.files.iter().find(|(_, file)| file.name == name);
        directory.map(|(id, _)| *id).or(file.map(|(id, _)| *id))
    }

    pub(crate) fn bytes(&self, id: u64) -> Option<u64> {
        self.files.get(&id).map(|file| file.actual.len() as u64)
    }

    pub(crate) fn used(&self) -> u64 {
        self.files.values().map(|file| file.actual.len() as u64).sum()
    }

    pub(crate) fn create(&mut self, name: &str) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.files.insert(id, FileContent { name: name.to_owned(), ..FileContent::default() });
        id
    }

    /// Give a file another name; one that has it is gone.
    pub(crate) fn rename(&mut self, id: u64, name: &str) {
        if let Some(replaced) = self.find(name).filter(|other| *other != id) {
            self.files.remove(&replaced);
        }
        if let Some(file) = self.files.get_mut(&id) {
            file.name = name.to_owned();
        }
    }

    /// Remove the name; the content stays for who has it open.
    pub(crate) fn unlink(&mut self, name: &str) -> Option<u64> {
        let id = self.find(name)?;
        self.files.get_mut(&id)?.name.clear();
        Some(id)
    }

    /// A file without a name that nobody has open.
    pub(crate) fn forget(&mut self, id: u64) {
        if self.files.get(&id).is_some_and(|file| file.name.is_empty()) {
            self.files.remove(&id);
        }
    }

    /// Another length; space is needed for what is added.
    pub(crate) fn resize(&mut self, id: u64, bytes: u64) -> Result<(), i32> {
        let now = self.bytes(id).ok_or(ENOENT)?;
        if self.used() - now + bytes > self.capacity {
            self.refused += 1;
            return Err(ENOSPC);
        }
        let length = usize::try_from(bytes).map_err(|_| ENOSPC)?;
        let file = self.files.get_mut(&id).ok_or(ENOENT)?;
        file.intended.resize(length, 0);
        file.actual.resize(length, 0);
        // The length itself is durable at once: of data alone is it asked what survives.
        file.stable.resize(length, 0);
        Ok(())
    }
}
