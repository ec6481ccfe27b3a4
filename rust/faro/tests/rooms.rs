//! The rooms of the library (docs/architecture.md): a module uses only rooms below its own, and no circle of modules
//! exists, in the command neither. Tests may use what they like.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};

/// From the bottom up, as docs/architecture.md draws them.
const ROOMS: [&str; 19] = [
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
    "follow",
    "check",
    "sort_buffer",
    "writer",
    "repair",
    "scheduler",
    "key",
    "arrow",
];

/// A module's path in its crate; the crate itself has none.
type Module = Vec<String>;
type Arrows = BTreeMap<Module, BTreeSet<Module>>;

/// What one module says.
#[derive(Default)]
struct Said {
    /// Paths that it uses.
    used: Vec<Vec<String>>,
    /// Names that it gives on, and whose they are.
    given_on: BTreeMap<String, Vec<String>>,
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|path| path.is_ident("test"))
    })
}

/// The paths of a `use`, each with the name that it gets.
fn leaves(tree: &UseTree, before: &[String], found: &mut Vec<(String, Vec<String>)>) {
    let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(path) => leaves(&path.tree, &with(&path.ident), found),
        UseTree::Name(name) if name.ident == "self" => {
            found.push((before.last().cloned().unwrap_or_default(), before.to_vec()));
        }
        UseTree::Name(name) => found.push((name.ident.to_string(), with(&name.ident))),
        UseTree::Rename(rename) => found.push((rename.rename.to_string(), with(&rename.ident))),
        UseTree::Glob(_) => found.push(("*".into(), before.to_vec())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, before, found)),
    }
}

impl<'ast> Visit<'ast> for Said {
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
        let Item::Use(item) = item else {
            return visit::visit_item(self, item);
        };
        let mut found = Vec::new();
        leaves(&item.tree, &[], &mut found);
        match item.vis {
            Visibility::Inherited => self.used.extend(found.into_iter().map(|(_, path)| path)),
            _ => self.given_on.extend(found),
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names.len() > 1 {
            self.used.push(names);
        }
        visit::visit_path(self, path);
    }
}

/// What the modules below a folder say, without tests and generated code.
fn read(folder: &Path, module: &[String], found: &mut BTreeMap<Module, Said>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        let stem = path.file_stem().unwrap().to_str().unwrap().to_string();
        if stem.ends_with("tests") || ["generated", "interleavings", "seam"].contains(&stem.as_str()) {
            continue;
        }
        let inner = match stem.as_str() {
            "mod" | "lib" | "main" => module.to_vec(),
            _ => [module, &[stem]].concat(),
        };
        if path.is_dir() {
            read(&path, &inner, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let file = syn::parse_file(&std::fs::read_to_string(&path).unwrap()).unwrap();
            let said = found.entry(inner).or_default();
            said.visit_file(&file);
        }
    }
}

/// The module that a path leads to from a module, through names that are given on; nothing for a path out of the crate.
fn resolve(path: &[String], from: &[String], all: &BTreeMap<Module, Said>) -> Option<Module> {
    let (first, rest) = path.split_first()?;
    let mut at = match first.as_str() {
        "crate" => Vec::new(),
        "self" => from.to_vec(),
        "super" => from[..from.len().checked_sub(1)?].to_vec(),
        name => {
            let inner = [from, &[name.to_string()]].concat();
            all.contains_key(&inner).then_some(inner)?
        }
    };
    for (number, name) in rest.iter().enumerate() {
        if name == "super" {
            at.pop();
            continue;
        }
        let inner = [&at[..], std::slice::from_ref(name)].concat();
        if all.contains_key(&inner) {
            at = inner;
            continue;
        }
        let Some(said) = all.get(&at) else {
            return Some(at);
        };
        return match said.given_on.get(name) {
            Some(given) => resolve(&[given, &rest[number + 1..]].concat(), &at, all).or(Some(at)),
            None => Some(at),
        };
    }
    Some(at)
}

fn arrows(source: &Path) -> Arrows {
    let mut all = BTreeMap::new();
    read(source, &[], &mut all);
    let arrows = all.iter().map(|(module, said)| {
        let used = said.used.iter().filter_map(|path| resolve(path, module, &all));
        (module.clone(), used.filter(|used| used != module).collect())
    });
    arrows.collect()
}

/// Arrows that run back up, and rooms that are not in the plan.
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

/// The arrows that are left without the modules that use none of the others, or that none of them uses: circles, and the
/// ways between circles.
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
    let arrows = arrows(&source);
    assert!(arrows.len() > 50, "the modules were not found");
    assert_eq!(upward(&arrows), Vec::<String>::new());
    assert_eq!(circles(&arrows), Vec::<String>::new());
}

#[test]
fn the_command_has_no_circles() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../faro-cli/src");
    let arrows = arrows(&source);
    assert!(arrows.len() > 30, "the modules were not found");
    assert_eq!(circles(&arrows), Vec::<String>::new());
}
