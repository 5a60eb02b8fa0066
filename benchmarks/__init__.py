"""How fast, how soon, at what cost: every figure this project states comes from here (docs/benchmarks.md).

Run by `streamrelay bench`, or from the root of a checkout: `python -m benchmarks.throughput` and its like; and
`pytest benchmarks --benchmark-only` for the parts that need no tmux.
"""
