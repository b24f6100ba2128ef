//! What can be done with handoffs, one file per verb. Surfaces call these and nothing below.

mod check;
mod edit;
mod init;
mod mend;
mod new;

pub use check::{Judged, check_all, check_these};
pub use edit::{EditError, Edited, edit};
pub use init::{InitError, Initialised, init};
pub use mend::{MendError, Mended, mend};
pub use new::{Created, NewError, NewHandoff, new};
