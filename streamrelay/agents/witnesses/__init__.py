"""Readers of what agents record of their own answers: one file, found from the agent's process, read as it grows."""

from streamrelay.agents.witnesses.readers import record_of
from streamrelay.agents.witnesses.reading import AgentRecord, Reading

__all__ = ["AgentRecord", "Reading", "record_of"]
