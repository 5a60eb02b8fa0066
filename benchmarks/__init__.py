"""How fast, how soon, at what cost: every figure this project states comes from here (docs/benchmarks.md).

Run from the root of a checkout: `python -m benchmarks.throughput`, `.latency`, `.screen`, `.report`; and
`pytest benchmarks --benchmark-only` for the parts that need no tmux.
"""
