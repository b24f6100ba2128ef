//! Parses a command line into simple commands, with what the line's exit status implies for each.

use super::lex::{ShellWord, StderrTarget, Token, lex};
use super::wrapper;

/// The maximum number of bytes of a line that are parsed.
const LINE_BYTES_MAX: usize = 64 << 10;
/// The maximum number of simple commands kept per line.
const COMMANDS_MAX: usize = 200;
/// The maximum length of a displayed command, in bytes.
const SHOWN_BYTES_MAX: usize = 300;
/// The maximum depth of nested scripts (`bash -c "bash -c …"`).
const DEPTH_MAX: usize = 4;
/// The maximum depth of groups; deeper groups are read as part of the enclosing one.
const GROUPS_MAX: usize = 32;

/// A command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShellLine {
    /// Its simple commands, in the order they are typed.
    pub commands: Vec<SimpleCommand>,
}

/// A simple command: one program with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SimpleCommand {
    /// Program and arguments, without quotes, redirections, assignments, and wrappers such as
    /// `sudo` or `npx`.
    pub words: Vec<String>,
    /// As typed, on one line, without redirections.
    pub text: String,
    /// The folder that `cd` changed to earlier on the line.
    pub folder: Option<String>,
    /// What the exit status of the line implies for it.
    pub implied_by_status: StatusImplication,
    /// The commands its output is piped through, as typed.
    pub filters: Vec<String>,
    /// Whether it reads the output of another command.
    pub is_filter: bool,
    /// The text it reads from a here-document or here-string.
    pub stdin: Option<String>,
    /// The file its output is written to.
    pub output_to: Option<String>,
    /// Where its stderr goes.
    pub errors: StderrTarget,
    /// The number of its chain. Commands joined by `&&` share one: if one ran, those before it
    /// passed.
    pub chain: usize,
    /// Whether it is in a loop, a condition, or a substitution, so that it may have run zero or
    /// many times.
    pub is_nested: bool,
    /// The text that `echo` prints before the exit status of this command (`echo "exit: $?"`).
    pub status_after: Option<String>,
}

/// What the exit status of a line implies for one of its commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatusImplication {
    /// It passed if the line passed.
    pub passed: bool,
    /// It failed if the line failed.
    pub failed: bool,
}

impl SimpleCommand {
    /// Returns the program name, without its folder.
    pub(crate) fn program(&self) -> &str {
        let word = self.words.first().map_or("", String::as_str);
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        name.strip_suffix(".exe").unwrap_or(name)
    }

    /// Returns the arguments.
    pub(crate) fn args(&self) -> &[String] {
        self.words.get(1..).unwrap_or_default()
    }

    /// Returns the argument at a position, not counting options.
    pub(crate) fn operand(&self, at: usize) -> Option<&str> {
        self.operands().nth(at)
    }

    /// Returns the arguments that are not options.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &str> {
        self.args().iter().map(String::as_str).filter(|arg| !arg.starts_with('-'))
    }

    /// Whether an argument is given verbatim.
    pub(crate) fn has(&self, arg: &str) -> bool {
        self.args().iter().any(|given| given == arg)
    }

    /// Returns the first value of an option: `--title X`, `--title=X`.
    pub(crate) fn value_of(&self, names: &[&str]) -> Option<&str> {
        self.values_of(names).into_iter().next()
    }

    /// Returns every value of an option.
    pub(crate) fn values_of(&self, names: &[&str]) -> Vec<&str> {
        let args = self.args();
        let value = |(at, arg): (usize, &'_ String)| -> Option<usize> {
            (names.contains(&arg.as_str()) && at + 1 < args.len()).then_some(at + 1)
        };
        let mut values = Vec::new();
        for (at, arg) in args.iter().enumerate() {
            if let Some(next) = value((at, arg)) {
                values.push(args[next].as_str());
            } else if let Some((name, given)) = arg.split_once('=')
                && names.contains(&name)
            {
                values.push(given);
            }
        }
        values
    }
}

impl ShellLine {
    /// Parses a command line.
    pub(crate) fn parse(text: &str) -> Self {
        let text = &text[..text.floor_char_boundary(LINE_BYTES_MAX.min(text.len()))];
        let mut parser = Parser::default();
        let node = parser.script(text, 0);
        parser.assign_status(&node, StatusImplication { passed: true, failed: true });
        parser.number_chains(&node, &mut 0);
        let mut commands = parser.commands;
        find_printed_status(&mut commands);
        commands.retain(|command| !command.words.is_empty());
        Self { commands }
    }
}

