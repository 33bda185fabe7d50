//! The items of a source file that can be seen from elsewhere: what each is called, and whether it says what it is.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::source::is_test;

/// An item that can be seen outside its file.
#[derive(Debug)]
pub struct Item {
    pub name: String,
    /// Whether it is a struct, an enum, a union, a trait or a type alias.
    pub is_type: bool,
    /// Whether it is `pub` and nothing less: then it is part of the crate's documentation.
    pub is_public: bool,
    pub is_documented: bool,
}

/// The items of a file, methods and constants of types and traits included; tests and fields are left out.
pub fn items(text: &str) -> Vec<Item> {
    let mut found = Found::default();
    found.visit_file(&syn::parse_file(text).unwrap());
    found.0
}

#[derive(Default)]
struct Found(Vec<Item>);

impl Found {
    fn note(&mut self, name: &syn::Ident, visibility: &syn::Visibility, attributes: &[syn::Attribute], is_type: bool) {
        let is_public = match visibility {
            syn::Visibility::Public(_) => true,
            syn::Visibility::Restricted(_) => false,
            syn::Visibility::Inherited => return,
        };
        let is_documented = attributes.iter().any(|attribute| attribute.path().is_ident("doc"));
        self.0.push(Item { name: name.to_string(), is_type, is_public, is_documented });
    }

    /// Types among tokens that are not parsed, such as `pub enum Word` inside a macro that makes it.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut before = [String::new(), String::new()];
        for token in tokens {
            if let TokenTree::Ident(name) = &token
                && before[0] == "pub"
                && ["struct", "enum"].contains(&before[1].as_str())
            {
                self.0.push(Item { name: name.to_string(), is_type: true, is_public: true, is_documented: true });
            }
            before = [std::mem::take(&mut before[1]), token.to_string()];
        }
    }
}

impl<'ast> Visit<'ast> for Found {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Mod(item) if is_test(&item.attrs) => return,
            syn::Item::Const(item) => self.note(&item.ident, &item.vis, &item.attrs, false),
            syn::Item::Static(item) => self.note(&item.ident, &item.vis, &item.attrs, false),
            syn::Item::Fn(item) => self.note(&item.sig.ident, &item.vis, &item.attrs, false),
            syn::Item::Enum(item) => self.note(&item.ident, &item.vis, &item.attrs, true),
            syn::Item::Struct(item) => self.note(&item.ident, &item.vis, &item.attrs, true),
            syn::Item::Union(item) => self.note(&item.ident, &item.vis, &item.attrs, true),
            syn::Item::Type(item) => self.note(&item.ident, &item.vis, &item.attrs, true),
            syn::Item::Trait(item) => {
                self.note(&item.ident, &item.vis, &item.attrs, true);
                for method in &item.items {
                    if let syn::TraitItem::Fn(method) = method {
                        self.note(&method.sig.ident, &item.vis, &method.attrs, false);
                    }
                }
            }
            syn::Item::Macro(item) if item.ident.is_none() => self.tokens(item.mac.tokens.clone()),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        match item {
            syn::ImplItem::Const(item) => self.note(&item.ident, &item.vis, &item.attrs, false),
            syn::ImplItem::Fn(item) => self.note(&item.sig.ident, &item.vis, &item.attrs, false),
            _ => {}
        }
        visit::visit_impl_item(self, item);
    }
}
