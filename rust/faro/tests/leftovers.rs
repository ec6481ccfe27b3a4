//! What dead writers leave, and how it is recovered and cleaned (spec, PUB-6 to PUB-9).

#![cfg(unix)]

mod common;

use common::{Place, check, code, contents, fill_sample, open, options};
use faro::{
    Action, CleanOptions, Durability, ErrorCode, Files, KeptReason, Layout, RecoverOptions, RecoverReport, Result,
    Writer, clean, recover,
};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const LAYOUTS: [Layout; 2] = [Layout::Paired, Layout::Single];
const CHILD: &str = "FARO_LEFTOVERS_CHILD";

/// Not a test: the other process of these tests, a writer that commits two regions and waits.
#[test]
fn child() {
    let Some(name) = std::env::var_os(CHILD) else { return };
    let layout = match std::env::var("FARO_LEFTOVERS_LAYOUT").unwrap().as_str() {
        "single" => Layout::Single,
        _ => Layout::Paired,
    };
    let durable = options(layout, 3).first_partition(5).durability(Durability::Commit);
    let mut writer = Writer::create(Path::new(&name), durable).unwrap();
    fill_sample(&mut writer);
    writer.flush().unwrap();
    println!("written");
    std::thread::sleep(Duration::from_secs(600));
}

/// A writer in another process that has written `name`.
fn another_writer(name: &Path, layout: Layout) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(CHILD, name)
        .env("FARO_LEFTOVERS_LAYOUT", format!("{layout:?}").to_lowercase())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(|line| line.ok()).any(|line| line.contains("written")));
    child
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The files of a writer that was killed after two regions.
fn left(layout: Layout) -> Place {
    let place = Place::new();
    kill(another_writer(&place.name(), layout));
    place
}

fn recovered(place: &Place, options: &RecoverOptions) -> Result<RecoverReport> {
    recover(place.name(), options)
}

fn swept(place: &Place) -> Vec<String> {
    let folder = place.name();
    let report = clean(
        folder.parent().unwrap(),
        &CleanOptions::default().older_than(Duration::ZERO),
    )
    .unwrap();
    report.removed.into_iter().map(|file| file.name).collect()
}

fn temporary(place: &Place, role: &str) -> PathBuf {
    place.name().with_file_name(format!("out.{role}.30313233.tmp"))
}

fn last(place: &Place, role: &str) -> PathBuf {
    place.name().with_file_name(format!("out.{role}"))
}

/// The bytes of everything in the folder.
fn bytes(place: &Place) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| {
        let content = std::fs::read(place.name().with_file_name(&name)).unwrap();
        (name, content)
    };
    place.files().into_iter().map(read).collect()
}

#[test]
fn a_killed_writers_committed_regions_are_recovered() {
    for layout in LAYOUTS {
        let place = left(layout);
        let before = bytes(&place);
        let dry = recovered(&place, &RecoverOptions::default().dry_run(true)).unwrap();
        assert_eq!(bytes(&place), before);
        let report = recovered(&place, &RecoverOptions::default()).unwrap();
        for told in [&dry, &report] {
            assert_eq!((told.action, told.regions), (Action::LastCommit, 3));
            assert_eq!(told.file_id.as_deref(), Some("30313233"));
        }
        let files = place.output(layout);
        assert_eq!(check(&files).unwrap().regions, 3);
        assert_eq!(place.files().len(), files.paths().len());
        assert_eq!(contents(&open(&files).unwrap()).unwrap()[1].len(), 4);
        assert_eq!(
            recovered(&place, &RecoverOptions::default()).unwrap().action,
            Action::Nothing
        );
    }
}

#[test]
fn living_writers_are_left_alone() {
    for layout in LAYOUTS {
        let place = Place::new();
        let child = another_writer(&place.name(), layout);
        let before = bytes(&place);
        assert_eq!(code(recovered(&place, &RecoverOptions::default())), ErrorCode::Io);
        assert_eq!(
            code(recovered(&place, &RecoverOptions::default().file_id("30313233"))),
            ErrorCode::Io
        );
        assert!(swept(&place).is_empty());
        assert_eq!(bytes(&place), before);
        kill(child);
        assert_eq!(swept(&place).len(), before.len());
    }
}

