use midstride::sys::files::{FILE_BYTES_MAX, FileError, FileProblem, Lock, Root};
use midstride_testkit::Sandbox;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn problem(result: Result<(), FileError>) -> String {
    let error = result.unwrap_err();
    format!("{:?}", error.problem).split('(').next().unwrap_or_default().to_owned()
}

#[test]
fn a_file_is_created_once() {
    let sandbox = Sandbox::new("");
    let root = Root::open(sandbox.root()).unwrap();
    let path = Path::new("a/b/c.md");
    root.create(path, b"one").unwrap();
    assert_eq!(problem(root.create(path, b"two")), "Exists");
    assert_eq!(sandbox.read("a/b/c.md"), "one");
    assert_eq!(std::fs::read_dir(sandbox.root().join("a/b")).unwrap().count(), 1);
}

#[test]
fn one_of_many_concurrent_creators_wins() {
    let sandbox = Sandbox::new("");
    let winners = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for number in 0..16 {
            let (sandbox, winners) = (&sandbox, &winners);
            scope.spawn(move || {
                let root = Root::open(sandbox.root()).unwrap();
                if root.create(Path::new("x.md"), format!("{number}\n").as_bytes()).is_ok() {
                    winners.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(winners.into_inner(), 1);
    assert_eq!(sandbox.read("x.md").lines().count(), 1);
}

#[test]
fn concurrent_changes_of_one_file_are_not_lost() {
    let sandbox = Sandbox::new("");
    std::thread::scope(|scope| {
        for _ in 0..16 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                let root = Root::open(sandbox.root()).unwrap();
                let add = |old: Option<Vec<u8>>| {
                    (Some([old.unwrap_or_default(), b"x".into()].concat()), ())
                };
                root.update_without_sync(Path::new("count"), 100, add).unwrap();
                let read =
                    root.update_without_sync(Path::new("count"), 100, |old| (None, old)).unwrap();
                assert!(read.is_some_and(|read| !read.is_empty()));
            });
        }
    });
    assert_eq!(sandbox.read("count"), "x".repeat(16));
}

#[test]
fn a_file_is_replaced_only_if_it_is_unchanged_since_it_was_read() {
    let sandbox = Sandbox::new("");
    sandbox.write("x.md", "old");
    let root = Root::open(sandbox.root()).unwrap();
    let path = Path::new("x.md");
    assert_eq!(problem(root.replace(path, b"other", b"new")), "Changed");
    assert_eq!(sandbox.read("x.md"), "old");
    root.replace(path, b"old", b"new").unwrap();
    assert_eq!(sandbox.read("x.md"), "new");
    assert_eq!(problem(root.replace(Path::new("y.md"), b"", b"")), "Deleted");
}

#[test]
fn content_too_large_to_read_back_is_not_written() {
    let sandbox = Sandbox::new("");
    let root = Root::open(sandbox.root()).unwrap();
    let mut bytes = vec![b'x'; usize::try_from(FILE_BYTES_MAX).unwrap()];
    root.create(Path::new("x.md"), &bytes).unwrap();
    assert_eq!(root.read(Path::new("x.md")).unwrap().len(), bytes.len());
    let old = bytes.clone();
    bytes.push(b'x');
    assert_eq!(problem(root.replace(Path::new("x.md"), &old, &bytes)), "WouldBeTooLarge");
    assert_eq!(problem(root.create(Path::new("y.md"), &bytes)), "WouldBeTooLarge");
    assert_eq!(std::fs::read_dir(sandbox.root()).unwrap().count(), 1);
}

#[test]
fn paths_cannot_leave_the_root() {
    let sandbox = Sandbox::new("");
    std::fs::write(sandbox.home().join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink(sandbox.home(), sandbox.root().join("out")).unwrap();
    let root = Root::open(sandbox.root()).unwrap();
    for path in ["../home/secret", "out/secret", sandbox.home().join("secret").to_str().unwrap()] {
        let error = root.read(Path::new(path)).unwrap_err();
        assert!(matches!(error.problem, FileProblem::Outside), "{path}: {error}");
        assert_eq!(problem(root.create(Path::new(path), b"x")), "Outside", "{path}");
    }
    assert_eq!(std::fs::read_to_string(sandbox.home().join("secret")).unwrap(), "secret");
}

#[test]
fn a_lock_has_one_holder_at_a_time() {
    let sandbox = Sandbox::new("");
    let root = Root::open(sandbox.root()).unwrap();
    let (inside, together) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let _lock = Lock::acquire(&root, "x").unwrap();
                    together.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(together.into_inner(), 1);
}

#[test]
fn compare_and_replace_is_atomic() {
    let sandbox = Sandbox::new("");
    sandbox.write("x.md", "");
    let saved = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let root = Root::open(sandbox.root()).unwrap();
                for _ in 0..50 {
                    let old = root.read(Path::new("x.md")).unwrap();
                    let new = [old.as_slice(), b"line\n"].concat();
                    match root.replace(Path::new("x.md"), &old, &new) {
                        Ok(()) => _ = saved.fetch_add(1, Ordering::Relaxed),
                        // The file is replaced and never missing.
                        Err(error) => {
                            assert!(matches!(error.problem, FileProblem::Changed), "{error}");
                        }
                    }
                }
            });
        }
    });
    assert_eq!(sandbox.read("x.md").lines().count(), saved.into_inner());
}

