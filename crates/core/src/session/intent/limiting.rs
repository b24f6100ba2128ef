//! Finds sentences that limit all further work: "never touch web/", "no new dependencies".
//!
//! A limit applies to every later session, so a false limit is worse than a missed one. A sentence
//! counts only if it tells the agent how to work, is not about this one request, and names more
//! than one specific thing. A requirement for the product is never a limit, however it is worded.

use super::prose::{
    self, Sentence, after_any, first, has, has_any, is_one_of, starts, starts_any, starts_with_any,
    without_lead,
};
use super::revoking::{PermissionKind, permission_kind};
use std::ops::Range;

/// The maximum number of limits taken from one prompt.
const LIMITS_MAX: usize = 8;
/// A longer sentence is more than an instruction.
const LIMIT_BYTES_MAX: usize = 300;

/// A sentence that limits all further work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptLimit {
    /// The sentence, as the user wrote it.
    pub text: String,
    /// Its bytes in the prompt.
    pub range: Range<usize>,
}

/// Finds the sentences of a prompt that limit all further work.
pub fn limits(text: &str) -> Vec<PromptLimit> {
    let prose = prose::parse_prose(text);
    let mut found = Vec::new();
    let mut in_rules = false;
    for sentence in &prose.sentences {
        in_rules = names_rules(&text[sentence.range.clone()]) || (in_rules && sentence.is_item);
        let is_rule = in_rules && sentence.is_item && is_rule(sentence);
        if found.len() < LIMITS_MAX && (is_rule || is_limit(sentence)) {
            let range = sentence.range.clone();
            found.push(PromptLimit { text: text[range.clone()].to_owned(), range });
        }
    }
    found
}

/// Whether a line announces a list of rules.
fn names_rules(line: &str) -> bool {
    const NAMES: &str = "rules|constraints|guidelines|conventions|restrictions|limits|\
        rules for this branch";
    const LINE_MAX: usize = 60;
    line.ends_with(':') && line.len() <= LINE_MAX && has_any(&prose::words(line), NAMES)
}

/// Whether an item in a list of rules limits the work. The heading already says that it is a rule.
fn is_rule(sentence: &Sentence) -> bool {
    !sentence.is_question
        && sentence.range.len() <= LIMIT_BYTES_MAX
        && starts_any(without_lead(&sentence.words), RULES)
        && !is_once(&sentence.words)
}

/// How a rule starts.
const RULES: &str = "never|no|don't|dont|do not|always|only|ask|must|avoid|stay|keep|use|you must|\
    every|all|each";

/// Whether a sentence limits all further work.
pub(super) fn is_limit(sentence: &Sentence) -> bool {
    let words = without_lead(&sentence.words);
    if sentence.range.len() > LIMIT_BYTES_MAX || is_once(words) {
        return false;
    }
    if sentence.is_question {
        let rest = after_any(words, "can you not|could you not|can you please not");
        return rest.is_some_and(is_forbidden_work);
    }
    // "Remember: all queries go through the repository layer."
    if let Some(rest) = after_any(words, ANNOUNCED) {
        return starts_any(without_lead(rest), RULES) || starts(rest, "we");
    }
    let words = after_any(words, "no ,|nope ,").map_or(words, without_lead);
    // "You may push without asking from now on" revokes a limit.
    if permission_kind(words) == Some(PermissionKind::Allow) {
        return false;
    }
    is_never(words)
        || is_lasting(words)
        || is_forbidden(words)
        || is_only(words)
        || is_none(words)
        || is_duty(words)
        || is_asking(words)
        || is_custom(words)
        || stops_habit(words)
        || is_foreign(words)
}

const ANNOUNCED: &str = "remember ,|important ,|reminder ,|rule ,|rules ,|constraint ,|\
    constraints ,|general rule ,|one rule ,|as a rule ,|and remember ,|house rule ,|new rule ,|\
    ground rule ,|remember that";

/// Whether a sentence is about this moment, this request or one specific thing.
fn is_once(words: &str) -> bool {
    const ONCE: &str = "now|today|tonight|this time|for this|this one|at the moment|\
        for the moment|just tell|just look|just explain|just show|until|till|in this pr|\
        in this commit|in this step|in this task|this week|in this case|still|meanwhile|this test|\
        this file|this function|that file|that function|this change|in the meantime|for the demo|\
        for the time being|because i am|while i|erst mal|pas encore";
    const PUT_OFF: &str = "yet|for now|right now|noch nicht";
    has_any(words, PUT_OFF) || (has_any(words, ONCE) && !has_any(words, LASTING))
}

