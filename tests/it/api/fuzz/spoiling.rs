//! Ways of spoiling what was sound: texts, JSON, bodies, and the bytes of a whole request.

use rand::{RngExt, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::{Value, json};

use super::making::Made;

/// Texts on which something somewhere has broken before.
pub const NASTY: &[&str] = &[
    " 1",
    "",
    " ",
    "0",
    "-1",
    "007",
    "+1",
    "1e9",
    "1e400",
    "NaN",
    "99999999999999999999",
    "340282366920938463463374607431768211456",
    "null",
    "true",
    "2026-02-30",
    "0000-00-00",
    "+12345-01-01",
    "2026-03-10T12:00:00Z",
    "018f0000-0000-7000-8000-000000000001",
    "{00000000-0000-0000-0000-000000000000}",
    "' OR 1=1 --",
    "\" AND NEAR(",
    "*",
    "%",
    "_%\\",
    "a\u{0}b",
    "\u{202e}txt.exe",
    "\u{feff}",
    "\u{1b}[2J",
    "İıŞß",
    "ﬀ",
    "\u{10ffff}",
    "e\u{301}\u{301}\u{301}",
    "4111111111111111",
    "4111 1111-1111 1111",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "${jndi:ldap://x}",
    "OPEN,,OPEN",
    ",",
    "http://user:pass@example.com/#f",
    "http://[::1",
    "javascript:alert(1)",
    "whsec_",
    "avk_test_00000000000_0000000000000000000000000000000000000000000000000",
    "eyJhbGciOiJub25lIn0.e30.",
];

/// One of them, or a long one, or noise.
pub fn nasty(random: &mut StdRng) -> String {
    match random.random_range(0..12) {
        0 => "x".repeat(*[249, 250, 251, 255, 256, 2_049, 5_000].choose(random).unwrap()),
        1 => "é".repeat(*[250, 251, 4_096].choose(random).unwrap()),
        2 => (0..random.random_range(0..40)).map(|_| random.random::<char>()).collect(),
        _ => (*NASTY.choose(random).unwrap()).to_owned(),
    }
}

/// Makes something in a JSON value wrong.
pub fn spoil(value: &mut Value, random: &mut StdRng) {
    let inside = random.random_bool(0.8);
    match value {
        Value::Object(members) if inside && !members.is_empty() => {
            let names: Vec<String> = members.keys().cloned().collect();
            let name = names.choose(random).unwrap();
            match random.random_range(0..6) {
                0 => {
                    members.remove(name);
                }
                1 => {
                    members.insert(nasty(random), nasty(random).into());
                }
                2 => {
                    let kept = members.remove(name).unwrap_or_default();
                    members.insert(name.to_uppercase(), kept);
                }
                _ => spoil(members.get_mut(name).unwrap(), random),
            }
        }
        Value::Array(items) if inside && !items.is_empty() => {
            let index = random.random_range(0..items.len());
            spoil(&mut items[index], random);
        }
        other => *other = odd(random),
    }
}

fn odd(random: &mut StdRng) -> Value {
    match random.random_range(0..9) {
        0 => Value::Null,
        1 => json!([]),
        2 => json!({}),
        3 => json!([[[[{"a": [null]}]]]]),
        4 => json!(-1),
        5 => serde_json::from_str("1e400").unwrap_or_default(),
        6 => serde_json::from_str("0.1000000000000000000000000000000000001").unwrap_or_default(),
        7 => true.into(),
        _ => nasty(random).into(),
    }
}

/// Makes the bytes of a body wrong.
pub fn body_bytes(body: &mut Vec<u8>, random: &mut StdRng) {
    let length = body.len();
    match random.random_range(0..9) {
        0 => body.truncate(random.random_range(0..=length)),
        1 => body.extend_from_slice(b"x"),
        2 if length > 0 => body[random.random_range(0..length)] = random.random(),
        3 => *body = b"[".repeat(random.random_range(1..30_000)),
        4 => *body = b"{\"a\":".repeat(random.random_range(1..5_000)),
        5 => body.extend(std::iter::repeat_n(b' ', *[65_537, 70_000, 200_000].choose(random).unwrap())),
        6 => body.splice(0..0, *b"\xef\xbb\xbf").for_each(drop),
        7 => body.extend_from_slice(b"\"\\ud800\""),
        _ => {
            // The same member twice, and every member of it.
            let twice =
                String::from_utf8_lossy(body).replacen('{', "{\"refunded\":1,\"url\":2,\"scope\":\"alerts\",", 1);
            *body = twice.into_bytes();
        }
    }
}

/// The bytes of a request as HTTP/1.1 has it, with something wrong in most of them.
pub fn bytes(made: &Made, random: &mut StdRng) -> Vec<u8> {
    let mut target = made.target.clone();
    let mut version = "HTTP/1.1";
    let mut headers: Vec<(String, Vec<u8>)> = made.headers.clone();
    headers.push(("Connection".to_owned(), b"close".to_vec()));
    headers.push(("Content-Length".to_owned(), made.body.len().to_string().into_bytes()));
    let mut body = made.body.clone();
    let set = |headers: &mut Vec<(String, Vec<u8>)>, name: &str, value: &str| {
        headers.push((name.to_owned(), value.as_bytes().to_vec()));
    };
    let what = random.random_range(0..24);
    match what {
        0 => headers.extend((0..random.random_range(50..300)).map(|number| (format!("X-{number}"), b"x".to_vec()))),
        1 => set(&mut headers, "X-Large", &"y".repeat(*[8_000, 60_000, 70_000, 200_000].choose(random).unwrap())),
        2 => target = format!("{target}{}", "z".repeat(*[1_000, 65_000, 70_000, 200_000].choose(random).unwrap())),
        3 => set(&mut headers, "Transfer-Encoding", "chunked"),
        4 => set(&mut headers, "Content-Length", random.random_range(0..200_000).to_string().as_str()),
        5 => set(
            &mut headers,
            "Content-Length",
            ["-1", "x", "99999999999999999999", "0x10", "+3", ""].choose(random).unwrap(),
        ),
        6 => version = ["HTTP/1.0", "HTTP/2.0", "HTTP/9", "http/1.1", "", "HTTP/1.1 HTTP/1.1"].choose(random).unwrap(),
        7 => target = format!("http://{}{target}", ["localhost", "evil.example", "[::1", ""].choose(random).unwrap()),
        8 => {
            target = (*["*", "", "//", "/../", "/%", "\u{fffd}", "/ /", "/\t", "?"].choose(random).unwrap()).to_owned();
        }
        9 => set(&mut headers, "Expect", ["100-continue", "200-ok", ""].choose(random).unwrap()),
        10 => headers.retain(|(name, _)| name != "Host"),
        11 => {
            headers
                .push((["", "a b", "X:Y", "\u{e9}", "X\t", " X"].choose(random).unwrap().to_string(), b"x".to_vec()));
        }
        12 => headers.push((
            "X-Odd".to_owned(),
            (*[&b"\x00"[..], b"\x01\x7f", b"\xff\xfe", b"a\rb", b"a\nb: c"].choose(random).unwrap()).to_vec(),
        )),
        13 => set(&mut headers, "Upgrade", ["h2c", "websocket"].choose(random).unwrap()),
        _ => {}
    }
    if what == 14 {
        // In chunks, of which one may be wrong.
        headers.retain(|(name, _)| name != "Content-Length");
        set(
            &mut headers,
            "Transfer-Encoding",
            ["chunked", "gzip, chunked", "chunked, gzip", "Chunked"].choose(random).unwrap(),
        );
        let size = ["{:x}", "zz", "-1", "fffffffffffffffff", "{:x};ext=\"", ""]
            .choose(random)
            .unwrap()
            .replace("{:x}", &format!("{:x}", body.len()));
        body = [size.as_bytes(), b"\r\n", &body, b"\r\n0\r\n\r\n"].concat();
    }
    let mut bytes = format!("{} {target} {version}\r\n", made.method).into_bytes();
    for (name, value) in headers {
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(&value);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(&body);
    let length = bytes.len();
    match what {
        15 => bytes.truncate(random.random_range(0..length)),
        16 | 17 => {
            for _ in 0..random.random_range(1..6) {
                let at = random.random_range(0..length.min(400));
                bytes[at] = random.random();
            }
        }
        18 => bytes = String::from_utf8_lossy(&bytes).replace("\r\n", "\n").into_bytes(),
        19 => bytes.splice(0..0, *b"\r\n\r\n").for_each(drop),
        20 => bytes.splice(0..0, *b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").for_each(drop),
        21 => bytes = (0..random.random_range(1..3_000)).map(|_| random.random()).collect(),
        _ => {}
    }
    bytes
}