#[test]
fn a_file_being_replaced_is_never_missing() {
    let sandbox = Sandbox::new("");
    sandbox.write("x.md", "");
    std::os::unix::fs::symlink("x.md", sandbox.root().join("link.md")).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let root = Root::open(sandbox.root()).unwrap();
            while !done.load(Ordering::Relaxed) {
                root.put(Path::new("x.md"), b"theirs").unwrap();
            }
        });
        let root = Root::open(sandbox.root()).unwrap();
        for path in ["x.md", "link.md"].repeat(500) {
            let error = root.replace(Path::new(path), b"never", b"mine").unwrap_err();
            if !matches!(error.problem, FileProblem::Changed) {
                done.store(true, Ordering::Relaxed);
                panic!("{error}");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn leftover_drafts_do_not_block_writes() {
    let sandbox = Sandbox::new("");
    for name in ["x.md", "new.md", "note"] {
        sandbox.write(&format!(".{name}.tmp"), "half");
        // Drafts were once named after process ids, and process ids are reused.
        let process = std::process::id();
        for count in 0..100 {
            sandbox.write(&format!(".{name}.{process}-{count}.tmp"), "half");
        }
    }
    sandbox.write("x.md", "old");
    let root = Root::open(sandbox.root()).unwrap();
    assert_eq!(root.markdown_below(Path::new(""), 1).unwrap(), [Path::new("x.md")]);
    root.replace(Path::new("x.md"), b"old", b"new").unwrap();
    root.create(Path::new("new.md"), b"new").unwrap();
    root.put(Path::new("note"), b"new").unwrap();
    for name in ["x.md", "new.md", "note"] {
        assert_eq!(sandbox.read(name), "new");
        let left = sandbox.root().join(format!(".{name}.tmp"));
        assert!(!left.exists(), "the next change takes it away");
    }
}

#[test]
fn a_draft_of_a_killed_process_is_removed_by_the_next_write_or_scan() {
    let sandbox = Sandbox::new("");
    let root = Root::open(sandbox.root()).unwrap();
    let draft = sandbox.root().join("a/.midstride.tmp");
    let changes: [&dyn Fn(); 4] = [
        &|| root.create(Path::new("a/one.md"), b"old").unwrap(),
        &|| root.replace(Path::new("a/one.md"), b"old", b"new").unwrap(),
        &|| root.put(Path::new("a/two.md"), b"new").unwrap(),
        &|| assert_eq!(root.markdown_below(Path::new("a"), 1).unwrap().len(), 2),
    ];
    for change in changes {
        sandbox.write("a/.midstride.tmp", "half");
        change();
        assert!(!draft.exists());
    }
    // The draft of a running writer stays.
    sandbox.write("a/.midstride.tmp", "half");
    let folder = std::fs::File::open(sandbox.root().join("a")).unwrap();
    folder.lock().unwrap();
    root.markdown_below(Path::new("a"), 1).unwrap();
    assert!(draft.exists());
    folder.unlock().unwrap();
    root.markdown_below(Path::new("a"), 1).unwrap();
    assert!(!draft.exists());
}

#[test]
fn reading_does_not_block_on_a_pipe() {
    let sandbox = Sandbox::new("");
    sandbox.finish(sandbox.command("mkfifo").arg("x.md")).exits(0);
    let root = Root::open(sandbox.root()).unwrap();
    let error = root.read(Path::new("x.md")).unwrap_err();
    assert!(matches!(error.problem, FileProblem::NotFile), "{error}");
}
