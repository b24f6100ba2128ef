//! Decides which command lines are worth parsing, without parsing them, because a hook sees every
//! command of a session.

/// Whether a line may run a check, make a commit, have an external effect, or delete files. Most
/// lines only read, and their output is long.
pub fn is_of_interest(line: &str) -> bool {
    let (mut is_git, mut is_gh) = (false, false);
    for word in line.as_bytes().split(|byte| !is_part(*byte)) {
        match word {
            b"" => {}
            b"git" => is_git = true,
            b"gh" => is_gh = true,
            word if is_git && is_change(word) => return true,
            word if is_gh && is_changed_by_gh(word) => return true,
            word if is_check_program(word) || is_changing_program(word) || is_check_word(word) => {
                return true;
            }
            _ => {}
        }
    }
    false
}

/// Whether a line may change files or run a script. The output of such a line is not read, because
/// it says nothing about that.
pub fn may_change(line: &str) -> bool {
    let bytes = line.as_bytes();
    let redirects = |at: usize| {
        let before = at.checked_sub(1).map_or(b' ', |at| bytes[at]);
        let after = bytes.get(at + 1).copied().unwrap_or(b' ');
        !matches!(before, b'2' | b'-' | b'=' | b'&') && !matches!(after, b'&' | b'=')
    };
    let is_change = |word: &[u8]| {
        matches!(
            word,
            b"rm"
                | b"mv"
                | b"cp"
                | b"unlink"
                | b"tee"
                | b"patch"
                | b"trash"
                | b"scripts"
                | b"script"
                | b"tools"
                | b"bin"
        )
    };
    bytes.split(|byte| !is_part(*byte)).any(is_change)
        || bytes.iter().enumerate().any(|(at, byte)| *byte == b'>' && redirects(at))
        || ["sed -i", "perl -", "<<"].iter().any(|mark| line.contains(mark))
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// Whether a word is a git subcommand of interest.
fn is_change(word: &[u8]) -> bool {
    matches!(
        word,
        b"commit"
            | b"push"
            | b"merge"
            | b"rebase"
            | b"cherry-pick"
            | b"revert"
            | b"reset"
            | b"pull"
            | b"am"
            | b"log"
            | b"rev-parse"
            | b"rm"
            | b"mv"
            | b"checkout"
            | b"restore"
            | b"switch"
            | b"stash"
            | b"clean"
            | b"branch"
            | b"init"
            | b"clone"
    )
}

/// Whether a word of a `gh` call is of interest; most calls only read.
fn is_changed_by_gh(word: &[u8]) -> bool {
    matches!(
        word,
        b"create"
            | b"edit"
            | b"comment"
            | b"review"
            | b"merge"
            | b"close"
            | b"reopen"
            | b"ready"
            | b"release"
            | b"replies"
            | b"POST"
            | b"PATCH"
            | b"PUT"
            | b"DELETE"
            | b"-f"
            | b"-F"
            | b"--field"
            | b"--raw-field"
            | b"--input"
            | b"graphql"
            | b"run"
            | b"rerun"
            | b"sync"
            | b"upload"
            | b"delete"
            | b"set"
            | b"fork"
            | b"update-branch"
            | b"transfer"
            | b"lock"
            | b"pin"
            | b"develop"
            | b"revert"
            | b"cancel"
            | b"enable"
            | b"disable"
            | b"rename"
            | b"archive"
    )
}

/// Whether a word is a program that runs checks, for lines that have no check word.
fn is_check_program(word: &[u8]) -> bool {
    matches!(
        word,
        b"jest"
            | b"phpunit"
            | b"pest"
            | b"ctest"
            | b"bats"
            | b"mage"
            | b"tsup"
            | b"rollup"
            | b"esbuild"
            | b"lein"
            | b"gleam"
            | b"forge"
            | b"hardhat"
            | b"xo"
            | b"staticcheck"
            | b"clippy"
            | b"vet"
            | b"isort"
            | b"rustfmt"
            | b"nix"
            | b"lefthook"
            | b"prek"
            | b"lerna"
            | b"moon"
            | b"pants"
            | b"glab"
            | b"make"
            | b"gmake"
            | b"just"
            | b"mise"
            | b"task"
            | b"npm"
            | b"pnpm"
            | b"yarn"
            | b"bun"
            | b"cargo"
            | b"tox"
            | b"nox"
            | b"mocha"
            | b"ava"
            | b"karma"
            | b"cypress"
            | b"eslint"
            | b"biome"
            | b"ruff"
            | b"flake8"
            | b"mypy"
            | b"pyright"
            | b"tsc"
            | b"vue-tsc"
            | b"gradle"
            | b"gradlew"
            | b"mvn"
            | b"mvnw"
            | b"dotnet"
            | b"swift"
            | b"mix"
            | b"rspec"
            | b"rake"
            | b"rails"
            | b"bazel"
            | b"pre-commit"
            | b"prettier"
            | b"black"
            | b"rubocop"
            | b"turbo"
            | b"nx"
            | b"vite"
            | b"next"
            | b"webpack"
            | b"cmake"
            | b"ninja"
            | b"xcodebuild"
            | b"sbt"
            | b"stack"
            | b"cabal"
            | b"dune"
            | b"zig"
            | b"flutter"
            | b"dart"
            | b"deno"
            | b"composer"
            | b"phpstan"
            | b"psalm"
            | b"behave"
            | b"invoke"
            | b"poe"
    )
}

/// Whether a word is a program that may change something.
fn is_changing_program(word: &[u8]) -> bool {
    matches!(
        word,
        b"twine"
            | b"gem"
            | b"docker"
            | b"podman"
            | b"kubectl"
            | b"helm"
            | b"terraform"
            | b"tofu"
            | b"pulumi"
            | b"aws"
            | b"gcloud"
            | b"az"
            | b"vercel"
            | b"netlify"
            | b"fly"
            | b"flyctl"
            | b"wrangler"
            | b"firebase"
            | b"alembic"
            | b"prisma"
            | b"sqlx"
            | b"diesel"
            | b"flyway"
            | b"liquibase"
            | b"knex"
            | b"supabase"
            | b"railway"
            | b"ansible-playbook"
            | b"cdk"
            | b"sam"
            | b"serverless"
            | b"migrate"
            | b"uv"
            | b"poetry"
            | b"hatch"
            | b"publish"
            | b"goreleaser"
            | b"heroku"
            | b"kamal"
            | b"oc"
            | b"helmfile"
            | b"terragrunt"
            | b"eb"
            | b"sls"
            | b"amplify"
            | b"gh-pages"
            | b"dbmate"
            | b"goose"
            | b"atlas"
            | b"drizzle-kit"
            | b"typeorm"
            | b"sequelize"
            | b"artisan"
            | b"vsce"
            | b"pod"
    )
}

/// Whether a word contains part of a typical check name: `pytest`, `run_tests`, `lint`,
/// `typecheck`.
fn is_check_word(word: &[u8]) -> bool {
    let has = |part: &[u8]| word.windows(part.len()).any(|window| window == part);
    word.len() < 40
        && (has(b"test") || has(b"lint") || has(b"check") || has(b"build") || has(b"spec"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_only_read_are_skipped() {
        for line in [
            "ls -la",
            "cat src/a.rs",
            "grep -rn x .",
            "git status",
            "git diff HEAD~1",
            "sed -n 1,5p a",
            "find . -name '*.rs'",
            "cd /x && pwd",
            "git show 1a2b3c4",
            "head -5 x",
            "which node",
        ] {
            assert!(!is_of_interest(line), "{line}");
            assert!(!may_change(line), "{line}");
        }
        for line in ["rm -f a", "./scripts/release", "cat > a <<E", "sed -i s/a/b/ x", "mv a b"] {
            assert!(may_change(line), "{line}");
        }
        for line in [
            "gh pr view 3 --json body",
            "gh pr diff 3",
            "ls > /dev/null 2>&1",
            "git show 1a2b3c4 2>/dev/null",
        ] {
            assert!(!is_of_interest(line), "{line}");
        }
        for line in [
            "git add . && git commit -m x",
            "cd x; make lint",
            "./run_tests.sh",
            "npx jest",
            "pytest",
            "gh pr create",
            "git -C x push",
            "python manage.py migrate",
        ] {
            assert!(is_of_interest(line), "{line}");
        }
    }
}
