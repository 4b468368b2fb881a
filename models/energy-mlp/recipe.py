"""Trains a perceptron to tell the steady heating or cooling load of a building from its plan and the weather.

    python models/energy-mlp/recipe.py

Needs models/requirements.txt and nothing else. The load is that of a steady balance with the terms that ISO 52016-1 has too: what goes
through walls, windows and roof and with the changed air (wind and warmth push air through leaks, as in the LBL model of Sherman
and Grimsrud, 1980), what the sun brings through four facades (clear sky, Kasten and Czeplak's clouds), people and machines.
"""

import sys
from pathlib import Path

import numpy as np
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recipe"))

from fit_network import begin, fit_network
from simulate_body import Generator, uniform
from temporal_layers import absolute, as_tensors, closeness
from write_model import write_model

SEED = 16
SAMPLES = {"fitting": 20_000, "validation": 1000, "held out": 1000}
EPOCHS = 25
AIR_WH_M3K = 0.34  # heat that a cubic metre of air takes, Wh/(m³·K)
PERSON_W = 80

# Name, unit, low, high; the network gets each of them on -1 to 1.
FEATURES = [
    ("length", "m", 8, 40),
    ("depth", "m", 7, 18),
    ("storeys", "", 1, 6),
    ("long side's bearing from south", "degrees", -90, 90),
    ("glazed share of the facades", "", 0.1, 0.7),
    ("walls' transmittance", "W/(m²·K)", 0.12, 1.4),
    ("windows' transmittance", "W/(m²·K)", 0.7, 3.0),
    ("windows' solar gain", "", 0.25, 0.75),
    ("leaks", "changes of air an hour at 50 Pa", 0.6, 8),
    ("air per person", "m³/h", 15, 45),
    ("heat recovered from it", "", 0, 0.85),
    ("people", "each 100 m²", 0, 8),
    ("lamps and machines", "W/m²", 1, 18),
    ("air outside", "°C", -15, 38),
    ("wind", "m/s", 0, 10),
    ("sun's height", "degrees", -10, 62),
    ("sun's bearing from south", "degrees", -110, 110),
    ("cloud", "", 0, 1),
    ("set-point", "°C", 19, 24),
]
LOW, HIGH = (np.array([row[column] for row in FEATURES], dtype=float) for column in (2, 3))


def solar_watts(height_deg, bearing_deg, cloud, facing_deg) -> np.ndarray:
    """Global radiation on a wall in W/m²: beam, half of the sky and half of the ground's reflection of 0.2."""
    sine = np.sin(np.deg2rad(np.maximum(height_deg, 0)))
    clear = np.maximum(910 * sine - 30, 0)  # Kasten and Czeplak 1980, as is the effect of the clouds
    horizontal = clear * (1 - 0.75 * cloud**3.4)
    diffuse = horizontal * (0.3 + 0.7 * cloud**2)
    beam = (horizontal - diffuse) / np.maximum(sine, 0.1)
    towards = np.cos(np.deg2rad(np.maximum(height_deg, 0))) * np.cos(np.deg2rad(bearing_deg - facing_deg))
    return beam * np.maximum(towards, 0) + diffuse / 2 + 0.1 * horizontal


def steady_load(features: np.ndarray) -> np.ndarray:
    """Watts per m² of floor [n, 1] that keep the set-point: heating above 0, cooling below."""
    length, depth, storeys, facing, glazed, wall_u, window_u, gain, n50, fresh, recovered = features.T[:11]
    people, machines, outside, wind, height, bearing, cloud, inside = features.T[11:]
    storeys = np.rint(storeys)
    floor, tall = length * depth * storeys, 3.0 * storeys
    volume, colder = 2.6 * floor, inside - outside
    sides = [(facing + quarter, width * tall) for quarter, width in ((0, length), (90, depth), (180, length), (270, depth))]
    facade = 2 * (length + depth) * tall
    sun = sum(solar_watts(height, bearing, cloud, towards) * area for towards, area in sides)
    through = facade * (glazed * window_u + (1 - glazed) * wall_u) + length * depth * (0.8 * wall_u + 0.5 * 0.4)
    stack = 0.0015 * tall * np.abs(colder) + 0.01 * wind**2  # (changes per hour)², of a house with n50 = 10
    leaks = n50 / 10 * np.sqrt(stack) * volume
    crowd = people / 100 * floor
    air = AIR_WH_M3K * (leaks + fresh * crowd * (1 - np.where(colder > 0, recovered, 0)))
    shaded = np.where(outside > 23, 0.45, 0.85)  # blinds come down on warm days
    gains = sun * glazed * gain * shaded + 0.04 * wall_u * sun * (1 - glazed) * 0.6 + crowd * PERSON_W + machines * floor
    return (((through + air) * colder - gains) / floor)[:, None]


