//! The real binary in a pseudo-terminal: press keys, wait for words on the screen.
