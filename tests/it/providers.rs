//! Networks behind a gateway: what each answer and each break means, and the way of a decision through all of it.

mod calls;
mod gateway;
mod guarded;
mod native;
mod pulled;
mod remembered;
mod through;
