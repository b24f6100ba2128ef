//! Finds prompts that name no work, and the prompt that gives the goal of a session.

use super::prose::{self, Sentence, has_any, is_one_of, starts_any, words};

/// A longer prompt is never trivial.
const TRIVIAL_WORDS_MAX: usize = 12;
const TRIVIAL_BYTES_MAX: usize = 160;
/// A slash command is the goal unless one of this many prompts after it says more.
const AFTER_COMMAND: usize = 3;
/// A request with this many words says more than the slash command before it.
const GOAL_WORDS_MIN: usize = 5;
/// A slash command with this many arguments names its own work.
const ARGUMENTS_MIN: usize = 3;

/// Words that name no work in any combination. A prompt with only these is an answer, a greeting,
/// thanks, "go on", or an order that the session's records show anyway.
const FILLERS: &str = "a about again ahead all alright and are as away be both can carry cheers \
    cool do doing done else everything exactly excellent fantastic fine first for found from go \
    going good great haha have hello help here hey hi how i in is it it's its i'm job just keep \
    last later left let let's lets lgtm looks me morning my need nevermind mind next nice nah no \
    nope nothing now of off oh ok okay on one oops or our perfect please pls plz problem proceed \
    questions really resume right same second see sgtm ship should sir so some sorry sounds step \
    steps super sure task tasks thank thanks that that's thats the them then there these thing \
    things think third this those thx time to today tomorrow try two u up ur us very way we well \
    where whole will with work works worries would wow yea yeah yep yes yesterday you you're your \
    yup bye night evening afternoon day y n implementation plan rest remaining that'd that'll \
    you've we've i've helped helpful awesome amazing brilliant agreed correct option choice \
    number continue merge commit commits committed push pushed pr prs pull request requests draft \
    create open make run execute start rerun retry check complete finish remote origin upstream \
    main changes branch deploy release it'd go-ahead left-off ja jo genau weiter weitermachen \
    bitte danke gut mach mal hallo passt klar machen los nein oui ouais continuez merci d'accord \
    vas-y allez bonjour salut non parfait sí si vale sigue continúa continua gracias hola claro \
    dale adelante perfecto problema hay sim pode continuar obrigado obrigada olá beleza prossiga \
    não grazie ciao va bene avanti prego perfetto procedi vai да ок хорошо продолжай давай дальше \
    спасибо привет нет продолжи";

/// Short prompts in languages that do not separate words.
const UNSEPARATED: &str = "继续|好|好的|是|是的|对|可以|没问题|谢谢|你好|不用|不用了|提交|推送|はい|続けて|続けてください|お願いします|いいえ|了解|\
    ありがとう|ありがとうございます|こんにちは|進めて|次へ|네|예|계속|계속해|계속해줘|좋아|감사합니다|안녕하세요";

/// Client commands that only change the client.
const CLIENT_COMMANDS: &str = "/add-dir /agents /approvals /bashes /clear /compact /config \
    /context /copy /cost /doctor /effort /exit /export /extra-usage /fast /feedback /fork /help \
    /hooks /ide /install-github-app /keybindings /login /logout /mcp /memory /mention /model /new \
    /output-style /passes /permissions /personality /plugin /plugins /privacy-settings /ps /quit \
    /reload-plugins /remote-control /rename /resume /rewind /sandbox /skills /stats /status \
    /statusline /stop /tasks /terminal-setup /theme /todos /tui /upgrade /usage /vim /voice";

/// Whether a prompt names no work: an answer, a greeting, thanks, "go on", or an order to commit,
/// push or open a pull request.
pub fn is_trivial(text: &str) -> bool {
    let text = text.trim();
    if text.len() > TRIVIAL_BYTES_MAX {
        return false;
    }
    if let Some(command) = slash_command(text) {
        return is_listed(CLIENT_COMMANDS, command);
    }
    let words = words(text);
    let mut said = words.split(' ').filter(|word| !word.is_empty() && *word != ",").peekable();
    said.peek().is_some() && said.clone().count() <= TRIVIAL_WORDS_MAX && said.all(is_filler)
}

