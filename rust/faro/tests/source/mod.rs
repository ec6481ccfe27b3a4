//! The modules of a crate as syn reads them, and where a path leads.

use std::collections::BTreeMap;
use std::path::Path;
use syn::{Attribute, File, Ident, Item, UseTree, Visibility};

/// The path of a module in its crate; empty for the root.
pub(crate) type Module = Vec<String>;
pub(crate) type Modules = BTreeMap<Module, Source>;

/// The source of one module.
pub(crate) struct Source {
    pub file: File,
    /// The names that the module re-exports, and the path of each.
    pub re_exports: BTreeMap<String, Vec<String>>,
    /// The names that the module imports for its own use, and the path of each.
    imports: BTreeMap<String, Vec<String>>,
}

pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|path| path.is_ident("test"))
    })
}

/// The paths of a `use`, each with the name that it gets.
pub(crate) fn leaves(tree: &UseTree) -> Vec<(String, Vec<String>)> {
    fn walk(tree: &UseTree, before: &[String], found: &mut Vec<(String, Vec<String>)>) {
        let with = |name: &Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => walk(&path.tree, &with(&path.ident), found),
            UseTree::Name(name) if name.ident == "self" => {
                found.push((before.last().cloned().unwrap_or_default(), before.to_vec()));
            }
            UseTree::Name(name) => found.push((name.ident.to_string(), with(&name.ident))),
            UseTree::Rename(rename) => found.push((rename.rename.to_string(), with(&rename.ident))),
            UseTree::Glob(_) => found.push(("*".into(), before.to_vec())),
            UseTree::Group(group) => group.items.iter().for_each(|tree| walk(tree, before, found)),
        }
    }
    let mut found = Vec::new();
    walk(tree, &[], &mut found);
    found
}

/// The modules of the crate in a folder, without tests and generated code.
pub(crate) fn modules(folder: &Path) -> Modules {
    let mut found = Modules::new();
    read(folder, &[], &mut found);
    found
}

fn read(folder: &Path, module: &[String], found: &mut Modules) {
    let entries = std::fs::read_dir(folder).unwrap();
    for path in entries.map(|entry| entry.unwrap().path()) {
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
            let (mut re_exports, mut imports) = (BTreeMap::new(), BTreeMap::new());
            for item in &file.items {
                match item {
                    Item::Use(item) if is_for_tests(&item.attrs) => {}
                    Item::Use(item) if matches!(item.vis, Visibility::Inherited) => imports.extend(leaves(&item.tree)),
                    Item::Use(item) => re_exports.extend(leaves(&item.tree)),
                    _ => {}
                }
            }
            let source = Source {
                file,
                re_exports,
                imports,
            };
            found.insert(inner, source);
        }
    }
}

/// The module in which the path of an item or a module ends, seen from a module, through re-exports; none for a path
/// that leads out of the crate.
pub(crate) fn resolve(path: &[String], from: &[String], all: &Modules) -> Option<Module> {
    let (first, rest) = path.split_first()?;
    let mut at = match first.as_str() {
        "crate" => Vec::new(),
        "self" => from.to_vec(),
        "super" => from[..from.len().checked_sub(1)?].to_vec(),
        name => {
            let inner = [from, &[name.to_string()]].concat();
            if !all.contains_key(&inner) {
                let import = all.get(from)?.imports.get(name)?;
                // `use std::fmt;` imports a name that is the last of its own path.
                let leads_back = import.first().is_some_and(|first| first == name);
                return (!leads_back).then(|| resolve(&[import, rest].concat(), from, all))?;
            }
            inner
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
        let Some(path) = all.get(&at).and_then(|source| source.re_exports.get(name)) else {
            return Some(at);
        };
        return resolve(&[path, &rest[number + 1..]].concat(), &at, all).or(Some(at));
    }
    Some(at)
}
