//! Finds prompts that correct what the agent did, said or is about to do.
//!
//! Sentences that accuse, contradict or report that something still fails count near the start of a
//! prompt. Prohibitions and changes of direction count only as its first statement: after a
//! request, they belong to that request.

use super::PromptContext;
use super::limiting;
use super::prose::{
    self, Sentence, after_any, first, has, has_any, is_one_of, starts, starts_any, starts_with_any,
    without_lead,
};
use super::trivial::{is_trivial, slash_command};
use crate::session::item::Correction;
use crate::session::report::identifiers;

/// How many sentences are searched for accusations and contradictions.
const SENTENCES_MAX: usize = 3;

/// Why a prompt counts as a correction, if it does.
pub(super) fn correction(text: &str, context: PromptContext<'_>) -> Option<Correction> {
    if slash_command(text.trim()).is_some() {
        return None;
    }
    let prose = prose::parse_prose(text);
    if is_halt(&prose.sentences) {
        return Some(context.stopped.unwrap_or(Correction::Worded));
    }
    match context.stopped {
        Some(Correction::AfterRejection) => {
            let is_said = is_refusal(&prose.sentences) || !is_trivial(text);
            is_said.then_some(Correction::AfterRejection)
        }
        Some(stopped) => {
            let is_new = prose.is_document || is_retyped(text, context.previous);
            let is_asked = prose.sentences.iter().all(|sentence| sentence.is_question);
            let is_said = !is_trivial(text) && !is_new && !is_asked;
            (is_said || is_worded(text, &prose.sentences)).then_some(stopped)
        }
        None => is_worded(text, &prose.sentences).then_some(Correction::Worded),
    }
}

/// Whether a correction also asks for new work: "merge the other branch" does, "not like that" only
/// changes how to do the last request.
pub(crate) fn asks_for_work(text: &str) -> bool {
    /// Fewer words only change the last request.
    const WORDS_MIN: usize = 5;
    const WORDED_MIN: usize = 8;
    let prose = prose::parse_prose(text);
    let words_min = if is_worded(text, &prose.sentences) { WORDED_MIN } else { WORDS_MIN };
    // A denied or forbidden action is not a request.
    let is_asked = |sentence: &&Sentence| {
        let words = without_lead(&sentence.words);
        let is_denied = is_denial(words) || is_foreign_denial(words) || is_verdict(words);
        !is_denied && !is_prohibition(words) && !limiting::is_limit(sentence)
    };
    let asked = prose.sentences.iter().filter(is_asked).map(|one| &text[one.range.clone()]);
    let asked = asked.collect::<Vec<_>>().join(" ");
    let is_long = asked.split_whitespace().nth(words_min - 1).is_some();
    !is_halt(&prose.sentences) && (is_long || !identifiers(&asked).is_empty())
}

/// Whether the whole prompt is "stop" or "wait".
fn is_halt(sentences: &[Sentence]) -> bool {
    const HALT: &str = "stop|stop it|stop that|stop this|stop here|stop now|stop stop|wait|\
        wait wait|wait a minute|wait a second|hold on|hang on|one moment|halt|stopp|warte|arrête|\
        para|pare|fermati|стоп|停";
    matches!(sentences, [one] if is_one_of(without_lead(&one.words).trim_end(), HALT))
}

/// Whether the prompt is a plain refusal of a rejected call.
fn is_refusal(sentences: &[Sentence]) -> bool {
    const NO: &str = "no|nope|nah|not now|not yet|nein|non|não|нет|不|いいえ|아니";
    sentences.first().is_some_and(|one| is_one_of(one.words.trim_end(), NO))
}

/// Whether the user interrupted to retype the same prompt with changes.
fn is_retyped(text: &str, previous: Option<&str>) -> bool {
    let Some(previous) = previous else { return false };
    let same = text.chars().zip(previous.chars()).take_while(|(one, other)| one == other).count();
    let shorter = text.chars().count().min(previous.chars().count());
    shorter > 0 && same * 10 >= shorter * 7
}

