"""Trains a network that tells six languages apart by two seconds of speech.

    python models/language-id/recipe.py

Needs the Debian packages espeak-ng and wamerican, wngerman, wfrench, wspanish, witalian, wpolish (lists of words).
Takes four minutes. Network: convolutions over time whose channels are the mel bands, and the mean over time.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "recipe"))

from finish_sound import finish, one_hot_baseline, tensor_card  # noqa: E402
from fit_network import begin, fit_network  # noqa: E402
from held_out import pack  # noqa: E402
from mel import LOG_MEANING, Mel, log_mel  # noqa: E402
from sound import noises, place, resample, reverberate, scale  # noqa: E402
from voices import Espeak, variants  # noqa: E402

SEED = 1
LANGUAGES = {  # voices of espeak-ng and files of /usr/share/dict
    "English": (("en-us", "en-gb-x-rp"), "american-english"),
    "German": (("de",), "ngerman"),
    "French": (("fr", "fr-be"), "french"),
    "Spanish": (("es", "es-419"), "spanish"),
    "Italian": (("it",), "italian"),
    "Polish": (("pl",), "polish"),
}
WORDS_A_TEXT = 5
HELD_OUT_WORDS = 5  # every fifth word of a list
VALIDATION_VARIANTS = 10
MEL = Mel(window=640, hop=512, bands=16)
FRAMES = 60  # 1.9 s
PER_LANGUAGE, VALIDATION_PER_LANGUAGE, HELD_OUT_PER_LANGUAGE = 550, 50, 34
CHANNELS = (48, 64, 64)
EPOCHS = 16
BATCH = 64
LEARNING_RATE = 5e-3


def read_words(file: str, held_out: bool) -> list[str]:
    """Words of 4 to 10 small letters, at most 40,000 in even steps through the list; those held out or the others."""
    words = Path("/usr/share/dict", file).read_text(encoding="utf-8").split()
    plain = [word for word in words if 4 <= len(word) <= 10 and word.isalpha() and word.islower()]
    plain = plain[:: max(1, len(plain) // 40000)]
    return [word for at, word in enumerate(plain) if (at % HELD_OUT_WORDS == 0) == held_out]


def make_cuts(
    espeak: Espeak, seed: int, timbres: list[str], per_language: int, held_out: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Spectra [n, FRAMES, bands] and languages [n]; pitch, speed and noise do not depend on the language."""
    rng, samples = np.random.default_rng(seed), MEL.samples(FRAMES)
    sounds = []
    for voices, file in LANGUAGES.values():
        words = read_words(file, held_out)
        for _ in range(per_language):
            text = " ".join(words[at] for at in rng.integers(0, len(words), WORDS_A_TEXT))
            voice = f"{rng.choice(voices)}+{rng.choice(timbres)}"
            speech = espeak.say(text, voice, int(rng.integers(140, 210)), int(rng.integers(25, 75)), 50)
            moved = resample(speech, 20, int(rng.integers(18, 23)))
            sounds.append(place(moved, samples, -int(rng.integers(0, max(1, len(moved) - samples + 1)))))
    n = len(sounds)
    sound = scale(reverberate(rng, np.stack(sounds), (0.05, 0.25)), rng.uniform(-32, -20, n))
    below = sound.std(axis=1, keepdims=True) * 10 ** (-rng.uniform(10, 40, (n, 1)) / 20)
    return log_mel(sound + below * noises(rng, n, samples), MEL), np.repeat(np.arange(len(LANGUAGES)), per_language)


class LanguageId(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for channels, filters, kernel in zip((MEL.bands, *CHANNELS), CHANNELS, (5, 5, 3), strict=False):
            layers += [
                nn.Conv1d(channels, filters, kernel, padding=kernel // 2, bias=False),
                nn.BatchNorm1d(filters),
                nn.ReLU(),
            ]
            if kernel == 5:
                layers.append(nn.MaxPool1d(2))
        self.layers = nn.Sequential(*layers)
        self.drop = nn.Dropout(0.3)
        self.classes = nn.Linear(CHANNELS[-1], len(LANGUAGES))

    def forward(self, spectra: Tensor) -> Tensor:
        """[n, frames, bands] -> [n, languages]."""
        return self.classes(self.drop(self.layers(spectra.transpose(1, 2)).mean(dim=2)))


def loss(network: nn.Module, samples: list[Tensor]) -> Tensor:
    return F.cross_entropy(network(samples[0]), samples[1], label_smoothing=0.05)


def main() -> None:
    begin(SEED)
    espeak = Espeak()
    timbres, held_out_timbres = variants()
    timbres, validation_timbres = timbres[VALIDATION_VARIANTS:], timbres[:VALIDATION_VARIANTS]
    fitting = make_cuts(espeak, 1, timbres, PER_LANGUAGE, held_out=False)
    validation = make_cuts(espeak, 2, validation_timbres, VALIDATION_PER_LANGUAGE, held_out=False)
    spectra, languages = make_cuts(espeak, 3, held_out_timbres, HELD_OUT_PER_LANGUAGE, held_out=True)
    seen = [torch.from_numpy(each) for each in validation]
    network = LanguageId()
    outcome = fit_network(
        network,
        [torch.from_numpy(each) for each in fitting],
        loss,
        lambda net: (net(seen[0]).argmax(dim=1) == seen[1]).double().mean().item(),
        epochs=EPOCHS,
        batch=BATCH,
        learning_rate=LEARNING_RATE,
    )
    card = {
        "category": "audio",
        "metric": "accuracy",
        "task": "tells six languages apart by two seconds of speech",
        "architecture": f"over time: conv 48@5, max pool 2, conv 64@5, max pool 2, conv 64@3, mean, dense {len(LANGUAGES)}; ReLU, batch norm folded",
        "inputs": [tensor_card("mel", [FRAMES, MEL.bands], f"log-mel spectrum, frames × bands: {MEL}; {LOG_MEANING}")],
        "outputs": [tensor_card("scores", [len(LANGUAGES)], f"unnormalised log-probability of {', '.join(LANGUAGES)}")],
        "data": {
            "kind": "synthesised",
            "source": "espeak-ng 1.51 speaks five random words of Debian's lists wamerican, wngerman, wfrench, wspanish, witalian, wpolish; simulated rooms, noise and gain",
            "licence": "our synthesis; the voices are under GPL-3 (espeak-ng), the lists of words under free licences",
            "split": "by voice and word: held out are the variants of espeak-ng in HELD_OUT_VARIANTS (models/recipe/voices.py) and every fifth word of each list; validation on ten further variants",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, cross-entropy with label smoothing 0.05, dropout 0.3",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": BATCH, "peakLearningRate": LEARNING_RATE},
            "outcome": outcome,
        },
        "intendedUse": "a small real network for demonstrations, conformance checks and latency benchmarks",
        "limits": [
            "learned from one synthesiser, whose rules for each language it may know rather than the language; people were never heard",
            "rows of words without a sentence's melody, each of the six languages as often; there is no class for others",
            "held-out words are of the same lists and often forms of words that were heard",
        ],
    }
    finish(HERE, network, pack(spectra), languages, one_hot_baseline(fitting[1], len(LANGUAGES)), card)


if __name__ == "__main__":
    main()
