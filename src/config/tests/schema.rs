//! JSON schema of the settings file, made from the tables of settings and held equal to `assets/config.schema.json`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Map, Value, json};
use tracing::level_filters::LevelFilter;

use crate::{
    config::{
        Bounded, DesktopSetting, Hours, Listen, LogFormat, NetworkAuth, Setting, SettingSection, Settings,
        SimulatorFault, ThemeSetting, TimesSetting, table::SettingSchema,
    },
    domain::{AlertType, Answers, Environment, VerifiAnswers},
};

macro_rules! schemas {
    ($($kind:ty => $schema:expr;)+) => {$(
        impl SettingSchema for $kind {
            fn schema() -> Value {
                $schema
            }
        }
    )+};
}

schemas! {
    bool => json!({"type": "boolean"});
    String => json!({"type": "string"});
    PathBuf => json!({"type": "string"});
    Listen => json!({"type": "string"});
    Environment => json!({"enum": Environment::ALL.map(Environment::as_str)});
    LevelFilter => json!({"enum": ["off", "error", "warn", "info", "debug", "trace"]});
    NetworkAuth => words::<NetworkAuth>();
    Answers => json!({"enum": Answers::ALL.map(Answers::as_str)});
    VerifiAnswers => json!({"enum": VerifiAnswers::ALL.map(VerifiAnswers::as_str)});
    SimulatorFault => words::<SimulatorFault>();
    TimesSetting => words::<TimesSetting>();
    ThemeSetting => words::<ThemeSetting>();
    DesktopSetting => words::<DesktopSetting>();
    LogFormat => words::<LogFormat>();
}

impl<T> SettingSchema for Option<T> {
    fn schema() -> Value {
        json!({"type": "string"})
    }
}

impl<T> SettingSchema for Vec<T> {
    fn schema() -> Value {
        json!({"type": "array", "items": {"type": "string"}})
    }
}

impl<const LEAST: u32, const MOST: u32> SettingSchema for Bounded<LEAST, MOST> {
    fn schema() -> Value {
        json!({"type": "integer", "minimum": LEAST, "maximum": MOST})
    }
}

fn words<T: ValueEnum>() -> Value {
    let words = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    json!({"enum": words.map(|word| word.get_name().to_owned()).collect::<Vec<_>>()})
}

fn of_setting(setting: &Setting) -> (String, Value) {
    let variable = if setting.variable.is_empty() { String::new() } else { format!(" ({})", setting.variable) };
    let default: toml::Value = setting.default.parse().unwrap();
    let mut made = json!({"description": format!("{}{variable}", setting.help.trim()), "default": default});
    let schema = (setting.schema)();
    made.as_object_mut().unwrap().extend(schema.as_object().unwrap().clone());
    (setting.name.to_owned(), made)
}

fn of_section(section: &SettingSection) -> Value {
    let mut properties: Map<_, _> = section.settings.iter().map(of_setting).collect();
    if section.name == "windows.types" {
        properties.extend(AlertType::KNOWN.iter().map(|known| (known.as_str().to_owned(), Hours::schema())));
    }
    let mut made = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !section.help.is_empty() {
        made["description"] = section.help.trim().into();
    }
    if section.name.starts_with("providers.") {
        made["if"] = json!({"properties": {"simulated": {"const": true}}, "required": ["simulated"]});
        made["else"] = json!({"required": ["url"]});
    }
    made
}

/// Makes the schema of the settings file, for draft 7, which editors of TOML read.
fn document() -> Value {
    let mut root = json!({"$schema": "http://json-schema.org/draft-07/schema#", "title": "Settings of avert"});
    for section in Settings::sections() {
        let mut made = of_section(&section);
        if let Some(name) = section.name.strip_prefix("sources.") {
            // A section is described once for all sources.
            let sources = &mut root["properties"]["sources"];
            match name.rsplit_once('.') {
                None => sources["additionalProperties"] = made,
                Some((_, name)) => {
                    made["additionalProperties"] = match name {
                        "when" => json!({"type": ["string", "number", "boolean", "array"]}),
                        _ => json!({"type": "string"}),
                    };
                    sources["additionalProperties"]["properties"][name] = made;
                }
            }
            continue;
        }
        if section.name.starts_with("rules.") {
            root["properties"]["rules"]["additionalProperties"] = made;
            continue;
        }
        let (above, name) = match section.name.rsplit_once('.') {
            None if section.name.is_empty() => {
                root.as_object_mut().unwrap().extend(made.as_object().unwrap().clone());
                continue;
            }
            None => ("/properties".to_owned(), &*section.name),
            Some((above, name)) => (format!("/properties/{above}/properties"), name),
        };
        if name == "database" {
            // Its address alone may stand for it.
            let description = made["description"].clone();
            made = json!({"description": description, "anyOf": [{"type": "string"}, made]});
        }
        let properties = root.pointer_mut(&above).unwrap();
        // A section is described once for all networks.
        let names = if name == "ethoca" { &["ethoca", "verifi", "cdrn"][..] } else { &[name] };
        for name in names {
            properties[*name] = made.clone();
        }
    }
    root
}

#[test]
fn the_schema_of_the_settings_file_is_what_the_tables_say() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/config.schema.json");
    let made = format!("{}\n", serde_json::to_string_pretty(&document()).unwrap());

    if std::env::var_os("AVERT_WRITE_SETTINGS").is_some() {
        std::fs::write(&file, &made).unwrap();
    }

    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == made,
        "assets/config.schema.json is not what the tables say: run this test with AVERT_WRITE_SETTINGS=1 and look at \
            the difference"
    );
}
