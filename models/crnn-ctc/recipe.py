"""Trains crnn-ctc, which reads a printed number, time or date of at most seven characters, drawn in Debian's fonts.

    python models/crnn-ctc/recipe.py

Needs the font packages that models/recipe/draw_text.py names. Whole families are held out. Convolutions, then a recurrent
layer along the line: Shi, Bai and Yao, "An End-to-End Trainable Neural Network for Image-based Sequence Recognition",
2015; the loss is that of Graves et al., "Connectionist Temporal Classification", 2006.
"""

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
from draw_text import draw_line, list_fonts  # noqa: E402
from finish_vision import finish  # noqa: E402
from fit_network import begin, fit_network  # noqa: E402
from held_out import pack  # noqa: E402
from layers import conv_unit  # noqa: E402
from vision_metrics import evaluate  # noqa: E402

HEIGHT, WIDTH = 16, 64  # px
STEPS = 32
SYMBOLS = "0123456789.-:/"  # numbered from 1; 0 is CTC's blank
LONGEST = 7
EM = (12, 15)  # px
INK = (0.5, 1.0)  # against a ground of up to GROUND
GROUND = 0.25
NOISE = 0.06  # standard deviation of a pixel
HELD_OUT = 184
VALIDATION = 400
FITTING = 6000

SEED = 1
EPOCHS = 9
BATCH = 32


def make_text(random: np.random.Generator) -> str:
    """A whole number, a decimal one, a time or a day."""
    kind = random.integers(5)
    if kind == 0:
        return f"{random.integers(24)}:{random.integers(60):02d}"
    if kind == 1:
        return f"{random.integers(1, 32)}/{random.integers(1, 13)}"
    sign = "-" if random.random() < 0.3 else ""
    if kind == 2:
        return f"{sign}{random.integers(1000)}.{random.integers(100):02d}"[:LONGEST]
    return sign + "".join(str(digit) for digit in random.integers(0, 10, random.integers(1, 7)))


def draw_texts(seed: int, n: int, families: tuple[str, ...]) -> tuple[Tensor, Tensor]:
    """Lines [n, 1, height, width] in 0..1 and their symbols [n, longest], 0 behind the end."""
    random = np.random.default_rng(seed)
    fonts = [ImageFont.truetype(str(path), size) for path in list_fonts(families) for size in range(EM[0], EM[1] + 1)]
    lines, targets = np.zeros((n, HEIGHT, WIDTH), dtype=np.float32), np.zeros((n, LONGEST), dtype=np.uint8)
    for i in range(n):
        ink = np.full((HEIGHT, WIDTH + 1), 0.0)
        while ink.shape[1] > WIDTH:  # a wide font: another text, another font
            text = make_text(random)
            ink = draw_line(text, fonts[random.integers(len(fonts))], HEIGHT)
        left, down = random.integers(0, WIDTH - ink.shape[1] + 1), random.integers(-1, 2)
        ground = random.uniform(0, GROUND)
        lines[i] = ground
        lines[i, :, left : left + ink.shape[1]] += np.roll(ink, down, axis=0) * (random.uniform(*INK) - ground)
        targets[i, : len(text)] = [SYMBOLS.index(symbol) + 1 for symbol in text]
    lines += NOISE * random.standard_normal(lines.shape)
    return torch.from_numpy(lines.clip(0, 1).astype(np.float32))[:, None], torch.from_numpy(targets)


