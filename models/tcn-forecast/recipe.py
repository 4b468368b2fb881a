"""Trains a temporal convolutional network to forecast the carbon dioxide in the air over Mauna Loa, half a year ahead.

    python models/tcn-forecast/recipe.py

Needs models/requirements.txt and nothing else: the weekly measurements of 1958 to 2001 come with statsmodels (Keeling and
Whorf, Scripps Institution of Oceanography, 2004). Network: Bai, Kolter and Koltun, "An empirical evaluation of generic
convolutional and recurrent networks for sequence modeling", 2018: residual blocks of two causal, dilated convolutions.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from statsmodels.datasets import co2
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recipe"))

from fit_network import begin, fit_network
from held_out import pack, unpack
from temporal_layers import absolute, as_tensors, closeness
from write_model import write_model

SEED = 15
STEPS = 104  # weeks looked back on
AHEAD = 26  # weeks forecast
YEAR = 52
CHANNELS = 24
DILATIONS = (1, 2, 4, 8, 16)  # two convolutions each: the last output sees 1 + 4 · 31 = 125 weeks
RANGE_PPM = 16.0
YEARS = {"fitting": (1958, 1986), "validation": (1986, 1991), "held out": (1991, 2002)}
EPOCHS = 40
DROPOUT = 0.1
JITTER_PPM = 0.2  # noise on the fitted windows, of the measurements' own size


class Causal(nn.Conv1d):
    """A dilated convolution of three that sees no later step: padded on both sides, the end cut off again."""

    def __init__(self, channels: int, dilation: int):
        super().__init__(channels, channels, 3, padding=2 * dilation, dilation=dilation)

    def forward(self, series: Tensor) -> Tensor:
        return super().forward(series)[:, :, : -2 * self.dilation[0]]


class Residual(nn.Module):
    def __init__(self, channels: int, dilation: int):
        super().__init__()
        half = lambda: [Causal(channels, dilation), nn.ReLU(), nn.Dropout(DROPOUT)]  # noqa: E731
        self.body = nn.Sequential(*half(), *half())

    def forward(self, series: Tensor) -> Tensor:
        return torch.relu(series + self.body(series))


class Forecaster(nn.Module):
    """[n, 1, STEPS] to [n, AHEAD], both in ppm over the window's last value."""

    def __init__(self):
        super().__init__()
        self.widen = nn.Conv1d(1, CHANNELS, 1)
        self.blocks = nn.Sequential(*(Residual(CHANNELS, dilation) for dilation in DILATIONS))
        self.head = nn.Sequential(nn.Linear(CHANNELS, 64), nn.ReLU(), nn.Linear(64, AHEAD))

    def forward(self, series: Tensor) -> Tensor:
        if self.training:
            series = series + JITTER_PPM * torch.randn_like(series)
        return self.head(self.blocks(self.widen(series))[:, :, -1])


def read_windows(years: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Windows [n, 1, STEPS], what follows [n, AHEAD] and the seasonal naive forecast of it, whose forecast lies in the years.

    The naive one is what followed a year before, moved by what the air has gained in that year.
    """
    series = co2.load_pandas().data["co2"].interpolate()  # 59 weeks without a measurement
    values = series.to_numpy()
    year = series.index.year.to_numpy()
    last = np.arange(STEPS - 1, len(values) - AHEAD)
    last = last[(year[last + 1] >= years[0]) & (year[last + AHEAD] < years[1])]
    windows, later = values[last[:, None] + np.arange(1 - STEPS, 1)], values[last[:, None] + np.arange(1, AHEAD + 1)]
    now, then = values[last, None], values[last - YEAR, None]
    naive = values[last[:, None] + np.arange(1, AHEAD + 1) - YEAR] - then
    return (windows - now)[:, None], later - now, naive


def describe(outcome: dict) -> dict:
    return {
        "category": "sensor",
        "task": "forecasts the carbon dioxide in the air for 26 weeks from the 104 weeks before",
        "metric": "mae",
        "architecture": "temporal convolutional network: conv 24@1, five residual blocks of two causal conv 24@3 with dilations 1, 2, 4,"
        " 8, 16 and ReLU, the last step to dense 64, ReLU, dense 26",
        "inputs": [
            {
                "name": "weeks",
                "dtype": "float32",
                "shape": [-1, 1, STEPS],
                "meaning": "weekly mole fraction in ppm less that of the last week of the window, so the last one is 0; oldest first",
            }
        ],
        "outputs": [
            {
                "name": "forecast",
                "dtype": "float32",
                "shape": [-1, AHEAD],
                "meaning": "the next 26 weeks in ppm over the last week of the window",
            }
        ],
        "data": {
            "kind": "real",
            "source": "weekly carbon dioxide at Mauna Loa, 1958 to 2001, of Keeling and Whorf, as packaged by statsmodels; 59 missing"
            " weeks interpolated",
            "licence": "public domain, as statsmodels states",
            "split": "by time of the forecast weeks: fitting until 1985, validation 1986 to 1990, held out 1991 to 2001; the weeks looked"
            " back on may lie in the part before",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, mean absolute error, dropout, noise on the windows",
            "settings": {
                "seed": SEED,
                "epochs": EPOCHS,
                "batch": 64,
                "peakLearningRate": 0.003,
                "weightDecay": 0.01,
                "dropout": DROPOUT,
                "jitterPpm": JITTER_PPM,
                "threads": 1,
            },
            "outcome": outcome,
        },
        "intendedUse": "a small network on a real series, for demonstrations, conformance checks and benchmarks",
        "limits": [
            "one series of one station; it knows no other season or trend",
            "the held-out windows begin a week apart and overlap, so they are fewer than their number says, and the interval is too narrow",
            "the baseline looks back: what followed a year before, moved by the last year's gain; the error is of the mean over 26 weeks",
            "gives no spread of its forecast",
        ],
    }


def main() -> None:
    begin(SEED)
    parts = {part: read_windows(years) for part, years in YEARS.items()}
    packed = {part: [pack(each, "int16", -RANGE_PPM, RANGE_PPM) for each in arrays] for part, arrays in parts.items()}
    fitting, validation = (as_tensors(*map(unpack, packed[part][:2])) for part in ("fitting", "validation"))
    network = Forecaster()
    outcome = fit_network(network, fitting, absolute, closeness(validation), epochs=EPOCHS)
    outcome = {"validationSamples": len(validation[0]), **outcome}
    tensors = dict(zip(["input.weeks", "target", "baseline"], packed["held out"], strict=True))
    write_model(Path(__file__).resolve().parent, network, "forecast", tensors, describe(outcome), ("statsmodels",))


if __name__ == "__main__":
    main()
