"""What a change is worth to an application, the same in a terminal and on a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wulf.core.names import fold, plural
from wulf.core.units import show
from wulf.report.kit.view import Cell, Columns, Fold, Section, View
from wulf.report.tune.campaign import interval, percent

Object = Mapping[str, Any]
"""As impact.json, or --json, has it."""

METHOD = (
    "Each block visits both arms once, in random order; a visit measures the network's own figures and then runs the "
    "application. Arms are compared within blocks (Wilcoxon's signed ranks); an improvement is less time, or more of a "
    "rate, as a share of before, with its 95 % interval. The profile is of one more run of each arm, under a library "
    "that counts MPI's calls. Its shares are bounds and no truth: time in MPI is also waiting for other ranks' "
    "computing. The network could explain at most 1 less the computing of the busiest rank over the run's time."
)

MOST_CALLS, MOST_SIZES = 8, 24


def impact_view(result: Object) -> View:
    """The outcome: both tables, the bounds, and what is left."""
    sections = [
        Section("Before and after, in the same blocks", table=rows_table(result)),
        *_figures(result),
        Section("Runs that did not count, and answers", list(_runs(result))),
        *_profiles(result),
        Section("What the network could explain at most", list(_bounds(result))),
        Section("State of the nodes", list(_left(result))),
        *_omitted(result),
    ]
    title = f"wulf impact of {changed(result)}: {fold(result['nodes'])}"
    return View(
        title, headline(result), [s for s in sections if s.lines or s.table], notes=result["notes"], method=METHOD
    )


def changed(result: Object) -> str:
    """`nic.mtu`, or `links`."""
    return ", ".join(one["name"] for one in result["changes"])


def change_text(result: Object) -> str:
    """`nic.mtu 1500 → 9000`."""
    return "; ".join(
        f"{one['name']} {', '.join(one['before'])} → {', '.join(one['after'])}" for one in result["changes"]
    )


def headline(result: Object) -> str:
    """The outcome in a sentence: the application's, beside the ping-pong's own."""
    change = change_text(result)
    application, *network = result["rows"]
    own = next((row for row in network if row["compared"]["ratio"] is not None), None)
    beside = f"; {_own(own)}" if own else ""
    if result["state"] != "complete":
        how = "was interrupted" if result["state"] == "interrupted" else "stopped early"
        return f"{change}: the measurement {how}; what was measured is below."
    if result["claim"] == "void":
        return f"{change}: nothing is claimed for the application, {result['why']}{beside}."
    compared = application["compared"]
    if result["claim"] == "inconclusive":
        return f"{change}: no effect on the application is proven ({result['why']}); {_seen(compared)}{beside}."
    said = {"equivalent": "makes no difference to the application beyond what counts as none"}
    told = said.get(result["claim"], f"makes the application {result['claim']}")
    return f"{change} {told}: {percent(compared['improvement'])} ({interval(compared)}){beside}."


def _own(row: Object) -> str:
    """The network's own improvement."""
    compared = row["compared"]
    return f"the {row['name'].partition(',')[0]} by itself {percent(compared['improvement'])} ({interval(compared)})"


def _seen(compared: Object) -> str:
    if compared["improvement_low"] is None:
        return "there is no interval"
    return f"it lies within {interval(compared)}"


def rows_table(result: Object) -> Columns:
    """A line a quantity: means with deviations, improvement with interval, number of blocks."""
    rows = [
        [row["name"], _mean(row, "before"), _mean(row, "after"), percent(row["compared"]["improvement"]),
         interval(row["compared"]), f"{row['n']['before']}, {row['n']['after']}"]
        for row in result["rows"]
    ]  # fmt: skip
    return Columns(["figure", "before", "after", "better by", "95 %", "n"], rows, 1)


def _figures(result: Object) -> Iterator[Section]:
    """All of the application's own figures: those that stand for its parts, and behind them the others."""
    figures = result.get("figures") or ()  # impacts of before had none
    if not figures:
        return
    leading, others = ([one for one in figures if one["leading"] == kind] for kind in (True, False))
    lines = [
        f"{plural(len(leading), 'comparison')}: faster and slower hold for all of them together (Holm), and not where "
        "it says 'by itself'."
    ]
    if result["blocks"] < result["figures_blocks"]:
        lines.append(
            f"{plural(result['blocks'], 'block')} can't prove any of so many: --blocks {result['figures_blocks']} at "
            "least."
        )
    count = plural(len(others), "further figure")
    more = Fold(
        f"{count}, each by itself", [_figures_table(others)], printed=False,
        brief=f"{count}: on the page, and in impact.json.",
    )  # fmt: skip
    yield Section("The application's own figures", lines, _figures_table(leading), body=[more] if others else [])


def _figures_table(figures: Sequence[Object]) -> Columns:
    rows = [
        [one["title"], one["verdict"], _short_mean(one, "before"), _short_mean(one, "after"),
         percent(one["compared"]["improvement"]), interval(one["compared"])]
        for one in figures
    ]  # fmt: skip
    return Columns(["figure", "verdict", "before", "after", "better by", "95 %"], rows, 2)


def _short_mean(row: Object, arm: str) -> Cell:
    """The mean, rates in bytes as benchmarks print them; on a page with the standard deviation below it."""
    deviation, unit = row["deviation"][arm], "byte/s" if row["unit"] == "B/s" else row["unit"]
    small = [] if deviation is None else [f"± {show(deviation, unit)}"]
    return Cell(show(row["mean"][arm], unit), small=small)


