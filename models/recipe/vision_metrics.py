"""The metrics of the vision models (models/README.md), each as a ratio of sums over samples.

Every function takes the network's output and the target and gives [n] numerators and [n] denominators; the metric is
the quotient of their sums, so that one bootstrap over samples serves all.
"""

import numpy as np

Ratio = tuple[np.ndarray, np.ndarray]

OVERLAP = 0.5  # intersection over union from which two boxes are the same
PEAK_ERROR = 1e-10  # mean squared error below which psnr no longer grows: 100 dB


def accuracy(output: np.ndarray, target: np.ndarray) -> Ratio:
    hits = output.argmax(axis=-1) == target
    return hits.reshape(len(hits), -1).mean(axis=1), np.ones(len(hits))


def binary_accuracy(output: np.ndarray, target: np.ndarray) -> Ratio:
    hits = (output > 0) == (target.reshape(output.shape) > 0.5)
    return hits.reshape(len(hits), -1).mean(axis=1), np.ones(len(hits))


def mae(output: np.ndarray, target: np.ndarray) -> Ratio:
    errors = np.abs(output - target)
    return errors.reshape(len(errors), -1).mean(axis=1), np.ones(len(errors))


def psnr(output: np.ndarray, target: np.ndarray) -> Ratio:
    errors = ((output - target).astype(np.float64) ** 2).reshape(len(output), -1).mean(axis=1)
    return -10 * np.log10(np.maximum(errors, PEAK_ERROR)), np.ones(len(errors))


def iou(output: np.ndarray, target: np.ndarray) -> Ratio:
    found, wanted = (each.reshape(len(output), -1) for each in (output > 0, target > 0.5))
    either = (found | wanted).sum(axis=1)
    both = (found & wanted).sum(axis=1)
    return np.where(either > 0, both / np.maximum(either, 1), 1.0), np.ones(len(output))


def read_greedily(output: np.ndarray) -> list[list[int]]:
    """Symbols of [n, steps, 1 + symbols]: the best of each step, repeats merged, blanks (0) left out."""
    best = output.argmax(axis=-1)
    return [[int(row[i]) for i in range(len(row)) if row[i] and (i == 0 or row[i] != row[i - 1])] for row in best]


def edit_distance(one: list[int], other: list[int]) -> int:
    """Levenshtein, 1966."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        above, row = row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
    return row[-1]


def character_accuracy(output: np.ndarray, target: np.ndarray) -> Ratio:
    wanted = [[int(symbol) for symbol in row if symbol] for row in target]
    edits = np.array([edit_distance(a, b) for a, b in zip(read_greedily(output), wanted, strict=True)])
    lengths = np.array([len(each) for each in wanted])
    return lengths - edits, lengths


def overlaps(box: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Intersection over union of [4] with [n, 4]; centre, width, height."""
    low = np.maximum(box[:2] - box[2:] / 2, others[:, :2] - others[:, 2:] / 2)
    high = np.minimum(box[:2] + box[2:] / 2, others[:, :2] + others[:, 2:] / 2)
    shared = np.clip(high - low, 0, None).prod(axis=1)
    return shared / (box[2] * box[3] + others[:, 2] * others[:, 3] - shared + 1e-12)


def find_boxes(grid: np.ndarray) -> np.ndarray:
    """Boxes [k, 4] in shares of the picture out of [5, rows, columns], the highest scores first."""
    rows, columns = grid.shape[1:]
    score, x, y, width, height = (channel.reshape(-1) for channel in grid)
    x = (x + np.tile(np.arange(columns), rows)) / columns
    y = (y + np.repeat(np.arange(rows), columns)) / rows
    boxes, kept = np.stack([x, y, width, height], axis=1), []
    for at in sorted(np.flatnonzero(score > 0), key=lambda cell: -score[cell]):
        if not kept or overlaps(boxes[at], boxes[kept]).max() <= OVERLAP:
            kept.append(at)
    return boxes[kept]


def detection_f1(output: np.ndarray, target: np.ndarray) -> Ratio:
    """Target: [n, most, 4], centre and size in shares of the picture. Each found box takes the free one it fits best."""
    hits, boxes = np.zeros(len(output)), np.zeros(len(output))
    for i, grid in enumerate(output):
        found, wanted = find_boxes(grid), target[i][target[i][:, 2] > 0]
        boxes[i] = len(found) + len(wanted)
        free = np.ones(len(wanted), dtype=bool)
        for box in found:
            if not free.any():
                break
            fit = np.where(free, overlaps(box, wanted), -1)
            if fit.max() >= OVERLAP:
                free[fit.argmax()] = False
                hits[i] += 1
    return 2 * hits, boxes


METRICS = {
    "accuracy": accuracy,
    "binary-accuracy": binary_accuracy,
    "mae": mae,
    "psnr": psnr,
    "iou": iou,
    "character-accuracy": character_accuracy,
    "detection-f1": detection_f1,
}


def evaluate(metric: str, output: np.ndarray, target: np.ndarray) -> float:
    numerators, denominators = METRICS[metric](output, target)
    return float(numerators.sum() / denominators.sum())


def bootstrap(metric: str, output: np.ndarray, target: np.ndarray, draws: int = 1000) -> tuple[float, float]:
    """95 % percentile interval over samples. Efron, 1979."""
    numerators, denominators = METRICS[metric](output, target)
    rows = np.random.default_rng(0).integers(0, len(numerators), (draws, len(numerators)))
    values = numerators[rows].sum(axis=1) / denominators[rows].sum(axis=1)
    return float(np.quantile(values, 0.025)), float(np.quantile(values, 0.975))
