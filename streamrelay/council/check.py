"""Check whether each member of a council is available: its key, its packages, its server or pane."""

import asyncio
from collections.abc import Callable
from typing import Literal

import msgspec

from streamrelay.council.clients.contract import AIClient
from streamrelay.council.config import CouncilConfig, key_of
from streamrelay.council.members import Member, Vendor
from streamrelay.errors import AIKeyRefused, StreamrelayError

HEALTH_TIMEOUT = 20.0
"""Seconds to wait for one member."""

KeyState = Literal["present", "missing", "not needed"]


class MemberHealth(msgspec.Struct, frozen=True, kw_only=True):
    """One member, as `council check` shows it."""

    name: str
    vendor: Vendor
    model: str
    key: KeyState
    is_healthy: bool
    problem: str = ""
    hint: str = ""


async def check_members(config: CouncilConfig, make_client: Callable[[Member, str], AIClient]) -> list[MemberHealth]:
    """Check all members concurrently; an error of a member becomes its result."""
    return list(await asyncio.gather(*(_check(member, make_client) for member in config.members)))


async def _check(member: Member, make_client: Callable[[Member, str], AIClient]) -> MemberHealth:
    problem = hint = ""
    key = await asyncio.to_thread(_key_state, member)
    try:
        async with asyncio.timeout(HEALTH_TIMEOUT), make_client(member, member.model) as client:
            is_healthy = await client.health_check()
        if not is_healthy:
            problem, hint = _unhealthy(member)
    except TimeoutError:
        is_healthy, problem, hint = False, f"no answer in {HEALTH_TIMEOUT:.0f} seconds", "check the network"
    except StreamrelayError as error:
        is_healthy, problem, hint = False, error.message, error.hint
    return MemberHealth(
        name=member.name,
        vendor=member.vendor,
        model=member.model,
        key=key,
        is_healthy=is_healthy,
        problem=problem,
        hint=hint,
    )


def _key_state(member: Member) -> KeyState:
    if member.vendor in {"pane", "scripted"}:
        return "not needed"
    try:
        return "not needed" if key_of(member) == "none" else "present"
    except AIKeyRefused:
        return "missing"


def _unhealthy(member: Member) -> tuple[str, str]:
    if member.vendor == "pane":
        return f"no agent runs in {member.model}", "start it: streamrelay start claude; streamrelay ls lists the panes"
    return f"{member.vendor} does not accept the key, or does not have {member.model}", "correct `model` or the key"