fn is_worded(text: &str, sentences: &[Sentence]) -> bool {
    if is_trivial(text) {
        return false;
    }
    let Some(opening) = opening(sentences) else { return false };
    let near = &sentences[..sentences.len().min(SENTENCES_MAX)];
    let first = &sentences[opening];
    // "Why do we have a cap? We don't want one."
    let answer = first.is_question.then(|| near.get(opening + 1)).flatten();
    changes_direction(first)
        || contradicts(first)
        || answer.is_some_and(changes_direction)
        || near.iter().any(|sentence| !sentence.is_item && contradicts(sentence))
        || near.iter().any(|sentence| is_emphatic(&text[sentence.range.clone()]))
}

/// The first sentence with content: not "ok" or "looks good".
fn opening(sentences: &[Sentence]) -> Option<usize> {
    let says = |sentence: &Sentence| {
        let words = without_lead(&sentence.words);
        let is_filler = is_trivial(words) && !starts_any(words, "no|nope");
        !is_filler && !starts_any(words, "i was unclear|my mistake|my bad")
    };
    sentences.iter().position(says)
}

/// Whether a sentence shouts its negation: "that does NOT work".
fn is_emphatic(sentence: &str) -> bool {
    const SHOUTED: &str = "NOT|NO|DON'T|ISN'T|AREN'T|DOESN'T|WRONG|STOP|NEVER|WHY|DIDN'T|WON'T|\
        DONT";
    let is_upper = |word: &str| word.len() > 1 && !word.contains(|c: char| c.is_lowercase());
    let mut words = sentence.split(|c: char| !(c.is_alphanumeric() || c == '\'')).peekable();
    let mut before = "";
    while let Some(word) = words.next() {
        // SQL such as `NOT NULL` has capitals on both sides.
        let is_alone = !is_upper(before) && !words.peek().is_some_and(|next| is_upper(next));
        if is_alone && is_one_of(word, SHOUTED) {
            return !sentence.ends_with('?') && sentence.contains(char::is_lowercase);
        }
        before = word;
    }
    false
}

/// Whether a first sentence forbids something or changes the direction.
fn changes_direction(sentence: &Sentence) -> bool {
    const STARTS: &str = "instead|rather than|not like|not a|not an|not the|not that|not this|\
        not what|not so|not there|not here|not in|not on|not quite|not exactly|leave it|too much|\
        too many|too complicated|we don't need|we do not need|we dont need|no need for|\
        there is no need for|there's no need for|we already have|we don't want|i don't want|\
        i do not want|i dont want|i don't like|i'd rather|i would rather|i'd prefer|\
        i would prefer|i prefer|keep the original|keep the old|keep it|technically|\
        the docs say otherwise|again ,|as i said|like i said|it must not|it should not|\
        it shouldn't|it mustn't|it should be|it has to|it needs to|this should be|that should be|\
        that should have|this should have|it should have|nothing changed|wait with|let's not|\
        lets not|let's discuss|back to|hands off|redo|do it properly|do it right|what i want is|\
        all i want|i just want|i only want|the point is|stick to|stick with|let's stick|forget it|\
        forget that|forget about|incorrect|close , but|almost , but|reread|re-read|think again|\
        look again|look closer";
    let words = without_lead(&sentence.words);
    if is_denial(words) || is_foreign_denial(words) {
        return true;
    }
    if sentence.is_question {
        return starts_any(words, "can you not|could you not|can we not|could we not|shouldn't");
    }
    limiting::is_limit(sentence)
        || is_prohibition(words)
        || is_change_of_mind(words)
        || is_undo(words)
        || says_leave_alone(words)
        || starts_any(words, STARTS)
        || stops_habit(words)
}

