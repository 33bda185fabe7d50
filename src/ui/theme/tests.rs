//! Promises of every theme: contrast, weights, rows under the cursor.

use rstest::rstest;

use super::*;
use crate::compact_backend::ANSI;

fn rgb(color: Option<Color>) -> (u8, u8, u8) {
    match color {
        Some(Color::Rgb(r, g, b)) => (r, g, b),
        Some(Color::Indexed(index)) => rgb_of_256(index),
        other => panic!("a theme with its own background names every colour, not {other:?}"),
    }
}

/// Contrast ratio of WCAG 2.
fn contrast(front: Option<Color>, back: Option<Color>) -> f64 {
    ratio(rgb(front), rgb(back))
}

fn ratio(front: (u8, u8, u8), back: (u8, u8, u8)) -> f64 {
    let luminance = |(r, g, b): (u8, u8, u8)| {
        let linear = |channel: u8| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    };
    let (front, back) = (luminance(front), luminance(back));
    (front.max(back) + 0.05) / (front.min(back) + 0.05)
}

/// The contrast of a style of the 16 colours on a surface of the page, in a palette.
fn contrast_in(palette: &TerminalColors, theme: &Theme, surface: Style, style: Style) -> f64 {
    let look = Style::reset().patch(theme.page).patch(surface).patch(style);
    let [fg, bg] = [look.fg, look.bg].map(|color| palette.rgb(color.unwrap_or(Color::Reset)));
    // Reversed they are the same two.
    ratio(fg, bg)
}

#[rstest]
fn every_text_can_be_read_on_every_surface(
    #[values(ThemeName::Dark, ThemeName::Light, ThemeName::HighContrast)] name: ThemeName,
    #[values(false, true)] reduced: bool,
) {
    let theme = Theme::of(name, !reduced);
    let texts = [
        theme.strong,
        theme.plain,
        theme.quiet,
        theme.accent,
        theme.key,
        theme.danger,
        theme.warning,
        theme.ok,
        theme.rule,
    ];

    for surface in [theme.page, theme.bar, theme.panel, theme.field, theme.selection] {
        for text in texts {
            let ratio = contrast(text.fg, surface.bg);
            assert!(ratio >= 4.5, "{name:?}: {:?} on {:?} has {ratio:.2}", text.fg, surface.bg);
        }
    }
    for surface in [theme.page, theme.panel] {
        let ratio = contrast(theme.edge.fg, surface.bg);
        assert!(ratio >= 3.0, "{name:?}: an edge on {surface:?} has {ratio:.2}");
    }
    for fill in [theme.fill, theme.fill_soon, theme.fill_now, theme.ok, theme.accent] {
        let ratio = contrast(fill.fg, theme.page.bg);
        assert!(ratio >= 3.0, "{name:?}: a bar of {fill:?} has {ratio:.2}");
    }
    let [behind, quiet] = [theme.veiled, theme.quiet].map(|text| contrast(text.fg, theme.page.bg));
    assert!(behind >= 4.5 && behind <= quiet, "{name:?}: what lies behind has {behind:.2}, quiet text {quiet:.2}");
    for badge in [theme.badge, theme.muted, theme.production, theme.button, theme.primary, theme.disabled] {
        let ratio = contrast(badge.fg, badge.bg);
        assert!(ratio >= 4.5, "{name:?}: {badge:?} has {ratio:.2}");
    }
    let [works, waits] = [theme.primary, theme.disabled].map(|button| contrast(button.bg, theme.panel.bg));
    assert!(waits < works, "{name:?}: a button that cannot be pressed has {waits:.2}, one that can {works:.2}");
}

#[test]
fn in_the_16_colours_every_text_can_be_read_on_every_surface_of_every_palette_that_is_named() {
    let theme = Theme::named(ThemeName::Ansi);
    let texts = [
        theme.strong,
        theme.plain,
        theme.quiet,
        theme.accent,
        theme.key,
        theme.danger,
        theme.warning,
        theme.ok,
        theme.rule,
    ];
    let others =
        [theme.veiled, theme.badge, theme.muted, theme.production, theme.button, theme.primary, theme.disabled];

    for palette in &HELD {
        for surface in [theme.page, theme.bar, theme.panel, theme.field, theme.selection] {
            for style in texts.iter().chain(&others) {
                let ratio = contrast_in(palette, &theme, surface, *style);
                assert!(ratio >= 4.5, "{}: {style:?} has {ratio:.2}", palette.name);
            }
        }
        for drawn in [theme.edge, theme.thumb, theme.fill, theme.fill_soon, theme.fill_now, theme.ok, theme.accent] {
            let ratio = contrast_in(palette, &theme, theme.page, drawn);
            assert!(ratio >= 3.0, "{}: {drawn:?} has {ratio:.2}", palette.name);
        }
    }
}

