"""Trains glyph62, which reads one printed letter or digit, on glyphs drawn in Debian's fonts.

    python models/glyph62/recipe.py

Needs the font packages that models/recipe/draw_text.py names. Whole families are held out. A plain convolutional
network after LeCun et al., "Gradient-Based Learning Applied to Document Recognition", 1998, with batch normalisation.
"""

import math
import string
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import ImageFont
from torch import Tensor, nn
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "recipe"))
import draw_text  # noqa: E402
from draw_text import centre, draw_line, list_fonts  # noqa: E402
from finish_vision import finish  # noqa: E402
from fit_network import begin, fit_network  # noqa: E402
from held_out import pack  # noqa: E402
from layers import conv_unit  # noqa: E402
from vision_metrics import evaluate  # noqa: E402

SIDE = 28  # px
EM = 24  # px; the same for every glyph, so that c and C differ
SYMBOLS = string.digits + string.ascii_uppercase + string.ascii_lowercase
HELD_OUT = 248  # glyphs, four of each symbol

SEED = 1
EPOCHS = 14
BATCH = 64
MAX_SHIFT_PX = 1.5
MAX_ROTATION_DEG = 6
MAX_SCALE = 0.06
NOISE = 0.08  # standard deviation of a pixel, at most


def draw_glyphs(fonts: list[Path]) -> tuple[Tensor, Tensor]:
    """Every symbol in every font: [n, 1, 28, 28] and symbol numbers [n]."""
    glyphs = []
    for path in fonts:
        font = ImageFont.truetype(str(path), EM)
        glyphs += [centre(draw_line(symbol, font, SIDE), SIDE) for symbol in SYMBOLS]
    return torch.from_numpy(np.stack(glyphs))[:, None], torch.arange(len(SYMBOLS)).repeat(len(fonts))


def build_network() -> nn.Sequential:
    return nn.Sequential(
        conv_unit(1, 12), nn.MaxPool2d(2),
        conv_unit(12, 24), nn.MaxPool2d(2),
        conv_unit(24, 48), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(48 * 9, 72), nn.ReLU(),
        nn.Linear(72, len(SYMBOLS)),
    )  # fmt: skip


def augment(images: Tensor) -> Tensor:
    """Turns, scales and shifts every glyph a little, and adds noise of its own strength."""
    draws = torch.rand(5, len(images)) * 2 - 1
    angle = draws[0] * math.radians(MAX_ROTATION_DEG)
    zoom = 1 + draws[1] * MAX_SCALE
    shift = draws[2:4] * (2 * MAX_SHIFT_PX / SIDE)
    cos, sin = zoom * angle.cos(), zoom * angle.sin()
    rows = torch.stack([cos, -sin, shift[0], sin, cos, shift[1]], dim=1).reshape(-1, 2, 3)
    moved = F.grid_sample(images, F.affine_grid(rows, list(images.shape), align_corners=False), align_corners=False)
    return (moved + NOISE * draws[4].abs().reshape(-1, 1, 1, 1) * torch.randn_like(moved)).clamp(0, 1)


def main() -> None:
    begin(SEED)
    images, labels = draw_glyphs(list_fonts(draw_text.FITTING))
    judged, answers = draw_glyphs(list_fonts(draw_text.VALIDATION))
    judged = augment(judged)
    network = build_network()

    def loss(network: nn.Module, batch: list[Tensor]) -> Tensor:
        return F.cross_entropy(network(augment(batch[0])), batch[1], label_smoothing=0.05)

    def score(network: nn.Module) -> float:
        return evaluate("accuracy", network(judged).numpy(), answers.numpy())

    outcome = fit_network(network, [images, labels], loss, score, epochs=EPOCHS, batch=BATCH)

    images, labels = draw_glyphs(list_fonts(draw_text.HELD_OUT))
    draws = torch.randperm(len(images))
    each = HELD_OUT // len(SYMBOLS)
    rows = torch.cat([draws[labels[draws] == symbol][:each] for symbol in range(len(SYMBOLS))])
    held_out = {
        "input.image": pack(augment(images[rows]).numpy(), low=0.0, high=1.0),
        "target": labels[rows].numpy().astype(np.uint8),
        "baseline": np.eye(len(SYMBOLS), dtype=np.uint8)[:1],
    }
    card = {
        "category": "vision",
        "task": "reads one printed letter or digit",
        "metric": "accuracy",
        "architecture": "three times conv 3x3 (12, 24, 48), batch norm, ReLU, max pool 2; dense 72, ReLU, dense 62",
        "inputs": [
            {
                "name": "image",
                "dtype": "float32",
                "shape": [-1, 1, SIDE, SIDE],
                "meaning": f"grey levels in 0..1, ink is 1, paper is 0; type of {EM} px to the em, centred sideways by its ink,"
                f" its baseline {SIDE * 3 // 4} px from the top; not scaled to the glyph, so that c and C differ",
            }
        ],
        "outputs": [
            {
                "name": "scores",
                "dtype": "float32",
                "shape": [-1, len(SYMBOLS)],
                "meaning": "unnormalised log-probability of each of 0-9, A-Z, a-z, in this order",
            }
        ],
        "data": {
            "kind": "synthesised",
            "source": "62 glyphs drawn in each of the " + draw_text.SOURCE + "; turned, scaled, shifted and made noisy a little",
            "licence": draw_text.LICENCE,
            "split": "by type families: Lato, Cabin, Linux Libertine and Biolinum, Junction, C059 and Courier Prime are held out"
            " (four glyphs of each symbol at random), Cantarell, P052 and Carlito are for validation, 25 families for fitting",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, cross-entropy with label smoothing 0.05, random affine augmentation and noise",
            "settings": {
                "seed": SEED, "epochs": EPOCHS, "batch": BATCH, "maxShiftPx": MAX_SHIFT_PX,
                "maxRotationDeg": MAX_ROTATION_DEG, "maxScale": MAX_SCALE, "maxNoise": NOISE, "threads": 1,
            },
            "outcome": outcome,
        },
        "intendedUse": "a small network for demonstrations, conformance checks and latency benchmarks",
        "limits": [
            "one upright printed glyph of the stated size; no handwriting, no accents, no punctuation, no photographs",
            "some fonts draw I, l and 1, or O and 0, nearly alike: most of its errors are such pairs",
            "there is no class for `none of these`, and the scores are not calibrated",
        ],
    }  # fmt: skip
    finish(HERE, network, held_out, card, ("pillow",))


if __name__ == "__main__":
    main()