/// Whether a sentence starts with a "no" that contradicts.
fn is_denial(words: &str) -> bool {
    // A "no" that answers a question, says thanks or counts something.
    const OTHER: &str = "thanks|thank you|thx|that's all|that is all|that's it|that's fine|\
        that's ok|it's fine|it's ok|all good|worries|problem|problems|rush|idea|need|needed|hurry|\
        pressure|i haven't|i have|i don't know|i never|i'm not sure|we have|we haven't|\
        we don't have|there is|there are|there's|it only|it's only|not yet|nothing|none|go ahead|\
        continue|you can|it doesn't matter";
    // Words that can follow a contradicting "no" without a comma: "no use the other one".
    const APART: &str = "man|dude|bro|wait|use|don't|dont|do not|that|that's|this|it|it's|you|\
        you're|i|i'm|we|not|the|leave|keep|put|make|let's|please|stop|no";
    const NO: &str = "no no no|no no|no|nope|nah|nooo|noo";
    let Some(rest) = after_any(words, NO) else { return false };
    if starts_any(without_lead(rest), OTHER) {
        return false;
    }
    // Otherwise "no" counts things: "no tests exist".
    let is_alone = rest.is_empty() || rest.starts_with(',') || !starts(words, "no");
    is_alone || starts_any(rest, APART)
}

fn is_foreign_denial(words: &str) -> bool {
    const SAID: &str = "nein ,|nein|falsch|das ist falsch|das ist nicht|das war nicht|nicht die|\
        nicht das|nicht den|nicht so|das stimmt nicht|mach das nicht|lass das|stimmt nicht|non ,|\
        pas comme|pas ça|ce n'est pas|c'est faux|ne fais pas|arrête de|no es|eso no|así no|\
        está mal|não ,|não é|isso não|está errado|sbagliato|non è|нет|не надо|не трогай";
    const UNSEPARATED: &str = "不对|不是|错了|错误|不要|别|违|應該|应该是|還是|还是|違い|違う|そうじゃ|ではなく|やめて|しないで|아니|아뇨|\
        하지 마|틀렸";
    const HARMLESS: &str = "nein danke|non merci|no es nada|não obrigado|нет спасибо|нет проблем|\
        nicht so wichtig";
    let is_said = starts_any(words, SAID) && !is_trivial(words);
    (is_said || starts_with_any(words, UNSEPARATED)) && !starts_any(words, HARMLESS)
}

/// Whether a sentence forbids what the agent does or might do next.
fn is_prohibition(words: &str) -> bool {
    const NOT_FORBIDDEN: &str = "you|we|they|i|worry|hesitate|know|think|understand|see|remember|\
        forget|mind|bother|get|disturb|have|need|believe|care|panic|be|feel|expect|spend|waste|\
        even|let|want|like";
    const LATER: &str = "yet|now|just tell|just look|just explain|for now";
    let Some(rest) = after_any(words, "don't|dont|do not|never") else { return false };
    !starts_any(rest, NOT_FORBIDDEN) && !has_any(words, LATER)
        || starts_any(rest, "want|like") && !starts(words, "do not")
}

fn stops_habit(words: &str) -> bool {
    let Some(rest) = after_any(words, "stop|quit|can you stop|could you stop") else {
        return false;
    };
    first(rest).ends_with("ing") || starts_any(rest, "it|that|this|here|with")
}

/// "leave the tests alone"
fn says_leave_alone(words: &str) -> bool {
    starts(words, "leave") && has_any(words, "alone|as is|as it is|as they are|untouched|unchanged")
}

/// Whether the user chooses another way than they or the agent said before.
fn is_change_of_mind(words: &str) -> bool {
    const OTHERWISE: &str = "no|not|don't|dont|do not|that's not|that is not|that's wrong|leave|\
        keep|use|revert|undo|forget|let's not|let's|lets|it should|it must|the|we don't|we should|\
        i want|i wanted|make it|put it|that is";
    const HELD: &str = "let's|lets|let me|don't|dont|do not|no|that's|that is|why are|before|you|\
        there|stop|slow down";
    if let Some(rest) = after_any(words, "actually|on second thought|scratch that") {
        return starts_any(rest.trim_start_matches(", "), OTHERWISE) || starts(words, "scratch");
    }
    let held = after_any(words, "wait|hold on|hang on|hold up|whoa|woah");
    held.is_some_and(|rest| starts_any(without_lead(rest), HELD))
}