fn is_filler(word: &str) -> bool {
    let bare = word.trim_start_matches(['#', '@']).trim_end_matches('.');
    let is_choice = bare.len() == 1 || bare.bytes().all(|byte| byte.is_ascii_digit());
    is_choice || is_listed(FILLERS, bare) || is_one_of(bare, UNSEPARATED)
}

fn is_listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// The name of the slash command, if a prompt is one.
pub(super) fn slash_command(text: &str) -> Option<&str> {
    let name = text.split_whitespace().next().filter(|name| name.starts_with('/'))?;
    let rest = &name[1..];
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
    (!rest.is_empty() && rest.chars().all(is_name)).then_some(name)
}

/// The goal of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The request at this position.
    Request(usize),
    /// The request at `from` continues an earlier session, which has the goal. The session's own
    /// first request is at `then`.
    Continuation {
        /// The request that continues earlier work.
        from: usize,
        /// The first request that names work.
        then: Option<usize>,
    },
}

/// Finds the request that gives the goal of a session. None if no request names work.
pub(crate) fn find_goal<'a>(requests: impl IntoIterator<Item = &'a str>) -> Option<Goal> {
    let mut continues = None;
    let mut command: Option<usize> = None;
    let mut order = None;
    for (position, text) in requests.into_iter().enumerate() {
        if command.is_some_and(|at| position > at + AFTER_COMMAND) {
            break;
        }
        let is_start = continues.is_none() && command.is_none();
        if is_start && is_continuation(text) {
            continues = Some(position);
        } else if let Some(name) = slash_command(text.trim()) {
            let is_clients = is_listed(CLIENT_COMMANDS, name);
            if !is_clients && names_its_work(text) {
                return Some(goal(continues, command.unwrap_or(position)));
            }
            if !is_clients && command.is_none() {
                command = Some(position);
            }
        } else if names_work(text, command.is_some()) {
            return Some(goal(continues, position));
        } else if order.is_none() && is_order(text) {
            order = Some(position);
        }
    }
    match (continues, command) {
        (continues, Some(position)) => Some(goal(continues, position)),
        (Some(from), None) => Some(Goal::Continuation { from, then: None }),
        (None, None) => order.map(Goal::Request),
    }
}

/// Whether a prompt orders something that the session's records show: "release it", "commit and
/// push". It is the goal only if nothing else was asked.
fn is_order(text: &str) -> bool {
    const ORDERS: &str = "commit|push|merge|release|deploy|ship|run|execute|rerun|pull request";
    let words = words(text);
    is_trivial(text)
        && words.split(' ').filter(|word| word.len() > 1).count() > 1
        && has_any(&words, ORDERS)
}

fn goal(continues: Option<usize>, position: usize) -> Goal {
    match continues {
        Some(from) => Goal::Continuation { from, then: Some(position) },
        None => Goal::Request(position),
    }
}

/// Whether the arguments of a slash command name its work: by several words, a number or a path.
fn names_its_work(command: &str) -> bool {
    let arguments = command.split_whitespace().skip(1);
    let is_name = |word: &str| word.contains('/') || word.bytes().any(|byte| byte.is_ascii_digit());
    arguments.clone().count() >= ARGUMENTS_MIN || arguments.clone().any(is_name)
}

/// Whether a prompt names work. After a slash command, it must say more than the command.
fn names_work(text: &str, after_command: bool) -> bool {
    if is_trivial(text) || text.trim().is_empty() {
        return false;
    }
    let prose = prose::parse_prose(text);
    let is_long = |sentence: &Sentence| {
        !sentence.is_question
            && sentence.words.split(' ').filter(|word| word.len() > 1).count() >= GOAL_WORDS_MIN
    };
    !after_command || prose.is_document || prose.sentences.iter().any(is_long)
}

