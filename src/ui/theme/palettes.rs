//! The 16 colours of common terminals, as they come.

use ratatui::style::Color;

/// A terminal's palette: the eight colours, then the bright ones.
pub(super) struct TerminalColors {
    pub(super) name: &'static str,
    colors: [u32; 16],
}

impl TerminalColors {
    /// The red, green and blue of one of the 16 colours.
    pub(super) fn rgb(&self, color: Color) -> (u8, u8, u8) {
        let order = [
            Color::Black,
            Color::Red,
            Color::Green,
            Color::Yellow,
            Color::Blue,
            Color::Magenta,
            Color::Cyan,
            Color::Gray,
            Color::DarkGray,
            Color::LightRed,
            Color::LightGreen,
            Color::LightYellow,
            Color::LightBlue,
            Color::LightMagenta,
            Color::LightCyan,
            Color::White,
        ];
        let at = order.iter().position(|known| *known == color);
        let [_, r, g, b] =
            self.colors[at.unwrap_or_else(|| panic!("{color:?} is none of the 16 colours"))].to_be_bytes();
        (r, g, b)
    }
}

/// Palettes in which every text holds 4.5:1.
#[rustfmt::skip]
pub(super) const HELD: [TerminalColors; 7] = [
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
pub(super) const SOLARIZED: TerminalColors = TerminalColors { name: "Solarized", colors: [
    0x07_3642, 0xdc_322f, 0x85_9900, 0xb5_8900, 0x26_8bd2, 0xd3_3682, 0x2a_a198, 0xee_e8d5,
    0x00_2b36, 0xcb_4b16, 0x58_6e75, 0x65_7b83, 0x83_9496, 0x6c_71c4, 0x93_a1a1, 0xfd_f6e3,
] };
