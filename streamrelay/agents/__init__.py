"""Profiles: data about single programs, shipped and the user's own."""

from streamrelay.agents.library import load_profiles, shipped_profiles, user_folder
from streamrelay.agents.profile import (
    AgentProfile,
    DeliveryProfile,
    Pattern,
    Start,
    StopHook,
    TranscriptTable,
    parse_profile,
)

__all__ = [
    "AgentProfile",
    "DeliveryProfile",
    "Pattern",
    "Start",
    "StopHook",
    "TranscriptTable",
    "load_profiles",
    "parse_profile",
    "shipped_profiles",
    "user_folder",
]
