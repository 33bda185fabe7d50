//! The dialog that asks whether a key or client is to be revoked.

use super::confirmation::Confirmation;
use crate::console::screens::settings::draw::{described, revoked_already};
use crate::console::screens::settings::state::SettingsScreen;
use crate::console::text::sanitize;
use crate::console::{AppContext, ClickTargets, Effect, Orders, Tone, dialog};
use crate::domain::{Credential, CredentialKind};

/// Asks about the credential under the cursor.
pub fn open(settings: &SettingsScreen, cx: &mut AppContext) -> Orders {
    let refusal = settings.refusal(cx.place.read_only).map(str::to_owned);
    let already = || {
        settings
            .chosen()
            .filter(|credential| credential.revoked_at.is_some())
            .map(|known| revoked_already(known, cx.times(), cx.now))
    };
    match (refusal.or_else(already), settings.chosen().cloned()) {
        (Some(words), _) => {
            cx.notify(Tone::Note, words);
            Vec::new()
        }
        (None, Some(credential)) => {
            let own = settings.is_own(&credential);
            dialog::open(about(credential, own))
        }
        (None, None) => Vec::new(),
    }
}

/// `own` where this console itself uses it.
fn about(credential: Credential, own: bool) -> Confirmation {
    Confirmation {
        question: format!("Revoke {} {}?", credential.kind.as_str(), sanitize(&credential.id)),
        effect: Effect::RevokeCredential(credential.kind, credential.id.clone()),
        follows: match credential.kind {
            CredentialKind::Client => {
                "From then on it gets no access token, and those it has stop working. This cannot be undone."
            }
            CredentialKind::Key(_) => "From then on every request with it is refused. This cannot be undone.",
        },
        warning: own.then_some("⚠ This console itself uses it and will be cut off."),
        no: "Keep it",
        yes: ('r', "Revoke it"),
        subject: Box::new(move |now| described(&credential, now)),
        targets: ClickTargets::default(),
    }
}