/// Whether a sentence asks to undo the last change.
fn is_undo(words: &str) -> bool {
    const DONE: &str = "that|this|it|these|those|everything|all of it|all of that|your|the last|\
        the previous|the change|the changes|to the previous|to the old|to how";
    if let Some(rest) = after_any(words, "undo|revert|roll back|rollback|go back") {
        return rest.is_empty() || starts_any(rest, DONE);
    }
    let Some(rest) =
        after_any(words, "put|bring|restore|change|switch|take|remove|delete|get rid of")
    else {
        return false;
    };
    starts_any(rest, DONE) && has_any(rest, "back|out again|it again|that again")
}

/// Whether a sentence accuses, contradicts, or says that something still fails.
fn contradicts(sentence: &Sentence) -> bool {
    let words = without_lead(&sentence.words);
    if starts_any(&sentence.words, EXCLAMATIONS) || has_any(words, "wth|wtf|ffs") {
        return true;
    }
    if is_reproach(words) || ends_with_instead(words) {
        return true;
    }
    if sentence.is_question {
        let is_tag = words.trim_end().ends_with(", no");
        return (is_tag && is_verdict(words)) || is_doubt(words);
    }
    is_accusation(words)
        || is_recalled(words)
        || is_verdict(words)
        || still_fails(words)
        || has_contrast(words)
        || says_already_exists(words)
}

const EXCLAMATIONS: &str = "ehh|eh|slow down|ugh|argh|ffs|wtf|damn|crap|ah crap|oh no|come on|\
    nooo|seriously";

/// "are you sure?", "why is it still …?"
fn is_doubt(words: &str) -> bool {
    const DOUBTS: &str = "i thought we|i thought we'd|i thought you|isn't there something";
    let why_still = starts_any(words, "why is|why does|why do|why are") && has(words, "still");
    why_still || has_any(words, DOUBTS) || starts_any(words, "are you sure|you sure|is that really")
}

/// "why did you delete …", "why are you rewriting …"
fn is_reproach(words: &str) -> bool {
    const DID: &str = "delete|remove|change|rewrite|revert|drop|rename|add|touch|edit|modify|\
        replace|skip|ignore|overwrite|hardcode|commit|push|create|move|disable|comment|stash|\
        reset|install|break|merge|force|stop|run|rebase|amend|close|not|even|switch|downgrade|\
        upgrade|reformat|refactor|start|again|do that|do this";
    const ALWAYS: &str = "why are you|why would you|why are we|why didn't you|why'd you|\
        what are you doing|what are you talking|why the hell|what the hell|what on earth";
    if let Some(rest) = after_any(words, "why did you|why have you|why do you") {
        return starts_any(rest, DID) || has(rest, "keep");
    }
    starts_any(words, ALWAYS)
}

/// "you forgot …", "you're editing …", "your fix only …"
fn is_accusation(words: &str) -> bool {
    const DID: &str = "haven't|hadn't|were told|lost me|just duplicated|have directions|\
        have instructions|forgot|missed|misunderstood|misread|misinterpreted|skipped|broke|\
        removed|deleted|changed|dropped|ignored|overwrote|should have|shouldn't|should not|\
        were supposed|weren't supposed|are supposed|didn't|did not|didnt|keep|added|renamed|moved|\
        replaced|reverted|committed|pushed|lost|left out|left the|put the|put it|made it|used the|\
        just deleted|just removed|still|again|only|don't need to|do not need to|are in|are not|\
        aren't|can't|cannot|made that up|invented|introduced|hardcoded|duplicated|wrote the wrong|\
        got it wrong|got that wrong";
    const HARMLESS: &str = "forgot nothing|missed nothing|are not wrong|keep going|only need|\
        only have to|didn't have to|can't miss";
    const BEING: &str = "wrong|mistaken|confused|missing|not listening|overcomplicating";
    const THEIRS: &str = "your|the tests you|the code you|the test you|the fix you|what you did";
    const FAULTS: &str = "only|doesn't|don't|does not|do not|isn't|is not|breaks|broke|wrong|too|\
        misses|missing|never|fails|not";
    if let Some(rest) = after_any(words, "you're|you are|youre|you've|you have") {
        let is_praise = has_any(rest, "great|well|good|right");
        let is_found = starts(words, "you've") && starts(rest, "got");
        let is_doing = first(rest).ends_with("ing") || starts_any(rest, BEING);
        return (is_doing || is_found || starts_any(rest, DID)) && !is_praise;
    }
    if let Some(rest) = after_any(words, "you|u") {
        return starts_any(rest, DID) && !starts_any(rest, HARMLESS);
    }
    has_any(words, "you were told|you hallucinated|you made up")
        || (starts_any(words, THEIRS) && has_any(words, FAULTS))
}

