//! Menus of an alert: the facts that somebody may want elsewhere, copied by a key each, and its links, of which one is
//! opened at once and several are chosen from.

use super::menu::Pick;
use crate::{
    Action, AppContext, Effect, Task, Tasks, Tone,
    desk::links::AlertLink,
    domain::{Alert, Secret},
    text::sanitize,
};

/// A fact that can be copied: its key, its name, and its text where the alert tells it.
struct CopiedFact {
    key: &'static str,
    name: &'static str,
    text: fn(&Alert, &AppContext) -> Option<String>,
}

const fn fact(key: &'static str, name: &'static str, text: fn(&Alert, &AppContext) -> Option<String>) -> CopiedFact {
    CopiedFact { key, name, text }
}

/// The fact whose text is too long for a line.
const RAW_JSON: &str = "raw JSON";

/// The fact that only another deployment has.
const CURL: &str = "curl command";

/// The facts, behind the id, whose key is in the keymap.
static FACTS: [CopiedFact; 8] = [
    fact("", "avert id", |alert, _| Some(alert.id.to_string())),
    fact("J", RAW_JSON, |alert, cx| Some((cx.alert_json)(alert, cx.now))),
    fact("n", "network id", |alert, _| given(&alert.provider_id)),
    fact("o", "order number", |alert, _| given(alert.merchant_order_id.as_deref()?)),
    fact("a", "ARN", |alert, _| given(alert.acquirer_reference_number.as_deref()?)),
    fact("l", "last four", |alert, _| given(&alert.card_last_four)),
    fact("d", "descriptor", |alert, _| given(&alert.merchant_descriptor)),
    fact("c", CURL, |alert, cx| Some(cx.place.curl.as_ref()?.replace("{id}", &alert.id.to_string()))),
];

fn given(text: &str) -> Option<String> {
    Some(sanitize(text).trim().to_owned()).filter(|text| !text.is_empty())
}

/// Opens the menu of an alert; its last entry unlinks the order of the shop, or links it again.
pub fn copy(alert: &Alert, cx: &AppContext) -> Tasks {
    // This computer's own desk has no address.
    let facts = if cx.place.curl.is_some() { &FACTS[..] } else { &FACTS[..FACTS.len() - 1] };
    let keys = facts.iter().map(|fact| if fact.key.is_empty() { cx.key(Action::CopyId) } else { fact.key.to_owned() });
    let keys: Vec<String> = keys.chain(["u".to_owned()]).collect();
    let texts: Vec<Option<String>> = facts.iter().map(|fact| (fact.text)(alert, cx)).collect();
    let entry = |(fact, text): (&CopiedFact, &Option<String>)| {
        let shown = if fact.name == RAW_JSON { "the whole alert" } else { text.as_deref().unwrap_or("–") };
        (fact.name.to_owned(), shown.to_owned())
    };
    let unlink = ("unlink order".to_owned(), "or link again".to_owned());
    let entries = facts.iter().zip(&texts).map(entry).chain([unlink]).collect();
    let picked = move |at: usize, cx: &mut AppContext| match facts.get(at) {
        Some(fact) => copy_fact(fact, texts[at].as_deref(), cx),
        None => vec![Task::Close, Task::Choose(Action::Unmatch)],
    };
    Pick::new("Copy", entries, picked).keys(keys).open()
}

fn copy_fact(CopiedFact { name, .. }: &CopiedFact, text: Option<&str>, cx: &mut AppContext) -> Tasks {
    let Some(text) = text else {
        cx.notify(Tone::Note, format!("Nothing copied: the alert has no {name}."));
        return Vec::new();
    };
    let is_long = [RAW_JSON, CURL].contains(name);
    let words = if is_long { format!("Copied the {name}.") } else { format!("Copied the {name}: {text}") };
    cx.notify(Tone::Note, words);
    vec![Effect::Copy(Secret::new(text)).into(), Task::Close]
}

/// Opens the link of an alert, the menu of several, or says how to have one.
pub fn open_link(alert: &Alert, cx: &mut AppContext) -> Tasks {
    let links = cx.settings.links.of(alert);
    match links.as_slice() {
        [] => {
            let example = "[links] order = \"https://shop.example/{merchantOrderId}\"";
            let words = format!("No link is set for {}. Add it in the settings file: {example}.", alert.provider);
            cx.notify(Tone::Note, words);
            Vec::new()
        }
        [only] => go(only, cx),
        several => {
            let title = if cx.settings.browses { "Open in the browser" } else { "Copy the address (no browser here)" };
            let entry = |link: &AlertLink| {
                let words = match &link.address {
                    Ok(address) | Err(address) => sanitize(address).into_owned(),
                };
                (link.to.to_string(), words)
            };
            let entries = several.iter().map(entry).collect();
            let picked = move |at: usize, cx: &mut AppContext| {
                let close = links[at].address.is_ok().then_some(Task::Close);
                close.into_iter().chain(go(&links[at], cx)).collect()
            };
            Pick::new(title, entries, picked).open()
        }
    }
}

/// Opens a link; where there is no browser its address is shown and copied.
fn go(link: &AlertLink, cx: &mut AppContext) -> Tasks {
    match &link.address {
        Err(why) => {
            cx.notify(Tone::Note, format!("No address of the {}: {why}.", link.to));
            Vec::new()
        }
        Ok(address) if cx.settings.browses => {
            cx.notify(Tone::Note, format!("Opening {address}"));
            vec![Effect::Browse(address.clone()).into()]
        }
        Ok(address) => {
            cx.notify(Tone::Note, format!("No browser here. Copied {address}"));
            vec![Effect::Copy(Secret::new(address.clone())).into()]
        }
    }
}

/// Tells that a browser did not open.
pub fn not_opened(address: String, why: &str, cx: &mut AppContext) -> Tasks {
    cx.notify(Tone::Bad, format!("No browser opened: {}. Copied {address}", why.trim_end_matches('.')));
    vec![Effect::Copy(Secret::new(address)).into()]
}