#[test]
fn living_writers_of_this_process_are_left_alone() {
    for layout in LAYOUTS {
        let place = Place::new();
        let durable = options(layout, 3).first_partition(5).durability(Durability::Commit);
        let mut writer = Writer::create(place.name(), durable).unwrap();
        fill_sample(&mut writer);
        assert_eq!(code(recovered(&place, &RecoverOptions::default())), ErrorCode::Io);
        assert!(swept(&place).is_empty());
        check(&writer.finish().unwrap().files).unwrap();
    }
}

#[test]
fn a_reader_in_the_writers_process_does_not_give_up_its_lock() {
    let place = Place::new();
    let followed = options(Layout::Paired, 3).first_partition(5).follow(true);
    let mut writer = Writer::create(place.name(), followed).unwrap();
    fill_sample(&mut writer);
    writer.flush().unwrap();
    drop(faro::Follower::open(&place.output(Layout::Paired), faro::ReaderOptions::default()).unwrap());
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(last(&place, "data"))
        .unwrap();
    // Another process checks this, since a lock never excludes the process that holds it. SAFETY: the child only makes
    // system calls on its copy of the descriptor, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: all bytes zero is a value of this struct of numbers.
        let mut wanted: libc::flock = unsafe { std::mem::zeroed() };
        wanted.l_type = libc::F_WRLCK as _;
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&file);
        // SAFETY: as above.
        unsafe {
            let free = libc::fcntl(descriptor, libc::F_SETLK, &raw const wanted) == 0;
            libc::_exit(i32::from(free));
        }
    }
    let mut status = 0;
    // SAFETY: the child belongs to this process, and the status is a local variable.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "another process could lock the file");
    drop(file);
    writer.finish().unwrap();
}

#[test]
fn several_writers_are_named_and_one_is_chosen() {
    let place = left(Layout::Single);
    let (mine, other) = (
        temporary(&place, "faro"),
        place.name().with_file_name("out.faro.0badcafe.tmp"),
    );
    std::fs::copy(&mine, &other).unwrap();
    let refused = recovered(&place, &RecoverOptions::default()).unwrap_err();
    assert_eq!(refused.code, ErrorCode::InvalidArgument);
    assert!(refused.found.contains("0badcafe, 30313233"), "{refused}");
    assert_eq!(
        code(recovered(&place, &RecoverOptions::default().file_id("00000000"))),
        ErrorCode::Io
    );
    assert_eq!(
        code(recovered(&place, &RecoverOptions::default().file_id("0BADCAFE"))),
        ErrorCode::InvalidArgument
    );
    recovered(&place, &RecoverOptions::default().file_id("30313233")).unwrap();
    assert_eq!(place.files(), ["out.faro", "out.faro.0badcafe.tmp"]);
}

#[test]
fn between_the_two_files() {
    // The data file has its final name; an older index, or none, is next to it.
    for older in [false, true] {
        let place = left(Layout::Paired);
        recovered(&place, &RecoverOptions::default()).unwrap();
        std::fs::rename(last(&place, "index"), temporary(&place, "index")).unwrap();
        if older {
            let old = Place::new();
            Writer::create(old.name(), faro::WriterOptions::new(1))
                .unwrap()
                .finish()
                .unwrap();
            std::fs::copy(last(&old, "index"), last(&place, "index")).unwrap();
        }
        let report = recovered(&place, &RecoverOptions::default()).unwrap();
        assert_eq!(report.action, Action::Published);
        assert_eq!(place.files(), ["out.data", "out.index"]);
        check(&place.output(Layout::Paired)).unwrap();
    }
}

#[test]
fn a_second_name_of_a_file_goes() {
    let place = left(Layout::Paired);
    std::fs::hard_link(temporary(&place, "data"), last(&place, "data")).unwrap();
    assert_eq!(
        recovered(&place, &RecoverOptions::default()).unwrap().action,
        Action::LastCommit
    );
    assert_eq!(place.files(), ["out.data", "out.index"]);
}

#[test]
fn an_index_without_a_header_is_rebuilt() {
    for kept in [None, Some(0), Some(63)] {
        let place = left(Layout::Paired);
        let index = temporary(&place, "index");
        match kept {
            None => std::fs::remove_file(&index).unwrap(),
            Some(size) => std::fs::OpenOptions::new()
                .write(true)
                .open(&index)
                .unwrap()
                .set_len(size)
                .unwrap(),
        }
        let report = recovered(&place, &RecoverOptions::default()).unwrap();
        assert_eq!((report.action, report.repair.unwrap().orphaned), (Action::Rebuilt, 2));
        assert_eq!(place.files(), ["out.data", "out.index"]);
        check(&place.output(Layout::Paired)).unwrap();
    }
}

