//! Finds secrets that are assigned to a name, in any syntax.
//!
//! Examples: `name=value`, `name: "value"`, `\"name\": \"value\"`, `<name>value</name>`,
//! `--name value`, or a value near the name in a sentence.

use super::REDACTION_MARK;
use super::base64::is_userpass;
use super::hit::SecretCandidate;
use super::human_chosen::{HUMAN_CHOSEN_BYTES_MIN, ValueContext};
use super::joined_lines::{JoinedLines, break_length, space_length};
use super::name::SecretNames;
use super::value::{EvidenceStrength, ValueChecker, is_numbered_name, is_uuid};
use super::words::oddity;
use std::ops::Range;

/// The maximum length of a name.
pub(super) const NAME_BYTES_MAX: usize = 64;
/// The maximum length of a value, and of a type annotation before it.
const VALUE_BYTES_MAX: usize = 4096;
const TYPE_BYTES_MAX: usize = 48;
/// The maximum distance, in bytes and in words, between a name and a value in a sentence.
const NEAR_BYTES_MAX: usize = 48;
const NEAR_WORDS_MAX: usize = 4;
/// The minimum length of a number that is a token.
const ACCOUNT_DIGITS_MIN: usize = 15;
/// The maximum length of further attributes of an XML element.
const ATTRIBUTES_BYTES_MAX: usize = 128;
/// The maximum number of YAML tags and anchors before a value.
const TAGS_MAX: usize = 3;

/// How a value is assigned to a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AssignmentSign {
    /// `name=value`, without blanks.
    Tight,
    /// With blanks: `name = value`, `name: value`.
    Loose,
    /// `<name>value</name>`
    Element,
    /// `"name", "value"`. Only quoted values count.
    Comma,
    /// `name == "value"`. Only quoted values count.
    Comparison,
    /// `name || "value"`. Only quoted values count.
    Fallback,
    /// `PASSWORD 'value'`. Only quoted values count, and only for names that mean nothing else.
    Adjacent,
    /// `#define NAME "value"`, `ENV NAME value`, `setx NAME value`.
    Directive,
    /// `define("NAME", "value")` and `.setPassword("value")`. Only quoted values count.
    Argument,
}

/// The calls that take a name and its value, or the value to use if there is none.
const SETTING_CALLS: [&[u8]; 8] = [
    b"define",
    b"setenv",
    b"putenv",
    b"set_var",
    b"setproperty",
    b"getenv",
    b"environ.get",
    b"env.fetch",
];
/// The words that assign the value after a name to it.
const DIRECTIVES: [&[u8]; 7] = [b"#define", b"ENV", b"setenv", b"setx", b"set", b"setq", b"defvar"];
/// Those of them that also take a value without quotes. `set` is a verb of sentences.
const BARE_DIRECTIVES: [&[u8]; 3] = [b"ENV", b"setenv", b"setx"];
/// Words after the dot of a name that change nothing: `password.default`.
const DOTTED_TAILS: [&[u8]; 8] =
    [b"default", b"value", b"text", b"data", b"prod", b"production", b"dev", b"test"];
/// The last names of calls that only wrap a value.
const WRAPPERS: [&[u8]; 14] = [
    b"Some",
    b"Secret",
    b"SecretStr",
    b"SecretString",
    b"SecureString",
    b"String",
    b"string",
    b"str",
    b"byte",
    b"bytes",
    b"Bytes",
    b"from",
    b"fromhex",
    b"new",
];
/// The maximum length of an expression before the value it falls back to.
const FALLBACK_BYTES_MAX: usize = 96;
/// What the name of a call begins with that takes a secret. Other calls check or hash one.
const SETTERS: [&[u8]; 4] = [b"set", b"with", b"use", b"add"];

/// Finds the secret assigned to the name at this candidate. Returns its kind and range.
pub(super) fn find(
    hit: SecretCandidate<'_>,
    names: &SecretNames,
    values: &ValueChecker,
) -> Option<(&'static str, Range<usize>)> {
    let end = name_end(hit);
    let Some((at, sign)) = sign_after(hit, end) else {
        return find_nearby(hit, end, names, values);
    };
    let letters = value_start(hit.text, at);
    let joined =
        JoinedLines::new(hit, letters, letters, true).filter(|_| sign != AssignmentSign::Element);
    let over_lines = joined.and_then(|joined| {
        let (kind, range) = assigned_secret(joined.hit(), at, sign, end, names, values)?;
        Some((kind, joined.original_range(&range)))
    });
    over_lines.or_else(|| assigned_secret(hit, at, sign, end, names, values)).or_else(|| {
        find_nearby(hit, end, names, values).filter(|_| sign == AssignmentSign::Adjacent)
    })
}

