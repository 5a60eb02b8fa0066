"""Records whole lives of real agents whose model is on loopback, with the agents' own records of what they said.

    python -m benchmarks.lives AGENTS_FOLDER OUTPUT_FOLDER claude codex --scenarios long400 turns20

Each life is a folder that `benchmarks.fidelity` and `streamrelay replay` read (tests/corpus/README.md).
"""
