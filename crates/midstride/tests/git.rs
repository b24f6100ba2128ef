use midstride::sys::git::{GitObject, LazyObjectReader, Repository};
use midstride_core::text::id::BlobHash;
use midstride_core::text::id::CommitId;
use midstride_testkit::Sandbox;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime};

/// The commit that git reports. The sandbox hides commit ids in its output, so git is run directly.
fn head(sandbox: &Sandbox, folder: &str) -> CommitId {
    let mut command = sandbox.command("git");
    let output = command.args(["-C", folder, "rev-parse", "HEAD"]).output().unwrap();
    CommitId::new(String::from_utf8(output.stdout).unwrap().trim())
}

#[test]
fn the_commit_is_the_one_git_names() {
    let sandbox = Sandbox::new("").repository();
    let repository = Repository::discover(&sandbox.root().join("deep/er")).unwrap().unwrap();
    let agrees = || assert_eq!(repository.head_commit(), Some(head(&sandbox, ".")));
    agrees();
    sandbox.git(&["pack-refs", "--all"]);
    agrees();
    sandbox.git(&["commit", "--quiet", "--allow-empty", "-m", "two"]);
    agrees();
    sandbox.git(&["checkout", "--quiet", "--detach", "HEAD~1"]);
    agrees();
}

#[test]
fn a_worktree_has_its_own_commit_and_the_common_folder() {
    let sandbox = Sandbox::new("").repository();
    sandbox.git(&["worktree", "add", "--quiet", "../second", "-b", "second"]);
    sandbox.git(&["-C", "../second", "commit", "--quiet", "--allow-empty", "-m", "there"]);
    let second =
        Repository::discover(&sandbox.root().parent().unwrap().join("second")).unwrap().unwrap();
    assert_eq!(second.head_commit(), Some(head(&sandbox, "../second")));
    assert_eq!(second.common_dir(), sandbox.root().join(".git"));
    assert_eq!(second.main_work_tree(), sandbox.root());
}

#[test]
fn there_is_no_commit_before_the_first_one() {
    let sandbox = Sandbox::new("");
    assert!(Repository::discover(sandbox.root()).unwrap().is_none());
    sandbox.git(&["init", "--quiet"]);
    let repository = Repository::discover(sandbox.root()).unwrap().unwrap();
    assert_eq!(repository.head_commit(), None);
}

/// Reading the start of this file fails with an I/O error, as on a broken disk.
const BROKEN: &str = "/proc/self/mem";

