//! An opening and a feed say which bytes they want; a ring of the Linux kernel fetches them all at the same time, and its
//! completions bring them.

use faro::Files;
use faro::feed::{Opening, Wanted};
use io_uring::{IoUring, opcode, types};
use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::task::Poll;

/// How many reads are in the ring at most.
const DEPTH: u32 = 64;

/// A ring, the files that it reads, and the reads that are in it or wait for it.
struct Fetcher {
    ring: IoUring,
    files: HashMap<faro::FileRole, (File, u64)>,
    waiting: Vec<Fetched>,
    reading: HashMap<u64, Fetched>,
    next: u64,
}

/// Bytes of a file. The ring writes into them until its completion says that it is done.
struct Fetched {
    role: faro::FileRole,
    offset: u64,
    bytes: Vec<u8>,
    size: u64,
}

impl Fetcher {
    fn new(ring: IoUring, files: &Files) -> std::io::Result<Self> {
        let open = |(role, path): (_, &std::path::Path)| {
            let file = File::open(path)?;
            let size = file.metadata()?.len();
            Ok((role, (file, size)))
        };
        Ok(Fetcher {
            ring,
            files: files.paths().into_iter().map(open).collect::<std::io::Result<_>>()?,
            waiting: Vec::new(),
            reading: HashMap::new(),
            next: 0,
        })
    }

    fn add(&mut self, wanted: Vec<Wanted>) {
        for Wanted { role, range, .. } in wanted {
            let size = self.files[&role].1;
            let range = range.within(size);
            let bytes = vec![0; (range.end - range.start) as usize];
            let offset = range.start;
            self.waiting.push(Fetched {
                role,
                offset,
                bytes,
                size,
            });
        }
    }

    /// Begins reads, waits for at least one, and returns what is complete.
    fn fetch(&mut self) -> Result<Vec<Fetched>, Box<dyn Error>> {
        while self.reading.len() < DEPTH as usize
            && let Some(mut read) = self.waiting.pop()
        {
            let descriptor = types::Fd(self.files[&read.role].0.as_raw_fd());
            let length = u32::try_from(read.bytes.len())?;
            let entry = opcode::Read::new(descriptor, read.bytes.as_mut_ptr(), length);
            let entry = entry.offset(read.offset).build().user_data(self.next);
            // The bytes stay in place on the heap, in `reading`, until the ring has completed the read: `drop` waits.
            self.reading.insert(self.next, read);
            self.next += 1;
            // SAFETY: the descriptor and the bytes are valid until then.
            unsafe { self.ring.submission().push(&entry) }?;
        }
        if self.reading.is_empty() {
            return Err("nothing is wanted, and the reading is not complete".into());
        }
        self.ring.submit_and_wait(1)?;
        let completed: Vec<_> = self.ring.completion().collect();
        // All of them first: an error must not leave one that is complete in `reading`, where `drop` would wait for it.
        let completed: Vec<_> = completed
            .into_iter()
            .filter_map(|completion| Some((self.reading.remove(&completion.user_data())?, completion)))
            .collect();
        let mut fetched = Vec::new();
        for (mut read, completion) in completed {
            let count = usize::try_from(completion.result())
                .map_err(|_| std::io::Error::from_raw_os_error(-completion.result()))?;
            if count < read.bytes.len() {
                if count == 0 {
                    return Err("the file has shrunk".into());
                }
                let rest = read.bytes.len() - count;
                self.waiting.push(Fetched {
                    offset: read.offset + count as u64,
                    bytes: vec![0; rest],
                    ..read
                });
                read.bytes.truncate(count);
            }
            fetched.push(read);
        }
        Ok(fetched)
    }
}

impl Drop for Fetcher {
    /// Waits until the kernel writes no more into the bytes.
    fn drop(&mut self) {
        while !self.reading.is_empty() {
            if self.ring.submit_and_wait(1).is_err() {
                // The kernel may still write: the bytes must stay.
                std::mem::forget(std::mem::take(&mut self.reading));
                return;
            }
            let completed: Vec<_> = self.ring.completion().collect();
            completed
                .iter()
                .for_each(|done| drop(self.reading.remove(&done.user_data())));
        }
    }
}

/// The number of blocks, and of the bytes in them; none if the kernel refuses a ring.
pub(crate) fn read(name: &str, partition: u32) -> Result<Option<(u64, u64)>, Box<dyn Error>> {
    let ring = match IoUring::new(DEPTH) {
        Ok(ring) => ring,
        Err(error) => {
            println!("this system has no io_uring for us: {error}");
            return Ok(None);
        }
    };
    let files = Files::locate(name)?;
    let mut fetcher = Fetcher::new(ring, &files)?;
    let mut opening = match &files {
        Files::Single(path) => Opening::single(path, Default::default())?,
        Files::Paired { data, index } => Opening::paired(data, index, Default::default())?,
    };
    let reader = loop {
        if let Poll::Ready(reader) = opening.poll() {
            break reader?;
        }
        fetcher.add(opening.wanted());
        for read in fetcher.fetch()? {
            opening.bring(read.role, read.offset, read.bytes, read.size)?;
        }
    };
    let mut feed = reader.partition(partition)?;
    let (mut blocks, mut bytes) = (0, 0);
    loop {
        match feed.poll() {
            Poll::Ready(Some(block)) => {
                blocks += 1;
                bytes += block?.payload.len() as u64;
            }
            Poll::Ready(None) => return Ok(Some((blocks, bytes))),
            Poll::Pending => {
                fetcher.add(feed.wanted());
                for read in fetcher.fetch()? {
                    feed.bring(read.role, read.offset, read.bytes, read.size)?;
                }
            }
        }
    }
}