/// "I said …", "I asked for …", "that is not what I meant"
fn is_recalled(words: &str) -> bool {
    const SAID: &str = "i said|i told you|i meant|i asked for|i asked you|i only asked|\
        i only wanted|i just wanted|i wanted|i didn't ask|i did not ask|i didnt ask|i never asked|\
        i didn't mean|i did not mean|i didn't say|i never said|i mentioned|i already said|\
        i already told|i explicitly|i specifically|i thought we|i thought we'd|i thought you|\
        i was unclear|we decided|we agreed|we said|we settled on|i reverted|i undid|i'm undoing|\
        i don't think that's|i don't think this|i don't think so|i don't think you|i doubt|\
        i don't trust";
    const HARMLESS: &str = "i meant to|i said yes|i said no to|i said ok|i wanted to|\
        i mentioned to|i said i|i told you about|i said it";
    const MEANT: &str = "what i meant|what i asked|what i wanted|what i said|what i mean|\
        what i want|what we agreed|what we discussed|what was asked|as i asked";
    const READ: &str = "please read the|read the|read it|reread|i mentioned that";
    let is_said = starts_any(words, SAID) && !starts_any(words, HARMLESS);
    let is_meant = has_any(words, MEANT) && has_any(words, "not|isn't|isnt|wasn't|never");
    let is_read = has_any(words, READ) && has_any(words, "again|twice already");
    is_said || is_meant || is_read
}

/// "that's wrong", "this is not right", "too complicated"
fn is_verdict(words: &str) -> bool {
    const NEGATED: &str = "that isn't|that isnt|this isn't|this isnt|it isn't|that wasn't|\
        this doesn't|that doesn't";
    const MISSED: &str = "what|right|correct|how|the|working|good|it|needed|make sense|look right|\
        look good|belong|true|going to work";
    const IT: &str = "that's|thats|that is|that was|this is|this was|it's|its|it is|it was|\
        these are|they are|this looks|that looks|it looks|looks|that seems|this seems";
    const BAD: &str = "confusing|odd|weird|no good|pointless|a hallucination|a mess|messed up|\
        noise|just noise|not promising|not gonna|not going to|not really gonna|simply not|\
        simply isn't|useless|not true|wrong|not right|not correct|incorrect|not what|not how|\
        not the|not it|not good|not working|not needed|not necessary|not enough|the wrong|the old|\
        too|overkill|overengineered|over-engineered|a mistake|unnecessary|broken|a lot of code|\
        ugly|a hack|hacky|bad|worse|backwards|the opposite|unreadable|a bad|a terrible|terrible|\
        nonsense|exactly the opposite|not a good|not an|still|slower|way too|off|wrongly|all wrong";
    const HARMLESS: &str = "not bad|too bad|not a problem|not urgent|not important|\
        not the problem|too early to|still needed|not an issue|not a big|too soon to|still open";
    if let Some(rest) = after_any(words, NEGATED) {
        return starts_any(rest, MISSED);
    }
    if let Some(rest) = after_any(words, IT) {
        return starts_any(rest, BAD) && !starts_any(rest, HARMLESS);
    }
    is_fault(words)
}