/// Whether a prompt asks to continue the work of an earlier session.
fn is_continuation(text: &str) -> bool {
    const EARLIER: &str = "handoff|handoffs|left off|we stopped|you stopped|yesterday|\
        last session|previous session|earlier session|last time|last conversation|last chat|\
        previous conversation|previous chat|other session|the checkpoint|the summary|\
        where you were|where we were|unfinished work|letzten sitzung|gestern";
    const GO_ON: &str = "continue|resume|pick up|carry on|go on|keep going|proceed|let's continue|\
        weiter|weitermachen|mach weiter|continue with|take over|sigue|continúa|продолжай|继续";
    let prose = prose::parse_prose(text);
    let Some(opening) = prose.sentences.first() else { return false };
    let opening_words = prose::without_lead(&opening.words);
    let names_earlier = |words: &str| {
        has_any(words, EARLIER)
            || words
                .split(' ')
                .any(|word| word.contains("handoff") || word.contains("next_session"))
    };
    if starts_any(opening_words, GO_ON) && (is_trivial(text) || names_earlier(opening_words)) {
        return true;
    }
    // "Read HANDOFF.md and continue": the document comes first.
    let says_go_on = |sentence: &Sentence| has_any(&sentence.words, GO_ON);
    !prose.is_document
        && prose.sentences.len() <= 3
        && prose.sentences.iter().any(|sentence| names_earlier(&sentence.words))
        && prose.sentences.iter().any(says_go_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_goal_is_the_first_request_that_names_work() {
        let check = |requests: &[&str], goal: Option<Goal>| {
            assert_eq!(find_goal(requests.iter().copied()), goal, "{requests:?}");
        };
        let continuation = |from, then| Some(Goal::Continuation { from, then });
        check(&[], None);
        check(&["hi", "thanks"], None);
        check(&["hi", "Release it", "thanks"], Some(Goal::Request(1)));
        check(&["push"], None);
        check(&["hi", "fix the flaky upload test", "commit"], Some(Goal::Request(1)));
        check(&["/clear", "/model opus", "why is the build red?"], Some(Goal::Request(2)));
        check(&["/review 167", "do both please", "commit this"], Some(Goal::Request(0)));
        check(
            &["/review 167", "do both please", "file an issue with medium priority in Q"],
            Some(Goal::Request(0)),
        );
        check(&["/review", "181", "fix the parallel tests first please"], Some(Goal::Request(2)));
        check(
            &["/fix-issue 2201 in the importer", "use the old parser here"],
            Some(Goal::Request(0)),
        );
        check(
            &["/init", "ok", "push", "go on", "yes", "add a parser for dates"],
            Some(Goal::Request(0)),
        );
        check(&["continue from the handoff in docs/handoffs/queue.md"], continuation(0, None));
        check(&["Read HANDOFF.md and continue.", "also add a test"], continuation(0, Some(1)));
        check(&["hello", "pick up where we left off"], continuation(1, None));
        check(&["continue", "yes"], continuation(0, None));
        check(&["weiter", "baue die Suche ein"], continuation(0, Some(1)));
        check(&["Continue the refactoring of the parser"], Some(Goal::Request(0)));
    }

    #[test]
    fn a_path_is_not_a_slash_command() {
        for (text, name) in [
            ("/review 167", Some("/review")),
            ("/superpowers:write-plan", Some("/superpowers:write-plan")),
            ("/etc/hosts is wrong", None),
            ("review /this", None),
            ("/", None),
        ] {
            assert_eq!(slash_command(text), name, "{text}");
        }
    }

    #[test]
    fn commas_are_not_words_of_a_trivial_prompt() {
        let listed = |count: usize| vec!["ok"; count].join(", ");
        assert!(is_trivial(&listed(TRIVIAL_WORDS_MAX)));
        assert!(!is_trivial(&listed(TRIVIAL_WORDS_MAX + 1)));
        assert!(!is_trivial("") && !is_trivial("…"), "says nothing");
    }
}
