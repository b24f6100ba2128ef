//! Which of the things that happened a document names, and which it explains.

use super::explanation::{Explanation, Reader};
use super::facts::Facts;
use super::happened::Happening;
use super::statement::Text;
use super::trace::Trace;
use super::words::{Hollow, stem};
use super::{Item, Told};
use crate::checkpoint::Checkpoint;
use crate::search::{self, is_telling};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

/// Compares what happened with what is told.
pub(super) fn told(checkpoint: &Checkpoint, happened: &[Happening], text: &Text) -> Vec<Item> {
    let mentions: Vec<BTreeSet<usize>> = happened.iter().map(|one| mentions(one, text)).collect();
    let hollow = Hollow::new();
    let facts = Facts::of(checkpoint, &hollow);
    let names = names(happened, &mentions, text);
    let groups = Reader::new(text, &facts, &hollow, &names).read();
    let kins = kins(happened);
    let mut items: Vec<Item> = happened.iter().map(|one| one.item.clone()).collect();
    for (item, mentions) in items.iter_mut().zip(&mentions) {
        if let Some(first) = mentions.first() {
            item.told = Told::Listed;
            item.at = Some(text.sentences[*first].at);
        }
    }
    for (kin, group) in share_out(&kins, &mentions, happened, &groups) {
        for one in &kins[kin] {
            let about = groups[group].iter().find(|told| is_about(told, &mentions[*one]));
            if let Some(about) = about {
                items[*one].told = Told::Explained;
                items[*one].at = Some(about.at);
            }
        }
    }
    items
}

fn mentions(happening: &Happening, text: &Text) -> BTreeSet<usize> {
    happening.traces.iter().flat_map(|trace| trace.find(text)).collect()
}

/// The words that name things, sentence by sentence.
fn names(
    happened: &[Happening],
    mentions: &[BTreeSet<usize>],
    text: &Text,
) -> Vec<HashSet<String>> {
    let mut names = vec![HashSet::new(); text.sentences.len()];
    for (one, mentions) in happened.iter().zip(mentions) {
        if mentions.is_empty() {
            continue;
        }
        let shown = search::words(&one.item.name).into_iter().map(|word| word.text);
        let shown = shown.filter(|word| is_telling(word)).map(|word| stem(&word));
        let looked_for = one.traces.iter().flat_map(Trace::words).cloned();
        let words: HashSet<String> = shown.chain(looked_for).collect();
        for sentence in mentions {
            names[*sentence].extend(words.iter().cloned());
        }
    }
    names
}

/// What is explained together: the same command with other arguments, the changes of one file.
fn kins(happened: &[Happening]) -> Vec<Vec<usize>> {
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut kins = Vec::new();
    for (number, one) in happened.iter().enumerate() {
        match one.kin.as_str() {
            "" => kins.push(vec![number]),
            kin => by_name.entry(kin).or_default().push(number),
        }
    }
    kins.extend(by_name.into_values());
    kins
}

fn is_about(told: &Explanation, mentions: &BTreeSet<usize>) -> bool {
    told.reach.iter().any(|sentence| mentions.contains(sentence))
}

/// Gives each explanation to as many things as it has room for, so that the weightiest are
/// explained. Who has to give way to a weightier one takes another explanation if there is one;
/// so neither the order of the text nor one more explanation ever makes the whole worse.
fn share_out(
    kins: &[Vec<usize>],
    mentions: &[BTreeSet<usize>],
    happened: &[Happening],
    groups: &[Vec<Explanation>],
) -> Vec<(usize, usize)> {
    let is_told_by = |kin: &[usize], group: &[Explanation]| {
        kin.iter().any(|one| group.iter().any(|told| is_about(told, &mentions[*one])))
    };
    let by: Vec<Vec<usize>> = kins
        .iter()
        .map(|kin| (0..groups.len()).filter(|group| is_told_by(kin, &groups[*group])).collect())
        .collect();
    let weight = |kin: &usize| kins[*kin].iter().map(|one| happened[*one].item.weight).sum::<u32>();
    let mut order: Vec<usize> = (0..kins.len()).filter(|kin| !by[*kin].is_empty()).collect();
    order.sort_by_key(|kin| Reverse(weight(kin)));
    let room: Vec<usize> =
        groups.iter().map(|group| group.iter().map(|one| one.room).max().unwrap_or(0)).collect();
    let mut given: Vec<Vec<usize>> = vec![Vec::new(); groups.len()];
    for kin in order {
        give(kin, &by, &room, &mut given);
    }
    let pairs = given.iter().enumerate();
    pairs.flat_map(|(group, kins)| kins.iter().map(move |kin| (*kin, group))).collect()
}

/// Finds room for one, moving others from explanation to explanation where they have another.
fn give(kin: usize, by: &[Vec<usize>], room: &[usize], given: &mut [Vec<usize>]) {
    // For each explanation that was looked at: who would take it.
    let mut taker: Vec<Option<usize>> = vec![None; given.len()];
    let mut waiting = VecDeque::from([kin]);
    while let Some(next) = waiting.pop_front() {
        for group in by[next].iter().copied() {
            if taker[group].is_some() {
                continue;
            }
            taker[group] = Some(next);
            if given[group].len() < room[group] {
                return move_up(group, kin, &taker, given);
            }
            waiting.extend(given[group].iter().copied());
        }
    }
}

fn move_up(mut group: usize, kin: usize, taker: &[Option<usize>], given: &mut [Vec<usize>]) {
    while let Some(next) = taker[group] {
        let held = given.iter().position(|kins| kins.contains(&next));
        given[group].push(next);
        match held.filter(|_| next != kin) {
            Some(held) => {
                given[held].retain(|other| *other != next);
                group = held;
            }
            None => return,
        }
    }
}