/// How commands are joined.
enum CommandNode {
    Nothing,
    One(usize),
    And(Box<CommandNode>, Box<CommandNode>),
    Or(Box<CommandNode>, Box<CommandNode>),
    Then(Box<CommandNode>, Box<CommandNode>),
    Pipe(Vec<CommandNode>),
    /// Commands whose status is lost: in the background, negated, or nested.
    Hidden(Box<CommandNode>),
}

#[derive(Default)]
struct Parser {
    commands: Vec<SimpleCommand>,
    folder: Option<String>,
    /// The number of open conditions and loops.
    compound: usize,
    nested: usize,
    groups: usize,
    exits_on_error: bool,
    fails_with_pipe: bool,
}

/// The tokens of one script, read from left to right.
struct TokenCursor<'t> {
    tokens: &'t [Token],
    bodies: &'t [String],
    at: usize,
    depth: usize,
}

impl<'t> TokenCursor<'t> {
    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at)
    }
}

impl Parser {
    fn script(&mut self, text: &str, depth: usize) -> CommandNode {
        let lexed = lex(text);
        self.list(&mut TokenCursor { tokens: &lexed.tokens, bodies: &lexed.bodies, at: 0, depth })
    }

    /// Parses commands up to the token that closes the group.
    fn list(&mut self, input: &mut TokenCursor<'_>) -> CommandNode {
        let mut all = CommandNode::Nothing;
        while let Some(token) = input.peek() {
            match token {
                Token::Close => break,
                Token::Word(word) if word.is_plain && word.text == "}" => break,
                Token::Next | Token::Background | Token::And | Token::Or | Token::Pipe => {
                    input.at += 1;
                }
                Token::Word(_) | Token::Open | Token::Redirect(_) => {
                    let before = input.at;
                    let mut one = self.and_or(input);
                    if matches!(input.peek(), Some(Token::Background)) {
                        one = CommandNode::Hidden(Box::new(one));
                    }
                    input.at = input.at.max(before + 1);
                    all = match (all, one) {
                        (CommandNode::Nothing, one) => one,
                        // A loop at the end has its own status, which says nothing.
                        (earlier @ CommandNode::Hidden(_), CommandNode::Nothing) => earlier,
                        (earlier, CommandNode::Nothing) => CommandNode::Hidden(Box::new(earlier)),
                        (earlier, one) => CommandNode::Then(Box::new(earlier), Box::new(one)),
                    };
                }
            }
        }
        all
    }

    fn and_or(&mut self, input: &mut TokenCursor<'_>) -> CommandNode {
        let mut left = self.pipeline(input);
        loop {
            let is_and = match input.peek() {
                Some(Token::And) => true,
                Some(Token::Or) => false,
                _ => return left,
            };
            input.at += 1;
            while matches!(input.peek(), Some(Token::Next)) {
                input.at += 1;
            }
            let right = self.pipeline(input);
            left = match (left, right, is_and) {
                (CommandNode::Nothing, right, true) => right,
                (left, CommandNode::Nothing, true)
                | (left @ CommandNode::Nothing, CommandNode::Nothing, false) => left,
                (left, CommandNode::Nothing, false) => CommandNode::Hidden(Box::new(left)),
                (left, right, true) => CommandNode::And(Box::new(left), Box::new(right)),
                (left, right, false) => CommandNode::Or(Box::new(left), Box::new(right)),
            };
        }
    }

    fn pipeline(&mut self, input: &mut TokenCursor<'_>) -> CommandNode {
        let mut is_negated = false;
        while let Some(Token::Word(word)) = input.peek()
            && word.is_plain
            && matches!(word.text.as_str(), "!" | "time")
        {
            is_negated |= word.text == "!";
            input.at += 1;
        }
        let folder = self.folder.clone();
        let mut parts = vec![self.command(input)];
        while matches!(input.peek(), Some(Token::Pipe)) {
            input.at += 1;
            while matches!(input.peek(), Some(Token::Next)) {
                input.at += 1;
            }
            parts.push(self.command(input));
        }
        if parts.len() > 1 {
            // `cd` in a pipe does not affect the commands after it.
            self.folder = folder;
        }
        let node = match parts.len() {
            1 => parts.remove(0),
            _ => CommandNode::Pipe(parts),
        };
        if is_negated { CommandNode::Hidden(Box::new(node)) } else { node }
    }

