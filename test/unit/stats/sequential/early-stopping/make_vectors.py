"""Makes vectors.json: the early stopping of MLPerf Inference by its definition, in decimals of eighty digits.

For each percentile p, by t = 0..100 queries over latency, the smallest number h of queries under latency for which at
most t of h + t independent queries are over, each with the chance 1 - p, with a chance of at most 0.01: the plain sum
of binomial probabilities, no incomplete beta function. Run it with Python 3 and nothing else.
"""

import json
from decimal import Decimal, getcontext
from pathlib import Path

getcontext().prec = 80
DOUBT = Decimal("0.01")
MOST_OVER = 100


def chance(n, t, p):
    """At most t of n are over."""
    q = 1 - p
    term = p**n
    total = term
    for k in range(t):
        term = term * (n - k) * q / ((k + 1) * p)
        total += term
    return total


def least_under(t, p, start):
    """The chance falls with h, and h rises with t."""
    low, step = start - 1, 1
    while chance(low + step + t, t, p) > DOUBT:
        low += step
        step *= 2
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        if chance(middle + t, t, p) > DOUBT:
            low = middle
        else:
            high = middle
    return high


table = {}
for text in ["0.9", "0.99", "0.999"]:
    rows = []
    for over in range(MOST_OVER + 1):
        rows.append(least_under(over, Decimal(text), rows[-1] + 1 if rows else 1))
    table[text] = rows
Path(__file__).with_name("vectors.json").write_text(json.dumps(table, separators=(",", ":")) + "\n")
