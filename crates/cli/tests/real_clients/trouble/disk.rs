//! Tests of a disk that is full, not writable, or hangs.

use super::{CLIENTS, Desk, HANDOFF, LANDMINE, NO_HURRY, quoted};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_full_disk_loses_only_what_does_not_fit() {
    for client in CLIENTS {
        let desk = Desk::new(client);
        desk.undisturbed("Read the importer");
        // A file size limit simulates a full disk: nothing more fits, or some of it does. Writing
        // beyond it would kill the process.
        let limits = client.some_of(&[0, 64, 8], 2);
        for (number, blocks) in limits.iter().enumerate() {
            desk.before_each_hook(&format!("{NO_HURRY}; ulimit -f {blocks}"));
            let asked = desk.undisturbed(&format!("Repair part {number} of the importer"));
            assert!(asked.says(LANDMINE), "{client:?} {blocks}: {:#}", asked.body);
            desk.nothing_is_half_written();
        }
        desk.before_each_hook(NO_HURRY);
        let asked = desk.undisturbed("Go on");
        let told = quoted(&format!("Repair part {} of the importer", limits.len() - 1));
        assert!(asked.says(&told), "{client:?}: {:#}", asked.body);
        assert_eq!(desk.captured().len(), 2 + limits.len(), "{client:?}");
        desk.nothing_is_half_written();
    }
}

/// Makes even root respect file permissions. Other users need no help.
const BOUND: &str = "[ $(id -u) = 0 ] && set -- --inh-caps=-dac_override,-dac_read_search \
                     --bounding-set=-dac_override,-dac_read_search \"$PROGRAM\" \"$@\" \
                     && exec setpriv \"$@\"; exec \"$PROGRAM\" \"$@\"";

/// Sets the permissions of all files and folders in a folder.
fn permit(top: &Path, folders: u32, files: u32) {
    let set = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(top, 0o755);
    for path in super::files_below(top) {
        set(&path, if path.is_dir() { 0o755 } else { files });
    }
    let mut all: Vec<PathBuf> =
        super::files_below(top).into_iter().filter(|p| p.is_dir()).collect();
    all.push(top.to_owned());
    // Innermost first, because a closed folder cannot be traversed any more.
    all.sort_by_key(|path| std::cmp::Reverse(path.components().count()));
    for folder in all {
        set(&folder, folders);
    }
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn unwritable_and_unreadable_files_are_skipped() {
    for client in CLIENTS {
        let desk = Desk::new(client);
        desk.undisturbed("Read the importer");
        let program = env!("CARGO_BIN_EXE_midstride");
        desk.before_each_hook(&format!("{NO_HURRY}; PROGRAM='{program}'; {BOUND}"));
        let (private, ours) = (desk.private(), desk.sandbox.root().join(".midstride"));
        // Read-only: what is there is briefed.
        permit(&private, 0o555, 0o444);
        permit(&ours, 0o555, 0o444);
        let before = super::files_below(&private);
        let asked = desk.undisturbed("Repair part 0 of the importer");
        assert_eq!(super::files_below(&private), before, "{client:?}: it was really forbidden");
        assert!(asked.says(LANDMINE), "{client:?}: {:#}", asked.body);
        // Not even readable: the project is unknown then.
        permit(&ours, 0o000, 0o000);
        let asked = desk.undisturbed("Repair part 1 of the importer");
        assert!(!asked.says(LANDMINE), "{client:?}: {:#}", asked.body);
        permit(&ours, 0o755, 0o644);
        permit(&private, 0o000, 0o000);
        let asked = desk.undisturbed("Repair part 2 of the importer");
        assert!(asked.says(LANDMINE), "{client:?}: {:#}", asked.body);
        permit(&private, 0o755, 0o644);
        let asked = desk.undisturbed("Go on");
        let told = quoted("Repair part 2 of the importer");
        assert!(asked.says(&told) && asked.says(LANDMINE), "{client:?}: {:#}", asked.body);
        assert_eq!(desk.captured().len(), 5, "{client:?}");
        assert_eq!(desk.sandbox.read(".midstride/handoffs/slow-pages.md"), HANDOFF);
        desk.nothing_is_half_written();
    }
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_file_in_the_place_of_the_private_folder_stays_and_handoffs_are_briefed() {
    for client in CLIENTS {
        let desk = Desk::new(client);
        let aside = desk.sandbox.home().join("aside");
        std::fs::rename(desk.private(), &aside).unwrap();
        std::fs::write(desk.private(), "no folder").unwrap();
        // The project is trusted by a record outside of it, and documents need no store.
        let asked = desk.undisturbed("Repair the importer of invoices");
        assert!(asked.says(LANDMINE), "{client:?}: {:#}", asked.body);
        assert_eq!(std::fs::read_to_string(desk.private()).unwrap(), "no folder");
        std::fs::remove_file(desk.private()).unwrap();
        std::fs::rename(aside, desk.private()).unwrap();
        let asked = desk.undisturbed("Go on");
        assert!(asked.says(LANDMINE), "{client:?}: {:#}", asked.body);
    }
}

/// The background processes of midstride for sessions in a folder.
fn going_on(below: &Path) -> Vec<PathBuf> {
    let below = below.display().to_string();
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let is_it = |process: &PathBuf| {
        let words = std::fs::read(process.join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        words.contains("\0hook\0capture\0") && words.contains(&below)
    };
    processes.filter(is_it).collect()
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn hooks_do_not_wait_for_a_hanging_disk() {
    for client in CLIENTS {
        let desk = Desk::new(client);
        // Long enough for a busy machine to find the log.
        desk.before_each_hook("export MIDSTRIDE_HOOK_MILLISECONDS=1500");
        // A named pipe blocks the write of the transcript cursor, like a hanging disk.
        let folder = desk.private().join("cursors");
        std::fs::create_dir_all(&folder).unwrap();
        let held = std::fs::File::open(&folder).unwrap();
        held.lock().unwrap();
        let asked = desk.undisturbed("Repair the importer of invoices");
        assert!(asked.says(LANDMINE), "{client:?}: {:#}", asked.body);
        let log = desk.log();
        let late: Vec<_> = log.iter().filter(|(.., error)| error == "ran out of time").collect();
        let (event, did, _) = late.last().expect("one had to give up");
        assert_eq!(
            (&**event, &**did),
            ("SessionEnd", "continues in the background"),
            "{client:?}: {log:?}"
        );
        // The background process has none of the client's keys.
        let processes = going_on(desk.sandbox.home());
        assert_eq!(processes.len(), late.len(), "{client:?}: {log:?}");
        for process in processes {
            let variables = std::fs::read(process.join("environ")).unwrap();
            let variables = String::from_utf8_lossy(&variables).into_owned();
            let names = variables.split_terminator('\0').map(|one| one.split('=').next().unwrap());
            let names: Vec<&str> = names.collect();
            assert!(names.contains(&"HOME"), "{client:?}: {names:?}");
            for name in ["ANTHROPIC_API_KEY", "TOLD_KEY", "CLAUDECODE"] {
                assert!(!names.contains(&name), "{client:?}: {names:?}");
            }
        }
        let given_up = late.len();
        held.unlock().unwrap();
        while !going_on(desk.sandbox.home()).is_empty() {
            std::thread::yield_now();
        }
        let alone = desk.log().split_off(log.len());
        let captured = ("capture".to_owned(), "captured".to_owned(), String::new());
        assert_eq!(alone, vec![captured; given_up], "{client:?}");
        assert_eq!(desk.captured(), ["Repair the importer of invoices"], "{client:?}");
        desk.nothing_is_half_written();
    }
}
