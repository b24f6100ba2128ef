"""Reads commits and command results from transcripts, plainly and without the readers: a line of JSON for
each file.

Usage: work.py CLIENT=PATH...    (CLIENT is claude-code, codex or qwen-code)
"""

import json
import re
import sys

from count import arguments, at, blocks, parts, records_of, script

COMMIT = re.compile(r"^\[(?:[^\s\]]+|detached HEAD)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.+)$", re.M)


def text_of(content):
    if isinstance(content, list):
        return "\n".join(at(part, "text") or "" for part in content)
    return content if isinstance(content, str) else ""


def claude_code(records):
    """Each command that came back: its line, what was typed, whether it failed, what it wrote."""
    calls, seen = {}, set()
    for number, record in records:
        if record.get("uuid") in seen and record.get("uuid") is not None:
            continue
        seen.add(record.get("uuid"))
        inner = record
        if record.get("type") == "progress" and at(record, "data", "type") == "agent_progress":
            inner = at(record, "data", "message") or {}
        for block in blocks(inner):
            if block.get("type") == "tool_use" and block.get("name") == "Bash":
                calls[block["id"]] = (block.get("input") or {}).get("command", "")
            elif block.get("type") == "tool_result" and block.get("tool_use_id") in calls:
                output = text_of(block.get("content"))
                is_background = at(record, "toolUseResult", "backgroundTaskId") is not None
                if not is_background:
                    yield number, calls.pop(block["tool_use_id"]), block.get("is_error") is True, output


def codex(records):
    calls = {}
    for number, record in records:
        payload = record.get("payload")
        if not isinstance(payload, dict):
            payload = {}
        if payload.get("type") == "function_call":
            given = arguments(payload)
            calls[payload.get("call_id")] = script(given.get("cmd") or given.get("command"))
        elif payload.get("type") == "function_call_output" and payload.get("call_id") in calls:
            output = payload.get("output")
            output = output if isinstance(output, str) else json.dumps(output)
            code = re.search(r"(?:exited with code|[Ee]xit code:|\"exit_code\":) *(\d+)", output[:400])
            if code:
                yield number, calls.pop(payload["call_id"]), code.group(1) != "0", output


def qwen_code(records):
    calls, seen = {}, set()
    for number, record in records:
        if record.get("uuid") in seen:
            continue
        seen.add(record.get("uuid"))
        for call in parts(record, "functionCall"):
            if call.get("name") == "run_shell_command":
                calls[call["id"]] = (call.get("args") or {}).get("command", "")
        for result in parts(record, "functionResponse"):
            response = result.get("response") or {}
            output = response.get("error") or response.get("output") or ""
            if result.get("id") in calls and not output.startswith("Background shell started"):
                yield number, calls.pop(result["id"]), "error" in response, output


def plain(command):
    """A command without redirections, so that two runs of it look the same."""
    return re.sub(r"\s+", " ", re.sub(r"\s*\d?>+\s*(&\d|/dev/null)", "", command)).strip()


def passed(command):
    """The commands of a line that passed because the line did; none where something may hide a status."""
    if re.search(r"\||;|\n|<<|\$\(|&(?!&)", command.replace("2>&1", "").replace("&&", "")):
        return []
    return [plain(part) for part in command.replace("2>&1", "").split("&&")]


READERS = {"claude-code": claude_code, "codex": codex, "qwen-code": qwen_code}


def commits_in(runs):
    """Each commit that a command wrote: its line, id and subject, and whether a later command took it away."""
    found = []
    for number, command, failed, output in runs:
        if re.search(r"\bgit\b.*\bcommit\b.*--amend|\bgit\b.*\b(reset|rebase|checkout -B|branch -D|filter-branch)\b", command, re.S):
            found = [(n, id, subject, True) for n, id, subject, _ in found]
        if re.search(r"\bgit\b.*\b(commit|cherry-pick|revert|merge)\b", command, re.S):
            # A repository that was made to try something is none of the project's.
            is_trial = bool(re.search(r"git init|mktemp|/tmp/", command))
            found += [(number, id, subject.strip(), is_trial) for id, subject in COMMIT.findall(output)]
    return found

def main():
    for named in sys.argv[1:]:
        client, path = named.split("=", 1)
        _, records = records_of(path)
        commits, passes, settled = [], [], []
        for number, command, failed, output in READERS[client](list(enumerate(records, 1))):
            if re.search(r"\bgit\b.*\b(commit|cherry-pick|revert|merge)\b", command):
                commits += [[id, subject.strip()] for id, subject in COMMIT.findall(output)]
            if not failed:
                passes += [[number, part] for part in passed(command)]
                if re.search(r"git commit|--continue|--abort", command):
                    settled.append(number)
        print(json.dumps({"commits": commits, "passes": passes, "settled": settled}))


if __name__ == "__main__":
    main()