const LASTING: &str = "until i say|until i tell|from now on|from here on|from here on out|\
    going forward|from this point on|henceforth|in the future|in future|as of now|ab jetzt|\
    ab sofort|in zukunft|künftig";

/// Verbs for what an agent does. Other verbs describe a product: "never cache these responses".
const WORK: &str = "amend|push|force|force-push|commit|merge|rebase|squash|publish|release|deploy|\
    delete|remove|install|add|touch|edit|modify|change|use|create|write|run|skip|bypass|disable|\
    refactor|reformat|rename|move|upgrade|bump|mock|introduce|import|hardcode|generate|open|\
    rewrite|regenerate|put|mention|sign|stage|stash|reset|checkout|suppress|downgrade|ask|test|\
    lint|format|build|verify|work|follow|prefer|start|read|keep|explain|answer|respond|reply|\
    update|guess|assume|commit|document|make|do|check|leave|include|restart|kill";

/// "never touch web/", "always run the linter before committing"
fn is_never(words: &str) -> bool {
    const ALWAYS: &str = "never ever|never|don't ever|dont ever|do not ever|you must never|\
        you should never|under no circumstances|at no point|i never want you to|we must never|\
        you may never|always|you must always|you should always|you always have to|\
        you always need to|make sure to always|make sure you always|make it a rule to";
    let Some(rest) = after_any(words, ALWAYS) else { return false };
    let rest = rest.trim_start_matches(", ");
    is_one_of(first(rest), WORK) && !is_pronoun_object(rest)
}

/// "from now on use pnpm", "… at all times", "whenever you change a proto file, …"
fn is_lasting(words: &str) -> bool {
    const TIMES: &str = "whenever you|every time you|each time you|any time you|when you|\
        before you";
    const ENDS: &str = "from now on|from here on|from here on out|going forward|\
        from this point on|at all times|in all cases|every single time|before each commit|\
        before every commit";
    if let Some(rest) = after_any(words, TIMES) {
        let is_any = !starts_any(words, "when you|before you") || starts_any(rest, "commit|push");
        let then = rest.split_once(", ").map(|(_, then)| then);
        return is_any
            && is_one_of(first(rest), WORK)
            && then.is_some_and(|then| !is_statement(then));
    }
    if let Some(rest) = after_any(words, LASTING) {
        let rest = without_lead(rest);
        return !rest.is_empty() && (!is_statement(rest) || starts_any(rest, "you|we"));
    }
    let ends = ENDS.split('|').any(|end| words.trim_end().ends_with(end));
    ends && (!is_statement(words) || starts_any(words, "you|we"))
}

/// Whether a sentence describes something and is not an instruction.
fn is_statement(words: &str) -> bool {
    const SUBJECTS: &str = "the|a|an|our|this|that|it|its|users|they|he|she|i|my|their|these|\
        those|there|what|how|why|if|when|is|are|does|do we|customers|people|who|you|we";
    starts_any(words, SUBJECTS)
}

/// "don't amend commits", "do not push without asking", "you must not modify …"
fn is_forbidden(words: &str) -> bool {
    const FORBIDDEN: &str = "don't|dont|do not|you must not|you may not|you mustn't|\
        you should not|you shouldn't|you are not allowed to|you're not allowed to|you can't|\
        you cannot|i don't want you to|i do not want you to|we don't";
    const UNWANTED: &str = "new|mocks|dependencies|comments|emojis|emoji|changes|commits|unsafe|\
        todos|placeholders|refactoring|formatting";
    if let Some(rest) = after_any(words, "i don't want any|i do not want any|i dont want any") {
        return starts_any(rest, UNWANTED);
    }
    after_any(words, FORBIDDEN).is_some_and(is_forbidden_work)
}

