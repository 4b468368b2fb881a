"""Trains a network that turns a second of speech into a vector which is alike for cuts of one speaker.

    python models/x-vector/recipe.py

Needs the Debian packages espeak-ng, flite, festival, festvox-kdlpc16k, festvox-us-slt-hts and, for people,
asterisk-core-sounds-{en,es,fr,it,ru}-wav, asterisk-prompt-it-menardi-wav, -fr-armelle, -es-co. Takes four minutes.
Network: the x-vector of Snyder et al., "X-Vectors: Robust DNN Embeddings for Speaker Recognition", 2018: dilated
convolutions over time, mean and standard deviation over time, a dense layer; narrower. The classifier that it is
trained with compares cosines (Wang et al., "CosFace", 2018, without its margin) and is not in the file.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "recipe"))

from finish_sound import finish, tensor_card, verification_auc  # noqa: E402
from fit_network import begin, fit_network  # noqa: E402
from held_out import pack  # noqa: E402
from mel import LOG_MEANING, Mel, log_mel  # noqa: E402
from sound import Rng, noises, reverberate, scale  # noqa: E402
from speakers import LICENCE, SOURCE, SPLIT, speakers  # noqa: E402

SEED = 1
MEL = Mel(window=640, hop=512, bands=20, high_hz=3800)
FRAMES = 40  # 1.3 s
CUTS, VALIDATION_CUTS, HELD_OUT_CUTS = 26, 12, 10  # of each speaker
WIDTH, WIDE, EMBEDDING = 48, 72, 64
COSINE_SCALE = 15.0
EPOCHS = 18
BATCH = 64
LEARNING_RATE = 5e-3


def tdnn(channels: int, filters: int, kernel: int, dilation: int) -> nn.Sequential:
    """A convolution over time without padding: every frame sees only frames."""
    return nn.Sequential(
        nn.Conv1d(channels, filters, kernel, dilation=dilation, bias=False), nn.BatchNorm1d(filters), nn.ReLU()
    )


class XVector(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.frames = nn.Sequential(
            tdnn(MEL.bands, WIDTH, 5, 1),
            tdnn(WIDTH, WIDTH, 3, 2),
            tdnn(WIDTH, WIDTH, 3, 3),
            tdnn(WIDTH, WIDTH, 1, 1),
            tdnn(WIDTH, WIDE, 1, 1),
        )
        self.embedding = nn.Linear(2 * WIDE, EMBEDDING)

    def forward(self, spectra: Tensor) -> Tensor:
        """[n, frames, bands] -> [n, EMBEDDING]."""
        frames = self.frames(spectra.transpose(1, 2))
        mean = frames.mean(dim=2)
        variance = (frames - mean[:, :, None]).pow(2).mean(dim=2)
        return self.embedding(torch.cat([mean, (variance + 1e-4).sqrt()], dim=1))


class Training(nn.Module):
    """The network and the directions [speakers, EMBEDDING] that the embeddings of each speaker are drawn to."""

    def __init__(self, network: XVector, count: int) -> None:
        super().__init__()
        self.network = network
        self.directions = nn.Parameter(torch.randn(count, EMBEDDING))

    def forward(self, spectra: Tensor) -> Tensor:
        return COSINE_SCALE * F.normalize(self.network(spectra)) @ F.normalize(self.directions).T


def cut(rng: Rng, speech: np.ndarray, count: int) -> np.ndarray:
    """Cuts [count, samples] of one speaker's speech, no more than a third of each silent."""
    samples, found = MEL.samples(FRAMES), []
    threshold = 0.1 * np.quantile(np.abs(speech), 0.98)
    while len(found) < count:
        start = int(rng.integers(0, len(speech) - samples))
        part = speech[start : start + samples]
        loud = np.abs(part[: samples // 160 * 160]).reshape(-1, 160).max(axis=1) > threshold
        if loud.mean() > 0.66:
            found.append(part)
    return np.stack(found)


def make_cuts(seed: int, everyone: list[np.ndarray], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Spectra [n, FRAMES, bands] in rooms, levels and noise of their own, and speakers [n]."""
    rng = np.random.default_rng(seed)
    sound = np.concatenate([cut(rng, speech, count) for speech in everyone])
    n = len(sound)
    sound = scale(reverberate(rng, sound, (0.05, 0.25)), rng.uniform(-32, -20, n))
    noise = noises(rng, n, sound.shape[1]) * sound.std(axis=1, keepdims=True)
    sound = sound + noise * 10 ** (-rng.uniform(10, 35, (n, 1)) / 20)
    return log_mel(sound, MEL), np.repeat(np.arange(len(everyone)), count)


def main() -> None:
    begin(SEED)
    groups = speakers()
    print("speakers:", {name: len(group) for name, group in groups.items()}, flush=True)
    fitting = [torch.from_numpy(each) for each in make_cuts(1, groups["fitting"], CUTS)]
    validation, seen = make_cuts(2, groups["validation"], VALIDATION_CUTS)
    held_out, identity = make_cuts(3, groups["held out"], HELD_OUT_CUTS)
    training = Training(XVector(), len(groups["fitting"]))
    outcome = fit_network(
        training,
        fitting,
        lambda net, rows: F.cross_entropy(net(rows[0]), rows[1], label_smoothing=0.05),
        lambda net: verification_auc(net.network(torch.from_numpy(validation)).numpy(), seen),
        epochs=EPOCHS,
        batch=BATCH,
        learning_rate=LEARNING_RATE,
    )
    card = {
        "category": "audio",
        "metric": "verification-auc",
        "task": "turns a second of speech into a vector that is alike for cuts of one speaker",
        "architecture": f"x-vector: over time conv {WIDTH}@5, {WIDTH}@3 dilation 2, {WIDTH}@3 dilation 3, {WIDTH}@1, {WIDE}@1; mean and standard deviation over time; dense {EMBEDDING}; ReLU, batch norm folded",
        "inputs": [tensor_card("mel", [FRAMES, MEL.bands], f"log-mel spectrum, frames × bands: {MEL}; {LOG_MEANING}")],
        "outputs": [tensor_card("embedding", [EMBEDDING], "to be compared by cosine; its length means nothing")],
        "data": {
            "kind": "synthesised",
            "source": SOURCE,
            "licence": LICENCE,
            "split": f"{SPLIT}; {', '.join(f'{len(group)} speakers {name}' for name, group in groups.items())}",
        },
        "training": {
            "method": f"AdamW, one-cycle learning rate, cross-entropy over {len(groups['fitting'])} speakers of cosines times {COSINE_SCALE:g}, label smoothing 0.05",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": BATCH, "peakLearningRate": LEARNING_RATE},
            "outcome": outcome,
        },
        "intendedUse": "a small real network for demonstrations, conformance checks and latency benchmarks",
        "limits": [
            "most speakers are timbres of a speech synthesiser, which differ more than people do; it is no biometric and must not be used to tell who somebody is",
            "the recorded people each speak one language through one channel, which helps to tell them apart",
            "up to 3.8 kHz, 1.3 s, noise 10 to 35 dB below the voice; no threshold is chosen",
            "the pairs of the held-out part share speakers, so they are not independent",
        ],
    }
    finish(HERE, training.network, pack(held_out), identity, np.ones((1, EMBEDDING), np.float32), card)


if __name__ == "__main__":
    main()
