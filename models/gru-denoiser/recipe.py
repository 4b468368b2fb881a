"""Trains a recurrent network that takes noise out of the log-mel spectrum of speech.

    python models/gru-denoiser/recipe.py

Needs the Debian packages asterisk-core-sounds-{en,es,fr,it,ru}-wav, asterisk-prompt-it-menardi-wav,
asterisk-prompt-fr-armelle and asterisk-prompt-es-co (prompts that people recorded), which
models/recipe/speech_in_noise.py cuts and mixes. Takes three minutes.
Network: a GRU that gives an attenuation for every frame and band, after Valin, "A Hybrid DSP/Deep Learning Approach to
Real-Time Full-Band Speech Enhancement", 2018, with one recurrent layer for its three.
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
from speech_in_noise import FITTING, HELD_OUT, LICENCE, SOURCE, SPLIT, VALIDATION, cut_speech  # noqa: E402

SEED = 1
MEL = Mel(window=512, hop=400, bands=18, high_hz=3800)
FRAMES = 20  # half a second
LEAST = -1.0  # -60 dB of full scale: what is quieter is silence
STATES = 80
MOST = 3.0  # 60 dB of attenuation
EPOCHS = 15
BATCH = 64
LEARNING_RATE = 6e-3


class Denoiser(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(MEL.bands, STATES, batch_first=True)
        self.mask = nn.Linear(STATES, MEL.bands)

    def forward(self, noisy: Tensor) -> Tensor:
        """[n, frames, bands] -> the same, less what is taken for noise: a mask, which in logarithms is subtracted."""
        states, _ = self.gru(noisy)
        return noisy - MOST * self.mask(states).sigmoid()


def make_pairs(seed: int, people: tuple[str, ...], n: int, held_out: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The log-mel spectra of mixture and speech, each [n, FRAMES, bands]."""
    cuts = cut_speech(seed, people, n, MEL, FRAMES, held_out, silent=0.0)
    return log_power(cuts.noisy).clip(LEAST), log_power(cuts.clean).clip(LEAST)


def loss(network: nn.Module, samples: list[Tensor]) -> Tensor:
    return F.l1_loss(network(samples[0]), samples[1])


def main() -> None:
    begin(SEED)
    fitting = [torch.from_numpy(each) for each in make_pairs(1, FITTING, 3600)]
    validation = [torch.from_numpy(each) for each in make_pairs(2, VALIDATION, 400)]
    noisy, clean = make_pairs(3, HELD_OUT, 180, held_out=True)
    network = Denoiser()
    outcome = fit_network(
        network,
        fitting,
        loss,
        lambda net: -loss(net, validation).item(),
        epochs=EPOCHS,
        batch=BATCH,
        learning_rate=LEARNING_RATE,
    )
    meaning = f"log-mel spectrum, frames × bands: {MEL}; {LOG_MEANING}, at least {LEAST:g}; so 1 is 20 dB"
    card = {
        "category": "audio",
        "metric": "mae",
        "task": "takes noise out of the log-mel spectrum of speech",
        "architecture": f"GRU {STATES} over time, forward only; dense {MEL.bands} with sigmoid, times {MOST:g}, is subtracted from the input",
        "inputs": [tensor_card("noisy", [FRAMES, MEL.bands], f"of speech in noise: {meaning}")],
        "outputs": [tensor_card("clean", [FRAMES, MEL.bands], "the same of the speech alone, an estimate")],
        "data": {"kind": "simulated", "source": SOURCE, "licence": LICENCE, "split": SPLIT},
        "training": {
            "method": "AdamW, one-cycle learning rate, mean absolute error",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": BATCH, "peakLearningRate": LEARNING_RATE},
            "outcome": outcome,
        },
        "intendedUse": "a small real network for demonstrations, conformance checks and latency benchmarks",
        "limits": [
            "gives 18 mel bands, not sound: to hear it, its attenuation must be laid on a spectrum by somebody else",
            "the noise is simulated, at -3 to 18 dB below the voice; voices, music or real machines were never heard",
            "four people in the fitting part, prompts of a telephone exchange, up to 3.8 kHz",
            "the baseline is the noisy spectrum as it is; the error counts pauses, where only silence is right, like speech",
            "rooms are not taken out, the target has them",
        ],
    }
    low, high = float(min(noisy.min(), clean.min())), float(max(noisy.max(), clean.max()))
    inputs = pack(noisy, low=low, high=high)
    finish(HERE, network, inputs, pack(clean, low=low, high=high), inputs, card)


if __name__ == "__main__":
    main()
