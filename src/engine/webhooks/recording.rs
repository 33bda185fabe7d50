//! A recording of received deliveries: a file of NDJSON that a line is added to for each, and that is read to send them
//! again.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::signature;
use crate::domain::{
    BYTE_ORDER_MARK, EventId, Secret,
    resolution::FieldError,
    time::{Timestamp, from_iso, to_iso},
    webhook::delivery::Subject,
};

/// First bytes of a line.
const FIRST: &[u8] = b"{\"receivedAt\":";

/// Most characters of the name of an event, and of an id.
const LONGEST_WORD: usize = 128;

/// Longest line: a body of the largest size, each byte of it escaped.
const LONGEST_LINE: u64 = 8 * 1024 * 1024;

/// A delivery as it was received: its bytes, and the headers that go with them; no credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedDelivery {
    #[serde(serialize_with = "write_time", deserialize_with = "read_time")]
    pub received_at: Timestamp,
    pub content_type: Option<String>,
    /// Encoding of the body, kept as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_encoding: Option<String>,
    pub webhook_id: Option<String>,
    pub webhook_timestamp: Option<String>,
    pub webhook_signature: Option<String>,
    #[serde(flatten, serialize_with = "write_body", deserialize_with = "read_body")]
    pub body: Vec<u8>,
}

impl RecordedDelivery {
    /// The same signed with this secret, as if it were sent at this moment.
    pub fn signed_anew(self, secret: &Secret, now: Timestamp) -> Result<Self, FieldError> {
        let id = self.webhook_id.unwrap_or_else(|| EventId::generate().to_string());
        let timestamp = now.timestamp().to_string();
        let signed = signature::sign(std::slice::from_ref(secret), &id, &timestamp, &self.body)?;
        Ok(Self { webhook_id: Some(id), webhook_timestamp: Some(timestamp), webhook_signature: Some(signed), ..self })
    }

    /// `event` and `payload.id` of the body, where it has them.
    pub fn subject(&self) -> Subject {
        let body = serde_json::from_slice::<serde_json::Value>(&self.body).unwrap_or_default();
        let text = |value: &serde_json::Value| value.as_str().map(|text| text.chars().take(LONGEST_WORD).collect());
        Subject { event: text(&body["event"]), alert: text(&body["payload"]["id"]) }
    }
}

/// A body as its line has it: as text, or in base64 where it is none.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BodyLine {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body_base64: Option<String>,
}

fn write_body<S: Serializer>(body: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let line = match std::str::from_utf8(body) {
        Ok(text) => BodyLine { body: Some(text.to_owned()), body_base64: None },
        Err(_) => BodyLine { body: None, body_base64: Some(BASE64_STANDARD.encode(body)) },
    };
    line.serialize(serializer)
}

fn read_body<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let BodyLine { body, body_base64 } = BodyLine::deserialize(deserializer)?;
    match (body, body_base64) {
        (Some(text), None) => Ok(text.into_bytes()),
        (None, Some(encoded)) => {
            BASE64_STANDARD.decode(encoded).map_err(|_| D::Error::custom("bodyBase64 is not base64"))
        }
        (None, None) => Err(D::Error::custom("it has no body: body or bodyBase64 is needed")),
        (Some(_), Some(_)) => Err(D::Error::custom("it has both body and bodyBase64: one is needed")),
    }
}

fn write_time<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&to_iso(*at))
}

fn read_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let time = from_iso(&String::deserialize(deserializer)?);
    time.ok_or_else(|| D::Error::custom("receivedAt is not a time, such as 2026-03-10T12:00:00Z"))
}

/// A recording that is being made. Nobody else can read it (0600) or record into it meanwhile.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    end: Mutex<Tail>,
}

/// The file, and where its last whole line ends.
#[derive(Debug)]
struct Tail {
    file: File,
    length: u64,
}

