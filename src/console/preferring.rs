//! Changed settings in the application: each holds at once, and is kept in the settings file.

use super::{
    Effect, Tasks, Theme, Tone,
    app::App,
    setting::SettingValue,
    user_settings::{USER_SETTINGS, UserSetting},
};

impl App {
    /// Changes a setting, and has it kept.
    pub(super) fn change_setting(&mut self, setting: &'static UserSetting, value: SettingValue) -> Tasks {
        let mut outcome = self.use_setting(setting, value);
        let (label, shown, file) = (setting.label, value.shown(), &self.cx.settings.kept_in);
        match file {
            Some(_) => outcome.push(Effect::KeepSetting(setting, value).into()),
            None => self.cx.notify(Tone::Note, format!("{label}: {shown} for this session only.")),
        }
        outcome
    }

    /// Takes in what the settings file says by now: what somebody else has changed since it was read last.
    pub(super) fn take_settings(&mut self, answer: Result<Vec<SettingValue>, String>) -> Tasks {
        let read = match answer {
            Ok(read) => read,
            Err(why) => {
                self.cx.notify(Tone::Bad, format!("The earlier settings stay: {why}"));
                return Tasks::new();
            }
        };
        let mut outcome = Tasks::new();
        let before = std::mem::replace(&mut self.settings_read, read.clone());
        for (setting, (before, value)) in USER_SETTINGS.iter().zip(before.into_iter().zip(read)) {
            if value != before && value != (setting.current)(&self.cx.settings) {
                outcome.extend(self.use_setting(setting, value));
                self.cx.notify(Tone::Good, format!("Settings read again. {}: {}.", setting.label, value.shown()));
            }
        }
        outcome
    }

    fn use_setting(&mut self, setting: &'static UserSetting, value: SettingValue) -> Tasks {
        let mut outcome = Tasks::new();
        let (theme, mouse) = (self.cx.settings.theme, self.cx.settings.mouse);
        (setting.apply)(&mut self.cx.settings, value);
        if self.cx.settings.theme != theme {
            match self.cx.settings.theme {
                Some(name) => self.cx.theme = Theme::of(name, self.cx.settings.has_all_colors),
                // The terminal's background is found when a console opens.
                None => self.cx.notify(Tone::Note, "The theme follows the terminal at the next start."),
            }
        }
        if self.cx.settings.mouse != mouse {
            self.has_mouse = self.cx.settings.mouse;
            outcome.push(Effect::Mouse(self.has_mouse).into());
        }
        outcome
    }

    /// Says what became of keeping a setting.
    pub(super) fn kept_setting(&mut self, setting: &'static UserSetting, answer: Result<(), String>) {
        let (label, value) = (setting.label, (setting.current)(&self.cx.settings).shown());
        let stronger = self.cx.settings.overrides.iter().find(|stronger| stronger.key == setting.key);
        let words = match (answer, stronger) {
            (Err(why), _) => {
                return self.cx.notify(Tone::Bad, format!("{label}: {value}, not saved: {why}"));
            }
            (Ok(()), Some(stronger)) => {
                format!("{label}: {value}, saved. {} overrides it at the next start.", stronger.by)
            }
            (Ok(()), None) => format!("{label}: {value}, kept."),
        };
        self.cx.notify(Tone::Good, words);
    }
}