#[test]
fn in_solarized_the_16_colours_hold_what_the_page_of_the_console_says() {
    let theme = Theme::named(ThemeName::Ansi);
    let least = |styles: &[Style]| {
        let ratios = styles.iter().map(|style| contrast_in(&SOLARIZED, &theme, theme.page, *style));
        ratios.fold(f64::MAX, f64::min)
    };

    let readable = [
        theme.strong,
        theme.plain,
        theme.quiet,
        theme.veiled,
        theme.accent,
        theme.key,
        theme.badge,
        theme.muted,
        theme.button,
    ];
    let (red, yellow, green) =
        (least(&[theme.danger, theme.production, theme.rule]), least(&[theme.warning]), least(&[theme.ok]));

    assert!(least(&readable) >= 4.5 && least(&[theme.primary, theme.disabled]) >= 4.5);
    let told = format!("{red:.1}:1, what warns {yellow:.1}:1 and what went well {green:.1}:1");
    let page = include_str!("../../../assets/docs/console.md").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(&told), "{told}");
}

#[test]
fn the_16_colours_have_three_weights_in_every_palette_and_none_hangs_on_dim_or_italic_text() {
    let theme = Theme::named(ThemeName::Ansi);

    for palette in HELD.iter().chain([&SOLARIZED]) {
        let [plain, quiet] = [theme.plain, theme.quiet].map(|style| contrast_in(palette, &theme, theme.page, style));
        assert!(plain >= 1.1 * quiet, "{}: plain text has {plain:.2}, quiet text {quiet:.2}", palette.name);
    }
    let is_bold = |style: Style| style.add_modifier.contains(Modifier::BOLD);
    assert_eq!([theme.strong, theme.plain, theme.quiet].map(is_bold), [true, false, false]);
    assert!(!["DIM", "ITALIC"].iter().any(|weight| ThemeName::Ansi.text().contains(weight)));
}

#[test]
fn where_the_terminal_has_the_colours_a_button_that_works_has_a_ground_and_one_that_cannot_be_pressed_has_none() {
    let theme = Theme::named(ThemeName::Ansi);

    let has_ground = |style: Style| style.bg.is_some() || style.add_modifier.contains(Modifier::REVERSED);

    assert!([theme.badge, theme.muted, theme.production, theme.button, theme.primary].into_iter().all(has_ground));
    assert!(!has_ground(theme.disabled));
}

#[test]
fn the_theme_without_colour_has_none() {
    let theme = Theme::named(ThemeName::NoColor);

    assert!(!["fg =", "bg ="].iter().any(|color| ThemeName::NoColor.text().contains(color)));
    assert!(theme.selection.add_modifier.contains(Modifier::REVERSED));
}

#[test]
fn a_panel_has_an_edge_and_no_sides_where_it_is_as_wide_as_the_screen() {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 6, 6));

    Theme::named(ThemeName::Dark).open_panel(&mut buffer, Rect::new(1, 0, 4, 3));
    Theme::named(ThemeName::Dark).open_panel(&mut buffer, Rect::new(0, 3, 6, 3));

    assert_eq!(["╭", "│", "─", " "], [(1, 0), (1, 1), (0, 3), (0, 4)].map(|at| buffer[at].symbol()));
}

#[test]
fn every_theme_is_found_by_its_name_and_no_other() {
    for (name, text) in ThemeName::ALL {
        assert_eq!(text.parse(), Ok(name));
    }
    assert!("solarized".parse::<ThemeName>().unwrap_err().contains("high-contrast"));
}

#[rstest]
#[case(ThemeName::Ansi)]
#[case(ThemeName::NoColor)]
fn a_row_under_the_cursor_is_even_where_it_is_told_by_reverse(#[case] name: ThemeName) {
    let theme = Theme::named(name);
    let mut buffer = Buffer::empty(Rect::new(0, 0, 40, 1));
    buffer.set_string(0, 0, " PRODUCTION ", theme.production);
    let badge = buffer[(1, 0)].clone();
    let row = Rect::new(14, 0, 26, 1);
    theme.mark_row(&mut buffer, row);
    for (x, style) in [(16, theme.danger), (20, theme.quiet), (24, theme.strong), (30, theme.accent), (34, theme.plain)]
    {
        buffer.set_string(x, 0, "abc", style);
    }

    theme.even_rows(&mut buffer);

    let looks =
        row.positions().map(|at| (buffer[at].fg, buffer[at].bg, buffer[at].modifier.difference(Modifier::BOLD)));
    let looks: std::collections::HashSet<_> = looks.collect();
    let [fg, bg] = [theme.page.fg, theme.page.bg].map(|color| color.unwrap_or(Color::Reset));
    assert_eq!(looks, [(fg, bg, Modifier::REVERSED)].into());
    assert_eq!(buffer[(1, 0)], badge);
}

