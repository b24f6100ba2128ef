//! Tests of briefings: complete examples, properties, and injection attacks.

mod attacks;
mod parser;
mod properties;
mod whole;