/// The kind and range of the value at `at`, assigned to the name that ends at `end`, if it is a
/// secret.
fn assigned_secret(
    hit: SecretCandidate<'_>,
    at: usize,
    sign: AssignmentSign,
    end: usize,
    names: &SecretNames,
    values: &ValueChecker,
) -> Option<(&'static str, Range<usize>)> {
    let value = value_at(hit, at, sign, end)?;
    if value.at.len() < HUMAN_CHOSEN_BYTES_MIN {
        return None;
    }
    let base = strength(hit, end, names).or_else(|| {
        let plain = matches!(sign, AssignmentSign::Tight)
            && name_until(hit, end).trim_ascii().eq_ignore_ascii_case(b"key");
        plain.then_some(EvidenceStrength::Near)
    })?;
    let letters = &hit.text[value.at.clone()];
    let of_service = || names.is_of_service(name_until(hit, end));
    let strength = if sign == AssignmentSign::Comma {
        comma_strength(letters, base, of_service())
    } else {
        base
    };
    // Without quotes the name may be a variable that is passed along.
    let is_variable = sign == AssignmentSign::Comma && hit.text.get(end) == Some(&b',');
    if is_variable && !matches!(base, EvidenceStrength::Password | EvidenceStrength::Explicit) {
        return None;
    }
    if sign == AssignmentSign::Directive && repeats_name(hit, letters) {
        return None;
    }
    if sign == AssignmentSign::Adjacent && !is_adjacent_secret(letters, base, of_service()) {
        return None;
    }
    if is_resource_name(hit, &value) {
        return None;
    }
    let in_query = matches!(hit.text[..name_start(hit)].last(), Some(b'?' | b'&' | b'#'));
    let served = matches!(strength, EvidenceStrength::Explicit)
        && is_account_number(letters)
        && of_service();
    let real = values.is_secret(letters, strength, value.bare)
        || served
        || (in_query && strength == EvidenceStrength::Password && values.is_mixed(letters))
        || (in_query && sign == AssignmentSign::Tight && values.is_query_token(letters))
        || (strength == EvidenceStrength::Weak && hides_userpass(letters))
        || (is_uuid(letters)
            && sign != AssignmentSign::Comma
            && names.is_access_token(name_until(hit, end)))
        || is_human_chosen(hit, &value, sign, end, strength, values);
    let kind = if strength == EvidenceStrength::Password { "password" } else { "secret" };
    real.then_some((kind, value.at))
}

/// How strong the evidence is in `"name", "value"`. A list of names looks the same, so it is weak
/// unless the value cannot be a name.
fn comma_strength(letters: &[u8], base: EvidenceStrength, of_service: bool) -> EvidenceStrength {
    let is_strong = matches!(base, EvidenceStrength::Password | EvidenceStrength::Explicit);
    let has_digit = letters.iter().any(u8::is_ascii_digit);
    let random = letters.len() >= COMMA_BYTES_MIN && oddity(letters) >= COMMA_ODDITY_MIN;
    let named = of_service && base == EvidenceStrength::Explicit;
    if named || (is_strong && has_digit && random) { base } else { EvidenceStrength::Weak }
}

/// Whether a value has the word of its name in it, as in `#define TXT_PSK_AES "PSK-AES128"`.
fn repeats_name(hit: SecretCandidate<'_>, letters: &[u8]) -> bool {
    let word = hit.rest().strip_prefix(b"_").unwrap_or(hit.rest());
    let word = &word[..prefix_length(word, NAME_BYTES_MAX, |byte| byte.is_ascii_alphabetic())];
    letters.windows(word.len().max(1)).any(|part| part.eq_ignore_ascii_case(word))
}

/// The minimum length and oddity of a value that cannot be a name in a list.
const COMMA_BYTES_MIN: usize = 12;
const COMMA_ODDITY_MIN: usize = 45;

/// Whether a quoted value right after a name can be its secret. In sentences, the quotes after
/// `secret` have the name or the id of one.
fn is_adjacent_secret(letters: &[u8], base: EvidenceStrength, of_service: bool) -> bool {
    let has_digit = letters.iter().any(u8::is_ascii_digit);
    match base {
        EvidenceStrength::Password => has_digit,
        EvidenceStrength::Explicit => {
            has_digit
                && letters.len() >= COMMA_BYTES_MIN
                && !is_numbered_name(letters)
                && (of_service || !is_uuid(letters))
        }
        EvidenceStrength::Secret | EvidenceStrength::Weak | EvidenceStrength::Near => false,
    }
}

struct AssignedValue {
    at: Range<usize>,
    bare: bool,
    quoted: bool,
}

/// Whether the context suggests a human-chosen password or a short token.
fn is_human_chosen(
    hit: SecretCandidate<'_>,
    value: &AssignedValue,
    sign: AssignmentSign,
    end: usize,
    strength: EvidenceStrength,
    values: &ValueChecker,
) -> bool {
    let letters = &hit.text[value.at.clone()];
    if strength != EvidenceStrength::Password {
        let alone = is_alone(hit.text, value);
        return (is_option(hit) && alone && values.is_option_token(letters))
            || ((value.quoted || alone) && is_token(hit, sign, end) && values.is_token(letters));
    }
    if sign == AssignmentSign::Tight
        && value.quoted
        && is_all_caps(hit, end)
        && values.is_phrase(letters)
    {
        return true;
    }
    let spaced = value.quoted && letters.contains(&b' ');
    value_context(hit, value, sign, end).is_some_and(|place| {
        values.is_human_chosen(letters, place) || (spaced && values.is_spaced_password(letters))
    })
}

