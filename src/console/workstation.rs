//! Effects on this machine beside the desk: a list is written into a file, an address opens in the
//! browser.

use std::{
    ffi::OsString,
    io,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use super::Message;
use crate::{
    desk::{AlertRecords, ExportRequest, export::export},
    service::Deployment,
};

/// Time for which an opener is watched for a failure: those that work end soon, or stay.
const WATCHED: Duration = Duration::from_millis(250);

/// Exports a list; `told` hears how far it is. The message that it ends with.
pub async fn export_list(
    deployment: &Deployment,
    records: &AlertRecords,
    request: ExportRequest,
    told: impl Fn(Message) + Send + Sync,
) -> Message {
    let path = request.path.clone();
    let ended = export(deployment, records, request, |written, total| told(Message::Exporting(written, total))).await;
    Message::Exported(path, ended)
}

/// Opens an address in the browser: by the desktop's own opener, with the address as its one argument and no shell
/// between. What went wrong, where that can be told.
pub fn browse(address: String) -> Option<Message> {
    let mut failed = None;
    for opener in open::commands(&address) {
        match start(without_secrets(opener, std::env::vars_os().map(|(name, _)| name))) {
            Ok(()) => return None,
            Err(error) => failed = failed.or(Some(error.to_string())),
        }
    }
    failed.map(|error| Message::NotBrowsed(address, error))
}

/// A command that inherits none of these variables that may hold a secret. Each child process is started so.
fn without_secrets(mut command: Command, variables: impl Iterator<Item = OsString>) -> Command {
    for name in variables
        .filter(|name| ["AVERT_", "PG"].iter().any(|ours| name.as_encoded_bytes().starts_with(ours.as_bytes())))
    {
        command.env_remove(name);
    }
    command
}

/// Starts a command that outlives the console, and watches for a while whether it fails.
fn start(mut command: Command) -> io::Result<()> {
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let (told, ended) = mpsc::channel();
    thread::spawn(move || told.send(child.wait()));
    match ended.recv_timeout(WATCHED) {
        Ok(Ok(status)) if !status.success() => Err(io::Error::other(format!("it ended with {status}"))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_process_inherits_no_variable_of_ours_and_none_of_a_database() {
        let variables =
            ["PATH", "AVERT_API_KEY", "PGPASSWORD", "AVERT_WEBHOOK_SECRET", "HOME", "PGPASSFILE", "MY_AVERT_KEY"];

        let command = without_secrets(Command::new("xdg-open"), variables.map(OsString::from).into_iter());

        let removed: Vec<_> =
            command.get_envs().filter(|(_, value)| value.is_none()).map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(removed, ["AVERT_API_KEY", "AVERT_WEBHOOK_SECRET", "PGPASSFILE", "PGPASSWORD"]);
    }
}
