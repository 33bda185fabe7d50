//! The filter form: every parameter of the list operation.
