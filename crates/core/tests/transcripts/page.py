"""Reads briefings against the transcripts they were made from, plainly and without the readers. Prints a line for
each claim that the transcript does not bear out, then how many claims of each kind were read.

Usage: page.py < LINES    (each line: {"client": ..., "path": ..., "page": ..., "omitted": [...]})
"""

import json
import re
import sys

from count import arguments, at, blocks, parts, records_of, script
from work import READERS, commits_in, passed, plain

PROSE = re.compile(r"\.(md|mdx|txt|rst|adoc)$", re.I)
EDITS = {"Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}


def edits_of(client, records):
    """Each file that a tool changed: its line and its path."""
    failed = {block.get("tool_use_id") for _, record in records for block in blocks(record) if block.get("is_error") is True}
    refused = {result.get("id") for _, record in records for result in parts(record, "functionResponse") if "error" in (result.get("response") or {})}
    for number, record in records:
        if client == "qwen-code":
            for call in parts(record, "functionCall"):
                given = call.get("args") or {}
                path = given.get("file_path") or given.get("notebook_path")
                if call.get("name") in ("write_file", "edit", "notebook_edit") and path and call.get("id") not in refused:
                    yield number, path
            continue
        if client == "codex":
            payload = record.get("payload")
            text = json.dumps(payload) if isinstance(payload, dict) and "apply_patch" in json.dumps(payload)[:20000] else ""
            for path in re.findall(r"\*\*\* (?:Add|Update|Delete) File: ([^\\\"\n]+)", text):
                yield number, path.strip()
            continue
        inner = record
        if record.get("type") == "progress" and at(record, "data", "type") == "agent_progress":
            inner = at(record, "data", "message") or {}
        for block in blocks(inner):
            if block.get("type") == "tool_use" and block.get("name") in EDITS and block.get("id") not in failed:
                path = (block.get("input") or {}).get(EDITS[block["name"]])
                if path:
                    yield number, path


def strings(value):
    """Every text in a record."""
    if isinstance(value, str):
        yield value
        # Arguments of calls are JSON in a text.
        if value[:1] in "{[" and len(value) > 1:
            try:
                yield from strings(json.loads(value))
            except ValueError:
                pass
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def letters(text):
    return re.sub(r"[\W_]+", "", text)


def clock(record):
    return (record.get("timestamp") or "")[11:16]


def covers(later, failed):
    """Whether a command that passed ran at least what failed: the same, or the same with fewer words behind it."""
    later, failed = later.split(), failed.split()
    return later == failed or (len(later) >= 2 and later == failed[: len(later)])


class Page:
    claims = dict.fromkeys(["failing", "commit", "check", "file", "address", "quote"], 0)

    def __init__(self, given):
        self.client, self.path, self.text = given["client"], given["path"], given["page"]
        self.omitted = "\n".join(given["omitted"])
        _, records = records_of(self.path)
        self.records = list(enumerate(records, 1))
        self.runs = list(READERS[self.client](self.records))
        self.edits = list(edits_of(self.client, self.records))
        self.raw = open(self.path, errors="replace").read()
        texts = [text for _, record in self.records for text in strings(record)]
        # What the user typed after a slash is in tags of the client.
        typed = (re.search(r"<command-name>(.*?)</command-name>.*<command-args>(.*?)</command-args>", text, re.S) for text in texts)
        texts += [f"{found[1]} {found[2]}" for found in typed if found]
        self.said = "\0".join(letters(text) for text in texts)

    def claim(self, kind):
        Page.claims[kind] += 1

    def block(self, heading):
        """The lines of ours under a heading, without those of other blocks."""
        lines, inside = [], False
        for line in self.text.split("\n"):
            if line.startswith("  "):
                if inside:
                    lines.append(line.strip())
            elif not line.startswith(">"):
                inside = line.startswith(f"{heading}: ") or line.startswith(f"{heading} (")
                if inside and line.startswith(f"{heading}: "):
                    lines.append(line[len(heading) + 2 :])
        return lines

    def passes(self):
        return [(number, part) for number, command, failed, _ in self.runs if not failed for part in passed(command)]

    def wrong(self):
        yield from self.wrong_failures()
        yield from self.wrong_commits()
        yield from self.wrong_checks()
        yield from self.wrong_files()
        yield from self.wrong_addresses()
        yield from self.wrong_quotes()

    def wrong_addresses(self):
        for line in self.block("Status"):
            for address in re.findall(r"https?://[^\s\"…]+", line):
                self.claim("address")
                if address.rstrip(".,;)") not in self.raw:
                    yield f"no such address: {line}"

    def wrong_quotes(self):
        requests = re.findall(r"^(?:Report|The agent said) \(.*after \"(.*)\"\):$", self.text, re.M)
        for line in re.findall(r"^> (.*)$", self.text, re.M) + requests:
            for part in re.split(r"\[…\]|…|\[as above\]|\[[a-z-]+ removed\]|‹[^›]*›", line):
                self.claim("quote")
                if letters(part) not in self.said:
                    yield f"never said: {part}"

    def wrong_failures(self):
        for line in self.block("Failing"):
            command = re.match(r"`(.+?)` last seen failing(?: at (\d\d:\d\d))?", line)
            if not command:
                yield f"failing, not read: {line}"
                continue
            self.claim("failing")
            words, at_time = plain(command[1]), command[2]
            if "[…]" in words or "…" in words:
                continue
            runs = [(number, failed) for number, typed, failed, _ in self.runs if words in plain(typed)]
            # A pipe may hide that it failed.
            runs = [number for number, failed in runs if failed] or [number for number, _ in runs]
            last = max((n for n in runs if at_time is None or clock(self.records[n - 1][1]) <= at_time), default=0)
            cures = [part for number, part in self.passes() if number > last and covers(part, words)]
            if cures:
                yield f"failing, and passed later: {line} ({cures[0]})"

    def wrong_commits(self):
        for line in self.block("Status"):
            named = re.match(r"([0-9a-f]{7,40}) \"", line)
            if named:
                self.claim("commit")
                if named[1] not in self.raw:
                    yield f"no such commit: {line}"
        text = f"{self.text}\n{self.omitted}"
        for number, id, subject, is_gone in commits_in(self.runs):
            start = subject[:40].replace('"', "'")
            if not is_gone and id not in text and start not in text:
                yield f"not briefed: commit {id} {subject}"

    def wrong_checks(self):
        for line in self.block("Status"):
            since = r"(no edits since|(\d+) files? edited since(?:, run again .+)?|commands since .+)"
            claim = re.match(rf"Passed: (.+); {since}$", line)
            if not claim:
                continue
            for command, at_time in re.findall(r"`(.+?)`(?: (\d\d:\d\d))?", claim[1]):
                words = plain(command)
                self.claim("check")
                if "…" in words:
                    continue
                runs = [n for n, typed, _, _ in self.runs if words in plain(typed)]
                if not runs:
                    yield f"never ran: {line}"
                    continue
                since = {path for number, path in self.edits if number > max(runs) and not PROSE.search(path)}
                told = 0 if claim[3] is None else int(claim[3])
                if claim[2] == "no edits since" and since:
                    yield f"edited since: {line} ({sorted(since)[0]})"
                if claim[3] is not None and told < len(since):
                    yield f"more edits since: {line} ({len(since)})"

    def wrong_files(self):
        changed = {path for _, path in self.edits}
        for line in self.block("Changed files"):
            for folder, names in re.findall(r"(?:`|; )(?:([^`;]*?)/: )?([^`;]+)", line):
                for name in names.split(", "):
                    self.claim("file")
                    name = re.sub(r" \(.*\)$", "", name)
                    whole = f"{folder}/{name}" if folder else name
                    if not any(path.endswith(whole) for path in changed) and name not in self.raw:
                        yield f"never changed: {whole}"


for line in sys.stdin.readlines():
    page = Page(json.loads(line))
    for claim in page.wrong():
        print(f"{page.path}: {claim}")
print(json.dumps(Page.claims))
