//! The change stream of another avert: server-sent events, as far as their numbers go.

use std::time::Duration;

use reqwest::Response;

use crate::wire::operator::ChangeJson;

/// Longest silence of a stream: something comes every 15 s, be it a comment, so a silent service has gone.
pub(super) const SILENCE: Duration = Duration::from_secs(45);

/// Longest line that is kept; those of a change are short.
const MAX_LINE: usize = 4 * 1024;

/// A stream that is listened to.
#[derive(Debug)]
pub(super) struct ChangeStream {
    response: Response,
    line: Vec<u8>,
    /// The newest number it told.
    pub(super) newest: u64,
}

impl ChangeStream {
    pub(super) fn of(response: Response) -> Self {
        Self { response, line: Vec::new(), newest: 0 }
    }

    /// Waits until it tells a number.
    pub(super) async fn next(&mut self) -> Result<(), String> {
        loop {
            let chunk = tokio::time::timeout(SILENCE, self.response.chunk()).await;
            let chunk = chunk.map_err(|_| format!("nothing came for {} s", SILENCE.as_secs()))?;
            let chunk = chunk.map_err(|_| "the connection broke".to_owned())?;
            if self.take(&chunk.ok_or("it ended the stream of changes")?) {
                return Ok(());
            }
        }
    }

    /// Takes what came; whether a number was told in it.
    fn take(&mut self, bytes: &[u8]) -> bool {
        let mut told = false;
        for byte in bytes {
            match byte {
                b'\n' => {
                    if let Some(number) = std::str::from_utf8(&self.line).ok().and_then(ChangeJson::number_in) {
                        self.newest = number;
                        told = true;
                    }
                    self.line.clear();
                }
                byte if self.line.len() < MAX_LINE => self.line.push(*byte),
                _ => {}
            }
        }
        told
    }
}
