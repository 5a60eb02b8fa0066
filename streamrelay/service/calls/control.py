"""The calls by which a person pauses, mutes, stops and watches."""

from streamrelay.relay.rules import Effect
from streamrelay.service import remote_sessions
from streamrelay.service.call import call
from streamrelay.service.parts import ServiceParts


@call("POST", "/pause")
async def pause(parts: ServiceParts, paused: bool = True, of: str = "") -> None:
    """Pause or resume one link, relay or gathering (`of`), or all."""
    if await remote_sessions.pause(parts.core, of, paused=paused):
        return
    await parts.core.do(lambda now: parts.core.machine.pause(of, now, paused=paused))


@call("POST", "/mute")
async def mute(parts: ServiceParts, session: str, muted: bool = True) -> None:
    """Mute a session, so that no link, relay or gathering delivers its output, or unmute it."""
    found = await parts.core.find(session)
    await parts.core.do(lambda _: parts.core.machine.mute(found.session, muted=muted))


@call("POST", "/stop")
async def stop_all(parts: ServiceParts) -> int:
    """End all links and relays, and all gatherings without their harvest; return how many there were."""
    count = 0

    def decide(now: float) -> list[Effect]:
        nonlocal count
        count, effects = parts.core.machine.stop_all(now)
        return effects

    await parts.core.do(decide)
    return count + await remote_sessions.close_all(parts.core)


@call("POST", "/watch")
async def watch(parts: ServiceParts, session: str, watched: bool = True) -> None:
    """Journal a session's output even if it is in no link, relay or gathering, or stop that."""
    found = await parts.core.find(session)
    if watched:
        await parts.core.admit(found, allow_shell=True)

    def decide(_now: float) -> list[Effect]:
        parts.core.machine.watch(found.pane, watched=watched)
        return []

    await parts.core.do(decide)
