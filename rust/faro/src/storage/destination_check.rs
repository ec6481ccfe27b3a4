//! A test kit for implementations of [`Destination`] and [`NewFile`].

use super::destination::{Destination, NewFile};
use super::stored_file::{StoredFile, read_full};
use super::stored_file_check::{BrokenPromise, check_stored_file};
use crate::error::FileRole;
use std::io::{self, ErrorKind};
use std::sync::Barrier;

/// How many threads publish one name at once, and how often.
const THREADS: usize = 4;
const ROUNDS: usize = 8;
const ROLES: [FileRole; 3] = [FileRole::Data, FileRole::Index, FileRole::Single];

type Kept<T = ()> = Result<T, BrokenPromise>;
/// Returns what a reader finds under the name of a role.
type Find<'a> = &'a dyn Fn(usize, FileRole) -> io::Result<Option<Vec<u8>>>;

fn broken<T>(promise: u8, what: impl Into<String>) -> Kept<T> {
    let (of, what) = ("a new file", what.into());
    Err(BrokenPromise { of, promise, what })
}

/// The result of a call that should have succeeded.
fn done<T>(promise: u8, call: &str, result: io::Result<T>) -> Kept<T> {
    result.or_else(|error| broken(promise, format!("{call} failed: {error}")))
}

/// Checks that the files of a destination keep the promises 1 to 7 of docs/storage.md.
///
/// `fresh` makes a destination for one output. It gets the number of a place: destinations with one number write the
/// same names, as writers that race for them; those with different numbers do not meet. No place has files at first. The
/// kit uses some hundred places, and writes a few MiB. `find` looks for the file of a role in a place, as a reader that
/// knows only its name; without it, the kit cannot check what is visible before `publish`.
///
/// A destination may refuse a name that exists when the file is made, in place of `publish`. It need not know which names
/// are taken ([`Destination::taken`]), but must not say it of a free one.
///
/// ```
/// use faro::storage::{MemoryDestination, check_destination};
/// use std::cell::RefCell;
/// use std::collections::HashMap;
///
/// let places = RefCell::new(HashMap::new());
/// let at = |place: usize| {
///     let mut places = places.borrow_mut();
///     places.entry(place).or_insert_with(|| MemoryDestination::new("x")).clone()
/// };
/// let find = |place, role| Ok(at(place).find(role).map(|file| file.bytes().to_vec()));
/// check_destination(at, Some(&find))?;
/// # Ok::<(), faro::storage::BrokenPromise>(())
/// ```
///
/// # Errors
/// The first promise that is not kept.
#[allow(clippy::type_complexity)]
pub fn check_destination<D: Destination>(
    fresh: impl FnMut(usize) -> D,
    find: Option<&dyn Fn(usize, FileRole) -> io::Result<Option<Vec<u8>>>>,
) -> Result<(), BrokenPromise> {
    let mut kit = Kit { fresh, find, place: 0 };
    for role in ROLES {
        kit.appended_bytes_come_back(role)?;
        kit.an_existing_file_stays(role)?;
        kit.a_replaced_file_is_gone(role)?;
        kit.removing_leaves_nothing(role)?;
        kit.others_files_are_not_removed(role)?;
        kit.dropping_is_removing(role)?;
        for _ in 0..ROUNDS {
            kit.one_of_many_succeeds(role)?;
        }
        kit.names_are_taken_by_published_files(role)?;
    }
    kit.a_pair_has_both_files()
}

/// Bytes that differ from place to place.
fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length)
        .map(|at| ((at * 31 + at / 251 + seed * 17) % 251) as u8)
        .collect()
}

struct Kit<'a, F> {
    fresh: F,
    find: Option<Find<'a>>,
    place: usize,
}

