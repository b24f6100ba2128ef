# List the recipes
default:
    @just --list --unsorted

# Build the command as it is shipped: target/dist/midstride
build:
    cargo build --profile dist --locked --package midstride-cli

# Everything that must hold before a change lands
test:
    scripts/test

# Lint all targets; warnings are errors
lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Format the sources
fmt:
    cargo fmt --all

# Build the documentation; broken links are errors
doc *args:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked {{args}}

# Write the pages, manuals and counts that tests compare
bless:
    MIDSTRIDE_BLESS=1 cargo test --workspace --locked

# Check advisories, licenses, duplicates and sources of dependencies
deny:
    scripts/deny

# Measure speed, as ratios on this machine
bench *args:
    scripts/bench {{args}}

# Crash, drift, secret and fuzz tests for long, then every mutant
soak *args:
    scripts/soak {{args}}

# Find changes to midstride-core that no test notices
mutants *args:
    scripts/mutants {{args}}

# See a killed session resumed
demo:
    cargo run --release --locked --package midstride-cli -- demo