    fn command(&mut self, input: &mut TokenCursor<'_>) -> CommandNode {
        loop {
            let word = match input.peek() {
                Some(Token::Open) if self.groups < GROUPS_MAX => {
                    let folder = self.folder.clone();
                    let node = self.group(input);
                    self.folder = folder;
                    return node;
                }
                Some(Token::Open) => {
                    input.at += 1;
                    continue;
                }
                Some(Token::Word(word)) if word.is_plain => word.text.as_str(),
                _ => return self.simple(input),
            };
            match word {
                "{" if self.groups < GROUPS_MAX => return self.group(input),
                "if" | "while" | "until" => {
                    self.compound += 1;
                    input.at += 1;
                }
                "then" | "else" | "elif" | "do" | "{" | "!" => input.at += 1,
                "for" | "case" | "select" => {
                    self.compound += 1;
                    skip_words(input);
                    return CommandNode::Nothing;
                }
                "fi" | "done" | "esac" => {
                    self.compound = self.compound.saturating_sub(1);
                    skip_words(input);
                    return CommandNode::Nothing;
                }
                _ => return self.simple(input),
            }
        }
    }

    /// Parses a group in parentheses or braces.
    fn group(&mut self, input: &mut TokenCursor<'_>) -> CommandNode {
        input.at += 1;
        self.groups += 1;
        let node = self.list(input);
        self.groups -= 1;
        let closes = |token: &Token| {
            matches!(token, Token::Close) || matches!(token, Token::Word(word) if word.text == "}")
        };
        if input.peek().is_some_and(closes) {
            input.at += 1;
        }
        while matches!(input.peek(), Some(Token::Redirect(_))) {
            input.at += 1;
        }
        node
    }

    fn simple(&mut self, input: &mut TokenCursor<'_>) -> CommandNode {
        let mut words: Vec<&ShellWord> = Vec::new();
        let mut command = SimpleCommand { folder: self.folder.clone(), ..SimpleCommand::default() };
        while let Some(token) = input.peek() {
            match token {
                Token::Word(word) => words.push(word),
                Token::Redirect(redirect) => {
                    let body = redirect.here.and_then(|number| input.bodies.get(number)).cloned();
                    command.stdin = body.or(redirect.text.clone()).or(command.stdin);
                    command.output_to = redirect.to.clone().or(command.output_to);
                    command.errors = redirect.errors.unwrap_or(command.errors);
                }
                Token::And
                | Token::Or
                | Token::Next
                | Token::Background
                | Token::Pipe
                | Token::Open
                | Token::Close => break,
            }
            input.at += 1;
        }
        let is_function = words.len() == 1
            && matches!(
                (input.peek(), input.tokens.get(input.at + 1)),
                (Some(Token::Open), Some(Token::Close))
            );
        if is_function {
            input.at += 2;
            self.nested += 1;
            let body = self.command(input);
            self.nested -= 1;
            return CommandNode::Hidden(Box::new(body));
        }
        for tokens in words.iter().flat_map(|word| &word.inner) {
            self.substitution(tokens, input);
        }
        if words.is_empty() || self.commands.len() >= COMMANDS_MAX {
            return CommandNode::Nothing;
        }
        command.text = display_words(&words);
        let plain: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        if input.depth < DEPTH_MAX
            && let Some(script) = wrapper::script(&plain)
        {
            return self.script(script, input.depth + 1);
        }
        command.words = wrapper::strip(plain);
        command.is_nested = self.compound + self.nested > 0;
        self.apply_shell_state(&command);
        self.commands.push(command);
        let one = CommandNode::One(self.commands.len() - 1);
        if self.compound > 0 { CommandNode::Hidden(Box::new(one)) } else { one }
    }

    /// Parses the commands of a substitution, whose status is lost.
    fn substitution(&mut self, tokens: &[Token], input: &TokenCursor<'_>) {
        let folder = self.folder.clone();
        self.nested += 1;
        let mut inner = TokenCursor { tokens, bodies: input.bodies, at: 0, depth: input.depth + 1 };
        while inner.at < tokens.len() {
            self.list(&mut inner);
            inner.at += 1;
        }
        self.nested -= 1;
        self.folder = folder;
    }

