//! A desk in a PostgreSQL database, by the real binary: which database, its schema and key, the first steps, and
//! several nodes on it.

mod addresses;
mod alike;
mod copies;
mod first_steps;
mod grants;
mod kills;
mod nodes;
mod outages;
mod schema;
