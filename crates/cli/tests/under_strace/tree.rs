//! Folders as a whole: their files, and how one becomes like another.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Every file below a folder, sorted; the file itself if it is one.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    if folder.is_file() {
        return vec![folder.to_owned()];
    }
    let mut found = Vec::new();
    for path in entries(folder) {
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// Makes a folder like another one. What is equal already is not touched.
pub(super) fn mirror(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let counterpart = |path: &Path, folder: &Path| folder.join(path.file_name().unwrap());
    for path in entries(to) {
        let wanted = counterpart(&path, from);
        if !wanted.exists() || wanted.is_dir() != path.is_dir() {
            remove(&path);
        }
    }
    for path in entries(from) {
        let target = counterpart(&path, to);
        if path.is_dir() {
            mirror(&path, &target);
        } else if !is_same_file(&path, &target) {
            let _ = fs::remove_file(&target);
            fs::copy(&path, &target).unwrap();
            let modified = fs::metadata(&path).unwrap().modified().unwrap();
            // Objects of git are read-only; root and the owner may set their time anyway.
            if let Ok(file) = File::open(&target) {
                let _ = file.set_modified(modified);
            }
        }
    }
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let (Ok(mine), Ok(theirs)) = (fs::metadata(one), fs::metadata(other)) else { return false };
    mine.len() == theirs.len()
        && mine.permissions() == theirs.permissions()
        && mine.modified().unwrap() == theirs.modified().unwrap()
        && fs::read(one).unwrap() == fs::read(other).unwrap()
}

pub(super) fn remove_inside(folder: &Path) {
    for path in entries(folder) {
        remove(&path);
    }
}

pub(super) fn make_executable(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn remove(path: &Path) {
    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
