//! Briefings: whole ones that read well, what holds for every one, and what nobody gets into one.

mod attacks;
mod parser;
mod properties;
mod whole;
