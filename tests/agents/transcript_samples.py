"""What each agent writes down, line by line, with all that is not said in between."""

CLAUDE = [
    {"type": "mode", "mode": "normal"},
    {
        "type": "user",
        "timestamp": "2026-11-22T04:36:59.678Z",
        "message": {"role": "user", "content": "Where is the Key?"},
    },
    {"type": "attachment", "timestamp": "2026-11-22T04:36:59Z", "rendered": [{"content": "key"}]},
    {"type": "user", "isMeta": True, "message": {"content": "a key that nobody said"}},
    {"type": "assistant", "isSidechain": True, "message": {"content": [{"type": "text", "text": "a helper's key"}]}},
    {
        "type": "assistant",
        "timestamp": "2026-11-22T04:37:01.203Z",
        "message": {
            "content": [
                {"type": "thinking", "thinking": "the key?"},
                {"type": "text", "text": "The key is é under the mat."},
                {"type": "tool_use", "input": {"command": "find key"}},
            ]
        },
    },
    {"type": "user", "message": {"content": [{"type": "tool_result", "content": "key key key"}]}},
    {"type": "user", "message": {"content": "<command-name>/key</command-name>"}},
    {
        "type": "user",
        "timestamp": "2026-11-22T04:38:00Z",
        "message": {"content": '\n<pasted_content id="9e">\n[Ann] key\n</pasted_content id="9e">'},
    },
]
CODEX = [
    {"type": "session_meta", "payload": {"base_instructions": {"text": "key"}}},
    {
        "timestamp": "2026-11-22T05:00:00Z",
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "<environment_context>key</environment_context>"}],
        },
    },
    {
        "timestamp": "2026-11-22T05:00:01Z",
        "type": "response_item",
        "payload": {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "key"}]},
    },
    {
        "timestamp": "2026-11-22T05:00:02Z",
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "the codex key?"}]},
    },
    {
        "timestamp": "2026-11-22T05:00:03Z",
        "type": "response_item",
        "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "No key."}]},
    },
    {"type": "event_msg", "payload": {"type": "task_complete", "last_agent_message": "No key."}},
]
GEMINI = [
    {"sessionId": "x", "kind": "main"},
    {"$set": {"messages": [{"type": "user", "content": [{"text": "<session_context>\nkey"}]}]}},
    {"id": "1", "timestamp": "2026-11-22T06:00:00Z", "type": "user", "content": [{"text": "the gemini key?"}]},
    {"id": "2", "timestamp": "2026-11-22T06:00:01Z", "type": "gemini", "content": "Here is the key."},
    {"id": "2", "timestamp": "2026-11-22T06:00:01Z", "type": "gemini", "content": "Here is the key.", "tokens": {}},
    {"$set": {"lastUpdated": "2026-11-22T06:00:02Z"}},
]
PLACES = {
    ".claude/projects/-home-x/1.jsonl": CLAUDE,
    ".codex/sessions/2026/11/22/rollout-1.jsonl": CODEX,
    ".gemini/tmp/x/chats/session-1.jsonl": GEMINI,
}
