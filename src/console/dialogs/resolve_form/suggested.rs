//! Opens the resolve form with the answer that is suggested.

use super::dialog::open_preset;
use crate::console::screens::queue::state::Queue;
use crate::console::suggestion::Suggestion;
use crate::console::{AppContext, Orders};
use crate::desk::Draft;

/// Opens the form as it is suggested for the alert under the cursor, or says that nothing is.
pub fn open(queue: &mut Queue, cx: &mut AppContext) -> Orders {
    let Some(alert) = queue.current() else { return Vec::new() };
    let suggested = Suggestion::of(alert, &queue.facts, &cx.draw_context());
    let Some((decision, comments)) = suggested.map(|suggested| (suggested.decision(), suggested.comments().to_owned()))
    else {
        cx.hint("Nothing is suggested for this alert.");
        return Vec::new();
    };
    let resolution = decision.reason().map(|reason| reason.resolution(cx.place.dialect));
    // Whether money went back is left to the choice: in the older dialect the form asks for it.
    let preset = Draft { resolution, comments, ..Draft::default() };
    open_preset(decision.into(), Some(preset), queue, cx)
}
