//! What belongs to this workstation: saved views and drafts.