/// The context of a value; `None` where code may occur instead.
fn value_context(
    hit: SecretCandidate<'_>,
    value: &AssignedValue,
    sign: AssignmentSign,
    end: usize,
) -> Option<ValueContext> {
    if value.quoted {
        return (!matches!(sign, AssignmentSign::Comma | AssignmentSign::Comparison))
            .then_some(ValueContext::Quoted);
    }
    let text = hit.text;
    let start = name_start(hit);
    let between = &text[end..value.at.start];
    let equals = between.contains(&b'=') && !between.contains(&b'>');
    if !is_alone(text, value) {
        let given = sign == AssignmentSign::Tight
            || (sign == AssignmentSign::Loose && !between.contains(&b'='));
        return (given && is_enclosed(text, value)).then_some(ValueContext::Enclosed);
    }
    let line_begins = matches!(text[..start].last(), None | Some(b'\n'));
    match sign {
        _ if is_option(hit) => {
            Some(if equals { ValueContext::Variable } else { ValueContext::Command })
        }
        AssignmentSign::Directive => Some(ValueContext::Command),
        AssignmentSign::Tight if equals => variable_context(&text[..start], is_all_caps(hit, end)),
        AssignmentSign::Loose if equals => line_begins.then_some(ValueContext::Line),
        AssignmentSign::Tight | AssignmentSign::Loose => {
            between.contains(&b':').then_some(ValueContext::Line)
        }
        AssignmentSign::Element
        | AssignmentSign::Comma
        | AssignmentSign::Comparison
        | AssignmentSign::Fallback
        | AssignmentSign::Adjacent
        | AssignmentSign::Argument => None,
    }
}

/// The context of `name=value` without blanks, from the text before it. A call argument may also be
/// on its own line.
fn variable_context(before: &[u8], all_caps: bool) -> Option<ValueContext> {
    let blanks = before.iter().rev().take_while(|byte| is_blank(**byte)).count();
    match before.last() {
        None | Some(b'\n' | b';' | b'&' | b'?' | b'\\') => Some(ValueContext::Variable),
        Some(byte) if is_quote(*byte) => Some(ValueContext::Variable),
        Some(byte) if is_blank(*byte) => match before[..before.len() - blanks].last() {
            None | Some(b'\n' | b',' | b'(') if !all_caps => Some(ValueContext::Line),
            _ => Some(ValueContext::Variable),
        },
        Some(_) => None,
    }
}

/// Whether the value is not part of a call or an expression.
fn is_alone(text: &[u8], value: &AssignedValue) -> bool {
    let behind = &text[value.at.end..];
    let behind = behind.strip_prefix(b".").filter(|_| value.bare).unwrap_or(behind);
    let blanks = prefix_length(behind, 16, is_blank);
    match behind.get(blanks) {
        None | Some(b'\n' | b'\r' | b'\\') => true,
        Some(byte) if is_quote(*byte) => true,
        Some(b';' | b'&') => blanks == 0,
        Some(byte) => blanks > 0 && !b"=(){}[]?:|&<>*+/.,;".contains(byte),
    }
}

/// Whether another setting or the end of a list of settings follows.
fn is_enclosed(text: &[u8], value: &AssignedValue) -> bool {
    let behind = &text[value.at.end..];
    let blanks = prefix_length(behind, 16, is_blank);
    match behind.get(blanks) {
        Some(b',' | b';') => blanks == 0,
        Some(b')' | b']' | b'}') => true,
        _ => false,
    }
}

/// Whether the name of an assignment ends with `token`.
fn is_token(hit: SecretCandidate<'_>, sign: AssignmentSign, name_end: usize) -> bool {
    let name = &hit.text[hit.at..name_end];
    let from = name.len().saturating_sub(b"token".len());
    let given = matches!(
        sign,
        AssignmentSign::Tight
            | AssignmentSign::Loose
            | AssignmentSign::Element
            | AssignmentSign::Directive
    );
    given && name[from..].eq_ignore_ascii_case(b"token")
}

/// Whether the value only names a stored secret: the end of an ARN, or a Kubernetes resource name
/// after `secret:`.
fn is_resource_name(hit: SecretCandidate<'_>, value: &AssignedValue) -> bool {
    let start = name_start(hit);
    let before = &hit.text[..start];
    let ends = |byte: &u8| byte.is_ascii_whitespace() || is_quote(*byte) || b"=,()".contains(byte);
    let run = before.iter().rposition(ends).map_or(0, |at| at + 1);
    if before.ends_with(b":") && before[run..].starts_with(b"arn:") {
        return true;
    }
    let plain = hit.text[start..].starts_with(b"secret:") && !value.quoted;
    plain && is_numbered_name(&hit.text[value.at.clone()])
}

/// Whether the name is a command-line option: `--password`, `-Password`.
fn is_option(hit: SecretCandidate<'_>) -> bool {
    let start = name_start(hit);
    hit.text[start..].starts_with(b"--") || is_dashed(hit.text, start)
}

/// Whether an option with one dash starts here, as in PowerShell and Go.
fn is_dashed(text: &[u8], start: usize) -> bool {
    let is_letter = text.get(start + 1).is_some_and(u8::is_ascii_alphabetic);
    let is_word = text[..start].last().is_some_and(|byte| is_blank(*byte));
    text[start..].starts_with(b"-") && is_letter && is_word
}

/// Whether a value is a long number. Some services use one as a token.
fn is_account_number(letters: &[u8]) -> bool {
    (ACCOUNT_DIGITS_MIN..=2 * ACCOUNT_DIGITS_MIN).contains(&letters.len())
        && letters.iter().all(u8::is_ascii_digit)
}

fn is_all_caps(hit: SecretCandidate<'_>, name_end: usize) -> bool {
    !hit.text[hit.at..name_end].iter().any(u8::is_ascii_lowercase)
}

