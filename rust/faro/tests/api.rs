//! docs/api.md names the whole public surface of the library, and nothing else, except for what a rule leaves out.

mod source;

use source::{Module, Modules, is_for_tests, leaves, modules, resolve};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::{Fields, ImplItem, Item, ReceiverKind, TraitItem, Type, Visibility};

/// A type by the module that defines it and its name there.
type Definition = (Module, String);

/// What a user of the library can name.
#[derive(Default)]
struct Surface {
    /// Types, functions, constants, modules, and methods as `Type::method`.
    names: BTreeSet<String>,
    types: BTreeMap<Definition, String>,
    /// Methods that set the public field of the same name.
    setters: BTreeSet<String>,
}

/// Details of types that the page names. The documentation of the type has them.
const DETAILS: [(&str, &[&str]); 13] = [
    ("ArrowWriter", &["schema"]),
    ("BatchDecoder", &["schema"]),
    ("Batches", &["schema"]),
    ("Block", &["kind"]),
    ("Codec", &["from_number"]),
    ("ErrorCode", &["ALL"]),
    ("Extent", &["end"]),
    ("FileHeader", &FILE_HEADER),
    ("Members", &["contains", "count", "is_all", "iter"]),
    ("RegionIndex", &REGION_INDEX),
    (
        "block::BlockHeader",
        &["SIZE", "encode", "is_metadata", "parse", "size_in_file"],
    ),
    ("block::Seal", &["checksum", "new"]),
    (
        "plan",
        &[
            "Admitted::new",
            "Sweep::head",
            "Sweep::insert",
            "Sweep::is_empty",
            "Sweep::next_read",
            "Sweep::remove",
        ],
    ),
];
const FILE_HEADER: [&str; 7] = [
    "SIZE",
    "encode",
    "has_dictionaries",
    "is_newer_minor",
    "is_selective",
    "parse",
    "partitions",
];
const REGION_INDEX: [&str; 12] = [
    "extent",
    "extents_of",
    "is_sparse",
    "own_extent",
    "rotation",
    "runs",
    "sequence",
    "shared",
    "slot",
    "slot_count",
    "slots",
    "stored_bytes",
];

fn details() -> BTreeSet<String> {
    let names = DETAILS
        .iter()
        .flat_map(|(kind, names)| names.iter().map(move |name| format!("{kind}::{name}")));
    names.collect()
}

