//! Strips programs that run another program, so that `sudo npx jest` becomes `jest`.

/// Returns the script passed to a shell: `bash -c "…"`.
pub(super) fn script(words: &[String]) -> Option<&str> {
    let words = &words[lead_length(words)..];
    let program = words.first()?.rsplit('/').next()?;
    match program {
        "bash" | "sh" | "zsh" | "dash" | "ksh" => {
            let option = words.get(1).filter(|option| option.starts_with('-'))?;
            (option.ends_with('c') && !option.starts_with("--"))
                .then(|| words.get(2).map(String::as_str))?
        }
        "eval" if words.len() == 2 => words.get(1).map(String::as_str),
        _ => None,
    }
}

/// Drops the words before the program that does the work.
pub(super) fn strip(mut words: Vec<String>) -> Vec<String> {
    loop {
        let skip = lead_length(&words);
        if skip == 0 {
            return words;
        }
        words.drain(..skip);
    }
}

/// Counts the words of assignments and wrappers before the next program.
fn lead_length(words: &[String]) -> usize {
    let mut at = 0;
    while at < words.len() {
        let more = wrapper_length(&words[at..]);
        if more == 0 {
            break;
        }
        at += more;
    }
    at
}

/// Wrappers, each with its options that take a value.
const PLAIN: [(&str, &[&str]); 19] = [
    ("sudo", &["-u", "-g", "-h", "-p", "-C"]),
    ("doas", &["-u"]),
    ("env", &["-u", "-C", "-S"]),
    ("time", &["-f", "-o"]),
    ("nice", &["-n"]),
    ("ionice", &["-c", "-n"]),
    ("nohup", &[]),
    ("command", &[]),
    ("exec", &["-a"]),
    ("builtin", &[]),
    ("stdbuf", &["-o", "-e", "-i"]),
    ("caffeinate", &[]),
    ("setsid", &[]),
    ("unbuffer", &[]),
    ("xvfb-run", &["-s", "-n"]),
    ("npx", &["-p", "--package", "-c"]),
    ("bunx", &["-p", "--package"]),
    ("pnpx", &["-p", "--package"]),
    ("uvx", &["--from", "--with", "-p", "--python"]),
];

/// Wrappers of two words, each with its options that take a value.
const PAIRS: [(&str, &str, &[&str]); 21] = [
    ("uv", "run", &["--with", "--group", "--extra", "-p", "--python", "--project", "--package"]),
    ("uv", "tool", &[]),
    ("poetry", "run", &[]),
    ("pipenv", "run", &[]),
    ("pdm", "run", &["-p"]),
    ("hatch", "run", &[]),
    ("rye", "run", &[]),
    ("bundle", "exec", &[]),
    ("npm", "exec", &["-p", "--package", "-w", "--workspace"]),
    ("npm", "x", &["-p", "--package"]),
    ("pnpm", "exec", &["--filter", "-F", "-C"]),
    ("pnpm", "dlx", &["--package"]),
    ("yarn", "exec", &[]),
    ("yarn", "dlx", &["-p", "--package"]),
    ("bun", "x", &[]),
    ("mise", "exec", &[]),
    ("mise", "x", &[]),
    ("asdf", "exec", &[]),
    ("doppler", "run", &["-p", "-c"]),
    ("op", "run", &["--env-file"]),
    ("conda", "run", &["-n", "-p"]),
];

/// Counts the words of the first assignment or wrapper, with its options.
fn wrapper_length(words: &[String]) -> usize {
    let Some(first) = words.first() else { return 0 };
    if is_assignment(first) {
        return 1;
    }
    let program = first.rsplit('/').next().unwrap_or(first);
    if let Some((_, valued)) = PLAIN.iter().find(|(name, _)| *name == program) {
        return through_options(words, 1, valued);
    }
    match program {
        // The first operand is the duration.
        "timeout" | "gtimeout" => {
            return through_options(words, 1, &["-s", "--signal", "-k", "--kill-after"]) + 1;
        }
        "direnv" if words.get(1).is_some_and(|word| word == "exec") => return 3,
        _ => {}
    }
    let second = words.get(1).map_or("", String::as_str);
    let pair = PAIRS.iter().find(|(name, verb, _)| *name == program && *verb == second);
    if let Some((_, _, valued)) = pair {
        return through_options(words, 2, valued);
    }
    if matches!(program, "python" | "python3" | "py") || program.starts_with("python3.") {
        let at = through_options(words, 1, &["-W", "-X"]);
        // `python -m pytest`: the options end with `-m`.
        let module = words.get(at - 1).is_some_and(|word| word == "-m");
        return if module { at } else { 0 };
    }
    if matches!(program, "docker" | "podman" | "docker-compose") {
        return inside_container(words, program);
    }
    0
}

/// Counts the words before a command that runs in a container: `docker exec NAME pytest`, `docker
/// compose run --rm app pytest`.
fn inside_container(words: &[String], program: &str) -> usize {
    let valued =
        &["-e", "--env", "-u", "--user", "-w", "--workdir", "-v", "--volume", "-p", "-f", "--name"];
    let mut at = 1;
    let is_compose = program == "docker-compose" || words.get(1).is_some_and(|w| w == "compose");
    if is_compose && program != "docker-compose" {
        at = 2;
    }
    at = through_options(words, at, valued);
    let verb = words.get(at).map_or("", String::as_str);
    if verb != "exec" && !(is_compose && verb == "run") {
        return 0;
    }
    at = through_options(words, at + 1, valued) + 1;
    if at < words.len() { at } else { 0 }
}

fn through_options(words: &[String], from: usize, valued: &[&str]) -> usize {
    let mut at = from;
    while let Some(word) = words.get(at) {
        if word == "--" {
            return at + 1;
        }
        let is_for_env = is_assignment(word) && words[0].ends_with("env");
        if !word.starts_with('-') && !is_for_env {
            break;
        }
        at += 1 + usize::from(valued.contains(&word.as_str()));
        if word == "-m" {
            break;
        }
    }
    at.min(words.len())
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