/// Whether a value is base64 of `user:password`, as in the `auth` of a container registry.
fn hides_userpass(letters: &[u8]) -> bool {
    letters.len().is_multiple_of(4) && oddity(letters) >= 25 && is_userpass(letters)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

pub(super) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

pub(super) fn prefix_length(text: &[u8], most: usize, belongs: impl Fn(u8) -> bool) -> usize {
    text.iter().take(most).take_while(|byte| belongs(**byte)).count()
}

/// How strongly the name suggests a secret. A redaction mark is not a name.
pub(super) fn strength(
    hit: SecretCandidate<'_>,
    end: usize,
    names: &SecretNames,
) -> Option<EvidenceStrength> {
    let name = name_until(hit, end);
    let marked = name.windows(REDACTION_MARK.len()).any(|part| part == REDACTION_MARK.as_bytes());
    if marked { None } else { names.strength(name) }
}

/// The start of the name that contains the matched word.
pub(super) fn name_start(hit: SecretCandidate<'_>) -> usize {
    let part = |byte: &&u8| is_name(**byte) || **byte == b'.';
    hit.at - hit.before().iter().rev().take(NAME_BYTES_MAX).take_while(part).count()
}

/// The end of the name that contains the matched word.
pub(super) fn name_end(hit: SecretCandidate<'_>) -> usize {
    let end = hit.at + prefix_length(hit.rest(), NAME_BYTES_MAX, is_name);
    let Some(tail) = hit.text[end..].strip_prefix(b".") else { return end };
    let length = prefix_length(tail, NAME_BYTES_MAX, is_name);
    let is_tail = DOTTED_TAILS.contains(&&tail[..length]);
    if is_tail { end + 1 + length } else { end }
}

/// Whether an assignment follows the name that ends at `end`.
pub(super) fn is_assigned(hit: SecretCandidate<'_>, end: usize) -> bool {
    sign_after(hit, end).is_some()
}

/// The whole name, including a separate word before it, as in `API key`.
fn name_until(hit: SecretCandidate<'_>, end: usize) -> &[u8] {
    let start = name_start(hit);
    let spaced = start == hit.at && hit.text[..start].ends_with(b" ");
    if !spaced {
        let name = &hit.text[start..end];
        // The option of Java before a property is not part of its name.
        return name.strip_prefix(b"-D").unwrap_or(name);
    }
    let before = &hit.text[..start - 1];
    let word = before.iter().rev().take(NAME_BYTES_MAX).take_while(|byte| is_name(**byte)).count();
    &hit.text[start - 1 - word..end]
}

/// The start of the value, and how it is assigned.
fn sign_after(hit: SecretCandidate<'_>, end: usize) -> Option<(usize, AssignmentSign)> {
    let text = hit.text;
    let start = name_start(hit);
    if let Some(from) = tag_end(text, start, end) {
        return Some((from, AssignmentSign::Element));
    }
    let quotes = prefix_length(&text[end..], 8, |byte| is_quote(byte) || b"\\])*".contains(&byte));
    let closed = end + encoded_quote(&text[end..]).map_or(quotes, <[u8]>::len);
    let blanks = prefix_length(&text[closed..], 16, is_blank);
    let at = closed + blanks;
    if let Some(behind) = operator_length(&text[at..]) {
        let from = at + behind;
        if [&b"||"[..], b"??", b"?:"].contains(&&text[at..from]) {
            return Some((skip_to_value(text, from), AssignmentSign::Fallback));
        }
        if is_comparison(&text[at..from]) {
            return Some((skip_to_value(text, from), AssignmentSign::Comparison));
        }
        let tight = blanks == 0 && !text.get(from).is_some_and(|byte| is_blank(*byte));
        let from = skip_to_value(text, from);
        return Some((from, if tight { AssignmentSign::Tight } else { AssignmentSign::Loose }));
    }
    if text.get(at) == Some(&b',') && (closed > end || blanks == 0) {
        if let Some(from) = value_field(text, at) {
            return Some((from, AssignmentSign::Loose));
        }
        let sign = match is_setting(&text[..start]) {
            true => AssignmentSign::Argument,
            false => AssignmentSign::Comma,
        };
        return Some((skip_to_value(text, at + 1), sign));
    }
    if let Some(from) = value_element(text, end) {
        return Some((from, AssignmentSign::Element));
    }
    // The verb `pass` is not a name of a secret.
    let spelled_out = end - hit.at > b"pass".len();
    if spelled_out && text[end..].starts_with(b"(") && is_setter(hit, start) {
        return Some((end + 1, AssignmentSign::Argument));
    }
    if let Some(from) = value_field(text, closed) {
        return Some((from, AssignmentSign::Loose));
    }
    if let Some(from) = typed_value(text, end) {
        return Some((from, AssignmentSign::Loose));
    }
    if let Some(from) = default_field(text, closed) {
        return Some((from, AssignmentSign::Loose));
    }
    let flag = text[start..].starts_with(b"--")
        || text[..start].ends_with(b"--")
        || is_dashed(text, start);
    if flag && blanks > 0 {
        return Some((at, AssignmentSign::Loose));
    }
    let is_quoted = quote_at(text, at).is_some();
    if blanks > 0 && (text[at..].starts_with(b"-> ") || text[at..].starts_with(b"<- ")) {
        return Some((skip_to_value(text, at + 2), AssignmentSign::Fallback));
    }
    if closed > end || blanks == 0 {
        return None;
    }
    if is_directive(&text[..start], is_quoted) {
        return Some((at, AssignmentSign::Directive));
    }
    let is_verb = text[hit.at..end].eq_ignore_ascii_case(b"pass");
    (is_quoted && !is_verb).then_some((at, AssignmentSign::Adjacent))
}

/// The end of the tag whose name is between `start` and `end`, with a namespace and attributes if
/// there are any; or of the tag whose attribute has this name, as in `<entry key="password">`.
fn tag_end(text: &[u8], start: usize, end: usize) -> Option<usize> {
    let before = &text[..start];
    let space = before.strip_suffix(b":").unwrap_or(before);
    let space_name = space.iter().rev().take(NAME_BYTES_MAX).take_while(|byte| is_name(**byte));
    let space_name = if space.len() < before.len() { space_name.count() } else { 0 };
    let rest = &text[end..];
    let attributes = prefix_length(rest, ATTRIBUTES_BYTES_MAX, |byte| !b"<>\n".contains(&byte));
    (rest.get(attributes) == Some(&b'>')).then_some(())?;
    let at = end + attributes + 1;
    if space[..space.len() - space_name].ends_with(b"<") {
        let is_tag = attributes == 0 || is_blank(rest[0]);
        return (is_tag && !rest[..attributes].ends_with(b"/")).then_some(at);
    }
    let names: [&[u8]; 4] = [b"name=\"", b"key=\"", b"name=\\\"", b"key=\\\""];
    let is_attribute = names.iter().any(|name| before.ends_with(name));
    let has_value = [&b"value="[..], b"content="]
        .iter()
        .any(|field| rest[..attributes].windows(field.len()).any(|name| name == *field));
    let is_text = !has_value && !text[at..].trim_ascii_start().starts_with(b"<");
    (is_attribute && is_text && !rest[..attributes].ends_with(b"/")).then_some(at)
}

/// Whether a word before the name assigns the value after it: `ENV `, `#define `, `set -x `.
fn is_directive(before: &[u8], is_quoted: bool) -> bool {
    let Some(word) = before.strip_suffix(b" ").or_else(|| before.strip_suffix(b"\t")) else {
        return false;
    };
    let options: [&[u8]; 3] = [b" -x", b" -gx", b" -Ux"];
    let option = options.iter().find_map(|option| word.strip_suffix(*option));
    let word = option.unwrap_or(word).trim_ascii_end();
    let directives = match is_quoted || option.is_some() {
        true => &DIRECTIVES[..],
        false => &BARE_DIRECTIVES,
    };
    directives.iter().any(|known| {
        let before = word.strip_suffix(*known);
        before.is_some_and(|before| !before.last().is_some_and(u8::is_ascii_alphanumeric))
    })
}

/// The start of the value in `variable "name" { default = "value"`, as in Terraform.
fn default_field(text: &[u8], from: usize) -> Option<usize> {
    let at = from + prefix_length(&text[from..], 4, is_blank);
    let mut rest = text[at..].strip_prefix(b"{")?;
    let space = |rest: &[u8]| space_length(rest, NAME_BYTES_MAX);
    rest = &rest[space(rest)..];
    if let Some(kind) = rest.strip_prefix(b"type") {
        let line = prefix_length(kind, NAME_BYTES_MAX, |byte| byte != b'\n');
        rest = &kind[line..];
        rest = &rest[space(rest)..];
    }
    let rest = rest.strip_prefix(b"default")?;
    let blanks = prefix_length(rest, 32, is_blank);
    let sign = text.len() - rest.len() + blanks;
    operator_length(&text[sign..]).map(|behind| skip_to_value(text, sign + behind))
}

/// Whether a quoted name here is the first argument of a call that takes its value as the second.
fn is_setting(before: &[u8]) -> bool {
    let quotes = |byte: &&u8| is_quote(**byte) || b"\\ ".contains(*byte);
    let before = &before[..before.len() - before.iter().rev().take(8).take_while(quotes).count()];
    let Some(call) = before.strip_suffix(b"(") else { return false };
    SETTING_CALLS.iter().any(|known| {
        let from = call.len().saturating_sub(known.len());
        call[from..].eq_ignore_ascii_case(known)
    })
}

/// Whether the name that starts at `start` is that of a call which takes a secret: `.password(…)`,
/// `setPassword(…)`.
fn is_setter(hit: SecretCandidate<'_>, start: usize) -> bool {
    let name = &hit.text[start..];
    let last = name[..hit.at - start].iter().rposition(|byte| *byte == b'.').map(|dot| dot + 1);
    let is_method = last == Some(hit.at - start);
    let name = &name[last.unwrap_or(0)..];
    let begins = |setter: &&[u8]| {
        name.get(..setter.len()).is_some_and(|word| word.eq_ignore_ascii_case(setter))
    };
    is_method || SETTERS.iter().any(begins)
}

/// The start of the value in `name="NAME"><value>…` and `<key>NAME</key><string>…`.
fn value_element(text: &[u8], end: usize) -> Option<usize> {
    let rest = &text[end..];
    let quotes = prefix_length(rest, 4, |byte| is_quote(byte) || byte == b'\\');
    let attributes =
        prefix_length(&rest[quotes..], ATTRIBUTES_BYTES_MAX, |byte| !b"<>\n".contains(&byte));
    let behind = match rest[quotes + attributes..].strip_prefix(b">") {
        Some(behind) if quotes > 0 => behind,
        _ => rest.strip_prefix(b"</key>")?,
    };
    let at = text.len() - behind.len();
    let at = at + space_length(&text[at..], NAME_BYTES_MAX);
    let elements: [&[u8]; 3] = [b"<value>", b"<Value>", b"<string>"];
    let element = elements.iter().find(|element| text[at..].starts_with(element))?;
    Some(at + element.len())
}

/// The length of an assignment or comparison operator.
fn operator_length(text: &[u8]) -> Option<usize> {
    let signs: [&[u8]; 21] = [
        b"!==", b"===", b"==", b"!=", b":::=", b"::=", b":=", b"=>", b"?=", b"+=", b".=", b"||=",
        b"??=", b"||", b"??", b"?:", b"=", b"%3D", b"%3d", b"%3A", b"%3a",
    ];
    if let Some(sign) = signs.iter().find(|sign| text.starts_with(sign)) {
        return Some(sign.len());
    }
    (text.starts_with(b":") && !text.starts_with(b"::")).then_some(1)
}

/// Whether an operator compares.
fn is_comparison(operator: &[u8]) -> bool {
    operator.ends_with(b"==") || operator == b"!="
}

/// Skips blanks and emphasis. Skips a line break, a parenthesis or a bracket only if a quote follows.
fn skip_to_value(text: &[u8], from: usize) -> usize {
    let emphasis = if text[from..].starts_with(b"**") { 2 } else { 0 };
    let at = from + emphasis + prefix_length(&text[from + emphasis..], 32, is_blank);
    let at = at + tags_length(&text[at..]);
    let opened = at + usize::from(text.get(at).is_some_and(|byte| b"([".contains(byte)));
    let over = opened + space_length(&text[opened..], NAME_BYTES_MAX);
    let strokes = prefix_length(&text[over..], 16, |byte| byte == b'\\');
    let quoted = text.get(over + strokes).is_some_and(|byte| b"\"'".contains(byte));
    if quoted { over } else { at }
}

/// The start of the quoted value in `name type = "value"` and `name[] = "value"`.
fn typed_value(text: &[u8], end: usize) -> Option<usize> {
    let is_type = |byte: u8| byte.is_ascii_alphanumeric() || b"_.*[]()".contains(&byte);
    let before = prefix_length(&text[end..], 4, is_blank);
    let behind = &text[end + before..];
    let before = before + usize::from(behind.starts_with(b"As ") || behind.starts_with(b"as ")) * 3;
    let kind = prefix_length(&text[end + before..], TYPE_BYTES_MAX, is_type);
    let array = text[end..].starts_with(b"[");
    let at = end + before + kind;
    let at = at + prefix_length(&text[at..], 4, is_blank);
    let behind = text.get(at..)?.strip_prefix(b"=").filter(|rest| !rest.starts_with(b"="))?;
    let from = skip_to_value(text, text.len() - behind.len());
    let typed = (before > 0 || array) && kind > 0 && quote_at(text, from).is_some();
    typed.then_some(from)
}

/// The length of YAML tags and anchors before a value, such as `!!str &pw `. A tag that names
/// something else, such as `!Ref`, is part of the value.
fn tags_length(text: &[u8]) -> usize {
    let tags: [&[u8]; 4] = [b"!Sub", b"!str", b"!binary", b"!unsafe"];
    let mut at = 0;
    for _ in 0..TAGS_MAX {
        let tag = prefix_length(&text[at..], NAME_BYTES_MAX, |byte| {
            is_name(byte) || b"!&/.:,".contains(&byte)
        });
        let blanks = prefix_length(&text[at + tag..], 8, is_blank);
        let word = &text[at..at + tag];
        let anchor = word.strip_prefix(b"&").is_some_and(|name| name.iter().all(|b| is_name(*b)));
        let known = word.starts_with(b"!!") || tags.contains(&word);
        let next = text.get(at + tag + blanks);
        // A type in code is followed by `=`: `token: &str = …`.
        let follows = next.is_some_and(|byte| !b"=\n\r#,;)".contains(byte));
        if tag < 2 || blanks == 0 || !(anchor || known) || !follows {
            break;
        }
        at += tag + blanks;
    }
    at
}

/// The start of the text of a value: after its quote, or on the first line of its block.
fn value_start(text: &[u8], at: usize) -> usize {
    let quote = quote_at(text, at).or_else(|| quote_at(text, value_after_type(text, at)?));
    quote.map(|(quote, _)| quote + 1).or_else(|| first_line(text, at)).unwrap_or(at)
}

/// The start of the value in `- name: DB_PASSWORD` followed by `value: …`, in YAML or JSON.
fn value_field(text: &[u8], from: usize) -> Option<usize> {
    let gap = gap_length(&text[from..]);
    let at = from + gap;
    let at = at + prefix_length(&text[at..], 4, |byte| is_quote(byte) || byte == b'\\');
    let fields: [&[u8]; 2] = [b"value", b"Value"];
    let field = fields.iter().find(|field| text[at..].starts_with(field))?;
    let field = field.strip_suffix(b"=").unwrap_or(field);
    let rest = &text[at + field.len()..];
    let closed = prefix_length(rest, 4, |byte| is_quote(byte) || byte == b'\\');
    let blanks = prefix_length(&rest[closed..], 8, is_blank);
    let at = at + field.len() + closed + blanks;
    (gap > 0).then_some(())?;
    operator_length(&text[at..]).map(|behind| skip_to_value(text, at + behind))
}

/// The length of blanks and line breaks around an optional comma.
fn gap_length(text: &[u8]) -> usize {
    let before = space_length(text, NAME_BYTES_MAX);
    let comma = usize::from(text[before..].starts_with(b","));
    before + comma + space_length(&text[before + comma..], NAME_BYTES_MAX)
}

fn value_at(
    hit: SecretCandidate<'_>,
    at: usize,
    sign: AssignmentSign,
    name_end: usize,
) -> Option<AssignedValue> {
    let text = hit.text;
    if sign == AssignmentSign::Element {
        return element_range(text, at).map(|at| AssignedValue { at, bare: false, quoted: true });
    }
    if let Some(at) = quoted_range(text, at).or_else(|| encoded_range(text, at)) {
        return Some(AssignedValue { at, bare: false, quoted: true });
    }
    let is_bare =
        [AssignmentSign::Tight, AssignmentSign::Loose, AssignmentSign::Directive].contains(&sign);
    if !is_bare {
        return None;
    }
    if let Some(at) = block_range(text, at) {
        return Some(AssignedValue { at, bare: false, quoted: true });
    }
    if let Some(at) = value_after_type(text, at).and_then(|at| quoted_range(text, at)) {
        return Some(AssignedValue { at, bare: false, quoted: true });
    }
    // A word in an expression is often a name, so it does not count as quoted.
    let inner = wrapped_value(text, at).or_else(|| fallback_value(text, at));
    if let Some(at) = inner.and_then(|at| quoted_range(text, at)) {
        return Some(AssignedValue { at, bare: false, quoted: false });
    }
    // The end of the text may be missing.
    if let Some((open, 0)) = quote_at(text, at) {
        return Some(AssignedValue {
            at: bare_range(text, open + 1, false),
            bare: true,
            quoted: false,
        });
    }
    let line_begins = matches!(hit.text[..name_start(hit)].last(), None | Some(b'\n'));
    let variable = sign == AssignmentSign::Tight && (line_begins || is_all_caps(hit, name_end));
    Some(AssignedValue { at: bare_range(text, at, variable), bare: !variable, quoted: false })
}

/// The range of the text of an XML element: beside its tags, or on its own line between them.
fn element_range(text: &[u8], at: usize) -> Option<Range<usize>> {
    let gap = space_length(&text[at..], NAME_BYTES_MAX);
    let from = at + gap;
    if let Some(data) = text[from..].strip_prefix(b"<![CDATA[") {
        let length = prefix_length(data, VALUE_BYTES_MAX, |byte| !b"]\n".contains(&byte));
        let from = text.len() - data.len();
        return data[length..].starts_with(b"]]>").then_some(from..from + length);
    }
    let is_own_line = (at..from).any(|at| break_length(&text[at..]).is_some());
    let length = prefix_length(&text[from..], VALUE_BYTES_MAX, |byte| byte != b'<');
    let line = (0..length).find(|at| break_length(&text[from + at..]).is_some());
    let end = from + line.unwrap_or(length);
    let behind = space_length(&text[end..], NAME_BYTES_MAX);
    let closed = text[end + behind..].starts_with(b"</") && (is_own_line || line.is_none());
    closed.then(|| from..from + text[from..end].trim_ascii_end().len())
}

/// The offset of a value's opening quote, and how many backslashes escape it. Of three quotes, the
/// last one opens.
fn quote_at(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let prefix = prefix_length(&text[at..], 3, |byte| b"bBrRfFuU@$#".contains(&byte));
    let prefix = if text.get(at + prefix).is_some_and(|b| is_quote(*b)) { prefix } else { 0 };
    let depth = prefix_length(&text[at + prefix..], 16, |byte| byte == b'\\');
    let open = at + prefix + depth;
    let quote = *text.get(open).filter(|byte| is_quote(**byte))?;
    let is_tripled = depth == 0 && text[open..].starts_with(&[quote; 3]);
    Some((if is_tripled { open + 2 } else { open }, depth))
}

/// The encoded quote at the start of a text, as HTML, JSON and URLs write it.
fn encoded_quote(text: &[u8]) -> Option<&'static [u8]> {
    let quotes: [&[u8]; 6] = [b"&quot;", b"&#34;", b"&#39;", b"&apos;", b"\\u0022", b"%22"];
    text.first().filter(|byte| b"&\\%".contains(byte))?;
    quotes.into_iter().find(|quote| text.starts_with(quote))
}

