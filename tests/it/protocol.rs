//! The resolution protocol as a whole: deaths at every point, a person's word, several processes, thousands of races.

mod deaths;
mod hostile;
mod nodes;
mod parked;
mod races;
mod safeguards;
mod taking_over;