    /// Applies commands that change how later ones are interpreted.
    fn apply_shell_state(&mut self, command: &SimpleCommand) {
        match command.program() {
            "cd" | "pushd" => {
                let to = command.args().iter().find(|arg| !arg.starts_with('-'));
                self.folder = match to {
                    Some(to) => Some(join_folder(self.folder.as_deref(), to)),
                    None => Some("~".to_owned()),
                };
            }
            "popd" => self.folder = None,
            "set" => {
                let short = |arg: &str| arg.starts_with('-') && !arg.starts_with("--");
                let args = command.args();
                self.exits_on_error |=
                    args.iter().any(|arg| (short(arg) && arg.contains('e')) || arg == "errexit");
                self.fails_with_pipe |= args.iter().any(|arg| arg == "pipefail");
            }
            _ => {}
        }
    }

    /// Records for each command what the status of the line implies.
    fn assign_status(&mut self, node: &CommandNode, known: StatusImplication) {
        match node {
            CommandNode::Nothing => {}
            CommandNode::One(at) => self.commands[*at].implied_by_status = known,
            CommandNode::And(left, right) => {
                // Which side failed is known only if the other side cannot fail.
                let (l, r) = (self.cannot_fail(left), self.cannot_fail(right));
                self.assign_status(left, StatusImplication { failed: known.failed && r, ..known });
                self.assign_status(right, StatusImplication { failed: known.failed && l, ..known });
            }
            CommandNode::Or(left, right) => {
                let known = StatusImplication { passed: false, ..known };
                self.assign_status(left, known);
                self.assign_status(right, known);
            }
            CommandNode::Then(left, right) if self.exits_on_error => {
                let (l, r) = (self.cannot_fail(left), self.cannot_fail(right));
                self.assign_status(left, StatusImplication { failed: known.failed && r, ..known });
                self.assign_status(right, StatusImplication { failed: known.failed && l, ..known });
            }
            CommandNode::Then(left, right) => {
                self.assign_status(left, StatusImplication::default());
                self.assign_status(right, known);
            }
            CommandNode::Pipe(parts) => self.assign_pipe_status(parts, known),
            CommandNode::Hidden(inner) => self.assign_status(inner, StatusImplication::default()),
        }
    }

    fn assign_pipe_status(&mut self, parts: &[CommandNode], known: StatusImplication) {
        let firsts: Vec<Option<usize>> = parts.iter().map(last_command_index).collect();
        for (at, part) in parts.iter().enumerate() {
            let is_last = at + 1 == parts.len();
            let others_pass = parts.iter().enumerate().all(|(other, part)| {
                other == at || self.cannot_fail(part) || self.is_display_filter(part)
            });
            let known = match (self.fails_with_pipe, is_last) {
                (true, _) => StatusImplication { failed: known.failed && others_pass, ..known },
                (false, true) => known,
                (false, false) => StatusImplication::default(),
            };
            self.assign_status(part, known);
            let behind = firsts[at + 1..].iter().flatten();
            let filters: Vec<String> = behind.map(|at| self.commands[*at].text.clone()).collect();
            for at in command_indexes(part) {
                self.commands[at].filters.extend(filters.iter().cloned());
                self.commands[at].is_filter = firsts.first().is_none_or(|_| !parts[0].has(at));
            }
        }
    }

    fn cannot_fail(&self, node: &CommandNode) -> bool {
        const PASSING: [&str; 15] = [
            "cd", "pushd", "popd", "echo", "printf", "export", "set", "source", ".", "true", ":",
            "mkdir", "sleep", "pwd", "",
        ];
        command_indexes(node).into_iter().all(|at| {
            // `x=$(command)` has the status of the command.
            let assigns_output = || self.commands[at].text.contains(['(', '`']);
            let program = self.commands[at].program();
            PASSING.contains(&program) && !(program.is_empty() && assigns_output())
        })
    }

    /// Whether all commands are filters that succeed whatever their input is.
    fn is_display_filter(&self, node: &CommandNode) -> bool {
        const SHOWING: [&str; 8] = ["tail", "head", "tee", "cat", "sort", "wc", "uniq", "sed"];
        command_indexes(node).into_iter().all(|at| SHOWING.contains(&self.commands[at].program()))
    }