/// The range between encoded quotes.
fn encoded_range(text: &[u8], at: usize) -> Option<Range<usize>> {
    let quote = encoded_quote(&text[at..])?;
    let from = at + quote.len();
    let line = prefix_length(&text[from..], VALUE_BYTES_MAX, |byte| byte != b'\n');
    let end = text[from..from + line].windows(quote.len()).position(|part| part == quote)?;
    Some(from..from + end)
}

/// The start of the quoted value in `Some("value")` and `[]byte("value")`. Other calls look a value
/// up or translate one.
fn wrapped_value(text: &[u8], at: usize) -> Option<usize> {
    let at = at + if text[at..].starts_with(b"new ") { 4 } else { 0 };
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:<>[]".contains(&byte);
    let path = &text[at..at + prefix_length(&text[at..], NAME_BYTES_MAX, part)];
    let name = path.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let from = at + path.len() + 1;
    let is_wrapper = WRAPPERS.contains(&&path[path.len() - name..]);
    let is_call = text.get(at + path.len()) == Some(&b'(');
    (is_call && is_wrapper && quote_at(text, from).is_some()).then_some(from)
}

/// The start of the quoted value that an expression falls back to: `ENV["KEY"] || "value"`.
fn fallback_value(text: &[u8], at: usize) -> Option<usize> {
    let length = prefix_length(&text[at..], FALLBACK_BYTES_MAX, |byte| !b"\n;".contains(&byte));
    let line = &text[at..at + length];
    let signs: [&[u8]; 4] = [b" || ", b" ?? ", b" ?: ", b" or "];
    let behind = (0..line.len()).find_map(|from| {
        let sign = signs.iter().find(|sign| line[from..].starts_with(sign))?;
        Some(at + from + sign.len())
    })?;
    quote_at(text, behind).map(|_| behind)
}

