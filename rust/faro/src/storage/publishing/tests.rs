//! Locks and names, step by step.

use super::*;
use std::sync::mpsc;
use std::time::Duration;

fn put(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn text(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[test]
fn a_lock_is_one_threads_at_a_time_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.faro-lock");
    let lock = PublishingLock::take(&path).unwrap();
    let refused = PublishingLock::take_within(&path, Duration::from_millis(5)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TimedOut);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        let path = &path;
        scope.spawn(move || {
            let _lock = PublishingLock::take(path).unwrap();
            sender.send(()).unwrap();
        });
        assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
        drop(lock);
        receiver.recv_timeout(Duration::from_secs(10)).unwrap();
    });
    assert!(!path.exists());
}

#[test]
fn the_same_lock_by_two_ways_to_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("inner")).unwrap();
    let lock = PublishingLock::take(&folder.path().join("a.faro-lock")).unwrap();
    let other = folder.path().join("inner").join("..").join("a.faro-lock");
    assert!(PublishingLock::take_within(&other, Duration::from_millis(5)).is_err());
    drop(lock);
    assert!(PublishingLock::take_within(&other, Duration::from_millis(5)).is_ok());
}

#[cfg(unix)]
#[test]
fn a_lock_is_never_a_link_nor_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let (victim, path) = (put(folder.path(), "victim", "kept"), folder.path().join("a.faro-lock"));
    std::os::unix::fs::symlink(&victim, &path).unwrap();
    assert!(PublishingLock::take(&path).is_err());
    assert_eq!(text(&victim).as_deref(), Some("kept"));
}

#[test]
fn a_lock_file_that_a_dead_writer_left_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = put(folder.path(), "a.faro-lock", "");
    drop(PublishingLock::take_within(&path, Duration::ZERO).unwrap());
    assert!(!path.exists());
}

fn pair(folder: &Path) -> [(PathBuf, PathBuf); 2] {
    ["data", "index"].map(|role| {
        (
            put(folder, &format!("a.{role}.tmp"), &format!("new {role}")),
            folder.join(format!("a.{role}")),
        )
    })
}

fn give(folder: &Path, files: &[(PathBuf, PathBuf)], overwrite: bool) -> Result<(), (usize, ErrorKind)> {
    let names: Vec<_> = files
        .iter()
        .map(|(temporary, last)| Naming {
            temporary,
            last,
            device: None,
        })
        .collect();
    let replace = if overwrite { Replace::Pair } else { Replace::Nothing };
    give_names(&names, &folder.join("a.faro-lock"), replace).map_err(|(at, error)| (at, error.kind()))
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn names_are_given_in_order_and_nothing_is_left() {
    for overwrite in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let files = pair(folder.path());
        if overwrite {
            put(folder.path(), "a.data", "old data");
            put(folder.path(), "a.index", "old index");
        }
        give(folder.path(), &files, overwrite).unwrap();
        assert_eq!(names_in(folder.path()), ["a.data", "a.index"]);
        assert_eq!(text(&files[1].1).as_deref(), Some("new index"));
    }
}

/// Both ways leave a name that exists to its file (PUB-3).
#[test]
fn neither_the_rename_nor_the_link_takes_a_name_that_exists() {
    fn rename(name: &Naming<'_>) -> io::Result<()> {
        rename_new(name.temporary, name.last)
    }
    for give in [rename, link] {
        let folder = tempfile::tempdir().unwrap();
        let [(temporary, last), _] = pair(folder.path());
        let name = Naming {
            temporary: &temporary,
            last: &last,
            device: None,
        };
        put(folder.path(), "a.data", "another's");
        let done = give(&name).map_err(|error| error.kind());
        if done == Err(ErrorKind::Unsupported) && !cfg!(all(target_os = "linux", target_env = "gnu")) {
            continue;
        }
        assert_eq!(done, Err(ErrorKind::AlreadyExists));
        assert_eq!(text(&last).as_deref(), Some("another's"));
        std::fs::remove_file(&last).unwrap();
        give(&name).unwrap();
        assert_eq!(text(&last).as_deref(), Some("new data"));
        assert!(!temporary.exists());
    }
}

/// The rename is for devices that have been seen to have hard links (PUB-3).
#[test]
fn a_device_is_known_after_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let device = u64::MAX;
    for (at, known) in [(0, false), (1, true)] {
        assert_eq!(linked().contains(&device), known);
        let (temporary, last) = &pair(folder.path())[at];
        give_free_name(&Naming {
            temporary,
            last,
            device: Some(device),
        })
        .unwrap();
        assert!(last.exists() && !temporary.exists());
    }
}

#[test]
fn the_data_file_is_taken_back_when_the_index_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = pair(folder.path());
    put(folder.path(), "a.index", "another's");
    assert_eq!(give(folder.path(), &files, false), Err((1, ErrorKind::AlreadyExists)));
    assert_eq!(names_in(folder.path()), ["a.data.tmp", "a.index", "a.index.tmp"]);
    assert_eq!(text(&files[1].1).as_deref(), Some("another's"));
}

#[test]
fn a_name_that_is_another_files_by_now_is_not_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let files = pair(folder.path());
    let names = [Naming {
        temporary: &files[0].0,
        last: &files[0].1,
        device: None,
    }];
    let key = key_of(&files[0].0);
    put(folder.path(), "a.data", "another's");
    take_back(&names, &[(0, key)], &folder.path().join("a.faro-lock"));
    assert_eq!(text(&files[0].1).as_deref(), Some("another's"));
}

#[test]
fn without_hard_links_names_are_looked_at_under_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let files = pair(folder.path());
    let names = files.each_ref().map(|(temporary, last)| Naming {
        temporary,
        last,
        device: None,
    });
    let lock = folder.path().join("a.faro-lock");
    put(folder.path(), "a.index", "another's");
    let (at, error) = rename_free(&names, &lock).unwrap_err();
    assert_eq!((at, error.kind()), (1, ErrorKind::AlreadyExists));
    assert!(!files[0].1.exists());
    std::fs::remove_file(&files[1].1).unwrap();
    rename_free(&names, &lock).unwrap();
    assert_eq!(names_in(folder.path()), ["a.data", "a.index"]);
}

#[test]
fn the_lock_is_next_to_the_output() {
    for last in ["f/a.b.data", "f/a.b.index", "f/a.b.faro"] {
        assert_eq!(lock_path(Path::new(last)), Path::new("f/a.b.faro-lock"));
    }
}
