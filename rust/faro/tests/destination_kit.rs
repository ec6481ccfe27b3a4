//! The test kit for destinations: it passes for those of the library, and finds every promise that is broken.

use faro::FileRole;
use faro::storage::{
    BrokenPromise, Destination, MemoryDestination, MemoryFile, NewFile, StoredFile, check_destination,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is wrong with an implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Nothing,
    NamelessFile,
    NameChanges,
    AppendInReverse,
    AppendLosesTheLastByte,
    AppendKeepsTheBuffer,
    AppendIsSeen,
    SyncPublishes,
    SyncFails,
    PublishReplaces,
    PublishFailsWithAnotherError,
    PublishDoesNothing,
    PublishDamagesWhatExists,
    PublishIgnoresReplace,
    RemoveDoesNothing,
    RemoveOnlyOnce,
    RemoveTakesTheNameOfOthers,
    OpenHasOtherBytes,
    OpenEndsWithTheNewFile,
    OpenReadsTooMuch,
    DroppingPublishes,
    DroppingKeepsTheName,
    DroppingRemovesWhatIsPublished,
    TakenFails,
    TakenBeforePublish,
    TakenIsNameless,
    TakenByAnotherRole,
    TakenAfterRemove,
    /// That is allowed.
    KnowsNothing,
}

use Wrong::*;

#[derive(Debug)]
struct Odd {
    memory: MemoryDestination,
    wrong: Wrong,
    /// Whether the last place that the writer looked at had a file.
    was_taken: Arc<AtomicBool>,
}

#[derive(Debug)]
struct OddFile {
    file: Box<dyn NewFile>,
    memory: MemoryDestination,
    role: FileRole,
    wrong: Wrong,
    /// The bytes so far, and the last buffer's address.
    bytes: Vec<u8>,
    kept: Option<(usize, usize, usize)>,
    published: bool,
    removed: bool,
    alive: Arc<()>,
}

impl OddFile {
    /// Publishes bytes under the name, whatever is there.
    fn put(&self, bytes: &[u8]) {
        let mut file = self.memory.clone().create(self.role).unwrap();
        file.append(bytes).unwrap();
        file.publish(true).unwrap();
    }

    /// Removes what has the name, whosever it is.
    fn clear(&self) {
        let mut file = self.memory.clone().create(self.role).unwrap();
        file.publish(true).unwrap();
        file.remove().unwrap();
    }

    fn exists(&self) -> bool {
        self.memory.find(self.role).is_some()
    }
}

impl Destination for Odd {
    fn create(&mut self, role: FileRole) -> io::Result<Box<dyn NewFile>> {
        Ok(Box::new(OddFile {
            file: self.memory.create(role)?,
            memory: self.memory.clone(),
            role,
            wrong: self.wrong,
            bytes: Vec::new(),
            kept: None,
            published: false,
            removed: false,
            alive: Arc::new(()),
        }))
    }

    fn taken(&self, role: FileRole) -> io::Result<Option<PathBuf>> {
        let known = self.memory.taken(role)?;
        let name = || Some(PathBuf::from("x"));
        Ok(match self.wrong {
            TakenFails => return Err(ErrorKind::PermissionDenied.into()),
            TakenBeforePublish => name(),
            TakenIsNameless => known.map(|_| PathBuf::new()),
            TakenByAnotherRole => known
                .or(self.memory.taken(FileRole::Data)?)
                .or(self.memory.taken(FileRole::Index)?),
            TakenAfterRemove if known.is_some() => {
                self.was_taken.store(true, Ordering::Relaxed);
                known
            }
            TakenAfterRemove if role == FileRole::Data && self.was_taken.load(Ordering::Relaxed) => name(),
            KnowsNothing => None,
            _ => known,
        })
    }
}

