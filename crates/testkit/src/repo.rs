//! Real git repositories in a sandbox.

use crate::Sandbox;

impl Sandbox {
    /// Makes the folder a repository and commits its content.
    pub fn repository(self) -> Self {
        self.git(&["init", "--quiet", "--initial-branch=main"]);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "start"]);
        self
    }

    /// Runs git in the folder and returns its output.
    #[track_caller]
    pub fn git(&self, arguments: &[&str]) -> String {
        let run = self.finish(self.command("git").args(arguments));
        run.exits(0).stdout
    }
}
