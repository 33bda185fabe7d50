//! In from HTTP: the interface's routes, credentials, the error table.
