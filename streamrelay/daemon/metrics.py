"""Metrics for Prometheus: plain counters where things happen, formatted when Prometheus asks."""

import asyncio
from collections import Counter
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Histogram, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from streamrelay.daemon.broadcast import Broadcast
from streamrelay.events import AnyEvent, Receipt, RelayWithheld, WitnessCompared
from streamrelay.service.api import Status

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """The figures of one daemon."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._counts = _Counts()
        self._registry.register(self._counts)
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        self._requests = Histogram(
            "streamrelay_http_request_seconds", "Requests, by operation and status, streams left out.",
            ("operation", "status"), registry=self._registry, buckets=_BUCKETS,
        )  # fmt: skip

    def observe(self, event: AnyEvent) -> None:
        """Count an event."""
        self._counts.events[type(event).__name__] += 1
        if isinstance(event, Receipt):
            self._counts.receipts[event.state, event.reason] += 1
        elif isinstance(event, RelayWithheld):
            self._counts.withheld[event.reason] += 1
        elif isinstance(event, WitnessCompared):
            self._counts.compared[event.outcome, event.reason] += 1

    def answered(self, operation: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(operation, str(status)).observe(seconds)

    def page(self, status: Status, broadcast: Broadcast) -> bytes:
        """Return all metrics in Prometheus' text format."""
        self._counts.status, self._counts.broadcast = status, broadcast
        return generate_latest(self._registry)


class _Counts(Collector):
    def __init__(self) -> None:
        self.events: Counter[str] = Counter()
        self.receipts: Counter[tuple[str, str]] = Counter()
        self.withheld: Counter[str] = Counter()
        self.compared: Counter[tuple[str, str]] = Counter()
        self.status: Status | None = None
        self.broadcast: Broadcast | None = None

    def collect(self) -> Iterator[Metric]:
        events = CounterMetricFamily("streamrelay_events", "Events that were journaled.", labels=("event",))
        for name, count in sorted(self.events.items()):
            events.add_metric((_snake(name),), count)
        yield events
        receipts = CounterMetricFamily("streamrelay_receipts", "States of deliveries.", labels=("state", "reason"))
        for labels, count in sorted(self.receipts.items()):
            receipts.add_metric(labels, count)
        yield receipts
        withheld = CounterMetricFamily("streamrelay_withheld", "Output that was not delivered.", labels=("reason",))
        for reason, count in sorted(self.withheld.items()):
            withheld.add_metric((reason,), count)
        yield withheld
        compared = CounterMetricFamily(
            "streamrelay_witness_compared",
            "Answers compared with the agent's own record.",
            labels=("outcome", "reason"),
        )
        for labels, count in sorted(self.compared.items()):
            compared.add_metric(labels, count)
        yield compared
        yield GaugeMetricFamily("streamrelay_tasks", "Tasks of the event loop.", len(asyncio.all_tasks()))
        if self.status is not None:
            yield from _status_metrics(self.status)
        if self.broadcast is not None:
            yield GaugeMetricFamily("streamrelay_subscribers", "Followers of the events.", self.broadcast.subscribers)
            yield CounterMetricFamily("streamrelay_lost_events", "Events that followers missed.", self.broadcast.lost)


def _status_metrics(status: Status) -> Iterator[Metric]:
    yield GaugeMetricFamily("streamrelay_started_at_seconds", "Unix time.", status.started_at)
    yield CounterMetricFamily("streamrelay_seq", "The last event's place in the journal.", status.seq)
    yield GaugeMetricFamily("streamrelay_paused", "Whether deliveries are paused.", int(status.paused))
    for name in ("sessions", "watched", "links", "relays"):
        yield GaugeMetricFamily(f"streamrelay_{name}", f"How many {name} there are.", getattr(status, name))
    deliveries = GaugeMetricFamily("streamrelay_deliveries", "Messages, by their state now.", labels=("state",))
    for state, count in sorted(status.deliveries.items()):
        deliveries.add_metric((state,), count)
    yield deliveries
    yield GaugeMetricFamily("streamrelay_journal_bytes", "The size of the journal.", status.journal_bytes)
    yield GaugeMetricFamily("streamrelay_problems", "Problems that status reports.", len(status.problems))


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
