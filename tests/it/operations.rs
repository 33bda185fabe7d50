//! Running avert for years: backups and the way back, the doctor, retention, figures, full disks and jumping clocks.

mod backup;
mod doctor;
mod pages;
