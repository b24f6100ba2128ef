//! Where handoffs live.
