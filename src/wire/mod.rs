//! The JSON of the interface in both dialects: reads tolerantly, writes one form per dialect.
