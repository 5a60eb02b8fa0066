"""Gatherings: a circle with a talking piece, in which one speaks and all listen (docs/gatherings.md)."""
