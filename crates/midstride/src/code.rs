//! Documents compared with the code they cite.

pub mod drift;
