//! A process that answers requests.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, BufReader, Read, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// How long an answer may take. Git loses one without a word if it cannot write it.
const ANSWER_TIME: Duration = Duration::from_secs(30);

/// A process that answers requests until it is dropped.
#[derive(Debug)]
pub(crate) struct Conversation {
    child: Child,
    stdin: Option<ChildStdin>,
    /// The output of the process. Reading fails if there is none for too long.
    pub answers: BufReader<Answers>,
}

/// The output of a process that must not take too long.
#[derive(Debug)]
pub(crate) struct Answers {
    output: ChildStdout,
    time: Duration,
}

impl Read for Answers {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let time = Timespec::try_from(self.time).map_err(io::Error::other)?;
        let ready = poll(&mut [PollFd::new(&self.output, PollFlags::IN)], Some(&time))?;
        if ready == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.output.read(buffer)
    }
}

impl Conversation {
    /// Starts the command.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdin = child.stdin.take();
        let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, stdin, answers: BufReader::new(Answers { output, time: ANSWER_TIME }) })
    }

    /// Sends a request. Read the response from `answers`.
    pub(crate) fn ask(&mut self, question: &[u8]) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write_all(question)?;
        stdin.flush()
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        // The process should exit when its input closes. Otherwise it is killed.
        drop(self.stdin.take());
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufRead as _;

    #[test]
    fn an_answer_that_does_not_come_is_an_error() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "read one; echo answer; cat >/dev/null"]);
        let mut process = Conversation::start(&mut shell).unwrap();
        process.ask(b"first\n").unwrap();
        let mut answer = String::new();
        process.answers.read_line(&mut answer).unwrap();
        assert_eq!(answer, "answer\n");
        process.answers.get_mut().time = Duration::from_millis(1);
        process.ask(b"second\n").unwrap();
        let error = process.answers.read_line(&mut answer).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
