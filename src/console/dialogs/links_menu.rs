//! Where an alert's links lead: one is opened at once, several are chosen from.

use ratatui::text::{Line, Span};

use super::pick;
use crate::{
    AppContext, Effect, Order, Orders, Tone,
    domain::{Alert, AlertLink},
    text::{cut_path, sanitize},
};

/// Columns that the settings file is named in at most.
const LONGEST_FILE: u16 = 60;

/// Opens the link of an alert, the menu of several, or says how to have one.
pub fn open(alert: &Alert, cx: &mut AppContext) -> Orders {
    let links = cx.settings.links.of(alert);
    match links.as_slice() {
        [] => {
            let kept_in = cx.settings.kept_in.as_ref().map(|file| file.display().to_string());
            let file = kept_in.map_or_else(
                || "the settings".to_owned(),
                |file| cut_path(&file, cx.settings.home.as_deref(), LONGEST_FILE),
            );
            let words = format!(
                "No link is set for {}. Add it in {file}: [links] order = \
                    \"https://shop.example/{{merchantOrderId}}\".",
                alert.provider
            );
            cx.notify(Tone::Note, words);
            Vec::new()
        }
        [only] => go(only, cx),
        _ => menu(links, cx),
    }
}

fn menu(links: Vec<AlertLink>, cx: &AppContext) -> Orders {
    let theme = &cx.theme;
    let line = |link: &AlertLink| {
        let (style, words) = match &link.address {
            Ok(address) => (theme.strong, address),
            Err(why) => (theme.quiet, why),
        };
        let address = Span::styled(sanitize(words).into_owned(), theme.quiet);
        Line::from(vec![Span::styled(format!("{:<18}", link.to), style), address])
    };
    let title = if cx.settings.browses { "Open in the browser" } else { "Copy the address (no browser here)" };
    pick::open(title, 0, links.iter().map(line).collect(), move |at, cx| {
        let close = links[at].address.is_ok().then_some(Order::Close);
        close.into_iter().chain(go(&links[at], cx)).collect()
    })
}

/// Opens a link; where there is no browser its address is shown and copied.
fn go(link: &AlertLink, cx: &mut AppContext) -> Orders {
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
            vec![Effect::Copy(address.clone()).into()]
        }
    }
}

/// Tells that a browser did not open.
pub fn not_opened(address: String, why: &str, cx: &mut AppContext) -> Orders {
    cx.notify(Tone::Bad, format!("No browser opened: {}. Copied {address}", why.trim_end_matches('.')));
    vec![Effect::Copy(address).into()]
}
