//! Reading a file at a position.

#[cfg(not(target_os = "wasi"))]
pub(crate) use std::os::unix::fs::FileExt;

/// As on Unix. WebAssembly has one thread, so nothing moves the file's position meanwhile.
#[cfg(target_os = "wasi")]
pub(crate) trait FileExt {
    fn read_exact_at(&self, into: &mut [u8], offset: u64) -> std::io::Result<()>;
}

#[cfg(target_os = "wasi")]
impl FileExt for std::fs::File {
    fn read_exact_at(&self, into: &mut [u8], offset: u64) -> std::io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = self;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(into)
    }
}