#[test]
fn nothing_is_saved_without_a_header() {
    let place = left(Layout::Paired);
    let data = temporary(&place, "data");
    std::fs::OpenOptions::new()
        .write(true)
        .open(data)
        .unwrap()
        .set_len(63)
        .unwrap();
    let before = bytes(&place);
    let report = recovered(&place, &RecoverOptions::default()).unwrap();
    assert_eq!((report.action, report.file_id), (Action::NothingSaved, None));
    assert_eq!(bytes(&place), before);
    assert_eq!(swept(&place).len(), 2);
    assert_eq!(code(recovered(&place, &RecoverOptions::default())), ErrorCode::Io);
}

#[test]
fn another_output_is_not_replaced_unless_asked() {
    let place = left(Layout::Paired);
    for role in ["data", "index"] {
        std::fs::write(last(&place, role), "something else").unwrap();
    }
    let before = bytes(&place);
    assert_eq!(code(recovered(&place, &RecoverOptions::default())), ErrorCode::Io);
    assert_eq!(bytes(&place), before);
    recovered(&place, &RecoverOptions::default().overwrite(true)).unwrap();
    check(&place.output(Layout::Paired)).unwrap();
    assert_eq!(place.files(), ["out.data", "out.index"]);
}

#[test]
fn an_unfinished_output_under_its_final_names_is_repaired() {
    let place = Place::new();
    let mut writer = Writer::create(place.name(), options(Layout::Paired, 3).first_partition(5).follow(true)).unwrap();
    fill_sample(&mut writer);
    drop(writer);
    let report = recovered(&place, &RecoverOptions::default()).unwrap();
    assert_eq!((report.action, report.regions), (Action::LastCommit, 2));
    check(&place.output(Layout::Paired)).unwrap();
}

#[test]
fn the_endings_of_a_name_choose_the_layout() {
    let place = left(Layout::Single);
    let name = |ending: &str| place.name().with_extension(ending);
    assert_eq!(code(recover(name("data"), &RecoverOptions::default())), ErrorCode::Io);
    recover(name("faro"), &RecoverOptions::default()).unwrap();
    check(&Files::single(place.name())).unwrap();
}

#[test]
fn what_dead_writers_left_is_swept_and_nothing_else() {
    let place = left(Layout::Paired);
    let put = |name: &str, content: &[u8]| std::fs::write(place.name().with_file_name(name), content).unwrap();
    let header = std::fs::read(temporary(&place, "data")).unwrap();
    put("other.faro.0badcafe.tmp", &[]);
    put("other.faro-lock", &[]);
    put("other.index.rebuild.tmp", &header);
    // No writer left any of these.
    put("locked.faro-lock", b"not empty");
    put("a.data.0badcafe.tmp", &header);
    put("a.data.30313233.tmp", &[b'x'; 64]);
    put("a.data.3031323.tmp", &[]);
    put("a.data.3031323G.tmp", &[]);
    put("a.text.30313233.tmp", &[]);
    put("a.data", &[]);
    std::os::unix::fs::symlink("a.data", place.name().with_file_name("b.data.30313233.tmp")).unwrap();
    std::fs::create_dir(place.name().with_file_name("c.data.30313233.tmp")).unwrap();
    let expected = [
        "other.faro-lock",
        "other.faro.0badcafe.tmp",
        "other.index.rebuild.tmp",
        "out.data.30313233.tmp",
        "out.index.30313233.tmp",
    ];
    let folder = place.name().parent().unwrap().to_path_buf();
    let young = clean(&folder, &CleanOptions::default()).unwrap();
    assert!(young.removed.is_empty());
    let reasons: Vec<_> = young
        .kept
        .iter()
        .map(|kept| (kept.file.name.as_str(), kept.reason))
        .collect();
    assert_eq!(reasons, expected.map(|name| (name, KeptReason::Young)));
    let before = place.files();
    let at_once = CleanOptions::default().older_than(Duration::ZERO);
    let dry: Vec<_> = clean(&folder, &at_once.clone().dry_run(true)).unwrap().removed;
    assert_eq!(place.files(), before);
    assert_eq!(dry.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), expected);
    assert_eq!(swept(&place), expected);
    assert_eq!(place.files().len(), before.len() - expected.len());
    assert_eq!(code(clean(folder.join("nosuch"), &at_once)), ErrorCode::Io);
}
