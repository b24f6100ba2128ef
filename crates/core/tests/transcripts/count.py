"""Counts what transcripts hold, plainly and without the readers: a line of JSON for each file.

Usage: count.py CLIENT=PATH...    (CLIENT is claude-code, codex or qwen-code)
"""

import json
import sys


def records_of(path):
    """How many lines there are, and those that are records. A line without its end is being written."""
    with open(path, "rb") as file:
        text = file.read()
    lines = [line for line in text[: text.rfind(b"\n") + 1].split(b"\n") if line.strip()]
    records = []
    for line in lines:
        try:
            record = json.loads(line.decode("utf-8", "replace"))
        except ValueError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return len(lines), records


def at(value, *keys):
    """What lies behind keys; nothing where there is no such thing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def blocks(record):
    content = at(record, "message", "content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def claude_code(records):
    seen, calls, calls_made = set(), {}, 0
    commands, agents, compactions, changed = [], [], 0, set()
    todos, tasks = [], {}
    for record in records:
        uuid = record.get("uuid")
        if uuid is not None:
            if uuid in seen:
                continue
            seen.add(uuid)
        kind = record.get("type")
        if kind == "system" and record.get("subtype") == "compact_boundary":
            compactions += 1
        elif kind == "assistant" and at(record, "message", "model") != "<synthetic>":
            for block in blocks(record):
                if block.get("type") != "tool_use":
                    continue
                calls_made += 1
                calls[block["id"]] = block
                given = block.get("input") or {}
                if block["name"] == "Bash":
                    commands.append(given.get("command", ""))
                elif block["name"] in ("Task", "Agent"):
                    agents.append(given.get("prompt", ""))
        elif kind == "user":
            for block in blocks(record):
                call = calls.pop(block.get("tool_use_id"), None)
                if call is None or block.get("is_error") is True:
                    continue
                name, given = call["name"], call.get("input") or {}
                if name in ("Write", "Edit", "MultiEdit", "NotebookEdit"):
                    changed.add(given.get("file_path") or given["notebook_path"])
                elif name == "TodoWrite":
                    todos = [(todo["content"], todo.get("status", "")) for todo in given["todos"]]
                elif name == "TaskCreate":
                    tasks[at(record, "toolUseResult", "task", "id")] = (given["subject"], "pending")
                elif name == "TaskUpdate" and given["taskId"] in tasks:
                    subject, status = tasks[given["taskId"]]
                    new = (given.get("subject", subject), given.get("status", status))
                    tasks[given["taskId"]] = new
    return calls_made, commands, agents, compactions, todos + list(tasks.values()), changed


def script(command):
    """What a shell is given to do."""
    if isinstance(command, list):
        is_shell = len(command) == 3 and command[1] in ("-lc", "-c")
        return command[2] if is_shell else " ".join(command)
    return command or ""


def arguments(payload):
    try:
        given = json.loads(payload.get("arguments") or "{}")
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


def named_in(patch, cwd):
    for line in patch.splitlines():
        for mark in ("*** Add File: ", "*** Update File: ", "*** Delete File: "):
            if line.startswith(mark):
                path = line[len(mark) :]
                yield path if path.startswith("/") else f"{cwd}/{path}"


def codex(records):
    calls, returned, cwd, calls_made = {}, set(), "", 0
    commands, agents, compactions, changed, tasks = [], [], 0, set(), []
    for record in records:
        payload = record.get("payload")
        if not isinstance(payload, dict):
            payload = {}
        cwd = payload["cwd"] if isinstance(payload.get("cwd"), str) else cwd
        kind, sort = record.get("type"), payload.get("type")
        if kind == "compacted":
            compactions += 1
        elif kind == "response_item" and sort == "web_search_call":
            calls_made += 1
        elif kind == "response_item" and sort in ("function_call", "custom_tool_call"):
            calls_made += 1
            calls[payload["call_id"]] = payload
            given = arguments(payload)
            if payload["name"] == "exec_command":
                commands.append(script(given.get("cmd")))
            elif payload["name"] in ("shell", "shell_command"):
                commands.append(script(given.get("command")))
            elif payload["name"] == "spawn_agent":
                agents.append(given.get("message", ""))
            if payload.get("status") == "failed":
                returned.add(payload["call_id"])
        elif kind == "response_item" and sort in ("function_call_output", "custom_tool_call_output"):
            id = payload["call_id"]
            call, output = calls.get(id), payload.get("output")
            if call is None or id in returned:
                continue
            returned.add(id)
            if isinstance(output, str) and output.startswith("unsupported call"):
                continue
            given = arguments(call)
            if call["name"] == "update_plan":
                tasks = [(step["step"], step.get("status", "")) for step in given.get("plan", [])]
            elif call["name"] == "apply_patch":
                changed.update(named_in(call.get("input") or given["patch"], cwd))
        elif kind == "event_msg" and sort == "patch_apply_end":
            returned.add(payload["call_id"])
            if payload.get("success") is True:
                changed.update(payload["changes"])
        elif kind == "event_msg" and sort == "item_completed":
            item = payload["item"]
            is_new = item.get("id") not in calls
            if item["type"] in ("CommandExecution", "McpToolCall", "FileChange") and is_new:
                calls_made += 1
            if item["type"] == "CommandExecution" and is_new:
                commands.append(script(item["command"]))
            elif item["type"] == "FileChange":
                returned.add(item.get("id"))
                changed.update(item["changes"])
    return calls_made, commands, agents, compactions, tasks, changed


def parts(record, name):
    """The calls or results in a message of Qwen Code."""
    found = at(record, "message", "parts")
    found = found if isinstance(found, list) else []
    return [part[name] for part in found if isinstance(part, dict) and name in part]


def qwen_code(records):
    seen, calls, calls_made = set(), {}, 0
    commands, agents, compactions, changed, tasks = [], [], 0, set(), []
    for record in records:
        if record.get("uuid") in seen:
            continue
        seen.add(record.get("uuid"))
        if record.get("subtype") == "chat_compression":
            compactions += 1
        for call in parts(record, "functionCall"):
            calls_made += 1
            calls[call["id"]] = call
            given = call.get("args") or {}
            if call["name"] == "run_shell_command":
                commands.append(given.get("command", ""))
            elif call["name"] == "agent":
                agents.append(given.get("prompt", ""))
        for result in parts(record, "functionResponse"):
            call = calls.pop(result.get("id"), None)
            if call is None or "error" in (result.get("response") or {}):
                continue
            given = call.get("args") or {}
            if call["name"] in ("write_file", "edit", "notebook_edit"):
                changed.add(given.get("file_path") or given["notebook_path"])
            elif call["name"] == "todo_write":
                tasks = [(todo["content"], todo.get("status", "")) for todo in given["todos"]]
    return calls_made, commands, agents, compactions, tasks, changed


READERS = {"claude-code": claude_code, "codex": codex, "qwen-code": qwen_code}

if __name__ == "__main__":
    for named in sys.argv[1:]:
        client, path = named.split("=", 1)
        lines, records = records_of(path)
        calls_made, commands, agents, compactions, tasks, changed = READERS[client](records)
        counted = {
            "records": lines,
            "tool_calls": calls_made,
            "commands": commands,
            "agents": agents,
            "compactions": compactions,
            "tasks": [[subject, status.replace("_", " ")] for subject, status in tasks],
            "changed": sorted(changed),
        }
        print(json.dumps(counted))
