"""The table of all commands: where each one is, its one-line help, and its group in `--help`.

Help, completion and suggestions read this table alone, so they load no command module. A command's module loads when
the command runs, or when its own help is asked for (`command_group.py`). A test holds the lines of help against the
docstrings of the commands.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

WATCH, TALK, AGENTS, CONTROL, SETUP, EXPLORE = (
    "Watch and record",
    "Talk",
    "Agents",
    "Control",
    "Set up",
    "Explore",
)
"""The groups of the commands, as `--help` shows them."""


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """One command, or one group of commands."""

    target: str
    """`module:function` in this package; empty for a group that runs only with a command."""
    help: str
    """One sentence in the imperative."""
    panel: str = ""
    """Its group in `--help`."""
    hidden: bool = False
    commands: Mapping[str, "CommandEntry"] = field(default_factory=dict)
    """The commands of a group."""


COMMANDS: Mapping[str, CommandEntry] = {
    "watch": CommandEntry("watch:watch", "Print what the programs in panes say, each line once.", WATCH),
    "record": CommandEntry("record:record", "Record a pane into a file: bytes, times, sizes, messages.", WATCH),
    "history": CommandEntry(
        "",
        "Search the journal of outputs and deliveries, or prune it.",
        WATCH,
        commands={
            "search": CommandEntry("search:search", "Search the journal and agents' transcripts; best match first."),
            "prune": CommandEntry("history:prune", "Delete old events from the journal, and free their space."),
        },
    ),
    "send": CommandEntry("send:send_command", "Type a message into a pane, and report how far it came.", TALK),
    "link": CommandEntry("link:link", "Send each of two programs what the other says, within a budget.", TALK),
    "relay": CommandEntry("relay:relay", "Relay the output of two or more programs to each other, until Ctrl-C.", TALK),
    "gather": CommandEntry(
        "",
        "Hold a gathering: a moderated round table with a talking piece.",
        TALK,
        commands={
            "start": CommandEntry("gather:start", "Start a gathering and its sessions, and print its id."),
            "list": CommandEntry("gather:list_", "List the current gatherings, and the latest ones that ended."),
            "watch": CommandEntry("gather:watch", "Show a gathering until it is over: circle, piece, beats, words."),
            "status": CommandEntry("gather:status", "Show the state of all gatherings, or of one in full."),
            "say": CommandEntry("gather:say", "Speak for a person who holds the talking piece."),
            "pass": CommandEntry("gather:pass_", "Pass the talking piece on for the participant who holds it."),
            "pause": CommandEntry("gather:pause", "Stop the time of a gathering; the piece stays where it is."),
            "resume": CommandEntry("gather:resume", "Resume a paused gathering with the time that was left."),
            "close": CommandEntry("gather:close", "Close a gathering before its last round, and harvest it."),
            "transcript": CommandEntry("gather:transcript", "Print the contributions and the harvest of a gathering."),
            "pulse": CommandEntry("pulse:pulse", "Print the summary of the machine that a gathering starts with."),
        },
    ),
    "council": CommandEntry(
        "council:council",
        "Hold a conversation with several models and terminal agents at once.",
        TALK,
        commands={
            "check": CommandEntry("council:check", "Check the configuration, the keys, and the health of each member."),
            "list": CommandEntry("council:list_", "List the sessions of the council, the newest first."),
            "export": CommandEntry("council:export_", "Write a session as Markdown, or as JSON."),
            "init": CommandEntry("council:init", "Write a council.toml with every key, to start from."),
        },
    ),
    "start": CommandEntry("start:start", "Start an agent or program in a tmux session of its own.", AGENTS),
    "end": CommandEntry("start:end", "End a session that `start` started, and its program.", AGENTS),
    "ls": CommandEntry("ls:ls", "List the panes of the tmux server, and the sessions in them.", AGENTS),
    "profiles": CommandEntry(
        "profiles:profiles",
        "List the programs that streamrelay knows, your own profiles first.",
        AGENTS,
        commands={
            "show": CommandEntry("profiles:show", "Print the file of a profile, to read or to start your own from.")
        },
    ),
    "learn": CommandEntry("learn:learn", "Propose a profile for a program, from a recording of it.", AGENTS),
    "hooks": CommandEntry(
        "",
        "Install the hooks by which agents report the end of a turn.",
        AGENTS,
        commands={
            "install": CommandEntry("hooks:install", "Add the stop hook to an agent's configuration."),
            "show": CommandEntry("hooks:show", "Show which agents have the stop hook, and in which file."),
            "remove": CommandEntry("hooks:remove", "Remove the stop hook from an agent's configuration."),
        },
    ),
    "hook": CommandEntry("hooks:hook", "Report an agent's hook to the daemon; agents run it.", AGENTS, hidden=True),
    "status": CommandEntry("daemon_commands:status", "Show the daemon, its links, relays and messages.", CONTROL),
    "delivery": CommandEntry(
        "",
        "List the messages that wait, show one's status, or cancel one.",
        CONTROL,
        commands={
            "list": CommandEntry(
                "delivery:list_command", "List the messages that wait, oldest first, with the reason."
            ),
            "show": CommandEntry("delivery:show", "Show a message's delivery status, one line per pane."),
            "cancel": CommandEntry("delivery:cancel", "Cancel messages before they are pasted."),
        },
    ),
    "peers": CommandEntry(
        "peers:peers",
        "Show the other machines: state, lag, waiting messages and their reasons.",
        CONTROL,
        commands={
            "key": CommandEntry("peers:key", "Print the public keys of this node, to add to `federation.peer_keys`."),
            "add-key": CommandEntry(
                "peers:add_key",
                "Create a key for this node; a second key is used after `use-key`.",
            ),
            "use-key": CommandEntry(
                "peers:use_key",
                "Use this key from the next start of the daemon on.",
            ),
            "remove-key": CommandEntry("peers:remove_key", "Delete a key of this node."),
        },
    ),
    "pause": CommandEntry("daemon_commands:pause", "Pause links and relays, all or one, until `--resume`.", CONTROL),
    "mute": CommandEntry("daemon_commands:mute", "Keep a session out of links and relays, until `--off`.", CONTROL),
    "extend": CommandEntry(
        "daemon_commands:extend", "Add deliveries to a link's budget; reopen a spent link.", CONTROL
    ),
    "stop": CommandEntry("daemon_commands:stop", "End links and relays, all or some.", CONTROL),
    "daemon": CommandEntry(
        "daemon:daemon",
        "Run the service that holds sessions, messages, links and relays.",
        SETUP,
        commands={
            "start": CommandEntry("daemon:start", "Start the daemon in the background, and wait until it answers."),
            "stop": CommandEntry("daemon:stop", "End the daemon, and wait until it has ended."),
            "status": CommandEntry("daemon_commands:status", "Show the daemon, its links, relays and messages."),
            "logs": CommandEntry("daemon:logs", "Print the log of the daemon that runs in the background."),
            "reload": CommandEntry("daemon:reload", "Make the daemon read its profiles and configuration again."),
            "install": CommandEntry("daemon:install", "Start the daemon now and at every login (systemd or launchd)."),
            "uninstall": CommandEntry("daemon:uninstall", "Undo `install`; the journal and the outbox stay."),
        },
    ),
    "web": CommandEntry("web:web", "Print the address of the web page, and serve it from now on.", SETUP),
    "mcp": CommandEntry(
        "mcp:mcp",
        "Serve the tools for agents (Model Context Protocol) on standard input and output.",
        SETUP,
        commands={"token": CommandEntry("mcp:token", "Print the token that identifies a session over HTTP.")},
    ),
    "acp": CommandEntry(
        "acp:acp", "Serve a pane as an agent of the Agent Client Protocol (ACP) on standard input and output.", SETUP
    ),
    "tmux": CommandEntry(
        "tmux_config:tmux_command", "Print lines for ~/.tmux.conf: status line, popup, link key.", SETUP
    ),
    "config": CommandEntry(
        "",
        "Show the configuration, and where each value comes from.",
        SETUP,
        commands={
            "show": CommandEntry("config:show", "Print every key with its value and its source."),
            "path": CommandEntry("config:path", "Print the paths of the configuration files."),
            "init": CommandEntry("config:init", "Write a configuration file with every key, commented out."),
        },
    ),
    "doctor": CommandEntry("doctor:doctor", "Check tmux and this installation, and print the fixes.", SETUP),
    "uninstall": CommandEntry(
        "uninstall:uninstall", "Remove what streamrelay left in tmux and in your folders.", SETUP
    ),
    "demo": CommandEntry(
        "demo:demo", "Let scripted programs talk on a private tmux server, and count their lines.", EXPLORE
    ),
    "replay": CommandEntry("replay:replay", "Print what the programs of a recording said.", EXPLORE),
    "explain": CommandEntry("explain:explain", "Explain why each line of a recording was said or left out.", EXPLORE),
    "render": CommandEntry(
        "render:render", "Render terminal output or a recording: as a screen of text, or as an animation.", EXPLORE
    ),
    "bench": CommandEntry("bench:bench", "Measure throughput, latency, cost and fidelity on this machine.", EXPLORE),
    "help": CommandEntry("helping:help_command", "Show the help of a command.", EXPLORE),
    "version": CommandEntry("helping:version", "Print the version.", EXPLORE, hidden=True),
}

SUGGESTIONS: Mapping[str, str] = {
    "add": "start",
    "attach": "watch",
    "attach-session": "watch",
    "cancel": "delivery cancel",
    "capture": "record",
    "chat": "link",
    "check": "doctor",
    "circle": "gather",
    "connect": "link",
    "create": "start",
    "diagnose": "doctor",
    "follow": "watch",
    "grep": "history search",
    "init": "config init",
    "info": "status",
    "install": "daemon install",
    "join": "link",
    "kill": "end",
    "kill-session": "end",
    "launch": "start",
    "list": "ls",
    "list-panes": "ls",
    "list-sessions": "ls",
    "log": "daemon logs",
    "logs": "daemon logs",
    "message": "send",
    "msg": "send",
    "new": "start",
    "new-session": "start",
    "open": "web",
    "panes": "ls",
    "play": "replay",
    "ps": "ls",
    "remove": "end",
    "restart": "daemon stop",
    "resume": "pause",
    "rm": "end",
    "run": "start",
    "say": "send",
    "search": "history search",
    "server": "daemon",
    "serve": "daemon",
    "sessions": "ls",
    "settings": "config show",
    "setup": "doctor",
    "spawn": "start",
    "stream": "watch",
    "tail": "watch",
    "talk": "send",
    "tell": "send",
    "tools": "mcp",
    "ui": "web",
    "unmute": "mute",
    "unpause": "pause",
    "write": "send",
}
"""What people type for a command that has another name."""
