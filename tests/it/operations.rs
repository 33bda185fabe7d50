//! Running avert for years: backups and the way back, the doctor, retention, figures, full disks and jumping clocks.

mod backup;
mod causes;
mod clock;
mod completing;
mod crowd;
mod disk;
mod doctor;
mod figures;
pub mod kills;
mod modes;
mod pages;
mod ready;
mod records;
mod retention;
mod unclean;
mod upgrade;
mod watching;
mod words;
