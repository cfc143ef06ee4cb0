"""Plots as inline SVG. Colours are CSS classes of the page, so that they follow light and dark."""

import math
from html import escape

WIDTH = 860
ROW = 34
LABEL = 130
AFTER = 170  # room for the figure right of a bar


def element(name: str, content: str = "", **attributes) -> str:
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(round(value, 1) if isinstance(value, float) else value))}"'
        for key, value in attributes.items()
    )
    return f"<{name}{words}>{content}</{name}>"


def text(x: float, y: float, content: str, **attributes) -> str:
    return element("text", escape(content), x=x, y=y, **attributes)


def figure(height: float, body: list[str], label: str) -> str:
    return element(
        "svg", "".join(body), viewBox=f"0 0 {WIDTH} {height:.0f}", role="img", aria_label=label
    )


def compact(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if value >= 1e3 else f"{value:g}"


def bars(rows: list[dict], unit: str) -> str:
    """One bar per row: `name`, `value`, `low`, `high`, `detail`; longest is best."""
    if not rows:
        return ""
    largest = max(row["high"] for row in rows) or 1
    scale = (WIDTH - LABEL - AFTER) / largest
    body = []
    for number, row in enumerate(rows):
        top = number * ROW
        middle = top + ROW / 2
        kind = "braid" if row["name"] == "braid" else "rival"
        low, high = LABEL + row["low"] * scale, LABEL + row["high"] * scale
        end = LABEL + row["value"] * scale
        whisker = (
            f"M{low:.1f} {middle:.1f}H{high:.1f}"
            f"M{low:.1f} {middle - 4:.1f}v8M{high:.1f} {middle - 4:.1f}v8"
        )
        tip = f"{row['name']}: {row['value']:,.0f} {unit} ({row['low']:,.0f} to {row['high']:,.0f})"
        body.append(
            element(
                "g",
                element("title", escape(tip))
                + text(LABEL - 12, middle + 4.5, row["name"], class_=f"name {kind}-name")
                + element("rect", x=LABEL, y=top + 6.0, width=max(1.0, end - LABEL),
                          height=float(ROW - 12), rx=3, class_=f"bar {kind}")
                + element("path", d=whisker, class_="whisker")
                + text(max(end, high) + 10, middle + 4.5, f"{row['value']:,.0f}", class_="value")
                + text(max(end, high) + 22 + 8 * len(f"{row['value']:,.0f}"), middle + 4.5,
                       row.get("detail", ""), class_="detail"),
            )
        )  # fmt: skip
    return figure(len(rows) * ROW, body, f"{unit} per contestant")


class Axis:
    """Maps values to pixels, linearly or by logarithm, and says where ticks belong."""

    def __init__(self, low: float, high: float, start: float, end: float, log: bool):
        if log:
            low, high = max(low, 1e-9), max(high, 1e-9)
        if high <= low:
            low, high = (low / 2, high * 2) if log else (low - 0.5, high + 0.5)
        self.low, self.high, self.start, self.end, self.log = low, high, start, end, log

    def at(self, value: float) -> float:
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        if self.log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            steps = (1, 2, 5) if self.high / self.low < 200 else (1,)
            values = [step * 10.0**power for power in powers for step in steps]
        else:
            rough = (self.high - self.low) / 5
            power = 10.0 ** math.floor(math.log10(rough))
            step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough * 0.999)
            first = math.ceil(self.low / step - 1e-9)
            values = [n * step for n in range(first, first + 12)]
        slack = (self.high - self.low) * 1e-9
        return [value for value in values if self.low - slack <= value <= self.high + slack]


def spread_apart(wanted: list[float], gap: float, low: float, high: float) -> list[float]:
    """Moves label positions so that neighbours are `gap` apart, keeping their order."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    placed = [0.0] * len(wanted)
    last = low - gap
    for index in order:
        last = placed[index] = max(wanted[index], last + gap)
    limit = high
    for index in reversed(order):
        limit = placed[index] = min(placed[index], limit)
        limit -= gap
    return placed


def lines(
    series: dict[str, list[tuple[float, float]]],
    x_title: str,
    y_title: str,
    *,
    x_log: bool = False,
    y_log: bool = True,
    x_from: float | None = None,
    x_mark: float | None = None,
) -> str:
    """A curve per name through its points, labelled at its end; `x_mark` draws a target line."""
    series = {
        name: sorted(point for point in points if x_from is None or point[0] >= x_from)
        for name, points in series.items()
    }
    series = {name: points for name, points in series.items() if points}
    if not series:
        return ""
    height, left, right, top, bottom = 380, 70, 140, 14, 48
    xs = [x for points in series.values() for x, _ in points] + ([x_mark] if x_mark else [])
    ys = [y for points in series.values() for _, y in points]
    margin = 0.0 if x_log else (max(xs) - min(xs)) * 0.03
    x_axis = Axis(min(xs) - margin, max(xs) + margin, left, WIDTH - right, x_log)
    pad = 1.15 if y_log else 1.0
    y_axis = Axis(min(ys) / pad if y_log else 0, max(ys) * pad, height - bottom, top, y_log)
    body = []
    for value in y_axis.ticks():
        y = y_axis.at(value)
        body.append(element("path", d=f"M{left} {y:.1f}H{WIDTH - right}", class_="grid"))
        body.append(text(left - 8, y + 4, compact(value), class_="tick end"))
    for value in x_axis.ticks():
        x = x_axis.at(value)
        body.append(element("path", d=f"M{x:.1f} {top}V{height - bottom}", class_="grid"))
        body.append(text(x, height - bottom + 18, compact(round(value, 6)), class_="tick middle"))
    if x_mark:
        x = x_axis.at(x_mark)
        body.append(element("path", d=f"M{x:.1f} {top}V{height - bottom}", class_="target"))
    body.append(text((left + WIDTH - right) / 2, height - 8, x_title, class_="axis middle"))
    body.append(text(16, height / 2, y_title, class_="axis middle",
                     transform=f"rotate(-90 16 {height / 2})"))  # fmt: skip
    ends = [y_axis.at(points[-1][1]) for points in series.values()]
    places = spread_apart(ends, 17, top + 8, height - bottom)
    for number, (name, points) in enumerate(series.items()):
        kind = "braid" if name == "braid" else f"s{number % 8}"
        pixels = [(x_axis.at(x), y_axis.at(y)) for x, y in points]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in pixels)
        dots = "".join(
            element("circle", element("title", escape(f"{name}: {px:g}, {py:,.0f}")),
                    cx=x, cy=y, r=5 if name == "braid" else 3.5)
            for (x, y), (px, py) in zip(pixels, points)
        )  # fmt: skip
        lead = f"M{pixels[-1][0]:.1f} {pixels[-1][1]:.1f}L{WIDTH - right + 8} {places[number]:.1f}"
        body.append(
            element(
                "g",
                element("path", d=lead, class_="lead")
                + element("path", d=path, class_="line")
                + dots
                + text(WIDTH - right + 12, places[number] + 4, name, class_="label"),
                class_=f"series {kind}",
            )
        )
    return figure(height, body, f"{y_title} against {x_title}")