impl Recording {
    /// Opens a recording, or makes one. A last line that was torn when its listener died was never answered, and is
    /// removed.
    ///
    /// # Errors
    /// When nothing can be recorded there; the text says why. A file that is no recording is left as it is.
    pub fn open(path: &Path) -> Result<Self, String> {
        let unusable = |what: String| format!("{}: {what}", path.display());
        let mut options = OpenOptions::new();
        options.create(true).read(true).append(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(|error| unusable(format!("cannot be written: {error}")))?;
        let metadata = file.metadata().map_err(|error| unusable(format!("cannot be read: {error}")))?;
        if !metadata.is_file() {
            return Err(unusable("is no file: deliveries are recorded in one".to_owned()));
        }
        file.try_lock().map_err(|_| unusable("another listener records into it: name another file".to_owned()))?;
        let length =
            whole_lines(&mut file, metadata.len()).map_err(|error| unusable(format!("cannot be read: {error}")))?;
        let length = length.ok_or_else(|| {
            unusable("holds something else than a recording, and is left as it is: name another file".to_owned())
        })?;
        keep_private(&file)
            .and_then(|()| file.set_len(length))
            .map_err(|error| unusable(format!("cannot be written: {error}")))?;
        Ok(Self { path: path.to_owned(), end: Mutex::new(Tail { file, length }) })
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a delivery; done when it is on the disk. Where that fails nothing of it stays.
    pub async fn add(self: &Arc<Self>, delivery: RecordedDelivery) -> io::Result<()> {
        let recording = Arc::clone(self);
        tokio::task::spawn_blocking(move || recording.write(&delivery)).await.map_err(io::Error::other)?
    }

    fn write(&self, delivery: &RecordedDelivery) -> io::Result<()> {
        let mut line = serde_json::to_vec(delivery)?;
        line.push(b'\n');
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        // Removes the part of a line that an earlier failure left.
        if end.file.metadata()?.len() != end.length {
            end.file.set_len(end.length)?;
        }
        let written = end.file.write_all(&line).and_then(|()| end.file.sync_data());
        if let Err(error) = written {
            // If it cannot be removed now, the next one removes it first.
            let _ = end.file.set_len(end.length);
            return Err(error);
        }
        end.length += u64::try_from(line.len()).unwrap_or_default();
        Ok(())
    }
}

/// Finds the end of the last whole line; `None` where the file is no recording.
fn whole_lines(file: &mut File, length: u64) -> io::Result<Option<u64>> {
    file.seek(SeekFrom::Start(0))?;
    let mut first = Vec::new();
    (&mut *file).take(FIRST.len() as u64).read_to_end(&mut first)?;
    if !FIRST.starts_with(&first) {
        return Ok(None);
    }
    let mut end = length;
    let mut chunk = [0; 4096];
    while end > 0 {
        let from = end.saturating_sub(chunk.len() as u64);
        let part = &mut chunk[..usize::try_from(end - from).unwrap_or_default()];
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(part)?;
        if let Some(place) = part.iter().rposition(|byte| *byte == b'\n') {
            return Ok(Some(from + place as u64 + 1));
        }
        end = from;
    }
    Ok(Some(0))
}

fn keep_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))
}

/// The lines of a recording, each with its number, counted from 1; empty ones are passed over.
///
/// # Errors
/// When the file cannot be opened; of a line, what is wrong with it.
pub fn read(path: &Path) -> io::Result<impl Iterator<Item = (u64, Result<RecordedDelivery, String>)> + use<>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    // Lines added meanwhile are left out: a recording that is replayed into the listener that records it would never
    // end.
    let length = if metadata.is_file() { metadata.len() } else { u64::MAX };
    let mut lines = BufReader::new(file.take(length));
    let mut number = 0;
    let mut broken = false;
    Ok(std::iter::from_fn(move || {
        while !broken {
            number += 1;
            let mut line = Vec::new();
            match (&mut lines).take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(0) => return None,
                Ok(_) if line.trim_ascii().is_empty() => {}
                Ok(_) => return Some((number, delivery(&line))),
                Err(error) => {
                    broken = true;
                    return Some((number, Err(format!("cannot be read: {error}"))));
                }
            }
        }
        None
    }))
}

