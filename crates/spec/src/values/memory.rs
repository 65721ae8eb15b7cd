//! Where I/O buffers live: `malloc`, `mmaphuge:/mnt/huge/buffers`.

use iosonde_options::{Choice, OptionValue, ParseContext, ValueError, ValueKind, words};

words! {
    /// A kind of memory.
    pub enum MemoryWord {
        Malloc = "malloc" : "malloc(3)",
        Shm = "shm" : "shmget(2)",
        ShmHuge = "shmhuge" : "shmget(2) on huge pages",
        Mmap = "mmap" : "mmap(2), anonymous or file-backed",
        MmapShared = "mmapshared" : "mmap(2), shared",
        MmapHuge = "mmaphuge" : "mmap(2) of a file on hugetlbfs",
        CudaMalloc = "cudamalloc" : "GPU memory by CUDA",
    }
}

/// The value of `mem`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BufferMemory {
    /// The kind.
    pub word: MemoryWord,
    /// The file to map.
    pub file: Option<String>,
}

impl OptionValue for BufferMemory {
    const KIND: ValueKind = ValueKind::Form;
    const CHOICES: &'static [Choice] = MemoryWord::WORDS;
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let (word, file) = text.split_once(':').unwrap_or((text, ""));
        let word = MemoryWord::parse(word, context)?;
        let maps = matches!(word, MemoryWord::Mmap | MemoryWord::MmapShared | MemoryWord::MmapHuge);
        if !maps && !file.is_empty() {
            context.doubt(format!("{} takes no file: {file:?} is ignored", word.word()));
        }
        let file = (maps && !file.is_empty()).then(|| file.to_owned());
        Ok(BufferMemory { word, file })
    }
    fn show(&self) -> String {
        match &self.file {
            Some(file) => format!("{}:{file}", self.word.word()),
            None => self.word.word().into(),
        }
    }
}
