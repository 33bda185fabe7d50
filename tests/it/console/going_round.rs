//! The loop itself, with injected keys and a stage that is looked at.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use avert::{
    console::{
        Preferences, Session, SessionInfo,
        app::{App, DeskState},
        event_loop::{Surface, drive},
        message::Effect,
        runner::Runner,
        theme::{Theme, ThemeName},
    },
    desk::Desk,
    domain::time::{SharedClock, SystemClock},
};
use crossterm::event::Event;
use ratatui::{Terminal, backend::TestBackend};
use tokio::sync::{
    mpsc::{self, Sender},
    watch,
};

use super::{
    fake::{Fake, morning},
    rig::{key, records},
};

/// A stage that shows every frame to whoever waits for it.
struct Shown {
    terminal: Terminal<TestBackend>,
    screen: watch::Sender<String>,
    frames: Arc<Mutex<usize>>,
    performed: Arc<Mutex<Vec<Effect>>>,
    gone: bool,
}

impl Surface for Shown {
    fn draw(&mut self, app: &mut App) -> io::Result<bool> {
        self.terminal.draw(|frame| app.draw(frame)).map_err(io::Error::other)?;
        *self.frames.lock().unwrap() += 1;
        self.screen.send_replace(self.terminal.backend().to_string());
        Ok(true)
    }

    fn perform(&mut self, effect: Effect) -> io::Result<()> {
        self.performed.lock().unwrap().push(effect);
        Ok(())
    }

    fn heartbeat(&mut self) -> io::Result<()> {
        if self.gone { Err(io::Error::from(io::ErrorKind::BrokenPipe)) } else { Ok(()) }
    }
}

/// How long a word may take to come to the screen before a test gives up.
const PATIENCE: Duration = Duration::from_secs(120);

/// A loop that goes round in a task of its own.
struct Going {
    keys: Sender<io::Result<Event>>,
    screen: watch::Receiver<String>,
    service: Arc<Fake>,
    performed: Arc<Mutex<Vec<Effect>>>,
    frames: Arc<Mutex<usize>>,
    end: tokio::task::JoinHandle<io::Result<()>>,
}

impl Going {
    fn start(desk: Option<Desk>, gone: bool) -> Self {
        let clock: SharedClock = Arc::new(SystemClock);
        let service = Fake::with(morning(clock.now()), clock.clone());
        let (messages, mut incoming) = mpsc::unbounded_channel();
        let mut runner = Runner::new(service.deployment(), desk, records(), messages);
        let (screen, shown) = watch::channel(String::new());
        let (performed, frames) = (Arc::<Mutex<Vec<Effect>>>::default(), Arc::<Mutex<usize>>::default());
        let mut stage = Shown {
            terminal: Terminal::new(TestBackend::new(120, 40)).unwrap(),
            screen,
            frames: frames.clone(),
            performed: performed.clone(),
            gone,
        };
        let session = Session {
            deployment: service.deployment(),
            clock,
            place: SessionInfo::default(),
            settings: Preferences { undo_window: Duration::ZERO, ..Preferences::default() },
            desk_dir: None,
            alert_json: Arc::new(|_, _| String::new()),
            alert_records: records(),
            log_trouble: None,
            rules: None,
            profiles: None,
            keeper: None,
        };
        let (mut app, first) = App::new(session, Theme::named(ThemeName::Dark), DeskState::default(), (120, 40));
        let (keys, mut pressed) = mpsc::channel(64);
        let end = tokio::spawn(async move {
            let end = drive(&mut app, &mut stage, &mut pressed, &mut incoming, &mut runner, first).await;
            runner.finish().await;
            end
        });
        Self { keys, screen: shown, service, performed, frames, end }
    }

    async fn press(&self, names: &str) {
        for name in names.split_whitespace() {
            self.keys.send(Ok(Event::Key(key(name)))).await.unwrap();
        }
    }

    async fn wait_for(&mut self, text: &str) {
        let mut screen = self.screen.clone();
        let shown = tokio::time::timeout(PATIENCE, screen.wait_for(|screen| screen.contains(text))).await;
        assert!(shown.is_ok(), "no {text:?} on the screen:\n{}", *self.screen.borrow());
    }
}

#[tokio::test]
async fn an_alert_is_resolved_by_keys_and_the_list_shows_it() {
    let mut going = Going::start(None, false);
    going.wait_for("ACME*SHOP B").await;

    going.press("r").await;
    going.wait_for("no warnings").await;
    going.press("ctrl-s").await;

    going.wait_for("recorded (API status RESOLVED)").await;
    assert_eq!(going.service.resolutions.lock().unwrap().len(), 1);
    going.press("q").await;
    assert!(going.end.await.unwrap().is_ok());
}

#[tokio::test]
async fn a_change_at_the_service_comes_to_the_screen_by_itself() {
    let mut going = Going::start(None, false);
    going.wait_for("ACME*SHOP B").await;

    going.service.change(|alerts| alerts[3].merchant_descriptor = "RENAMED".to_owned());

    going.wait_for("RENAMED").await;
}

#[tokio::test]
async fn a_hundred_keys_at_once_are_drawn_in_few_frames() {
    let mut going = Going::start(None, false);
    going.wait_for("ACME*SHOP B").await;
    let before = *going.frames.lock().unwrap();

    for _ in 0..50 {
        going.press("j k").await;
    }
    going.press("G").await;
    going.wait_for("9.99").await;

    let drawn = *going.frames.lock().unwrap() - before;
    assert!(drawn <= 10, "{drawn} frames");
}

#[tokio::test]
async fn the_mouse_and_the_clipboard_are_the_stages() {
    let mut going = Going::start(None, false);
    going.wait_for("ACME*SHOP B").await;

    going.press("y y : m o u s e enter").await;
    going.wait_for("Mouse off: select text").await;

    let performed = going.performed.lock().unwrap();
    let asked: Vec<_> =
        performed.iter().filter(|effect| !matches!(effect, Effect::Title(_) | Effect::Remind(_))).collect();
    assert!(matches!(asked.as_slice(), [Effect::Copy(_), Effect::Mouse(false)]), "{performed:?}");
}

#[tokio::test]
async fn a_terminal_that_is_gone_ends_the_loop_at_the_next_heartbeat() {
    let going = Going::start(None, true);

    assert!(going.end.await.unwrap().is_err());
}

#[tokio::test]
async fn keys_that_end_end_the_loop() {
    let going = Going::start(None, false);

    drop(going.keys);

    assert!(going.end.await.unwrap().is_err());
}

#[tokio::test]
async fn what_is_kept_is_on_the_disk_when_the_loop_has_ended() {
    let directory = tempfile::tempdir().unwrap();
    let desk = Desk::open(directory.path()).unwrap();
    let mut going = Going::start(Some(desk.clone()), false);
    going.wait_for("ACME*SHOP B").await;

    going.press("v alt-s M i n e enter").await;
    going.press("q").await;
    going.end.await.unwrap().unwrap();

    assert_eq!(desk.views().list().unwrap().len(), 1);
}
