"""What `streamrelay council init` writes: a council.toml with every key and its meaning."""

from typing import Final

TEMPLATE: Final = """\
# A council of streamrelay (docs/council.md). Remove the # in front of a key to set it.
# `streamrelay council check` reads this file, and says which keys and members are missing.

# What you are called in the conversation.
#person = "You"

# Files that every member is given, relative to this file.
#auto_load = ["plan.md"]

# In the first round of a session, no member sees the others' answers.
#blind_first = true

# Dollars after which you are asked before any member speaks again; 0 for no limit.
#cost_limit = 0.0

# How many of the last messages a member is given, and about how many tokens in all.
#history = 20
#context_tokens = 30000

# What each member's system prompt begins with: {name}, {others} and {person} are filled in.
#prompt = "You are {name}, a member of a council with {others} and a person called {person}."

# Further phases, or other prompts for Plan, Critique, Decide and Write. Switch with /phase NAME.
#[phases]
#Name = "The council looks for a name. Propose three, each with one sentence for it."

# The members. They speak in this order unless one has a higher `priority`. A key never stands in this file: it comes
# from the environment (ANTHROPIC_API_KEY, GEMINI_API_KEY, OPENAI_API_KEY, XAI_API_KEY) or from the system's keyring
# (`keyring set streamrelay ANTHROPIC_API_KEY`).

# A terminal agent in a tmux pane needs no key. `model` is its tmux target; `streamrelay ls` lists them.
#[[member]]
#name = "Claude"
#vendor = "pane"
#model = "claude"

# A model of a vendor: anthropic, google, openai or xai.
#[[member]]
#name = "Gemini"
#vendor = "google"
#model = "gemini-2.5-pro"
# Another model of the same vendor, which speaks only after you have said yes to it.
#fallback = "gemini-2.5-flash"
# Members with a higher number speak earlier.
#priority = 0
# What is added to this member's system prompt.
#persona = "You look for what can go wrong."
# The longest answer, in tokens.
#max_tokens = 4096
# Dollars for a million tokens, read and written; /cost needs them.
#price = [1.25, 10.0]

# Any server that speaks OpenAI's protocol, with a key of its own if it needs one.
#[[member]]
#name = "Local"
#vendor = "compatible"
#model = "llama3"
#base_url = "http://127.0.0.1:11434/v1"
#key = "LOCAL_API_KEY"

# Says what is written here, in order, again and again: to try this without any key.
[[member]]
name = "Echo"
vendor = "scripted"
script = ["I am a scripted member. Replace me with a real one in council.toml. You said: {last}"]
"""
