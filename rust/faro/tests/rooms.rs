//! The rooms of the library (docs/architecture.md): a module uses only rooms below its own. Neither the library nor the
//! command has a circle of modules. Tests may use any module.

mod source;

use source::{Module, Modules, is_for_tests, leaves, modules, resolve};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{Item, Visibility};

/// From the bottom up, as docs/architecture.md draws them.
const ROOMS: [&str; 24] = [
    "error",
    "limits",
    "generated",
    "bytes",
    "codec",
    "storage",
    "block",
    "message",
    "index",
    "plan",
    "reader",
    "feed",
    "async_reader",
    "follow",
    "check",
    "sort_buffer",
    "writer",
    "hybrid",
    "repair",
    "merge",
    "shuffle",
    "scheduler",
    "key",
    "arrow",
];

type Arrows = BTreeMap<Module, BTreeSet<Module>>;

/// The paths that a module uses.
#[derive(Default)]
struct Used(Vec<Vec<String>>);

impl<'ast> Visit<'ast> for Used {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if is_for_tests(attributes) {
            return;
        }
        match item {
            Item::Use(item) if matches!(item.vis, Visibility::Inherited) => {
                self.0.extend(leaves(&item.tree).into_iter().map(|(_, path)| path));
            }
            // A re-export is followed from the module that uses it.
            Item::Use(_) => {}
            item => visit::visit_item(self, item),
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names.len() > 1 {
            self.0.push(names);
        }
        visit::visit_path(self, path);
    }
}

fn arrows(all: &Modules) -> Arrows {
    let arrows = all.iter().map(|(module, source)| {
        let mut used = Used::default();
        used.visit_file(&source.file);
        let used = used.0.iter().filter_map(|path| resolve(path, module, all));
        (module.clone(), used.filter(|used| used != module).collect())
    });
    arrows.collect()
}

/// Arrows that run back up, and modules outside the plan.
fn upward(arrows: &Arrows) -> Vec<String> {
    let height = |module: &Module| {
        ROOMS
            .iter()
            .position(|room| module.first().is_some_and(|first| first == room))
    };
    let mut found = Vec::new();
    for (module, used) in arrows.iter().filter(|(module, _)| !module.is_empty()) {
        let Some(own) = height(module) else {
            found.push(format!("{} has no room", module.join("::")));
            continue;
        };
        for used in used.iter().filter(|used| !used.is_empty()) {
            if height(used).is_none_or(|height| height > own) {
                found.push(format!("{} uses {}", module.join("::"), used.join("::")));
            }
        }
    }
    found
}

/// The arrows that are left after modules that use no other, or that no other uses, are removed again and again: the
/// circles, and the paths between circles.
fn circles(arrows: &Arrows) -> Vec<String> {
    let mut left = arrows.clone();
    loop {
        let used: BTreeSet<Module> = left.values().flatten().cloned().collect();
        let modules: BTreeSet<Module> = left.keys().cloned().collect();
        let before = left.values().map(BTreeSet::len).sum::<usize>() + left.len();
        left.values_mut()
            .for_each(|to| to.retain(|module| modules.contains(module)));
        left.retain(|module, to| !to.is_empty() && used.contains(module));
        if before == left.values().map(BTreeSet::len).sum::<usize>() + left.len() {
            let shown = |(module, used): (&Module, &BTreeSet<Module>)| {
                let used: Vec<_> = used.iter().map(|module| module.join("::")).collect();
                format!("{} uses {}", module.join("::"), used.join(", "))
            };
            return left.iter().map(shown).collect();
        }
    }
}

#[test]
fn arrows_run_one_way() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let arrows = arrows(&modules(&source));
    assert!(arrows.len() > 50, "the modules were not found");
    assert_eq!(upward(&arrows), Vec::<String>::new());
    assert_eq!(circles(&arrows), Vec::<String>::new());
}

/// The rooms of each row of docs/architecture.md, in Rust's column.
fn rows_of_the_page(page: &str) -> Vec<BTreeSet<&str>> {
    let rows = page.lines().skip_while(|line| !line.contains("Rust (`rust/faro/src`)"));
    rows.skip(2)
        .take_while(|line| line.starts_with('|'))
        .filter_map(|line| line.split('|').nth(4))
        // Some rooms are in other languages only.
        .filter(|cell| cell.contains('`'))
        .map(|cell| cell.split('`').skip(1).step_by(2).collect())
        .collect()
}

#[test]
fn the_page_has_the_same_rooms() {
    let rows = rows_of_the_page(include_str!("../../../docs/architecture.md"));
    let mut rooms = ROOMS.iter().copied().filter(|room| *room != "generated");
    for row in rows {
        let here: BTreeSet<_> = rooms.by_ref().take(row.len()).collect();
        assert_eq!(row, here, "docs/architecture.md has other rooms, or another order");
    }
    assert_eq!(rooms.next(), None, "docs/architecture.md does not have this room");
}

#[test]
fn the_command_has_no_circles() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../faro-cli/src");
    let arrows = arrows(&modules(&source));
    assert!(arrows.len() > 30, "the modules were not found");
    assert_eq!(circles(&arrows), Vec::<String>::new());
}

/// proptest repeats the failures in proptest-regressions/x/y.txt before it tests src/x/y.rs. It does not say when a source
/// file has moved away from its failures.
#[test]
fn saved_failures_have_their_tests() {
    fn walk(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => walk(&path, found),
                false => found.push(path),
            }
        }
    }
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let saved = package.join("proptest-regressions");
    let mut files = Vec::new();
    walk(&saved, &mut files);
    assert!(!files.is_empty(), "the saved failures were not found");
    for file in files {
        let source = package.join("src").join(file.strip_prefix(&saved).unwrap());
        let source = std::fs::read_to_string(source.with_extension("rs")).unwrap_or_default();
        assert!(
            source.contains("proptest!"),
            "{} is not read by any test",
            file.display()
        );
    }
}
