"""Vectors of `arm` and `sphere` from their definitions in numpy, summed over whole arrays where ours go one by one."""

import numpy as np

from write_vectors import record, write_vectors

generator = np.random.default_rng(1)
SOURCE = f"numpy {np.__version__}, seed 1"


def arm(solution):
    angles = np.clip(solution, 0, 1)
    headings = np.cumsum(2 * np.pi * angles - np.pi)
    hand = np.array([np.cos(headings).sum(), np.sin(headings).sum()]) / len(angles)
    return (hand + 1) / 2, -np.std(angles), True


def sphere(solution):
    outside = np.abs(solution) > 5.12
    inside = np.where(outside, 5.12 / np.where(outside, solution, 1), solution)
    half = len(solution) // 2
    sums = np.array([inside[:half].sum(), inside[half:].sum()])
    bound = 5.12 * half
    shift = 5.12 * 0.4
    worst = (-5.12 - shift) ** 2 * len(solution)
    return (sums + bound) / (2 * bound), 100 * (worst - ((solution - shift) ** 2).sum()) / worst, True


def in_single_precision(*solutions):
    """The devices' numbers, so that the inputs of both sides are the same."""
    return [np.float32(solution).astype(np.float64).tolist() for solution in solutions]


def episodes(function, solutions):
    start = [0.0, 0.0]
    return [record(start, [solution], lambda action: function(np.array(action))) for solution in solutions]


write_vectors(
    "arm",
    SOURCE,
    episodes(
        arm,
        in_single_precision(
            np.full(100, 0.5),
            np.full(100, 1.0),
            np.tile([0.0, 1.0], 50),
            generator.uniform(0, 1, 100),
            generator.uniform(-0.5, 1.5, 100),
            generator.normal(0.5, 0.02, 100),
            generator.normal(0.51, 0.1, 100),
        ),
    ),
)
write_vectors(
    "sphere",
    SOURCE,
    episodes(
        sphere,
        in_single_precision(
            np.zeros(20),
            np.full(20, 2.048),
            np.full(20, -5.12),
            np.tile([5.12, 5.13], 10),
            generator.normal(0, 2, 20),
            generator.uniform(-5.12, 5.12, 20),
            generator.normal(0, 12, 20),
        ),
    ),
)
