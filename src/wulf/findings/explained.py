"""What the nodes, groups and links that stand out explain: it is not told again of each link, or of a single way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from wulf.stats.cluster.outliers import Link, Outlier, Way


@dataclass(frozen=True)
class Explained:
    """Who stands out, which way.

    Attributes
    ----------
    sends, receives
        Nodes that stand out in sending, in receiving → the metrics, in words, in which they do.
    groups
        Nodes that something cuts off from all others.
    links
        (client, server): ways that stand out by themselves.
    """

    sends: Mapping[str, frozenset[str]] = field(default_factory=dict)
    receives: Mapping[str, frozenset[str]] = field(default_factory=dict)
    groups: tuple[frozenset[str], ...] = ()
    links: frozenset[Link] = frozenset()

    def and_node(self, node: str, way: Way, metrics: Iterable[str]) -> Explained:
        """With one more node."""
        found = frozenset(metrics)
        sends, receives = (
            known if way is other else {**known, node: known.get(node, frozenset()) | found}
            for known, other in ((self.sends, Way.RECEIVE), (self.receives, Way.SEND))
        )
        return replace(self, sends=sends, receives=receives)

    def and_links(self, outliers: Iterable[Outlier]) -> Explained:
        """With more links."""
        ways = set(self.links)
        for one in outliers:
            client, server = one.subject[0], one.subject[1]
            ways |= {(client, server), *([(server, client)] if one.way is Way.BOTH else [])}
        return replace(self, links=frozenset(ways))

    def one_way(self, client: str, server: str, besides: str = "") -> bool:
        """Whether it is clear why data from client to server is slow, leaving out who stands out in `besides`."""
        parties = self.sends.get(client), self.receives.get(server)
        return (
            any(metrics is not None and besides not in metrics for metrics in parties)
            or any((client in group) != (server in group) for group in self.groups)
            or (client, server) in self.links
        )

    def both_ways(self, a: str, b: str, besides: str = "") -> bool:
        """Whether it is clear why data is slow there and back: a round trip takes both ways."""
        return self.one_way(a, b, besides) or self.one_way(b, a, besides)

    def slow_ends(self, client: str, server: str, metric: str, *, directed: bool) -> list[str]:
        """Those of a link's nodes that stand out in this metric, on this way."""
        parties = [(client, self.sends), (server, self.receives)]
        if not directed:
            parties += [(client, self.receives), (server, self.sends)]
        return sorted({node for node, found in parties if metric in found.get(node, ())})
