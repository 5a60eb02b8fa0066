"""The table of all commands. Generated from the modules of the commands: `python scripts/generate.py`.

Help, completion and suggestions read this table alone, so they load no command module. A command's module loads when
the command runs, or when its own help is asked for (`command_group.py`).
"""

from collections.abc import Mapping

from streamrelay_cli.command_entry import CommandEntry

COMMANDS: Mapping[str, CommandEntry] = {
    "watch": CommandEntry("watch:watch", "Print what the programs in panes say, each line once.", "Watch and record"),
    "record": CommandEntry(
        "record:record", "Record a pane into a file: bytes, times, sizes, messages.", "Watch and record"
    ),
    "history": CommandEntry(
        "",
        "Search the journal of outputs and deliveries, or prune it.",
        "Watch and record",
        commands={
            "search": CommandEntry("search:search", "Search the journal and agents' transcripts; best match first."),
            "prune": CommandEntry("history:prune", "Delete old events from the journal, and free their space."),
        },
    ),
    "send": CommandEntry("send:send_command", "Type a message into a pane, and report how far it came.", "Talk"),
    "link": CommandEntry("link:link", "Send each of two programs what the other says, within a budget.", "Talk"),
    "relay": CommandEntry(
        "relay:relay", "Relay the output of two or more programs to each other, until Ctrl-C.", "Talk"
    ),
    "gather": CommandEntry(
        "",
        "Hold a gathering: a moderated round table with a talking piece.",
        "Talk",
        commands={
            "start": CommandEntry("gather:start", "Start a gathering and its sessions, and print its id."),
            "list": CommandEntry(
                "gather:list_", "List the current gatherings, and the latest ones that ended, one line each."
            ),
            "watch": CommandEntry("gather:watch", "Show a gathering until it is over: circle, piece, beats, words."),
            "status": CommandEntry(
                "gather:status", "Show open gatherings with their members, and the last closed ones; or one in full."
            ),
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
        "Talk",
        commands={
            "check": CommandEntry("council:check", "Check the configuration, the keys, and the health of each member."),
            "list": CommandEntry("council:list_", "List the sessions of the council, the newest first."),
            "export": CommandEntry("council:export_", "Write a session as Markdown, or as JSON."),
            "init": CommandEntry("council:init", "Write a council.toml with every key, to start from."),
        },
    ),
    "start": CommandEntry("start:start", "Start an agent or program in a tmux session of its own.", "Agents"),
    "end": CommandEntry("start:end", "End a session that `start` started, and its program.", "Agents"),
    "ls": CommandEntry("ls:ls", "List the panes of the tmux server, and the sessions in them.", "Agents"),
    "profiles": CommandEntry(
        "profiles:profiles",
        "List the programs that streamrelay knows, your own profiles first.",
        "Agents",
        commands={
            "show": CommandEntry("profiles:show", "Print the file of a profile, to read or to start your own from.")
        },
    ),
    "learn": CommandEntry("learn:learn", "Propose a profile for a program, from a recording of it.", "Agents"),
    "hooks": CommandEntry(
        "",
        "Install the hooks by which agents report the end of a turn.",
        "Agents",
        commands={
            "install": CommandEntry("hooks:install", "Add the stop hook to an agent's configuration."),
            "show": CommandEntry("hooks:show", "Show which agents have the stop hook, and in which file."),
            "remove": CommandEntry("hooks:remove", "Remove the stop hook from an agent's configuration."),
        },
    ),
    "hook": CommandEntry("hooks:hook", "Report an agent's hook to the daemon; agents run it.", "Agents", hidden=True),
    "status": CommandEntry("daemon_commands:status", "Show the daemon, its links, relays and messages.", "Control"),
    "delivery": CommandEntry(
        "",
        "List the messages that wait, show one's status, or cancel one.",
        "Control",
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
        "Control",
        commands={
            "key": CommandEntry("peers:key", "Print the public keys of this node, to add to `federation.peer_keys`."),
            "add-key": CommandEntry(
                "peers:add_key", "Create a key for this node; a second key is used after `use-key`."
            ),
            "use-key": CommandEntry("peers:use_key", "Use this key from the next start of the daemon on."),
            "remove-key": CommandEntry("peers:remove_key", "Delete a key of this node."),
        },
    ),
    "pause": CommandEntry(
        "daemon_commands:pause", "Pause links, relays and gatherings, all or one, until `--resume`.", "Control"
    ),
    "mute": CommandEntry("daemon_commands:mute", "Deliver nothing that a session says, until `--off`.", "Control"),
    "extend": CommandEntry(
        "daemon_commands:extend", "Add deliveries to a link's budget; reopen a spent link.", "Control"
    ),
    "stop": CommandEntry(
        "daemon_commands:stop", "End the links and relays that you name, or all of them and all gatherings.", "Control"
    ),
    "daemon": CommandEntry(
        "daemon:daemon",
        "Run the service that holds sessions, messages, links and relays.",
        "Set up",
        commands={
            "start": CommandEntry(
                "daemon:start", "Start the daemon in the background, and wait until it answers all calls."
            ),
            "stop": CommandEntry("daemon:stop", "End the daemon, and wait until it has ended."),
            "status": CommandEntry("daemon_commands:status", "Show the daemon, its links, relays and messages."),
            "logs": CommandEntry("daemon:logs", "Print the log of the daemon that runs in the background."),
            "reload": CommandEntry(
                "daemon:reload",
                "Make the daemon read its profiles and configuration again, and wait until it uses them.",
            ),
            "install": CommandEntry("daemon:install", "Start the daemon now and at every login (systemd or launchd)."),
            "uninstall": CommandEntry("daemon:uninstall", "Undo `install`; the journal and the outbox stay."),
        },
    ),
    "web": CommandEntry("web:web", "Print the address of the web page, and serve it from now on.", "Set up"),
    "mcp": CommandEntry(
        "mcp:mcp",
        "Serve the tools for agents (Model Context Protocol) on standard input and output.",
        "Set up",
        commands={"token": CommandEntry("mcp:token", "Print the token that identifies a session over HTTP.")},
    ),
    "acp": CommandEntry(
        "acp:acp", "Serve a pane as an agent of the Agent Client Protocol (ACP) on standard input and output.", "Set up"
    ),
    "tmux": CommandEntry(
        "tmux_config:tmux_command", "Print lines for ~/.tmux.conf: status line, popup, link key.", "Set up"
    ),
    "config": CommandEntry(
        "",
        "Show the configuration, and where each value comes from.",
        "Set up",
        commands={
            "show": CommandEntry("config:show", "Print every key with its value and its source."),
            "path": CommandEntry("config:path", "Print the paths of the configuration files."),
            "init": CommandEntry("config:init", "Write a configuration file with every key, commented out."),
        },
    ),
    "doctor": CommandEntry("doctor:doctor", "Check tmux and this installation, and print the fixes.", "Set up"),
    "uninstall": CommandEntry(
        "uninstall:uninstall", "Remove what streamrelay left in tmux and in your folders.", "Set up"
    ),
    "demo": CommandEntry(
        "demo:demo", "Let scripted programs talk on a private tmux server, and count their lines.", "Explore"
    ),
    "replay": CommandEntry("replay:replay", "Print what the programs of a recording said.", "Explore"),
    "explain": CommandEntry(
        "explain:explain", "Explain why each line of a recording became text or was left out.", "Explore"
    ),
    "render": CommandEntry(
        "render:render", "Render terminal output or a recording: as a screen of text, or as an animation.", "Explore"
    ),
    "bench": CommandEntry("bench:bench", "Measure throughput, latency, cost and fidelity on this machine.", "Explore"),
    "help": CommandEntry("helping:help_command", "Show the help of a command.", "Explore"),
    "version": CommandEntry("helping:version", "Print the version.", "Explore", hidden=True),
}