/// The range between quotes.
fn quoted_range(text: &[u8], at: usize) -> Option<Range<usize>> {
    let (open, depth) = quote_at(text, at)?;
    let from = open + 1;
    let mut slashes = 0;
    for (offset, byte) in text[from..].iter().take(VALUE_BYTES_MAX).enumerate() {
        if *byte == text[open] && (slashes == depth || (depth == 0 && slashes % 2 == 0)) {
            return Some(from..from + offset - depth);
        }
        if *byte == b'\n' {
            return None;
        }
        slashes = if *byte == b'\\' { slashes + 1 } else { 0 };
    }
    None
}

/// The range of the first line below `name: |`.
fn block_range(text: &[u8], at: usize) -> Option<Range<usize>> {
    let from = first_line(text, at)?;
    let continues = |byte: u8| !ends_bare_value(byte) && byte != b'\\';
    let end = from + prefix_length(&text[from..], VALUE_BYTES_MAX, continues);
    (end > from).then_some(from..end)
}

/// The start of the text of a YAML block scalar.
fn first_line(text: &[u8], at: usize) -> Option<usize> {
    text.get(at).filter(|byte| b"|>".contains(byte))?;
    let signs = prefix_length(&text[at + 1..], 2, |byte| b"+-123456789".contains(&byte));
    let broken = at + 1 + signs;
    let from = broken + break_length(&text[broken..])?;
    Some(from + prefix_length(&text[from..], NAME_BYTES_MAX, is_blank))
}