def _mean(row: Object, arm: str) -> str:
    """Mean and standard deviation."""
    mean, deviation = row["mean"][arm], row["deviation"][arm]
    if mean is None:
        return "–"
    return show(mean, row["unit"]) + ("" if deviation is None else f" ± {show(deviation, row['unit'])}")


def _runs(result: Object) -> Iterator[str]:
    for arm, verdicts in result["failed"].items():
        for verdict, count in verdicts.items():
            reason = result.get("reasons", {}).get(arm, {}).get(verdict)  # runs of before it was kept have none
            yield f"{arm}: {plural(count, 'run')} without a figure ({verdict}{f': {reason}' if reason else ''})"
    same = result["same_answers"]
    if same is True:
        yield f"Every answer was the same in both arms: {result['answers']['before'][0]}"
    elif same is False:
        for arm, answers in result["answers"].items():
            yield f"{arm}: {' // '.join(answers)}"
        yield "The answers DIFFER: no gain is claimed."
    else:
        yield "Answers were not compared: --answer REGEX says what of the output must be the same."


def _profiles(result: Object) -> Iterator[Section]:
    """Each arm's profile: shares and the calls that took the most; sizes of those from before."""
    for arm, one in result["profiles"].items():
        share = one["share"]
        if share is None:
            yield Section(f"Profile {arm} the change", [f"There is none: {one['reason']}."])
            continue
        yield Section(f"Profile {arm} the change", list(_shares(share)), table=_calls(share))
    first = result["profiles"].get("before", {}).get("share")
    if first is not None and first["sizes"]:
        yield Section("Messages sent, by size and by where the receiver is", table=_sizes(first))


def _shares(share: Object) -> Iterator[str]:
    ranks = f"{plural(share['ranks'], 'rank')} on {plural(share['hosts'], 'host')}"
    yield (
        f"{share['library']}, {ranks}, {show(share['seconds'], 's')} from MPI_Init to MPI_Finalize: "
        f"{_share(share['mpi'])} of it in MPI, {_share(share['waiting'])} in calls that wait, "
        f"{_share(share['certain'])} in calls with partners on other hosts (means over the ranks)."
    )
    if share["missing"]:
        missing = ", ".join(map(str, share["missing"]))
        yield f"No profile of rank {missing}: it died, or did not reach MPI_Finalize; shares are of the others."
    if share["several_threads"]:
        yield "Several threads may have been in MPI at the same time: shares count each of them."


def _share(value: float) -> str:
    return f"{100 * value:.2g} %"


def _calls(share: Object) -> Columns:
    rows = [
        [call["name"], str(call["calls"]), show(call["seconds"], "s"), _share(call["share"]),
         show(call["bytes"], "B") if call["bytes"] else "–"]
        for call in share["calls"][:MOST_CALLS]
    ]  # fmt: skip
    return Columns(["call, all ranks", "calls", "time", "of all time", "bytes"], rows, 1)


def _sizes(share: Object) -> Columns:
    rows = [
        [_size(one), *(str(one["messages"][place]) for place in ("same", "other", "open")),
         show(sum(one["bytes"].values()), "B")]
        for one in share["sizes"][:MOST_SIZES]
    ]  # fmt: skip
    return Columns(["bytes", "this host", "other hosts", "not told", "in all"], rows, 1)


def _size(one: Object) -> str:
    return str(one["least"]) if one["least"] == one["most"] else f"{one['least']} – {one['most']}"


def _bounds(result: Object) -> Iterator[str]:
    before = result["profiles"].get("before")
    if before is None or before["share"] is None:
        return
    share, wall = before["share"], before["most_of_wall"]
    outside = f"; of the whole command, launch included, {_share(wall)}" if wall is not None else ""
    yield (
        f"Of the time between MPI_Init and MPI_Finalize at most {_share(share['most'])}{outside}: "
        f"rank {share['busiest']} computes for the rest, on any network."
    )
    bound = result["bound"]
    if bound is not None and bound["ratio"] < 1:
        yield (
            f"Had all of that shrunk as the ping-pong did (× {bound['ratio']:.3g}), the time within MPI_Init and "
            f"MPI_Finalize would be {_share(bound['most'])} less: a bound, not a forecast."
        )


def _left(result: Object) -> Iterator[str]:
    for one in result["leftovers"]:
        yield f"NOT taken back: {' '.join(filter(None, (one['node'], one['name'], one['place'])))}: {one['text']}"
    same = result.get("same")
    if same is True:
        yield "Every setting of every node is as before, byte by byte."
    elif result["kind"] == "links":
        yield from () if result["leftovers"] else ("The links are as before.",)
    elif result["kind"] == "networks":
        yield "Nothing was changed on the nodes: each arm was measured over a network of its own."
    elif same is None:
        yield "Whether all settings are as before was not read: `wulf tune status` tells."
    for one in result.get("differ", ()):
        yield f"DIFFERS from before: {one['node']} {one['name']} {one['place']}"


def _omitted(result: Object) -> list[Section]:
    omitted = result.get("omitted") or []
    if not omitted:
        return []
    return [Section("Not done here", table=Columns(["setting", "why"], [[o["name"], o["reason"]] for o in omitted], 2))]
