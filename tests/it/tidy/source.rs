//! The sources as a graph: each file with what it defines, imports and names, and which file each name leads to.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// A path in the code, segment by segment.
type Segments = Vec<String>;

/// One import: the whole path, and the name it goes by here (`*` for all names).
#[derive(Debug, Clone)]
struct Import {
    path: Segments,
    name: String,
    is_public: bool,
}

/// One source file below `src`.
#[derive(Debug)]
pub struct Source {
    /// Relative to the crate's root.
    pub path: String,
    /// Its module path; empty for the crate's root.
    pub module: Segments,
    defined: BTreeSet<String>,
    imports: Vec<Import>,
    /// Every path of two segments and more outside of imports.
    paths: BTreeSet<Segments>,
    /// Every single name outside of imports.
    names: BTreeSet<String>,
}

/// What a path leads to.
enum Target {
    Module(Segments),
    Item(Segments),
    Outside,
}

/// All sources, by module path.
pub struct Sources(BTreeMap<Segments, Source>);

/// Every file with this ending below a folder of the crate.
pub fn files_below(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == ending) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

impl Sources {
    /// The house's own sources, read once.
    pub fn of_the_house() -> &'static Self {
        static READ: LazyLock<Sources> = LazyLock::new(Sources::read);
        &READ
    }

    fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let files = files_below("src", "rs")
            .into_iter()
            .filter(|path| !path.ends_with("src/main.rs") && !path.ends_with("tests.rs"));
        Self::of(files.map(|path| {
            let relative = path.strip_prefix(root).unwrap().display().to_string();
            (relative, fs::read_to_string(path).unwrap())
        }))
    }

    /// Sources from paths such as `src/a/b.rs` and their texts.
    pub fn of(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let sources = files.into_iter().map(|(path, text)| {
            let module: Segments = path
                .trim_start_matches("src/")
                .trim_end_matches(".rs")
                .split('/')
                .filter(|part| !matches!(*part, "lib" | "mod"))
                .map(str::to_owned)
                .collect();
            let mut found = Found::default();
            found.visit_file(&syn::parse_file(&text).unwrap_or_else(|error| panic!("{path}: {error}")));
            let Found { defined, imports, paths, names, .. } = found;
            (module.clone(), Source { path, module, defined, imports, paths, names })
        });
        Self(sources.collect())
    }

    /// Every source.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.0.values()
    }

    /// The room of a source: the first part of its module path.
    pub fn room(source: &Source) -> &str {
        source.module.first().map_or("lib", String::as_str)
    }

    /// The rooms whose names a source takes, its own left out.
    pub fn rooms_used(&self, source: &Source) -> BTreeSet<String> {
        let paths = source.imports.iter().map(|import| &import.path).chain(&source.paths);
        let rooms = paths.filter_map(|path| match path.as_slice() {
            [root, room, ..] if root == "crate" => self.room_called(&self.crate_root(&source.module), room),
            _ => None,
        });
        rooms.filter(|room| room != Self::room(source)).collect()
    }

    /// The module path of the crate's root that a module belongs to.
    fn crate_root(&self, module: &[String]) -> Segments {
        let room = &module[..module.len().min(1)];
        let is_crate = self.0.get(room).is_some_and(|source| source.path.ends_with("/lib.rs"));
        if is_crate { room.to_vec() } else { Segments::new() }
    }

    /// The room that a crate knows by a name: a folder of its own, or another crate that its root imports.
    fn room_called(&self, root: &[String], name: &String) -> Option<String> {
        if root.is_empty() {
            return self.0.contains_key(std::slice::from_ref(name)).then(|| name.clone());
        }
        let import = self.0.get(root)?.imports.iter().find(|import| import.name == *name)?;
        import.path.first()?.strip_prefix("avert_").map(str::to_owned)
    }

    /// The files whose items a source uses, with the names; its own re-exports of what its children define do not
    /// count.
    pub fn files_used(&self, source: &Source) -> BTreeMap<&str, BTreeSet<String>> {
        let mut used: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let is_own_child = |module: &[String]| module.len() > source.module.len() && module.starts_with(&source.module);
        let mut note = |path: &[String], is_reexport: bool, name: &str| {
            let Target::Item(module) = self.resolve(&source.module, path, 0) else { return };
            if is_reexport && is_own_child(&module) && !source.names.contains(name) {
                return;
            }
            if let Some(target) = self.0.get(&module).filter(|target| target.path != source.path) {
                used.entry(&target.path).or_default().insert(path.last().cloned().unwrap_or_default());
            }
        };
        for import in &source.imports {
            note(&import.path, import.is_public, &import.name);
        }
        for path in &source.paths {
            note(path, false, "");
        }
        used
    }

    /// Circles: groups of files that lead back to themselves, each as its arrows with the names that make them.
    pub fn circles(&self) -> Vec<Vec<String>> {
        let arrows: BTreeMap<&str, BTreeMap<&str, BTreeSet<String>>> =
            self.iter().map(|source| (source.path.as_str(), self.files_used(source))).collect();
        let reach: BTreeMap<&str, BTreeSet<&str>> = arrows
            .keys()
            .map(|&start| {
                let mut seen = BTreeSet::new();
                let mut next = vec![start];
                while let Some(at) = next.pop() {
                    next.extend(arrows[at].keys().copied().filter(|target| seen.insert(*target)));
                }
                (start, seen)
            })
            .collect();
        let mut circles: BTreeMap<BTreeSet<&str>, Vec<String>> = BTreeMap::new();
        for (&from, targets) in &arrows {
            for (&to, names) in targets.iter().filter(|(to, _)| reach[*to].contains(from)) {
                let members = reach[from].iter().copied().filter(|member| reach[member].contains(from)).collect();
                let names: Vec<_> = names.iter().map(String::as_str).collect();
                circles.entry(members).or_default().push(format!("{from} -> {to}: {}", names.join(", ")));
            }
        }
        circles.into_values().collect()
    }

    fn resolve(&self, module: &[String], path: &[String], depth: usize) -> Target {
        let [first, rest @ ..] = path else { return Target::Module(module.to_vec()) };
        if depth > 32 {
            return Target::Outside;
        }
        match first.as_str() {
            "crate" => self.walk(self.crate_root(module), rest, depth),
            "self" => self.walk(module.to_vec(), rest, depth),
            "super" => self.resolve_above(module, rest, depth),
            room if room.starts_with("avert_") => self.walk(vec![room.replace("avert_", "")], rest, depth),
            _ => {
                let child = [module, std::slice::from_ref(first)].concat();
                if self.0.contains_key(&child) {
                    return self.walk(child, rest, depth);
                }
                let import =
                    self.0.get(module).and_then(|source| source.imports.iter().find(|import| import.name == *first));
                match import {
                    // An import that names itself (`use url::Url` beside a path `url::Url`) leads outside.
                    Some(import) if import.path.first() != Some(first) => {
                        match self.resolve(module, &import.path, depth + 1) {
                            Target::Module(target) => self.walk(target, rest, depth + 1),
                            target => target,
                        }
                    }
                    _ => Target::Outside,
                }
            }
        }
    }

    fn resolve_above(&self, module: &[String], rest: &[String], depth: usize) -> Target {
        let above = &module[..module.len().saturating_sub(1)];
        match rest {
            [first, rest @ ..] if first == "super" => self.resolve_above(above, rest, depth),
            _ => self.walk(above.to_vec(), rest, depth),
        }
    }

    fn walk(&self, module: Segments, path: &[String], depth: usize) -> Target {
        let [first, rest @ ..] = path else { return Target::Module(module) };
        let child = [module.as_slice(), std::slice::from_ref(first)].concat();
        if self.0.contains_key(&child) {
            return self.walk(child, rest, depth);
        }
        let Some(source) = self.0.get(&module) else { return Target::Outside };
        if !source.defined.contains(first) && depth <= 32 {
            if let Some(import) = source.imports.iter().find(|import| import.name == *first) {
                return match self.resolve(&module, &import.path, depth + 1) {
                    Target::Module(target) => self.walk(target, rest, depth + 1),
                    target => target,
                };
            }
            for glob in source.imports.iter().filter(|import| import.name == "*") {
                if let Target::Module(target) = self.resolve(&module, &glob.path, depth + 1)
                    && self.0.get(&target).is_some_and(|source| source.defined.contains(first))
                {
                    return Target::Item(target);
                }
            }
        }
        Target::Item(module)
    }
}

