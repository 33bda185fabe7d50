//! The resolve form: one decision on one alert.
