//! The first page: the ways to start `avert` where nothing is set up yet.

use super::{args::RemoteArgs, ask, context::Context, process::variable, profile_access::PROFILE, target::URL};

/// Choice on the first page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstChoice {
    /// Made-up alerts on a throwaway engine.
    Demo,
    /// An engine on this machine.
    Local,
    /// A deployment elsewhere, as a profile.
    Connection,
    /// Quit.
    Nothing,
}

const PAGE: &str = "\
avert: chargeback alerts, answered before they become
chargebacks.

Nothing is set up here yet. What shall it be?

  d   the demo: made-up alerts that keep coming;
      nothing is kept
  l   a desk of this machine's own, which keeps its alerts
      here; they come in by `avert import` or over HTTP
  c   a connection to a deployment elsewhere;
      its address and its key are asked step by step

  q   nothing for now
";

/// Returns whether there is nothing that a console could open, and nothing was named.
pub(super) fn is_called_for(context: &Context, remote: &RemoteArgs) -> bool {
    let named = |name: &str| variable(name).is_some();
    let has_profiles =
        context.profiles.as_ref().is_some_and(|access| access.sets_current_aside || access.profiles.path().exists());
    !has_profiles
        && remote.first_given().is_none()
        && !named(PROFILE)
        && !named(URL)
        && context.home.require_data().is_err()
}

/// Shows the page until a choice is made.
pub(super) fn choose() -> anyhow::Result<FirstChoice> {
    say!("{PAGE}");
    ask::until("d, l, c or q: ", |answer| match answer.to_ascii_lowercase().as_str() {
        "d" | "demo" => Ok(FirstChoice::Demo),
        "l" | "local" => Ok(FirstChoice::Local),
        "c" | "connection" => Ok(FirstChoice::Connection),
        "q" | "quit" => Ok(FirstChoice::Nothing),
        _ => Err("one of the four letters is needed".to_owned()),
    })
}