class Reader(nn.Module):
    """[n, 1, 16, 64] -> scores [n, 32, 15]: one step for every two columns of pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.look = nn.Sequential(
            conv_unit(1, 8), nn.MaxPool2d(2),
            conv_unit(8, 24), nn.MaxPool2d((2, 1)),
            conv_unit(24, 32), nn.MaxPool2d((2, 1)),
        )  # fmt: skip
        self.along = nn.GRU(64, 48, batch_first=True)
        self.answer = nn.Linear(48, 1 + len(SYMBOLS))

    def forward(self, line: Tensor) -> Tensor:
        columns = self.look(line).permute(0, 3, 1, 2).reshape(-1, STEPS, 64)
        return self.answer(self.along(columns)[0])


def loss(network: nn.Module, batch: list[Tensor]) -> Tensor:
    scores = F.log_softmax(network(batch[0]), dim=2).transpose(0, 1)
    steps = torch.full((len(batch[0]),), STEPS)
    return F.ctc_loss(scores, batch[1].long(), steps, (batch[1] > 0).sum(dim=1))


def guess(targets: np.ndarray) -> np.ndarray:
    """The best of the constant answers [1, steps, 1 + symbols] among the texts of `targets`."""
    answers = np.zeros((len(targets), STEPS, 1 + len(SYMBOLS)), dtype=np.uint8)
    answers[:, :, 0] = 1
    for i, target in enumerate(targets):
        for step, symbol in enumerate(target[target > 0]):
            answers[i, 2 * step, [0, symbol]] = [0, 1]  # with a blank between, so that repeats stay
    values = [evaluate("character-accuracy", np.repeat(each[None], len(targets), axis=0), targets) for each in answers]
    return answers[[int(np.argmax(values))]]


def main() -> None:
    begin(SEED)
    lines, texts = draw_texts(SEED, FITTING, draw_text.FITTING)
    judged, answers = draw_texts(SEED + 1, VALIDATION, draw_text.VALIDATION)
    network = Reader()

    def score(network: nn.Module) -> float:
        return evaluate("character-accuracy", network(judged).numpy(), answers.numpy())

    outcome = fit_network(network, [lines, texts], loss, score, epochs=EPOCHS, batch=BATCH, learning_rate=6e-3)

    lines, wanted = draw_texts(SEED + 2, HELD_OUT, draw_text.HELD_OUT)
    held_out = {
        "input.image": pack(lines.numpy(), low=0.0, high=1.0),
        "target": wanted.numpy(),
        "baseline": guess(texts[:200].numpy()),
    }
    finish(HERE, network, held_out, describe(outcome), ("pillow",))


def describe(outcome: dict) -> dict:
    return {
        "category": "vision",
        "task": "reads a short printed number, time or date",
        "metric": "character-accuracy",
        "architecture": "conv 3x3 8, max pool 2; conv 3x3 24, max pool 2x1; conv 3x3 32, max pool 2x1; batch norm and ReLU after each;"
        " GRU 48 along the line, dense 15 at every one of 32 steps",
        "inputs": [
            {
                "name": "image",
                "dtype": "float32",
                "shape": [-1, 1, HEIGHT, WIDTH],
                "meaning": "grey levels in 0..1, ink is light and paper dark, rows from the top; one line of type of"
                f" {EM[0]} to {EM[1]} px to the em, its baseline {HEIGHT * 3 // 4} px from the top, within a pixel",
            }
        ],
        "outputs": [
            {
                "name": "scores",
                "dtype": "float32",
                "shape": [-1, STEPS, 1 + len(SYMBOLS)],
                "meaning": f"for each step of two columns the unnormalised log-probability of CTC's blank and of each of {SYMBOLS}",
            }
        ],
        "data": {
            "kind": "synthesised",
            "source": f"random numbers, times and days of at most {LONGEST} characters, drawn in " + draw_text.SOURCE,
            "licence": draw_text.LICENCE,
            "split": "by type families: Lato, Cabin, Linux Libertine and Biolinum, Junction, C059 and Courier Prime are held out,"
            " Cantarell, P052 and Carlito are for validation, 25 families for fitting; all texts are drawn at random",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, connectionist temporal classification",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": BATCH, "noise": NOISE, "threads": 1},
            "outcome": outcome,
        },
        "intendedUse": "a small network for demonstrations, conformance checks and latency benchmarks",
        "limits": [
            "digits, point, minus, colon and slash only; anything else is read as one of them or as nothing",
            "one level line of printed type of the stated size; no handwriting, no photographs of displays or signs",
            "measured with greedy decoding; a beam search or a grammar of dates was not tried",
        ],
    }


if __name__ == "__main__":
    main()