impl<D: Destination, F: FnMut(usize) -> D> Kit<'_, F> {
    fn next_place(&mut self) -> usize {
        self.place += 1;
        self.place
    }

    fn create(&mut self, place: usize, role: FileRole) -> io::Result<Box<dyn NewFile>> {
        (self.fresh)(place).create(role)
    }

    /// A file with these bytes, not published.
    fn unpublished(&mut self, place: usize, role: FileRole, bytes: &[u8]) -> Kept<Box<dyn NewFile>> {
        let mut file = done(2, "create", self.create(place, role))?;
        done(2, "append", file.append(bytes))?;
        Ok(file)
    }

    fn published(&mut self, place: usize, role: FileRole, bytes: &[u8]) -> Kept<Box<dyn NewFile>> {
        let mut file = self.unpublished(place, role, bytes)?;
        done(4, "publish", file.publish(false))?;
        Ok(file)
    }

    /// Checks what the destination says about a name. It need not know of a file that exists.
    fn says_taken(&mut self, when: &str, place: usize, role: FileRole, exists: bool) -> Kept {
        let call = format!("taken, {when},");
        let taken = done(4, &call, (self.fresh)(place).taken(role))?;
        match taken {
            Some(name) if name.as_os_str().is_empty() => broken(4, format!("{call} returns an empty name")),
            Some(name) if !exists => broken(4, format!("{call} returns {}, which no file has", name.display())),
            _ => Ok(()),
        }
    }

    /// Checks what a reader finds under the name.
    fn sees(&self, promise: u8, when: &str, place: usize, role: FileRole, expected: Option<&[u8]>) -> Kept {
        let Some(find) = self.find else { return Ok(()) };
        let found = done(promise, "looking for the file", find(place, role))?;
        if found.as_deref() == expected {
            return Ok(());
        }
        let told =
            |bytes: Option<usize>| bytes.map_or("no file".to_owned(), |count| format!("a file of {count} bytes"));
        let (found, expected) = (told(found.map(|bytes| bytes.len())), told(expected.map(<[u8]>::len)));
        broken(
            promise,
            format!("{when}: {found} with its bytes, expected {expected} with its own"),
        )
    }

    fn appended_bytes_come_back(&mut self, role: FileRole) -> Kept {
        for lengths in [
            &[][..],
            &[0],
            &[1],
            &[5, 0, 3],
            &[100, 70_000, 1],
            &[1 << 20, 8, 1 << 16],
        ] {
            let place = self.next_place();
            let bytes = pattern(lengths.iter().sum(), place);
            let mut file = done(2, "create", self.create(place, role))?;
            let name = file.name().to_path_buf();
            if name.as_os_str().is_empty() {
                return broken(1, "the name is empty");
            }
            let mut rest = &bytes[..];
            for length in lengths {
                let (now, later) = rest.split_at(*length);
                let mut lent = now.to_vec();
                done(2, "append", file.append(&lent))?;
                // The writer uses its buffer again.
                lent.fill(0xEE);
                rest = later;
                done(3, "sync", file.sync())?;
                self.sees(4, "before publish", place, role, None)?;
            }
            done(4, "publish", file.publish(false))?;
            if file.name() != name {
                return broken(1, "the name changed");
            }
            let opened = done(6, "open", file.open())?;
            has_bytes(&*opened, &bytes, "the opened file")?;
            self.sees(4, "after publish", place, role, Some(&bytes))?;
            drop(file);
            has_bytes(&*opened, &bytes, "after the new file was dropped, the opened file")?;
            self.sees(7, "after the new file was dropped", place, role, Some(&bytes))?;
            // Its reads are those of a stored file.
            if bytes.len() < 1000 {
                check_stored_file(&*opened, &bytes)?;
            }
        }
        Ok(())
    }

    fn an_existing_file_stays(&mut self, role: FileRole) -> Kept {
        let place = self.next_place();
        let (first, second) = (pattern(3000, place), pattern(2000, place + 1));
        let file = self.published(place, role, &first)?;
        match self.create(place, role) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => {
                let mut other = done(2, "create", made)?;
                done(2, "append", other.append(&second))?;
                self.sees(4, "while another file is written", place, role, Some(&first))?;
                refused(other.publish(false))?;
                self.sees(4, "after a publish that was refused", place, role, Some(&first))?;
                // Ignoring the result is right: the file gave up its claim already, or does now.
                let _ = other.remove();
                self.sees(5, "after remove of a file that was refused", place, role, Some(&first))?;
                drop(other);
            }
        }
        self.sees(4, "after another file was refused", place, role, Some(&first))?;
        has_bytes(
            &*done(6, "open", file.open())?,
            &first,
            "after another file was refused, the file",
        )
    }

    fn a_replaced_file_is_gone(&mut self, role: FileRole) -> Kept {
        let place = self.next_place();
        let (first, second) = (pattern(3000, place), pattern(2000, place + 1));
        let before = self.published(place, role, &first)?;
        let Ok(mut other) = self.create(place, role) else {
            // It refuses names when files are made, so nothing can be replaced.
            return Ok(());
        };
        done(2, "append", other.append(&second))?;
        done(4, "publish with replace", other.publish(true))?;
        self.sees(4, "after publish with replace", place, role, Some(&second))?;
        has_bytes(
            &*done(6, "open", other.open())?,
            &second,
            "after publish with replace, the file",
        )?;
        drop(before);
        self.sees(
            7,
            "after the file that was replaced is dropped",
            place,
            role,
            Some(&second),
        )
    }

    fn names_are_taken_by_published_files(&mut self, role: FileRole) -> Kept {
        let place = self.next_place();
        self.says_taken("of a place without files", place, role, false)?;
        let mut file = self.unpublished(place, role, &pattern(3000, place))?;
        self.says_taken("before publish", place, role, false)?;
        done(4, "publish", file.publish(false))?;
        for other in ROLES {
            self.says_taken("after publish", place, other, other == role)?;
        }
        done(5, "remove", file.remove())?;
        self.says_taken("after remove", place, role, false)
    }

    fn removing_leaves_nothing(&mut self, role: FileRole) -> Kept {
        for publishes in [false, true] {
            let place = self.next_place();
            let bytes = pattern(3000, place);
            let mut file = self.unpublished(place, role, &bytes)?;
            if publishes {
                done(4, "publish", file.publish(false))?;
            }
            for _ in 0..2 {
                done(5, "remove", file.remove())?;
                self.sees(5, "after remove", place, role, None)?;
            }
            drop(file);
            self.sees(5, "after remove", place, role, None)?;
            self.is_free(5, "after remove", place, role)?;
        }
        Ok(())
    }

    /// The name is free for another output.
    fn is_free(&mut self, promise: u8, when: &str, place: usize, role: FileRole) -> Kept {
        let bytes = pattern(500, place);
        let result = self.create(place, role).and_then(|mut file| {
            file.append(&bytes)?;
            file.publish(false)
        });
        done(promise, &format!("{when}, publishing another file"), result)?;
        self.sees(promise, when, place, role, Some(&bytes))
    }

    fn others_files_are_not_removed(&mut self, role: FileRole) -> Kept {
        let place = self.next_place();
        let (first, second) = (pattern(3000, place), pattern(2000, place + 1));
        let mut file = self.published(place, role, &first)?;
        let Ok(mut other) = self.create(place, role) else {
            return Ok(());
        };
        done(2, "append", other.append(&second))?;
        // A file that was never published does not take the name of another with it.
        if let Ok(mut third) = self.create(place, role) {
            done(5, "remove", third.remove())?;
            self.sees(5, "after remove of another file", place, role, Some(&first))?;
        }
        done(4, "publish with replace", other.publish(true))?;
        done(5, "remove", file.remove())?;
        self.sees(
            5,
            "after remove of the file that was replaced",
            place,
            role,
            Some(&second),
        )?;
        has_bytes(
            &*done(6, "open", other.open())?,
            &second,
            "after remove of the file that it replaced, the file",
        )
    }

    fn dropping_is_removing(&mut self, role: FileRole) -> Kept {
        let place = self.next_place();
        drop(self.unpublished(place, role, &pattern(3000, place))?);
        self.sees(7, "after an unpublished file was dropped", place, role, None)?;
        self.is_free(7, "after an unpublished file was dropped", place, role)
    }

    fn one_of_many_succeeds(&mut self, role: FileRole) -> Kept {
        let place = self.next_place();
        let mut files = Vec::new();
        for seed in 0..THREADS {
            files.push(self.unpublished(place, role, &pattern(1000, seed))?);
        }
        let barrier = Barrier::new(THREADS);
        let publish = |file: &mut Box<dyn NewFile>| {
            barrier.wait();
            file.publish(false)
        };
        let results: Vec<_> = std::thread::scope(|scope| {
            let running: Vec<_> = files.iter_mut().map(|file| scope.spawn(|| publish(file))).collect();
            let joined = running.into_iter().map(|thread| thread.join());
            joined
                .map(|result| result.unwrap_or_else(|_| Err(io::Error::other("it panicked"))))
                .collect()
        });
        let winners: Vec<usize> = (0..THREADS).filter(|at| results[*at].is_ok()).collect();
        let [winner] = winners[..] else {
            let what = format!("{} of {THREADS} that publish one name succeed", winners.len());
            return broken(4, what);
        };
        for result in results {
            if result.is_err() {
                refused(result)?;
            }
        }
        let bytes = pattern(1000, winner);
        self.sees(4, "after several published", place, role, Some(&bytes))?;
        let loser = (winner + 1) % THREADS;
        done(5, "remove", files[loser].remove())?;
        self.sees(5, "after remove of a file that was refused", place, role, Some(&bytes))
    }

    /// One destination makes both files of a pair, which are two files.
    fn a_pair_has_both_files(&mut self) -> Kept {
        let place = self.next_place();
        let mut destination = (self.fresh)(place);
        let mut files = Vec::new();
        for role in [FileRole::Data, FileRole::Index] {
            files.push((role, done(2, "create", destination.create(role))?));
        }
        for round in 0..3 {
            for (role, file) in &mut files {
                done(2, "append", file.append(&pattern(100, *role as usize + round)))?;
            }
        }
        for (role, file) in &mut files {
            done(4, "publish", file.publish(false))?;
            let bytes: Vec<u8> = (0..3).flat_map(|round| pattern(100, *role as usize + round)).collect();
            has_bytes(&*done(6, "open", file.open())?, &bytes, "a file of a pair")?;
            self.sees(4, "after publish", place, *role, Some(&bytes))?;
        }
        Ok(())
    }
}

/// The result of a publish that must be refused.
fn refused(result: io::Result<()>) -> Kept {
    match result {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => broken(
            4,
            format!("publishing a name that exists failed with {error}, not AlreadyExists"),
        ),
        Ok(()) => broken(4, "publishing a name that exists succeeded without replace"),
    }
}

/// Compares the bytes of a file that was opened.
fn has_bytes(file: &dyn StoredFile, bytes: &[u8], what: &str) -> Kept {
    let size = done(6, "asking for the size", file.size())?;
    let mut found = vec![0; bytes.len() + 1];
    let count = done(
        6,
        "reading",
        read_full(0, &mut found, |offset, rest| file.read_at(offset, rest)),
    )?;
    if size != bytes.len() as u64 || found[..count] != *bytes {
        // What was appended is what promise 2 is about.
        return broken(
            2,
            format!(
                "{what} of {size} bytes does not have the {} that were appended",
                bytes.len()
            ),
        );
    }
    Ok(())
}
