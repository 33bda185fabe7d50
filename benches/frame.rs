//! What a frame costs: the visible rows against ratatui's own drawing of the same cells, and a cursor move on fifty
//! alerts and on a million, in time and in bytes.

use std::hint::black_box;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use avert::console::app::{App, DeskState};
use avert::console::compact_backend::CompactBackend;
use avert::console::message::Effect;
use avert::console::message::Message;
use avert::console::terminal::FrameWriter;
use avert::console::theme::{Theme, ThemeName};
use avert::console::{Preferences, Session, SessionInfo};
use avert::desk::AlertRecords;
use avert::domain::query::Vocabulary;
use avert::domain::time::{SharedClock, SystemClock};
use avert::domain::{Alert, AlertId, AlertQuery, AlertType, Currency, Deadline, Page, Provider};
use avert::service::{Deployment, ServiceError};
use avert_service::listing::Lists;
use chrono::Duration;
use criterion::{Criterion, criterion_group, criterion_main};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::backend::{Backend, ClearType, WindowSize};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Size};
use ratatui::style::Style;
use ratatui::{Terminal, TerminalOptions, Viewport};

const SIZE: (u16, u16) = (200, 60);

/// Counts bytes and writes.
#[derive(Clone, Default)]
struct Meter {
    bytes: Arc<AtomicUsize>,
    writes: Arc<AtomicUsize>,
}

impl Write for Meter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.fetch_add(bytes.len(), Ordering::Relaxed);
        self.writes.fetch_add(1, Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The console's backend with a size of its own, so that no terminal is needed.
struct Sized(CompactBackend<FrameWriter<Meter>>);

impl Backend for Sized {
    type Error = io::Error;

    fn draw<'a, I: Iterator<Item = (u16, u16, &'a Cell)>>(&mut self, content: I) -> io::Result<()> {
        self.0.draw(content)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.0.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.0.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.0.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.0.clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.0.clear_region(clear_type)
    }

    fn size(&self) -> io::Result<Size> {
        Ok(Size::new(SIZE.0, SIZE.1))
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: Size::new(SIZE.0, SIZE.1), pixels: Size::default() })
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.0)
    }
}

fn alert(index: u64) -> Alert {
    let now = chrono::Utc::now();
    let number = u128::from(index) + 1;
    Alert {
        provider_id: format!("8F2C77AA{index:06}"),
        alert_time: Some(now - Duration::hours(5)),
        transaction_time: Some(now - Duration::days(2)),
        deadline: Deadline::At(now + Duration::minutes(i64::try_from(index % 4_000).unwrap_or(0) + 5)),
        issuer: "Emirates NBD".to_owned(),
        card_bin: "552201".to_owned(),
        card_last_four: format!("{:04}", index % 10_000),
        merchant_descriptor: format!("ACME*SHOP {}", index % 97),
        merchant_order_id: Some(format!("A-{index}")),
        merchant_name: "ACME Travel FZ-LLC".to_owned(),
        amount: format!("{}.90", index % 5_000).parse().ok(),
        currency: Currency::new("EUR"),
        ..Alert::new(AlertId(uuid::Uuid::from_u128(number)), Provider::Verifi, AlertType::VerifiDispute)
    }
}

/// The application on a list of so many alerts, each made when its page is asked for.
struct Desk {
    app: App,
    total: u64,
    terminal: Terminal<Sized>,
    writer: FrameWriter<Meter>,
    meter: Meter,
}

impl Desk {
    fn with(total: u64) -> Self {
        let clock: SharedClock = Arc::new(SystemClock);
        // Nothing is asked of it: the pages are handed to the application.
        let nothing = |_: &AlertQuery| Err(ServiceError::Unavailable(String::new()));
        let mut deployment = Deployment::plain(Arc::new(Lists(nothing)));
        deployment.vocabulary = Vocabulary::Desk;
        let session = Session {
            deployment,
            clock,
            place: SessionInfo { name: "acme-eu".to_owned(), ..SessionInfo::default() },
            settings: Preferences::default(),
            desk_dir: None,
            alert_json: Arc::new(|_, _| String::new()),
            alert_records: AlertRecords { columns: Vec::new(), record: Arc::new(|_, _| String::new()) },
            log_trouble: None,
            rules: None,
            profiles: None,
            keeper: None,
        };
        let (app, first) = App::new(session, Theme::named(ThemeName::Dark), DeskState::default(), SIZE);
        let meter = Meter::default();
        let writer = FrameWriter::new(meter.clone());
        let options = TerminalOptions { viewport: Viewport::Fullscreen };
        let terminal =
            Terminal::with_options(Sized(CompactBackend::new(writer.clone())), options).expect("no terminal is asked");
        let mut desk = Self { app, total, terminal, writer, meter };
        desk.answer(first);
        desk.draw();
        desk
    }