/// The start of the value in `name: Type = "value"`.
fn value_after_type(text: &[u8], at: usize) -> Option<usize> {
    let kind = prefix_length(&text[at..], TYPE_BYTES_MAX, |byte| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'_' | b'&'
                    | b'\''
                    | b'<'
                    | b'>'
                    | b'['
                    | b']'
                    | b'|'
                    | b'?'
                    | b':'
                    | b','
                    | b' '
                    | b'.'
            )
    });
    let behind = text.get(at + kind..)?.strip_prefix(b"=")?;
    let blanks = prefix_length(behind, 4, is_blank);
    (kind > 0 && text[at + kind - 1] == b' ').then_some(at + kind + 1 + blanks)
}

fn ends_bare_value(byte: u8) -> bool {
    byte.is_ascii_whitespace() || is_quote(byte)
}

/// The range of a value without quotes. The value of a variable extends to the next blank.
pub(super) fn bare_range(text: &[u8], at: usize, variable: bool) -> Range<usize> {
    let rest = &text[at..text.len().min(at + VALUE_BYTES_MAX)];
    let escape = |at: usize| {
        rest[at] == b'\\' && rest.get(at + 1).is_some_and(|next| b"nrtu\"'\\x".contains(next))
    };
    let ends = |at: &usize| {
        ends_bare_value(rest[*at]) || escape(*at) || starts_next_assignment(&rest[*at..])
    };
    let mut end = (0..rest.len()).find(ends).unwrap_or(rest.len());
    if !variable {
        let trailing = |byte: &&u8| b",;)]}>.&|".contains(byte);
        end -= rest[..end].iter().rev().take_while(trailing).count();
    }
    at..at + end
}

