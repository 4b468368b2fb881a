"""Makes vectors.json: what Apache Otava finds in the series of series.ts, by several settings.

    python3 -m venv .venv && .venv/bin/pip install apache-otava==0.8.0
    .venv/bin/python make_vectors.py > vectors.json

Series are made here and in series.ts by the same operations in the same order, all of them exact by IEEE 754, so that
no series needs to be kept; a case has the sum of its series to tell that both made the same.
"""

import json
import math

from otava.analysis import TTestSignificanceTester, compute_change_points

KINDS = ["noise", "steps", "drift", "spikes", "heavy", "bimodal", "constant", "ties", "still", "waves", "tiny", "signed"]
LENGTHS = [1, 2, 3, 4, 5, 7, 12, 24, 25, 26, 49, 50, 51, 60, 74, 75, 76, 99, 100, 101, 130, 150, 200, 260, 333, 500]
LONG = [1000, 2000]
# windowPoints, maxP, minMagnitude
SETTINGS = [(50, 0.001, 0.0), (30, 0.01, 0.0), (20, 0.001, 0.05), (100, 0.0001, 0.01), (50, 0.1, 0.02), (13, 0.6, 0.0)]


def draw(seed):
    """Lehmer's generator, uniform in (0, 1)."""
    state = seed * 7919 + 12345
    while True:
        state = (state * 48271) % 0x7FFFFFFF
        yield state / 0x7FFFFFFF


def bell(source):
    """Twelve uniforms less six: nearly normal, and exact in order."""
    total = 0.0
    for _ in range(12):
        total += next(source)
    return total - 6


def make_series(kind, seed, length):
    source = draw(seed)
    every = 9 + math.floor(next(source) * 60)
    size = 0.01 + next(source) * 0.3
    noise = 0.002 + next(source) * 0.05
    level = 100.0
    values = []
    for at in range(length):
        if at > 0 and at % every == 0 and kind in ("steps", "ties", "still", "tiny", "signed"):
            level = level * (1 + size) if next(source) < 0.5 else level / (1 + size)
        value = level * (1 + noise * bell(source))
        chance = next(source)
        other = next(source)
        if kind == "drift":
            value += at * size * 0.2
        elif kind == "spikes" and chance < 0.05:
            value *= 1 + other * 3
        elif kind == "heavy":
            value += (other - 0.5) / (chance + 0.01)
        elif kind == "bimodal" and chance < 0.3:
            value *= 1 + size
        elif kind == "constant":
            value = 42.0
        elif kind == "ties":
            value = math.floor(value / 4 + 0.5) * 4
        elif kind == "still":
            value = level
        elif kind == "waves":
            value += (at % every) * size
        elif kind == "tiny":
            value *= 1e-9
        elif kind == "signed":
            value -= 100
        values.append(value)
    return values


def describe(points, values):
    """p, mean before and deviation after, by the segments that are left."""
    tester = TTestSignificanceTester(0.001)
    intervals = tester.get_intervals(points)
    judged = [tester.change_point(point.to_candidate(), list(values), intervals) for point in points]
    return [[float(p.stats.pvalue), float(p.stats.mean_1), float(p.stats.std_2)] for p in judged]


def main():
    print('{\n  "settings": ' + json.dumps(SETTINGS) + ',\n  "cases": [')
    seed = 0
    lines = []
    for kind in KINDS:
        for length in LENGTHS + LONG:
            seed += 1
            values = make_series(kind, seed, length)
            total = 0.0
            for value in values:
                total += value
            found = []
            for window, max_p, magnitude in SETTINGS:
                points, _ = compute_change_points(list(values), window, max_p, magnitude)
                found.append([int(point.index) for point in points])
                if (window, max_p, length) == (50, 0.001, 200):
                    detail = describe(points, values)
            case = {"kind": kind, "seed": seed, "length": length, "sum": total, "found": found}
            if length == 200 and all(math.isfinite(p) for p, _, _ in detail):
                case["detail"] = detail
            lines.append("    " + json.dumps(case, separators=(",", ":")))
    print(",\n".join(lines) + "\n  ]\n}")


main()