fn delivery(line: &[u8]) -> Result<RecordedDelivery, String> {
    let line = line.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(line);
    serde_json::from_slice(line).map_err(|error| format!("is no recorded delivery: {error}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rstest::rstest;

    use super::*;

    fn received(body: &[u8]) -> RecordedDelivery {
        RecordedDelivery {
            received_at: from_iso("2026-03-10T12:00:00Z").unwrap(),
            content_type: Some("application/json".to_owned()),
            content_encoding: Some("gzip".to_owned()),
            webhook_id: Some("e-1".to_owned()),
            webhook_timestamp: Some("1773144000".to_owned()),
            webhook_signature: None,
            body: body.to_vec(),
        }
    }

    fn all(path: &Path) -> Vec<RecordedDelivery> {
        read(path).unwrap().map(|(_, line)| line.unwrap()).collect()
    }

    #[test]
    fn a_recording_of_before_encodings_were_recorded_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("recording.ndjson");
        let line = concat!(
            r#"{"receivedAt":"2026-03-10T12:00:00Z","contentType":"application/json","webhookId":"e-1","#,
            r#""webhookTimestamp":"1773144000","webhookSignature":null,"body":"{}"}"#,
        );
        fs::write(&path, line).unwrap();

        assert_eq!(all(&path), [RecordedDelivery { content_encoding: None, ..received(b"{}") }]);
    }

    #[rstest]
    #[case(b"{\"event\":\"alert.created\"}")]
    #[case(b"")]
    #[case(b"line\nbreak \xe2\x80\xa8")]
    #[case(b"\xff\x00")]
    fn every_body_comes_back_byte_for_byte(#[case] body: &[u8]) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("recording.ndjson");

        Recording::open(&path).unwrap().write(&received(body)).unwrap();
        Recording::open(&path).unwrap().write(&received(body)).unwrap();

        assert_eq!(all(&path), [received(body), received(body)]);
    }

    #[rstest]
    #[case(b"{\"receivedAt\":\"2026")]
    #[case(b"{\"rec")]
    fn a_torn_last_line_goes_and_the_whole_ones_stay(#[case] torn: &[u8]) {
        let directory = tempfile::tempdir().unwrap();
        for whole in [0, 2] {
            let path = directory.path().join(whole.to_string());
            let recording = Recording::open(&path).unwrap();
            for _ in 0..whole {
                recording.write(&received(b"{}")).unwrap();
            }
            drop(recording);
            OpenOptions::new().append(true).open(&path).unwrap().write_all(torn).unwrap();

            drop(Recording::open(&path).unwrap());
            assert_eq!(all(&path).len(), whole);
            Recording::open(&path).unwrap().write(&received(b"[]")).unwrap();

            let found = all(&path);
            assert_eq!((found.len(), found.last()), (whole + 1, Some(&received(b"[]"))));
        }
    }

    #[test]
    fn what_a_failed_write_left_of_a_line_goes_before_the_next_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("recording.ndjson");
        let recording = Recording::open(&path).unwrap();
        recording.write(&received(b"{}")).unwrap();
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"receivedAt\":\"2026").unwrap();

        recording.write(&received(b"[]")).unwrap();

        assert_eq!(all(&path), [received(b"{}"), received(b"[]")]);
    }

    #[test]
    fn what_is_added_while_a_recording_is_read_is_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("recording.ndjson");
        let recording = Recording::open(&path).unwrap();
        recording.write(&received(b"{}")).unwrap();

        let mut again = 0;
        for (_, line) in read(&path).unwrap().take(9) {
            recording.write(&line.unwrap()).unwrap();
            again += 1;
        }

        assert_eq!(again, 1);
    }

    #[test]
    fn what_is_no_recording_is_left_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        for content in ["remember the milk", "{}", "{\"received\": 1}\n", "\n"] {
            let path = directory.path().join("notes.txt");
            fs::write(&path, content).unwrap();

            let error = Recording::open(&path).unwrap_err();

            assert!(error.contains("notes.txt") && error.contains("something else"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
    }

    #[test]
    fn two_listeners_do_not_record_into_one_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("recording.ndjson");
        let _first = Recording::open(&path).unwrap();

        assert!(Recording::open(&path).unwrap_err().contains("another listener"));
    }

    #[test]
    fn only_its_owner_can_read_it_though_it_was_open_to_others_before() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("recording.ndjson");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();

        let _recording = Recording::open(&path).unwrap();

        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[rstest]
    #[case("{\"receivedAt\":\"2026-03-10T12:00:00Z\"}", "body or bodyBase64")]
    #[case("{\"receivedAt\":\"2026-03-10T12:00:00Z\",\"body\":\"\",\"bodyBase64\":\"\"}", "both")]
    #[case("{\"receivedAt\":\"2026-03-10T12:00:00Z\",\"bodyBase64\":\"?\"}", "base64")]
    #[case("{\"receivedAt\":\"noon\",\"body\":\"\"}", "receivedAt")]
    #[case("nonsense", "no recorded delivery")]
    fn a_wrong_line_is_told_with_its_number_and_the_others_are_read(#[case] wrong: &str, #[case] words: &str) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("recording.ndjson");
        let fine = serde_json::to_string(&received(b"{}")).unwrap();
        fs::write(&path, format!("{fine}\n\n{wrong}\n{fine}")).unwrap();

        let lines: Vec<_> = read(&path).unwrap().collect();

        let [(1, Ok(_)), (3, Err(error)), (4, Ok(_))] = &lines[..] else { panic!("{lines:?}") };
        assert!(error.contains(words), "{error}");
    }
}
