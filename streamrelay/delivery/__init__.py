"""Delivery: types messages into panes, one at a time, with checks before and receipts after."""