/// Whether a sentence names a fault.
fn is_fault(words: &str) -> bool {
    const FAULTS: &str = "is too|are too|way too|is confusing|is goofed|a hallucination|\
        isn't true|is not true|aren't true|not a fan|not to like|don't like|i don't trust|\
        not sure i trust|is no good|is wrong|are wrong|looks wrong|look wrong|is incorrect|\
        isn't right|is not right|not what i|on the wrong|in the wrong|is the wrong|don't add up|\
        isn't correct|doesn't make sense|makes no sense|this is not the|that's not the|\
        that is not the|it's not the|bad idea|not a good idea|looks off|seems off|\
        doesn't look right";
    // Sentences that ask about faults or search for them.
    const SOUGHT: &str = "that are wrong|what is wrong|if it is wrong|things that|what's wrong|if|\
        whether";
    let is_short = words.split(' ').filter(|word| !word.is_empty()).count() <= 3;
    (is_short && starts(words, "wrong"))
        || (has_any(words, FAULTS) && !has_any(words, SOUGHT))
        || starts_any(words, "not promising|odd|weird|not good")
}

/// "still broken", "same error", "that didn't work"
fn still_fails(words: &str) -> bool {
    const STILL: &str = "still broken|still failing|still fails|still fail|still not|\
        still doesn't|still doesnt|still does not|still don't|still can't|still cannot|\
        still won't|still isn't|still see|still seeing|still the same|still shows|still getting|\
        still get|still wrong|still there|still happens|still crashes|still an error|still errors|\
        still have|still red|still slow|still missing|still has|still no|same error|same problem|\
        same issue|same result|fails again|failed again|broken again|nothing changed|\
        nothing has changed|no difference|didn't help|did not help|didnt help|same stack trace";
    const IT: &str = "it|that|this|doesn't|didn't|doesnt|didnt|does not|not|did not|now";
    const FAILS: &str = "doesn't work|didn't work|does not work|did not work|doesnt work|\
        didnt work|not working|isn't working|doesn't compile|doesnt compile|won't compile|\
        does not compile|doesn't build|doesn't help|makes it worse|broke|doesn't seem to work|\
        does nothing|did nothing|partially worked|doesn't show|not gonna work|won't work|\
        will not work|wouldn't work|can't work|fails with|fails|crashes|an error|is broken|\
        is gone|is empty|is missing|is blank";
    const OTHERS: &str = "users|customers|people|they|do you still|is|are|we still have time|\
        clients|somebody|while|if|when";
    let fails = has_any(words, STILL);
    let it_fails = starts_any(words, IT) && has_any(words, FAILS);
    let unseen = starts_any(words, "i don't see|i dont see|i can't see|i see no")
        && !starts_any(words, "i don't see why|i don't see a problem|i don't see an issue");
    (fails || it_fails || unseen) && !starts_any(words, OTHERS)
}

/// "on the left, not on the right"
fn has_contrast(words: &str) -> bool {
    const SAID: &str = ", not|and not per|and not the|and not in|and not on";
    const CLAIM: &str = "should|must|has to|want|use|belongs|goes|is|are";
    const HARMLESS: &str = ", not sure|, not yet|, not bad|, not only|, not necessarily|\
        , not to mention|, not just|, not now|, not urgent";
    has_any(words, SAID)
        && has_any(words, CLAIM)
        && !has_any(words, HARMLESS)
        && !starts_any(words, "why|if|when|what|because|whether")
}

/// "we have this somewhere already"
fn says_already_exists(words: &str) -> bool {
    const KNOWN: &str = "we have|we already|you already|there's already|there is already|\
        that already|this already|i've already told|i already told|we've already got";
    starts_any(words, KNOWN) && has(words, "already") && !has_any(words, "done|started")
}

fn ends_with_instead(words: &str) -> bool {
    words.trim_end().ends_with(" instead")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_the_user_answers_is_a_correction() {
        let is_correction = |text: &str| correction(text, PromptContext::default()).is_some();
        assert!(is_correction("Why do we have a cap? We don't want one."));
        assert!(!is_correction("Why do we have a cap? The list is short."));
        assert!(!is_correction("Why do we have a cap?"));
    }
}