/// What was found in a file.
#[derive(Default)]
struct Found {
    defined: BTreeSet<String>,
    imports: Vec<Import>,
    paths: BTreeSet<Segments>,
    names: BTreeSet<String>,
    inside: usize,
}

impl Found {
    fn import(&mut self, before: &[String], tree: &syn::UseTree, is_public: bool) {
        match tree {
            syn::UseTree::Path(path) => {
                self.import(&[before, &[path.ident.to_string()]].concat(), &path.tree, is_public);
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(before, tree, is_public)),
            syn::UseTree::Glob(_) => {
                self.imports.push(Import { path: before.to_vec(), name: "*".to_owned(), is_public });
            }
            syn::UseTree::Name(name) if name.ident == "self" => {
                let name = before.last().cloned().unwrap_or_default();
                self.imports.push(Import { path: before.to_vec(), name, is_public });
            }
            syn::UseTree::Name(name) => {
                let name = name.ident.to_string();
                self.imports.push(Import { path: [before, std::slice::from_ref(&name)].concat(), name, is_public });
            }
            syn::UseTree::Rename(rename) => {
                let path = if rename.ident == "self" {
                    before.to_vec()
                } else {
                    [before, &[rename.ident.to_string()]].concat()
                };
                self.imports.push(Import { path, name: rename.rename.to_string(), is_public });
            }
        }
    }

    /// Paths among tokens that are not parsed: the inside of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Segments = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.path(&std::mem::take(&mut path));
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    self.path(&std::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.path(&path);
    }

    fn path(&mut self, path: &[String]) {
        match path {
            [] => {}
            [name] => drop(self.names.insert(name.clone())),
            _ => drop(self.paths.insert(path.to_vec())),
        }
    }
}

/// Whether the attributes say that an item is for tests only.
pub fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string().split([' ', '(', ')',
                ',']).any(|word| word == "test"))
    })
}

impl<'ast> Visit<'ast> for Found {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let name = match item {
            syn::Item::Const(item) => Some(&item.ident),
            syn::Item::Enum(item) => Some(&item.ident),
            syn::Item::Fn(item) => Some(&item.sig.ident),
            syn::Item::Static(item) => Some(&item.ident),
            syn::Item::Struct(item) => Some(&item.ident),
            syn::Item::Trait(item) => Some(&item.ident),
            syn::Item::Type(item) => Some(&item.ident),
            syn::Item::Macro(item) => item.ident.as_ref(),
            syn::Item::Mod(item) if is_test(&item.attrs) => return,
            _ => None,
        };
        if let Some(name) = name.filter(|_| self.inside == 0) {
            self.defined.insert(name.to_string());
        }
        self.inside += 1;
        visit::visit_item(self, item);
        self.inside -= 1;
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.import(&[], &item.tree, !matches!(item.vis, syn::Visibility::Inherited));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.path(&segments);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.tokens(item.tokens.clone());
        visit::visit_macro(self, item);
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}
