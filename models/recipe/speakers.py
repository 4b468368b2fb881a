"""A few dozen seconds of speech of each of many speakers, made and recorded, for the x-vector."""

import numpy as np

from sound import Rng, resample
from spoken_words import COMMANDS, OTHERS, OTHERS_HELD_OUT
from voices import Espeak, festival, flite, prompts, variants

SENTENCES, WORDS = 6, 7
TRACTS = (21, 19)  # twentieths of the length of the vocal tract: each timbre makes two speakers for fitting
VALIDATION_VARIANTS = 10
PROMPT_COUNT = 40
PEOPLE = {
    "fitting": (("en-allison", "es-allison"), ("ru",), ("it-carlo",), ("es-colombia",)),
    "validation": (),
    "held out": (("fr-june",), ("it-menardi",), ("fr-armelle",)),
}
SOURCE = (
    "models/recipe/speakers.py: espeak-ng 1.51's timbres speak English words (each timbre of the fitting part also with a"
    " vocal tract of other length), so do flite 2.2 and festival 2.5; prompts of Asterisk that people recorded; simulated"
    " rooms, noise and gain"
)
LICENCE = (
    "voices: GPL-3 (espeak-ng) and the free licences of flite and festival; recordings: CC BY-SA 3.0 (asterisk-core-sounds,"
    " Menardi), a free licence of M. Gutierrez (Armelle), GPL-2 (es-co)"
)
SPLIT = (
    "by speaker: held out are the variants of espeak-ng in HELD_OUT_VARIANTS (models/recipe/voices.py), flite's rms,"
    " festival's ked and three recorded people (June, Menardi, Armelle), and other words"
)


def sentences(rng: Rng, words: list[str]) -> list[str]:
    return [" ".join(rng.choice(words, WORDS)) for _ in range(SENTENCES)]


def espeak_speaker(espeak: Espeak, rng: Rng, timbre: str, words: list[str], tract: int) -> np.ndarray:
    """One accent, one pitch with little about it; the speed changes from sentence to sentence."""
    voice, pitch = f"{rng.choice(['en-us', 'en-gb-x-rp', 'en-gb-scotland'])}+{timbre}", int(rng.integers(30, 70))
    parts = []
    for text in sentences(rng, words):
        speed, height = int(rng.integers(130, 220)), pitch + int(rng.integers(-5, 6))
        parts.append(resample(espeak.say(text, voice, speed, height, 50), 20, tract))
    return np.concatenate(parts)


def recorded(names: tuple[str, ...]) -> np.ndarray:
    return np.concatenate([sound for name in names for sound in prompts(name, least_s=1.5, most=PROMPT_COUNT)])


def speakers() -> dict[str, list[np.ndarray]]:
    """Speech [samples] of every speaker, by part."""
    rng, espeak = np.random.default_rng(11), Espeak()
    fitting, held_out = variants()
    fitting, validation = fitting[VALIDATION_VARIANTS:], fitting[:VALIDATION_VARIANTS]
    words, other_words = COMMANDS + OTHERS, OTHERS_HELD_OUT
    found = {
        "fitting": [espeak_speaker(espeak, rng, timbre, words, tract) for timbre in fitting for tract in TRACTS],
        "validation": [espeak_speaker(espeak, rng, timbre, other_words, 20) for timbre in validation],
        "held out": [espeak_speaker(espeak, rng, timbre, other_words, 20) for timbre in held_out],
    }
    for voice in ("awb", "kal16"):
        found["fitting"].append(np.concatenate([flite(text, voice) for text in sentences(rng, words)]))
    found["fitting"].append(np.concatenate(festival(sentences(rng, words), "cmu_us_slt_arctic_hts")))
    found["held out"].append(np.concatenate([flite(text, "rms") for text in sentences(rng, other_words)]))
    found["held out"].append(np.concatenate(festival(sentences(rng, other_words), "ked_diphone")))
    for part, people in PEOPLE.items():
        found[part] += [recorded(names) for names in people]
    return found
