"""The second witness: what an agent itself recorded or reported of its answer, compared with what its screen showed."""
