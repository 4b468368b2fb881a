"""Apache Otava with its defaults, asked again after each point of a series.

One series a line comes in, as a JSON list of numbers; for each a line goes out with a list for each of its lengths from
2 on, which holds the indices of the change points that Otava then finds.
"""

import json
import sys

from otava.analysis import compute_change_points

for line in sys.stdin:
    values = json.loads(line)
    answers = []
    for length in range(2, len(values) + 1):
        points, _ = compute_change_points(values[:length], window_len=50, max_pvalue=0.001, min_magnitude=0.0)
        answers.append([int(point.index) for point in points])
    print(json.dumps(answers, separators=(",", ":")), flush=True)