/// Whether a rule leaves a name off the page.
fn is_left_out(name: &str, surface: &Surface) -> bool {
    let Some((kind, method)) = name.rsplit_once("::") else {
        return false;
    };
    let is_in = |other: &str| surface.names.contains(&format!("{other}::{method}"));
    match kind {
        // The page has the calls of Reader and Writer.
        "Follower" => is_in("Reader"),
        "ArrowWriter" => is_in("Writer"),
        // It lends what Block has: its fields and methods.
        "BorrowedBlock" => true,
        // The names of the values of an enum.
        _ if method == "as_str" => true,
        // A method of an options type that sets the field of the same name.
        _ => surface.setters.contains(name),
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The name, visibility and attributes of an item, and whether it is a type.
fn described(item: &Item) -> Option<(String, &Visibility, bool)> {
    let (name, visibility, attributes, is_type) = match item {
        Item::Struct(item) => (&item.ident, &item.vis, &item.attrs, true),
        Item::Enum(item) => (&item.ident, &item.vis, &item.attrs, true),
        Item::Union(item) => (&item.ident, &item.vis, &item.attrs, true),
        Item::Trait(item) => (&item.ident, &item.vis, &item.attrs, true),
        Item::Type(item) => (&item.ident, &item.vis, &item.attrs, false),
        Item::Const(item) => (&item.ident, &item.vis, &item.attrs, false),
        Item::Static(item) => (&item.ident, &item.vis, &item.attrs, false),
        Item::Fn(item) => (&item.sig.ident, &item.vis, &item.attrs, false),
        Item::Mod(item) => (&item.ident, &item.vis, &item.attrs, false),
        _ => return None,
    };
    (!is_for_tests(attributes)).then(|| (name.to_string(), visibility, is_type))
}

fn is_type(module: &Module, name: &str, all: &Modules) -> bool {
    let mut items = all[module].file.items.iter().filter_map(described);
    items.any(|(found, _, is_type)| is_type && found == name)
}

impl Surface {
    fn of(all: &Modules) -> Surface {
        let mut surface = Surface::default();
        surface.add_module(&Vec::new(), all);
        for (module, source) in all {
            for item in &source.file.items {
                if let Item::Impl(item) = item
                    && item.trait_.is_none()
                    && !is_for_tests(&item.attrs)
                {
                    surface.add_methods(item, module, all);
                }
            }
        }
        surface
    }

    /// Adds what a public module exports.
    fn add_module(&mut self, module: &Module, all: &Modules) {
        let shown = |name: &str| [&module[..], &[name.to_string()]].concat().join("::");
        for item in &all[module].file.items {
            if let Item::Use(item) = item
                && is_public(&item.vis)
            {
                for (name, path) in leaves(&item.tree) {
                    let from = resolve(&path, module, all).expect("a public re-export of another crate's item");
                    let defined = path.last().expect("a path has a last part").clone();
                    self.add_trait(&from, &defined, &shown(&name), all);
                    if is_type(&from, &defined, all) {
                        self.types.insert((from, defined), shown(&name));
                    }
                    self.names.insert(shown(&name));
                }
            }
            let Some((name, visibility, is_type)) = described(item) else {
                continue;
            };
            if is_public(visibility) {
                self.names.insert(shown(&name));
                if matches!(item, Item::Mod(_)) {
                    self.add_module(&[&module[..], std::slice::from_ref(&name)].concat(), all);
                } else if is_type {
                    self.types.insert((module.clone(), name.clone()), shown(&name));
                }
            }
        }
    }

    /// Adds the methods of a re-exported trait.
    fn add_trait(&mut self, module: &Module, name: &str, shown: &str, all: &Modules) {
        for item in &all[module].file.items {
            if let Item::Trait(item) = item
                && item.ident == name
            {
                for method in &item.items {
                    if let TraitItem::Fn(method) = method {
                        self.names.insert(format!("{shown}::{}", method.sig.ident));
                    }
                }
            }
        }
    }

    fn add_methods(&mut self, block: &syn::ItemImpl, module: &Module, all: &Modules) {
        let Type::Path(path) = &*block.self_ty else { return };
        let name = path.path.segments.last().expect("a type has a name").ident.to_string();
        let Some(shown) = self.types.get(&defined(&name, module, all)).cloned() else {
            return;
        };
        let fields = public_fields(&name, &defined(&name, module, all).0, all);
        for item in &block.items {
            let (method, visibility) = match item {
                ImplItem::Fn(method) => (method.sig.ident.to_string(), &method.vis),
                ImplItem::Const(constant) => (constant.ident.to_string(), &constant.vis),
                _ => continue,
            };
            if !is_public(visibility) {
                continue;
            }
            let full = format!("{shown}::{method}");
            if let ImplItem::Fn(function) = item
                && let Some(receiver) = function.sig.receiver()
                && matches!(receiver.kind, ReceiverKind::Value)
                && fields.contains(&method)
            {
                self.setters.insert(full.clone());
            }
            self.names.insert(full);
        }
    }
}

/// Where a type that a module names is defined.
fn defined(name: &str, module: &Module, all: &Modules) -> Definition {
    for item in &all[module].file.items {
        if let Item::Use(item) = item {
            for (alias, path) in leaves(&item.tree) {
                if alias == name {
                    let from = resolve(&path, module, all).unwrap_or_default();
                    return (from, path.last().cloned().unwrap_or_default());
                }
            }
        }
    }
    (module.clone(), name.to_string())
}

fn public_fields(name: &str, module: &Module, all: &Modules) -> BTreeSet<String> {
    let fields = all[module].file.items.iter().filter_map(|item| match item {
        Item::Struct(item) if item.ident == name => Some(&item.fields),
        _ => None,
    });
    let named = fields.filter_map(|fields| match fields {
        Fields::Named(fields) => Some(fields.named.iter()),
        _ => None,
    });
    let public = named.flatten().filter(|field| is_public(&field.vis));
    public
        .filter_map(|field| Some(field.ident.as_ref()?.to_string()))
        .collect()
}

/// The names in the Rust column of the page's tables.
fn on_the_page(page: &str) -> BTreeSet<String> {
    let rows = page.lines().filter(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(2));
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.map(str::to_string).collect()
}

#[test]
fn the_page_names_the_public_surface() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let surface = Surface::of(&modules(&folder.join("src")));
    let page = on_the_page(include_str!("../../../docs/api.md"));
    assert!(page.len() > 50, "the tables were not found");
    let details = details();
    let named: BTreeSet<String> = page.union(&details).cloned().collect();
    // A method names its type, and an item its module.
    let is_part = |name: &str| named.iter().any(|other| other.starts_with(&format!("{name}::")));
    let missing = surface.names.difference(&named);
    let missing: Vec<_> = missing
        .filter(|name| !is_part(name) && !is_left_out(name, &surface))
        .collect();
    let unknown: Vec<_> = named.difference(&surface.names).collect();
    let twice: Vec<_> = page.intersection(&details).collect();
    assert!(missing.is_empty(), "public, and not in docs/api.md: {missing:#?}");
    assert!(
        unknown.is_empty(),
        "in docs/api.md or DETAILS, and not public: {unknown:#?}"
    );
    assert!(twice.is_empty(), "in docs/api.md and in DETAILS: {twice:#?}");
}