def draw_samples(generator: Generator, n: int) -> np.ndarray:
    """Buildings and weather [n, features], all independent."""
    features = uniform(generator, LOW, HIGH, n, len(FEATURES))
    features[:, 2] = np.rint(features[:, 2])
    return features


def apart(features: np.ndarray) -> np.ndarray:
    """Which samples [n] are in the corner that is held out: cold and windy, or hot under a bare sky."""
    outside, wind, cloud = features[:, 13], features[:, 14], features[:, 17]
    return ((outside < 0) & (wind > 5)) | ((outside > 27) & (cloud < 0.4))


def draw_part(generator: Generator, part: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Features on -1 to 1 and what a meter reads [n, 1]: the load within 4 % and 1 W/m², the true load where held out."""
    drawn = draw_samples(generator, 8 * n)
    features = drawn[apart(drawn) == (part == "held out")][:n]
    load = steady_load(features)
    if part != "held out":
        load = load * (1 + 0.04 * generator.standard_normal(load.shape)) + generator.standard_normal(load.shape)
    return (2 * (features - LOW) / (HIGH - LOW) - 1).astype(np.float32), load.astype(np.float32)


class Scaled(nn.Module):
    """Brings the last layer's output to W/m²: the training part's mean and spread, kept in the file."""

    def __init__(self, mean: float, spread: float):
        super().__init__()
        self.mean, self.spread = mean, spread

    def forward(self, x):
        return x * self.spread + self.mean


def build_network(loads: np.ndarray) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(len(FEATURES), 128),
        nn.ReLU(),
        nn.Linear(128, 128),
        nn.ReLU(),
        nn.Linear(128, 64),
        nn.ReLU(),
        nn.Linear(64, 1),
        Scaled(float(loads.mean()), float(loads.std())),
    )


def describe(outcome: dict) -> dict:
    each = "; ".join(f"{name} {low} to {high} {unit}".strip() for name, unit, low, high in FEATURES)
    return {
        "category": "sensor",
        "task": "tells the steady heating or cooling load of a building from its plan and the weather",
        "metric": "mae",
        "architecture": "dense 128, ReLU, dense 128, ReLU, dense 64, ReLU, dense 1, scaled to W/m²",
        "inputs": [
            {
                "name": "building",
                "dtype": "float32",
                "shape": [-1, len(FEATURES)],
                "meaning": f"in this order, each brought linearly to -1..1 from its range: {each}",
            }
        ],
        "outputs": [
            {
                "name": "load",
                "dtype": "float32",
                "shape": [-1, 1],
                "meaning": "W per m² of floor that keep the set-point, heating above 0, cooling below",
            }
        ],
        "data": {
            "kind": "simulated",
            "source": "a steady heat balance of boxes of buildings, by recipe.py; the fitted loads carry a meter's error of 4 % and 1 W/m²",
            "licence": "made by this repository's code, under its licence",
            "split": "by weather: what is below 0 °C with more than 5 m/s of wind, or above 27 °C under less than 0.4 of cloud, is held"
            " out as a whole; fitting and validation have all other weather, and other buildings",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, mean absolute error",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": 128, "peakLearningRate": 0.004, "weightDecay": 0.01, "threads": 1},
            "outcome": outcome,
        },
        "intendedUse": "a small dense network for demonstrations, conformance checks and benchmarks",
        "limits": [
            "a balance without storage: real buildings keep heat for hours, so this is no forecast of a meter",
            "boxes with four equal facades, blinds that everybody closes at 23 °C, no ground, no moisture, no neighbours",
            "features are drawn independently, so that there is sun on any bearing at any height, which no place on earth has",
            "the held-out loads are the formula's own, without a meter's error",
        ],
    }


def main() -> None:
    begin(SEED)
    generator = np.random.default_rng(SEED)
    parts = {part: draw_part(generator, part, n) for part, n in SAMPLES.items()}
    network = build_network(parts["fitting"][1])
    outcome = fit_network(
        network,
        as_tensors(*parts["fitting"]),
        absolute,
        closeness(as_tensors(*parts["validation"])),
        epochs=EPOCHS,
        batch=128,
        learning_rate=4e-3,
    )
    outcome = {"validationSamples": SAMPLES["validation"], **outcome}
    features, loads = parts["held out"]
    tensors = {
        "input.building": features,
        "target": loads,
        "baseline": np.median(parts["fitting"][1], axis=0, keepdims=True),
    }
    write_model(Path(__file__).resolve().parent, network, "load", tensors, describe(outcome))


if __name__ == "__main__":
    main()