/// A terminal's palette: the eight colours, then the bright ones.
struct TerminalColors {
    name: &'static str,
    colors: [u32; 16],
}

impl TerminalColors {
    /// The red, green and blue of one of the 16 colours.
    fn rgb(&self, color: Color) -> (u8, u8, u8) {
        let at = ANSI.iter().position(|known| *known == color);
        let [_, r, g, b] =
            self.colors[at.unwrap_or_else(|| panic!("{color:?} is none of the 16 colours"))].to_be_bytes();
        (r, g, b)
    }
}

/// Palettes in which every text holds 4.5:1.
#[rustfmt::skip]
const HELD: [TerminalColors; 7] = [
    TerminalColors { name: "xterm", colors: [
        0x00_0000, 0xcd_0000, 0x00_cd00, 0xcd_cd00, 0x00_00ee, 0xcd_00cd, 0x00_cdcd, 0xe5_e5e5,
        0x7f_7f7f, 0xff_0000, 0x00_ff00, 0xff_ff00, 0x5c_5cff, 0xff_00ff, 0x00_ffff, 0xff_ffff,
    ] },
    TerminalColors { name: "VGA", colors: [
        0x00_0000, 0xaa_0000, 0x00_aa00, 0xaa_5500, 0x00_00aa, 0xaa_00aa, 0x00_aaaa, 0xaa_aaaa,
        0x55_5555, 0xff_5555, 0x55_ff55, 0xff_ff55, 0x55_55ff, 0xff_55ff, 0x55_ffff, 0xff_ffff,
    ] },
    TerminalColors { name: "Campbell", colors: [
        0x0c_0c0c, 0xc5_0f1f, 0x13_a10e, 0xc1_9c00, 0x00_37da, 0x88_1798, 0x3a_96dd, 0xcc_cccc,
        0x76_7676, 0xe7_4856, 0x16_c60c, 0xf9_f1a5, 0x3b_78ff, 0xb4_009e, 0x61_d6d6, 0xf2_f2f2,
    ] },
    TerminalColors { name: "Tango", colors: [
        0x2e_3436, 0xcc_0000, 0x4e_9a06, 0xc4_a000, 0x34_65a4, 0x75_507b, 0x06_989a, 0xd3_d7cf,
        0x55_5753, 0xef_2929, 0x8a_e234, 0xfc_e94f, 0x72_9fcf, 0xad_7fa8, 0x34_e2e2, 0xee_eeec,
    ] },
    TerminalColors { name: "GNOME", colors: [
        0x17_1421, 0xc0_1c28, 0x26_a269, 0xa2_734c, 0x12_488b, 0xa3_47ba, 0x2a_a1b3, 0xd0_cfcc,
        0x5e_5c64, 0xf6_6151, 0x33_da7a, 0xe9_ad0c, 0x2a_7bde, 0xc0_61cb, 0x33_c7de, 0xff_ffff,
    ] },
    TerminalColors { name: "Terminal.app", colors: [
        0x00_0000, 0x99_0000, 0x00_a600, 0x99_9900, 0x00_00b2, 0xb2_00b2, 0x00_a6b2, 0xbf_bfbf,
        0x66_6666, 0xe6_0000, 0x00_d900, 0xe6_e600, 0x00_00ff, 0xe6_00e6, 0x00_e6e6, 0xe6_e6e6,
    ] },
    TerminalColors { name: "PuTTY", colors: [
        0x00_0000, 0xbb_0000, 0x00_bb00, 0xbb_bb00, 0x00_00bb, 0xbb_00bb, 0x00_bbbb, 0xbb_bbbb,
        0x55_5555, 0xff_5555, 0x55_ff55, 0xff_ff55, 0x55_55ff, 0xff_55ff, 0x55_ffff, 0xff_ffff,
    ] },
];

/// Its bright green and bright yellow are greys that are made for its own ground, and no other.
#[rustfmt::skip]
const SOLARIZED: TerminalColors = TerminalColors { name: "Solarized", colors: [
    0x07_3642, 0xdc_322f, 0x85_9900, 0xb5_8900, 0x26_8bd2, 0xd3_3682, 0x2a_a198, 0xee_e8d5,
    0x00_2b36, 0xcb_4b16, 0x58_6e75, 0x65_7b83, 0x83_9496, 0x6c_71c4, 0x93_a1a1, 0xfd_f6e3,
] };