impl NewFile for OddFile {
    fn name(&self) -> &Path {
        match self.wrong {
            NamelessFile => Path::new(""),
            NameChanges if self.published => Path::new("another"),
            _ => self.file.name(),
        }
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut bytes = bytes.to_vec();
        match self.wrong {
            AppendInReverse => {
                self.bytes.splice(0..0, bytes);
                return Ok(());
            }
            AppendLosesTheLastByte => drop(bytes.pop()),
            AppendKeepsTheBuffer if !bytes.is_empty() => {
                // As if it had kept a reference: what the writer wrote over the buffer since.
                if let Some((_, from, until)) = self.kept.replace((0, self.bytes.len(), self.bytes.len() + bytes.len()))
                {
                    self.bytes[from..until].fill(0xEE);
                }
            }
            _ => {}
        }
        self.bytes.extend(bytes);
        if self.wrong == AppendIsSeen && !self.exists() {
            self.put(&self.bytes);
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        match self.wrong {
            SyncFails => return Err(ErrorKind::Unsupported.into()),
            SyncPublishes => self.put(&self.bytes),
            _ => {}
        }
        Ok(())
    }

    fn publish(&mut self, replace: bool) -> io::Result<()> {
        let exists = self.exists();
        if exists && !replace {
            match self.wrong {
                PublishReplaces => {}
                PublishFailsWithAnotherError => return Err(ErrorKind::PermissionDenied.into()),
                PublishDamagesWhatExists => self.put(b"damaged"),
                _ => {}
            }
        }
        let replace = match self.wrong {
            PublishReplaces => true,
            PublishIgnoresReplace => false,
            _ => replace,
        };
        if self.wrong == PublishDoesNothing {
            self.published = true;
            return Ok(());
        }
        self.file.append(&self.bytes)?;
        self.file.publish(replace)?;
        self.published = true;
        Ok(())
    }

    fn remove(&mut self) -> io::Result<()> {
        match self.wrong {
            RemoveDoesNothing => return Ok(()),
            RemoveOnlyOnce if self.removed => return Err(ErrorKind::NotFound.into()),
            RemoveTakesTheNameOfOthers => self.clear(),
            _ => {}
        }
        self.removed = true;
        self.file.remove()
    }

    fn open(&self) -> io::Result<Box<dyn StoredFile>> {
        let mut bytes = self.bytes.clone();
        match self.wrong {
            OpenHasOtherBytes if !bytes.is_empty() => bytes[0] ^= 1,
            OpenReadsTooMuch => bytes.push(0),
            _ => {}
        }
        let file = MemoryFile::new("x", bytes);
        Ok(match self.wrong {
            OpenEndsWithTheNewFile => Box::new(Mortal(file, Arc::downgrade(&self.alive))),
            _ => Box::new(file),
        })
    }
}

impl Drop for OddFile {
    fn drop(&mut self) {
        match self.wrong {
            DroppingPublishes if !self.published && !self.removed => self.put(&self.bytes),
            DroppingKeepsTheName if !self.published && !self.removed => self.put(b""),
            DroppingRemovesWhatIsPublished if self.published => self.clear(),
            _ => {}
        }
    }
}

/// A stored file that ends with the new file that it came from.
#[derive(Debug)]
struct Mortal(MemoryFile, std::sync::Weak<()>);

impl StoredFile for Mortal {
    fn name(&self) -> &Path {
        self.0.name()
    }

    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match self.1.upgrade() {
            Some(_) => self.0.read_at(offset, buffer),
            None => Err(ErrorKind::NotConnected.into()),
        }
    }
}

fn judge(wrong: Wrong, finds: bool) -> Result<(), BrokenPromise> {
    let was_taken = Arc::default();
    let places = RefCell::new(HashMap::new());
    let at = |place: usize| -> MemoryDestination {
        let mut places = places.borrow_mut();
        places
            .entry(place)
            .or_insert_with(|| MemoryDestination::new("x"))
            .clone()
    };
    let find = |place, role| Ok(at(place).find(role).map(|file| file.bytes().to_vec()));
    let fresh = |place| Odd {
        memory: at(place),
        wrong,
        was_taken: Arc::clone(&was_taken),
    };
    check_destination(fresh, if finds { Some(&find) } else { None })
}

#[test]
fn a_right_implementation_passes_with_and_without_a_way_to_look() {
    judge(Nothing, true).unwrap();
    judge(Nothing, false).unwrap();
    judge(KnowsNothing, true).unwrap();
}

#[test]
fn every_promise_that_is_broken_is_found() {
    for (wrong, promise, without_looking) in [
        (NamelessFile, 1, true),
        (NameChanges, 1, true),
        (AppendInReverse, 2, true),
        (AppendLosesTheLastByte, 2, true),
        (AppendKeepsTheBuffer, 2, true),
        (AppendIsSeen, 4, true),
        (SyncPublishes, 4, true),
        (SyncFails, 3, true),
        (PublishReplaces, 4, true),
        (PublishFailsWithAnotherError, 4, true),
        (PublishDoesNothing, 4, true),
        (PublishDamagesWhatExists, 4, false),
        (PublishIgnoresReplace, 4, true),
        (RemoveDoesNothing, 5, true),
        (RemoveOnlyOnce, 5, true),
        (RemoveTakesTheNameOfOthers, 5, false),
        (OpenHasOtherBytes, 2, true),
        (OpenEndsWithTheNewFile, 6, true),
        (OpenReadsTooMuch, 2, true),
        (DroppingPublishes, 7, true),
        (DroppingKeepsTheName, 7, true),
        (DroppingRemovesWhatIsPublished, 7, false),
        (TakenFails, 4, true),
        (TakenBeforePublish, 4, true),
        (TakenIsNameless, 4, true),
        (TakenByAnotherRole, 4, true),
        (TakenAfterRemove, 4, true),
    ] {
        let broken = judge(wrong, true).expect_err(&format!("{wrong:?}"));
        assert_eq!(
            (broken.of, broken.promise),
            ("a new file", promise),
            "{wrong:?}: {broken}"
        );
        // Some promises are about what others see.
        assert_eq!(judge(wrong, false).is_err(), without_looking, "{wrong:?}");
    }
}

/// A destination may refuse a name when the file is made.
#[test]
fn names_may_be_refused_early() {
    #[derive(Debug)]
    struct Early(MemoryDestination);
    impl Destination for Early {
        fn create(&mut self, role: FileRole) -> io::Result<Box<dyn NewFile>> {
            match self.0.find(role) {
                Some(_) => Err(ErrorKind::AlreadyExists.into()),
                None => self.0.create(role),
            }
        }
    }
    let places = RefCell::new(HashMap::new());
    let at = |place: usize| -> MemoryDestination {
        let mut places = places.borrow_mut();
        places
            .entry(place)
            .or_insert_with(|| MemoryDestination::new("x"))
            .clone()
    };
    let find = |place, role| Ok(at(place).find(role).map(|file| file.bytes().to_vec()));
    check_destination(|place| Early(at(place)), Some(&find)).unwrap();
}