/// Whether the next assignment starts here (`;name=`, `&name=`, `,name:`), or the element ends.
fn starts_next_assignment(text: &[u8]) -> bool {
    let separated = b";&,".contains(&text[0]);
    let name = prefix_length(&text[1..], NAME_BYTES_MAX, |byte| {
        is_name(byte) || byte == b' ' || byte == b'.'
    });
    let given = text.get(1 + name).is_some_and(|byte| b"=:".contains(byte));
    (separated && name > 0 && given) || text.starts_with(b"</")
}

/// The length of the host and the path before the last part of a URL without its scheme.
fn path_length(word: &[u8]) -> usize {
    let host = word.iter().position(|byte| *byte == b'/').unwrap_or(0);
    let is_host = word[..host].contains(&b'.');
    let last = word.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    if is_host { last } else { 0 }
}

/// Finds a random run of characters in the same sentence.
fn find_nearby(
    hit: SecretCandidate<'_>,
    end: usize,
    names: &SecretNames,
    values: &ValueChecker,
) -> Option<(&'static str, Range<usize>)> {
    let text = hit.text;
    let is_between = |byte: u8| {
        is_blank(byte)
            || is_quote(byte)
            || matches!(byte, b':' | b'*' | b'(' | b'|' | b'>' | b'=' | b'\\')
    };
    let is_run = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'+' | b'/' | b'_' | b'=' | b'.' | b'~' | b'-')
    };
    let mut at = end;
    for _ in 0..=NEAR_WORDS_MAX {
        let gap = prefix_length(&text[at..], 8, is_between);
        at += gap;
        let run = prefix_length(&text[at..], VALUE_BYTES_MAX, is_run);
        if gap == 0 || run == 0 || at > end + NEAR_BYTES_MAX {
            return None;
        }
        let word = &text[at..at + run];
        if run >= 20 {
            let trailing = word.iter().rev().take_while(|byte| **byte == b'.').count();
            let word = &word[..run - trailing];
            // In a URL only the last part can be the secret.
            let at = at + path_length(word);
            let word = &word[path_length(word)..];
            let real = values.is_secret(word, EvidenceStrength::Near, true)
                && strength(hit, end, names).is_some();
            return real.then(|| ("high-entropy", at..at + word.len()));
        }
        if !word.iter().all(u8::is_ascii_lowercase) {
            return None;
        }
        at += run;
    }
    None
}