    fn answer(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if let Effect::Load(need) = effect {
                let (page, size) = (need.query.page.page, need.query.page.size);
                let start = page * u64::from(size);
                let data = (start..(start + u64::from(size)).min(self.total)).map(alert).collect();
                let more = self.app.update(Message::Page(
                    need.ticket,
                    Ok(Page { data, total: self.total, counted: true, page, size }),
                ));
                self.answer(more);
            }
        }
    }

    fn press(&mut self, code: KeyCode) {
        let effects = self.app.update(Message::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))));
        self.answer(effects);
    }

    /// Draws and sends a frame; how many bytes left, and in how many writes.
    fn draw(&mut self) -> (usize, usize) {
        let before = (self.meter.bytes.load(Ordering::Relaxed), self.meter.writes.load(Ordering::Relaxed));
        let app = &mut self.app;
        self.terminal.draw(|frame| app.draw(frame)).expect("a frame");
        self.writer.present().expect("a write");
        (self.meter.bytes.load(Ordering::Relaxed) - before.0, self.meter.writes.load(Ordering::Relaxed) - before.1)
    }

    /// The cells of the frame that is shown now.
    fn shown(&mut self) -> Buffer {
        let app = &mut self.app;
        let completed = self.terminal.draw(|frame| app.draw(frame)).expect("a frame");
        completed.buffer.clone()
    }
}

/// Draws the same cells by ratatui's own means: each run of one style by `set_stringn`, as its paragraphs and tables
/// do.
fn draw_runs(runs: &[(u16, u16, String, Style)], buffer: &mut Buffer) {
    for (x, y, text, style) in runs {
        buffer.set_stringn(*x, *y, text, usize::from(SIZE.0), *style);
    }
}

fn runs(buffer: &Buffer) -> Vec<(u16, u16, String, Style)> {
    let mut runs: Vec<(u16, u16, String, Style)> = Vec::new();
    for y in 0..buffer.area.height {
        let mut last: Option<Style> = None;
        for x in 0..buffer.area.width {
            let cell = &buffer[(x, y)];
            match runs.last_mut().filter(|_| last == Some(cell.style())) {
                Some((_, _, text, _)) => text.push_str(cell.symbol()),
                None => runs.push((x, y, cell.symbol().to_owned(), cell.style())),
            }
            last = Some(cell.style());
        }
    }
    runs
}

/// The median times of two kinds of work done in turns, so that whatever else the machine does falls on both.
fn in_turns(rounds: usize, mut one: impl FnMut(), mut other: impl FnMut()) -> (f64, f64) {
    let mut times = [Vec::with_capacity(rounds), Vec::with_capacity(rounds)];
    for _ in 0..rounds {
        let start = Instant::now();
        one();
        times[0].push(start.elapsed());
        let start = Instant::now();
        other();
        times[1].push(start.elapsed());
    }
    let median = |times: &mut Vec<std::time::Duration>| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1e6
    };
    let [first, second] = &mut times;
    (median(first), median(second))
}

fn tell(line: &str) {
    writeln!(io::stderr(), "{line}").ok();
}

fn ratios() {
    let (mut desk, mut plain) = (Desk::with(1_000_000), Desk::with(1_000_000));
    let runs = runs(&plain.shown());
    let (ours, theirs) = in_turns(
        2_000,
        || {
            desk.draw();
        },
        || {
            plain.terminal.draw(|frame| draw_runs(black_box(&runs), frame.buffer_mut())).expect("a frame");
            plain.writer.present().expect("a write");
        },
    );
    tell(&format!(
        "frame 200x60: {ours:.0} µs, ratatui's own draw of the same cells {theirs:.0} µs: {:.2} times",
        ours / theirs
    ));

    let (mut many, mut few) = (Desk::with(1_000_000), Desk::with(50));
    many.press(KeyCode::Char('#'));
    for digit in "500000".chars() {
        many.press(KeyCode::Char(digit));
    }
    many.press(KeyCode::Enter);
    let walk = |desk: &mut Desk, down: &mut bool| {
        *down = !*down;
        desk.press(if *down { KeyCode::Down } else { KeyCode::Up });
        desk.draw();
    };
    let (mut a, mut b) = (false, false);
    let (million, fifty) = in_turns(2_000, || walk(&mut many, &mut a), || walk(&mut few, &mut b));
    tell(&format!(
        "cursor move and frame: {million:.0} µs on 1,000,000 alerts, {fifty:.0} µs on 50: {:.2} times",
        million / fifty
    ));
    for (name, desk) in [("1,000,000", &mut many), ("50", &mut few)] {
        desk.press(KeyCode::Down);
        let (bytes, writes) = desk.draw();
        tell(&format!("cursor move on {name} alerts, detail beside the list: {bytes} bytes in {writes} write"));
    }
}

fn frames(criterion: &mut Criterion) {
    ratios();
    let mut desk = Desk::with(1_000_000);
    criterion.bench_function("frame of visible rows, 200x60", |bencher| bencher.iter(|| desk.draw()));
    for total in [50, 1_000_000] {
        let mut desk = Desk::with(total);
        let mut down = false;
        criterion.bench_function(&format!("cursor move and frame, 200x60, {total} alerts"), |bencher| {
            bencher.iter(|| {
                down = !down;
                desk.press(if down { KeyCode::Down } else { KeyCode::Up });
                desk.draw()
            });
        });
    }
}

criterion_group!(benches, frames);
criterion_main!(benches);
