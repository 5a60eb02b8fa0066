"""Readers of the records that agents keep of their answers: found from the agent's process, read as they grow."""

from streamrelay.agents.witnesses.readers import record_of
from streamrelay.agents.witnesses.reading import AgentRecord, Reading, in_order

__all__ = ["AgentRecord", "Reading", "in_order", "record_of"]
