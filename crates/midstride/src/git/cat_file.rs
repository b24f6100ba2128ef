//! Many objects from one process.

use super::{GitError, Repository};
use std::path::PathBuf;

impl Repository {
    /// The staged files, with the text that would be committed.
    pub fn staged_markdown(&self) -> Result<Vec<(PathBuf, Vec<u8>)>, GitError> {
        let listed = self.run(
            &[
                "diff",
                "--cached",
                "--name-only",
                "-z",
                "--diff-filter=ACMR",
                "--no-ext-diff",
                "--",
                "*.md",
            ],
            b"",
        )?;
        let paths: Vec<String> = listed
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect();
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        // A path with a line break would ask for two objects; it is asked for alone.
        let (odd, plain): (Vec<String>, Vec<String>) =
            paths.into_iter().partition(|path| path.contains('\n'));
        let asked: String = plain.iter().map(|path| format!(":{path}\n")).collect();
        let answer = self.run(&["cat-file", "--batch"], asked.as_bytes())?;
        let mut staged: Vec<(PathBuf, Vec<u8>)> =
            plain.into_iter().map(PathBuf::from).zip(objects(&answer)).collect();
        for path in odd {
            let text = self.run(&["cat-file", "blob", &format!(":{path}")], b"")?;
            staged.push((PathBuf::from(path), text));
        }
        Ok(staged)
    }
}

/// Splits `<id> <type> <size>\n<bytes>\n…` into the bytes of each object.
fn objects(mut answer: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while let Some(line_end) = answer.iter().position(|byte| *byte == b'\n') {
        let head = String::from_utf8_lossy(&answer[..line_end]).into_owned();
        answer = &answer[line_end + 1..];
        let size = head.rsplit(' ').next().and_then(|size| size.parse::<usize>().ok());
        let size = size.unwrap_or(0).min(answer.len());
        found.push(answer[..size].to_vec());
        answer = answer.get(size + 1..).unwrap_or_default();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::objects;

    #[test]
    fn objects_are_split_by_their_size() {
        let answer = b"aaa blob 3\nx\ny\nbbb blob 0\n\nccc blob 2\nzz\n";
        assert_eq!(objects(answer), [b"x\ny".to_vec(), Vec::new(), b"zz".to_vec()]);
    }
}