    fn number_chains(&mut self, node: &CommandNode, chain: &mut usize) {
        match node {
            CommandNode::Nothing => {}
            CommandNode::One(at) => self.commands[*at].chain = *chain,
            CommandNode::And(left, right) => {
                self.number_chains(left, chain);
                self.number_chains(right, chain);
            }
            CommandNode::Or(left, right) | CommandNode::Then(left, right) => {
                self.number_chains(left, chain);
                *chain += usize::from(!self.exits_on_error || matches!(node, CommandNode::Or(..)));
                self.number_chains(right, chain);
            }
            CommandNode::Pipe(parts) => {
                for part in parts {
                    self.number_chains(part, chain);
                }
            }
            CommandNode::Hidden(inner) => {
                *chain += 1;
                self.number_chains(inner, chain);
                *chain += 1;
            }
        }
    }
}

impl CommandNode {
    fn has(&self, at: usize) -> bool {
        command_indexes(self).contains(&at)
    }
}

fn command_indexes(node: &CommandNode) -> Vec<usize> {
    match node {
        CommandNode::Nothing => Vec::new(),
        CommandNode::One(at) => vec![*at],
        CommandNode::And(left, right)
        | CommandNode::Or(left, right)
        | CommandNode::Then(left, right) => {
            let mut all = command_indexes(left);
            all.extend(command_indexes(right));
            all
        }
        CommandNode::Pipe(parts) => parts.iter().flat_map(command_indexes).collect(),
        CommandNode::Hidden(inner) => command_indexes(inner),
    }
}

fn last_command_index(node: &CommandNode) -> Option<usize> {
    command_indexes(node).pop()
}

fn skip_words(input: &mut TokenCursor<'_>) {
    while matches!(input.peek(), Some(Token::Word(_) | Token::Redirect(_))) {
        input.at += 1;
    }
}

/// Finds `echo "exit: $?"`, which prints the status of the command before it.
fn find_printed_status(commands: &mut [SimpleCommand]) {
    for at in 1..commands.len() {
        if !matches!(commands[at].program(), "echo" | "printf") {
            continue;
        }
        let printed = commands[at].args().iter().filter(|arg| *arg != "-n" && *arg != "-e");
        let printed = printed.cloned().collect::<Vec<_>>().join(" ");
        let of_pipe = ["${PIPESTATUS[0]}", "${pipestatus[1]}", "$pipestatus[1]"];
        let (mark, whole_pipe) = match of_pipe.iter().find(|mark| printed.contains(*mark)) {
            Some(mark) => (*mark, true),
            None => ("$?", false),
        };
        let Some((before, _)) = printed.split_once(mark) else { continue };
        // Another `$?`-like value may come before it; only plain text is searched for.
        let before = before.rsplit(['\n', '`', '$']).next().unwrap_or_default().to_owned();
        let mut of = at - 1;
        while whole_pipe && of > 0 && commands[of].is_filter {
            of -= 1;
        }
        if commands[of].filters.is_empty() || whole_pipe {
            commands[of].status_after = Some(before);
        }
    }
}

/// Returns a command on one line, as typed.
fn display_words(words: &[&ShellWord]) -> String {
    let mut text = String::new();
    for word in words {
        let (line, is_cut) = match word.raw.split_once('\n') {
            Some((line, _)) => (line, true),
            None => (word.raw.as_str(), false),
        };
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(line);
        if is_cut {
            text.push('…');
        }
        if text.len() > SHOWN_BYTES_MAX {
            text.truncate(text.floor_char_boundary(SHOWN_BYTES_MAX));
            text.push('…');
            break;
        }
    }
    text
}

/// Resolves a folder relative to another one.
pub fn join_folder(from: Option<&str>, to: &str) -> String {
    let is_whole = to.starts_with(['/', '~', '$']);
    match from {
        Some(from) if !is_whole => {
            let mut parts: Vec<&str> = from.split('/').collect();
            for part in to.split('/') {
                match part {
                    "" | "." => {}
                    ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => {
                        parts.pop();
                    }
                    part => parts.push(part),
                }
            }
            parts.join("/")
        }
        _ => to.trim_end_matches('/').to_owned(),
    }
}
