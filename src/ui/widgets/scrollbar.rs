//! A thin scrollbar: where one is in something longer than its window.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::ui::Theme;

/// Draws the bar for a window that begins at line `top` of `lines`. The window is as high as the bar.
pub fn draw(theme: &Theme, buffer: &mut Buffer, bar: Rect, top: u64, lines: u64) {
    let height = u64::from(bar.height);
    if lines <= height || bar.is_empty() {
        return;
    }
    let length = (u128::from(height) * u128::from(height) / u128::from(lines)).max(1);
    let last = u128::from(lines - height);
    let start = (u128::from(top).min(last) * (u128::from(height) - length) + last / 2) / last;
    for (line, y) in (0u128..).zip(bar.y..bar.bottom()) {
        let on_thumb = (start..start + length).contains(&line);
        let (sign, style) = if on_thumb { ("┃", theme.thumb) } else { ("│", theme.line) };
        buffer.set_stringn(bar.x, y, sign, 1, style);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ui::theme::ThemeName;

    fn thumb(height: u16, top: u64, lines: u64) -> Vec<u16> {
        let bar = Rect::new(0, 0, 1, height);
        let mut buffer = Buffer::empty(bar);
        draw(&Theme::named(ThemeName::Dark), &mut buffer, bar, top, lines);
        (0..height).filter(|y| buffer[(0, *y)].symbol() == "┃").collect()
    }

    #[test]
    fn the_thumb_stands_at_the_ends_exactly_at_the_ends() {
        assert_eq!(thumb(10, 0, 100), [0]);
        assert_eq!(thumb(10, 90, 100), [9]);
        assert_eq!(thumb(10, 0, 20), [0, 1, 2, 3, 4]);
        assert!(thumb(10, 0, 10).is_empty());
    }

    proptest! {
        #[test]
        fn the_thumb_is_always_there_and_never_leaves_the_bar(height in 1u16..60, top in any::<u64>(), more in 1u64..) {
            let lines = more.saturating_add(u64::from(height));
            prop_assume!(lines > u64::from(height));

            prop_assert!(!thumb(height, top, lines).is_empty());
        }
    }
}