/// Whether a verb and its object are work that can be forbidden permanently.
fn is_forbidden_work(work: &str) -> bool {
    const PROCESS: &str = "amend|push|force|force-push|commit|merge|rebase|squash|publish|release|\
        deploy|install|bypass|skip|disable|reformat|refactor|upgrade|bump|mock|sign|reset";
    const BOUNDARY: &str = "touch|edit|modify|change|delete|remove|rename|move";
    let verb = first(work);
    let object = work[verb.len()..].trim_start();
    let scope = clause(object);
    if object.is_empty() || is_pronoun_object(work) || has_any(work, "here") {
        return false;
    }
    let is_consent = has_any(work, "without|on your own|by yourself|on your own initiative");
    let is_single = starts_any(object, "a|an|the|my|our|your|its") || object.starts_with(',');
    let names_scope = scope.split(' ').any(|word| is_path(word) || is_one_of(word, SCOPES));
    let is_plural = scope.split(' ').any(|word| {
        word.len() > 3
            && word.ends_with('s')
            && !word.ends_with("ss")
            && !is_one_of(word, "this|always")
    });
    match verb {
        verb if is_one_of(verb, PROCESS) => !is_single || is_consent,
        verb if is_one_of(verb, BOUNDARY) => names_scope || (is_plural && !is_single) || is_consent,
        verb if is_one_of(verb, WORK) => {
            (is_plural && !is_single) || is_consent || starts_any(object, "any|new")
        }
        _ => false,
    }
}

/// Parts of a repository that can be off limits.
const SCOPES: &str = "api|schema|config|configs|configuration|tests|database|db|migrations|folder|\
    directory|files|branch|branches|ci|pipeline|workflow|workflows|lockfile|interface|interfaces|\
    production|prod|main|master|dependencies|settings|history|public|submodule|generated";

/// The words up to the first comma.
fn clause(words: &str) -> &str {
    words.split(',').next().unwrap_or_default()
}

fn is_path(word: &str) -> bool {
    word.len() > 1 && (word.contains('/') || word.contains('.') || word.contains("::"))
}

/// Whether the verb is followed by "it", "that" and the like.
fn is_pronoun_object(work: &str) -> bool {
    let object = work.split(' ').nth(1).unwrap_or_default();
    let is_all = object == "anything" && has_any(work, "under|in|below|outside|without");
    is_one_of(object, "it|that|this|these|those|them|anything|so|him|more|again") && !is_all
}

/// "only edit files in src/", "work only in services/billing", "hands off …", "avoid using any"
fn is_only(words: &str) -> bool {
    const ONLY: &str = "only edit|only change|only touch|only modify|only work|only write|\
        work only|you may only change|you may only edit|you may only touch|you may only modify|\
        you can only edit|you can only change|you should only edit|you should only change|\
        you must only edit|edit only|change only|only commit";
    const AWAY: &str = "stay out of|stay away from|hands off|keep out of|keep your hands off";
    const AVOIDED: &str = "using|adding|touching|editing|changing|creating|committing|pushing";
    if let Some(rest) = after_any(words, AWAY) {
        return !starts_any(rest, "it|that|this|these|those") && !rest.is_empty();
    }
    if let Some(rest) = after_any(words, "avoid") {
        let object = rest.split(' ').nth(1).unwrap_or_default();
        let is_single = is_one_of(object, "it|that|this|the|these|those|them|a|an");
        return is_one_of(first(rest), AVOIDED) && !is_single && !has(rest, "here");
    }
    let Some(rest) = after_any(words, ONLY) else { return false };
    is_path(first(rest))
        || starts_any(rest, "files in|files under|files below|files within|code in|things in")
        || (starts_any(rest, "in|inside|under|below|within") && rest.split(' ').any(is_path))
}

/// "no new dependencies", "no changes to the schema"
fn is_none(words: &str) -> bool {
    const NONE: &str = "no new dependencies|no new dependency|no additional dependencies|\
        no external dependencies|no third-party|no new packages|no new libraries|\
        no changes to the|no changes to our|no changes to any|no edits to the|no changes outside|\
        no breaking changes|no force push|no force pushes|no force-push|no direct commits|\
        no direct pushes|no commits to|no pushes to|no emojis in|no emoji in|no mocks|no unsafe|\
        no comments in";
    const SAID: &str = "needed|required|were|was|are|is|have|exist|then|found";
    starts_any(words, NONE) && !has_any(words, SAID)
}