#[test]
fn an_unreadable_repository_is_an_error_not_a_folder_without_git() {
    for name in ["HEAD", "commondir"] {
        let sandbox = Sandbox::new("").repository();
        let path = sandbox.root().join(".git").join(name);
        let _ = std::fs::remove_file(&path);
        std::os::unix::fs::symlink(BROKEN, &path).unwrap();
        let error = Repository::discover(sandbox.root()).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn a_dot_git_that_is_no_repository_is_none() {
    for text in [b"anything\n".as_slice(), b"gitdir: elsewhere\n", b"\xff\xfe"] {
        let sandbox = Sandbox::new("");
        sandbox.write(".git", text);
        assert!(Repository::discover(sandbox.root()).unwrap().is_none());
    }
}

#[test]
fn a_lock_left_by_a_killed_git_is_waited_for_and_removed() {
    const REFERENCE: &str = "refs/midstride/handoffs/one";
    let sandbox = Sandbox::new("").repository();
    let repository = Repository::discover(sandbox.root()).unwrap().unwrap();
    let text = repository.store_blob(b"text").unwrap();
    let lock = format!(".git/{REFERENCE}.lock");
    sandbox.write(&lock, "");
    let objects = || LazyObjectReader::new(&repository);
    let texts = std::slice::from_ref(&text);
    let keep = || repository.keep_blobs(&mut objects(), REFERENCE, texts);
    // A live git process may hold the lock, so it is removed only once it is ten seconds old.
    let file = std::fs::File::options().write(true).open(sandbox.root().join(&lock)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(6)).unwrap();
    let begun = Instant::now();
    keep().unwrap();
    assert!(begun.elapsed() > Duration::from_secs(3), "{:?}", begun.elapsed());
    assert!(objects().kept_blobs(REFERENCE).unwrap().unwrap().ids.contains(&text));
    assert!(!sandbox.root().join(&lock).exists());
}

/// The output of git with some input.
fn git(sandbox: &Sandbox, arguments: &[&str], input: &[u8]) -> String {
    let mut git = sandbox.command("git");
    let mut git = git.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    git.stdin.take().unwrap().write_all(input).unwrap();
    let output = git.wait_with_output().unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap().trim_end_matches('\n').to_owned()
}

#[test]
fn objects_are_named_and_stored_as_git_does() {
    const REFERENCE: &str = "refs/midstride/handoffs/one";
    for format in ["sha1", "sha256"] {
        let sandbox = Sandbox::new("");
        sandbox.git(&["init", "--quiet", "--object-format", format]);
        // A configuration need not be UTF-8.
        let config = sandbox.root().join(".git/config");
        let written = std::fs::read(&config).unwrap();
        std::fs::write(config, [&written[..], b"[x]\n\ty = caf\xe9\n"].concat()).unwrap();
        let repository = Repository::discover(sandbox.root()).unwrap().unwrap();
        let long = "one line of many\n".repeat(9_000);
        let texts = ["", "text\n", "no line break", "a\0b", "ä ö\r\n", &long];
        let mut ids = BTreeSet::new();
        for text in texts {
            let named = BlobHash::new(git(&sandbox, &["hash-object", "--stdin"], text.as_bytes()));
            assert_eq!(repository.hash_blob(text.as_bytes()), named);
            assert_eq!(repository.store_blob(text.as_bytes()).unwrap(), named);
            // Storing it again changes nothing.
            assert_eq!(repository.store_blob(text.as_bytes()).unwrap(), named);
            let read = git(&sandbox, &["cat-file", "blob", named.as_str()], b"");
            assert_eq!(read, text.trim_end_matches('\n'));
            ids.insert(named);
        }
        let kept: Vec<BlobHash> = ids.iter().cloned().collect();
        let mut objects = LazyObjectReader::new(&repository);
        repository.keep_blobs(&mut objects, REFERENCE, &kept).unwrap();
        let entries: String = ids.iter().map(|id| format!("100644 blob {id}\t{id}\n")).collect();
        let tree = git(&sandbox, &["mktree"], entries.as_bytes());
        assert_eq!(git(&sandbox, &["rev-parse", REFERENCE], b""), tree);
        // The same process sees what was written after it started.
        assert_eq!(objects.kept_blobs(REFERENCE).unwrap().unwrap().ids, ids);
        assert_eq!(git(&sandbox, &["fsck", "--full", "--strict", "--no-dangling"], b""), "");
    }
}

fn object_path(sandbox: &Sandbox, id: &BlobHash) -> PathBuf {
    let (folder, name) = id.as_str().split_at(2);
    sandbox.root().join(".git/objects").join(folder).join(name)
}

#[test]
fn storing_an_object_again_keeps_git_from_pruning_it() {
    let sandbox = Sandbox::new("").repository();
    let repository = Repository::discover(sandbox.root()).unwrap().unwrap();
    let id = repository.store_blob(b"text").unwrap();
    let path = object_path(&sandbox, &id);
    let old = SystemTime::now() - Duration::from_hours(24 * 30);
    std::fs::File::open(&path).unwrap().set_modified(old).unwrap();
    repository.store_blob(b"text").unwrap();
    let age = std::fs::metadata(&path).unwrap().modified().unwrap().elapsed();
    assert!(age.unwrap() < Duration::from_hours(1));
}

#[test]
fn a_damaged_object_does_not_stop_the_next_request() {
    let sandbox = Sandbox::new("").repository();
    let repository = Repository::discover(sandbox.root()).unwrap().unwrap();
    let (bad, good) =
        (repository.store_blob(b"bad").unwrap(), repository.store_blob(b"good").unwrap());
    std::fs::remove_file(object_path(&sandbox, &bad)).unwrap();
    std::fs::write(object_path(&sandbox, &bad), "no object").unwrap();
    let mut objects = LazyObjectReader::new(&repository);
    let failed = objects.get(bad.as_str());
    assert!(!matches!(failed, Ok(Some(_))), "{failed:?}");
    assert!(
        matches!(objects.get(good.as_str()), Ok(Some(GitObject::Blob { bytes: Some(bytes), .. })) if bytes == b"good")
    );
}
