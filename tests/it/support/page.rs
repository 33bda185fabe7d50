//! Blocks of code of the manual's pages.

/// The first block in a language that holds a text.
pub fn block<'a>(page: &'a str, language: &str, text: &str) -> &'a str {
    let blocks = page.split("```").skip(1).step_by(2);
    let mut blocks = blocks.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n'));
    blocks.find(|block| block.contains(text)).expect("the page has such a block")
}
