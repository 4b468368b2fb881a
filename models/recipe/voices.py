"""Speaking machines and recorded people, from Debian packages.

espeak-ng (through its library), flite and festival with festvox-kallpc16k, festvox-kdlpc16k and festvox-us-slt-hts
speak text; the prompts of the telephone exchange Asterisk (asterisk-core-sounds-*-wav and others) and the words of the
children's games KTuberling and KLettres (ktuberling-data, klettres-data) are recordings of people.
"""

import ctypes
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from mel import RATE_HZ
from sound import read_sound, resample, trim

# Variants (timbres) of espeak-ng that do not occur in any training part: both sexes, formant and Klatt synthesis.
HELD_OUT_VARIANTS = "Andrea Andy AnxiousAndy Diogo Gene Gene2 Jacky Lee Mike edward edward2 f3 klatt3 linda m2 m6 victor zac".split()
# Effects rather than voices.
LEFT_OUT_VARIANTS = (
    "Demonic announcer anikaRobot UniRobot croak fast whisper whisperf RicishayMax RicishayMax2 RicishayMax3"
    " robosoft robosoft2 robosoft3 robosoft4 robosoft5 robosoft6 robosoft7 robosoft8 Tweaky kaukovalta"
).split()

RATE, PITCH, RANGE = 1, 3, 4  # espeak_PARAMETER of speak_lib.h
RETRIEVAL, CHARS_UTF8 = 2, 1
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


class Espeak:
    """The library speaks for the whole process: make one of these."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libespeak-ng.so.1")
        self.rate = self.library.espeak_Initialize(RETRIEVAL, 0, None, 0)
        self.parts: list[np.ndarray] = []
        self.callback = CALLBACK(self.keep)  # the library keeps only its address
        self.library.espeak_SetSynthCallback(self.callback)

    def keep(self, wave, count: int, _events) -> int:
        if wave and count > 0:
            self.parts.append(np.ctypeslib.as_array(wave, (count,)).copy())
        return 0

    def say(self, text: str, voice: str, words_per_minute: int = 170, pitch: int = 50, spread: int = 50) -> np.ndarray:
        """Sound [samples] at 16 kHz without its silent ends; a voice is `language+variant`, pitch and spread 0 to 100."""
        self.parts.clear()
        if self.library.espeak_SetVoiceByName(voice.encode()) != 0:
            raise ValueError(f"espeak-ng has no voice {voice}")
        for parameter, value in ((RATE, words_per_minute), (PITCH, pitch), (RANGE, spread)):
            self.library.espeak_SetParameter(parameter, value, 0)
        content = text.encode() + b"\0"
        self.library.espeak_Synth(content, len(content), 0, 1, 0, CHARS_UTF8, None, None)
        self.library.espeak_Synchronize()
        return trim(resample(np.concatenate(self.parts).astype(np.float32) / 32768, self.rate))


def variants() -> tuple[list[str], list[str]]:
    """espeak-ng's timbres for training and for the held-out part."""
    folder = next(Path("/usr/lib").glob("*/espeak-ng-data/voices/!v"))
    found = sorted(path.name for path in folder.iterdir() if path.name not in LEFT_OUT_VARIANTS and " " not in path.name)
    held_out = [name for name in found if name in HELD_OUT_VARIANTS]
    return [name for name in found if name not in held_out], held_out


def flite(text: str, voice: str, stretch: float = 1.0, pitch_hz: int = 0) -> np.ndarray:
    """flite's kal16, awb, rms or slt [samples]; a pitch of 0 is the voice's own."""
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        pitch = ["--setf", f"int_f0_target_mean={pitch_hz}"] if pitch_hz else []
        settings = ["--setf", f"duration_stretch={stretch}", *pitch]
        subprocess.run(["flite", "-voice", voice, *settings, "-t", text, "-o", file.name], check=True)
        return trim(read_sound(Path(file.name)))


def festival(texts: list[str], voice: str, stretch: float = 1.0) -> list[np.ndarray]:
    """festival's kal_diphone, ked_diphone or cmu_us_slt_arctic_hts, one sound for each text."""
    with tempfile.TemporaryDirectory() as folder:
        lines = [f"(voice_{voice})", f"(Parameter.set 'Duration_Stretch {stretch})"]
        for at, text in enumerate(texts):
            lines.append(f'(utt.save.wave (utt.synth (Utterance Text "{text}")) "{folder}/{at}.wav" \'riff)')
        script = Path(folder) / "say.scm"
        script.write_text("\n".join(lines))
        subprocess.run(["festival", "--batch", str(script)], check=True)
        return [trim(read_sound(Path(folder) / f"{at}.wav")) for at in range(len(texts))]


# People, by a name of ours -> where their recordings lie.
ASTERISK = Path("/usr/share/asterisk/sounds")
PROMPTS = {
    "en-allison": ASTERISK / "en_US_f_Allison",
    "es-allison": ASTERISK / "es_MX_f_Allison",
    "fr-june": ASTERISK / "fr_CA_f_June",
    "it-carlo": ASTERISK / "it_IT_m_Carlo",
    "it-menardi": ASTERISK / "it_IT_f_Menardi",
    "es-colombia": ASTERISK / "es",
    "fr-armelle": ASTERISK / "fr",
    "ru": ASTERISK / "ru_RU_f_IvrvoiceRU",
}


def prompts(person: str, least_s: float = 1.0, most: int = 200) -> list[np.ndarray]:
    """Recordings of one person, the files in the order of their names; telephone quality, 8 kHz brought to 16."""
    sounds = []
    for path in sorted((*PROMPTS[person].glob("*.wav"), *PROMPTS[person].glob("*.gsm"))):
        if len(sounds) == most:
            break
        sound = trim(read_sound(path))
        if len(sound) >= least_s * RATE_HZ:
            sounds.append(sound / np.abs(sound).max())
    return sounds
