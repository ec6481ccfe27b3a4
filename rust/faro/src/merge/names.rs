//! A file_id from the names of a shuffle (spec, NAM-1).

use sha2::{Digest, Sha256};

/// The file_id of a producer's output, from its names (NAM-1). A reader that knows the names knows the file_id, and so
/// that the bytes are of the output that it asked for.
///
/// ```
/// use faro::merge::output_file_id;
/// use faro::WriterOptions;
/// let options = WriterOptions::new(64).file_id(Some(output_file_id("app-1", "shuffle-0", 7, 0)));
/// ```
pub fn output_file_id(application: &str, shuffle: &str, producer: u64, attempt: u64) -> [u8; 16] {
    let mut parts = Parts::new("output", application, shuffle);
    parts.0.update(producer.to_le_bytes());
    parts.0.update(attempt.to_le_bytes());
    parts.file_id()
}

/// The file_id of a merged file, from its names (NAM-1): `first_partition` is that of the file.
pub fn merged_file_id(application: &str, shuffle: &str, generation: u64, first_partition: u32) -> [u8; 16] {
    let mut parts = Parts::new("merged", application, shuffle);
    parts.0.update(generation.to_le_bytes());
    parts.0.update(first_partition.to_le_bytes());
    parts.file_id()
}

/// The names of a shuffle (NAM-1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Names {
    /// The application.
    pub application: String,
    /// The shuffle, among those of the application.
    pub shuffle: String,
}

impl Names {
    /// The names of a shuffle.
    pub fn new(application: impl Into<String>, shuffle: impl Into<String>) -> Self {
        Names {
            application: application.into(),
            shuffle: shuffle.into(),
        }
    }

    /// The file_id of a producer's output.
    pub fn output_file_id(&self, producer: u64, attempt: u64) -> [u8; 16] {
        output_file_id(&self.application, &self.shuffle, producer, attempt)
    }
}

struct Parts(Sha256);

impl Parts {
    fn new(what: &str, application: &str, shuffle: &str) -> Self {
        let mut hash = Sha256::new();
        for text in [what, application, shuffle] {
            // A text of 4 GiB or more has no length that fits; its start stands for it.
            hash.update((text.len() as u32).to_le_bytes());
            hash.update(text.as_bytes());
        }
        Parts(hash)
    }

    /// The first 16 bytes, as a UUID of version 8.
    fn file_id(self) -> [u8; 16] {
        let digest: [u8; 32] = self.0.finalize().into();
        let mut id = [0; 16];
        id.copy_from_slice(&digest[..16]);
        id[6] = id[6] & 0x0F | 0x80;
        id[8] = id[8] & 0x3F | 0x80;
        id
    }
}