/// "commit messages must be in English", "every new function needs a test"
fn is_duty(words: &str) -> bool {
    const SUBJECTS: &str = "commit messages|all commit messages|every commit message|\
        all commits in this repo|branch names|pr titles|pr descriptions|every new function|\
        every new file|every new test|every new module|every new class|every new method|\
        every new endpoint|every new component|every new feature|all new functions|all new files|\
        all new code|new code|every public function|every migration|every bug fix|every bugfix";
    const MUST: &str = "must|should|need|needs|has to|have to|may not";
    after_any(words, SUBJECTS).is_some_and(|rest| starts_any(rest, MUST))
}

/// "ask me before you install anything"
fn is_asking(words: &str) -> bool {
    const ASK: &str = "ask me before|always ask me|check with me before|ask me first before|\
        ask for my permission before|get my approval before|confirm with me before";
    after_any(words, ASK).is_some_and(|rest| !has_any(clause(rest), "it|that|this"))
}

/// "we use yarn here, not npm", "in this repo we …"
fn is_custom(words: &str) -> bool {
    const PLACES: &str = "in this repo we|in this repository we|in this project we|\
        in this codebase we|in this repo , we|in this project , we";
    const VERBS: &str = "use|don't|do not|never|always|only|prefer|squash|write|keep|follow|name";
    const PROCESS: &str = "commit|push|squash|rebase|merge|amend|deploy|release|force";
    if let Some(rest) = after_any(words, PLACES) {
        return starts_any(rest, VERBS);
    }
    if let Some(rest) = after_any(words, "we always|we never|we only") {
        return is_one_of(first(rest), PROCESS);
    }
    starts(words, "we use") && has_any(words, ", not|instead of|and not")
}

/// "stop adding comments to every function"
fn stops_habit(words: &str) -> bool {
    const HABITS: &str = "adding|using|running|creating|writing|committing|pushing|asking|editing|\
        changing|touching|putting|removing|deleting|reformatting|refactoring|renaming|mocking|\
        generating|inserting|introducing|skipping|amending|explaining|apologizing";
    const ONE: &str = "it|that|this|these|those|them|the|on|at|here|,|a|an|my|your|";
    let Some(rest) = after_any(words, "stop|quit") else { return false };
    let object = rest.split(' ').nth(1).unwrap_or_default();
    let is_habit = !is_one_of(object, ONE) || has_any(rest, "every|each|all the time|everywhere");
    is_one_of(first(rest), HABITS) && is_habit && !object.is_empty()
}

/// The usual forms in other languages, at the start of a sentence.
fn is_foreign(words: &str) -> bool {
    const STARTS: &str = "auf keinen fall|ab jetzt|ab sofort|künftig|in zukunft|désormais|\
        dorénavant|à partir de maintenant|a partir de ahora|de ahora en adelante|\
        a partir de agora|daqui em diante|d'ora in poi|впредь|отныне";
    const UNSEPARATED: &str =
        "以后不要|以后都|从现在开始|今后|永远不要|今後|これからは|決して|앞으로|절대";
    let last = words.trim_end().rsplit(' ').next().unwrap_or_default();
    // Imperatives: "nie … pushen", "ne … jamais", "nunca hagas", "никогда не меняй".
    let is_german = starts_any(words, "nie|niemals") && last.ends_with("en");
    let is_french = starts(words, "ne") && has(words, "jamais");
    let is_spanish = after_any(words, "nunca").is_some_and(|rest| first(rest).ends_with('s'));
    let is_russian = after_any(words, "никогда не")
        .is_some_and(|rest| first(rest).ends_with(['й', 'ь']) || first(rest).ends_with("йте"));
    starts_any(words, STARTS)
        || starts_with_any(words, UNSEPARATED)
        || is_german
        || is_french
        || is_spanish
        || is_russian
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parts_of_the_project_and_many_things_are_off_limits() {
        for work in ["rename handlers", "change src/api.rs", "edit the schema", "push to main"] {
            assert!(is_forbidden_work(work), "{work}");
        }
        for work in ["rename handler", "rename the handlers", "change it", "push the button"] {
            assert!(!is_forbidden_work(work), "{work}");
        }
    }

    #[test]
    fn work_can_be_limited_to_a_path() {
        for words in ["only edit src/api.rs", "only edit files in src/", "work only in web/"] {
            assert!(is_only(words), "{words}");
        }
        for words in ["only edit the title", "only work in the morning"] {
            assert!(!is_only(words), "{words}");
        }
    }
}
