"""Notes of General MIDI instruments, played by FluidSynth with the sound font FluidR3 (Debian's fluidsynth, fluid-soundfont-gm).

One note of half a second in every slot of one second, all in one MIDI file. The sound font's instruments are recordings.
"""

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sound import read_sound

SOURCE = "notes played by FluidSynth 2.3 with the sound font FluidR3 GM 3.1 (F. Wen), whose samples are recordings"
LICENCE = "MIT (the sound font)"
SOUND_FONT = Path("/usr/share/sounds/sf2/FluidR3_GM.sf2")
PLAYER_HZ = 48000  # three times ours: the synthesiser itself does not filter what it resamples
SLOT_TICKS = 1000  # milliseconds, at the division and tempo below
HELD_TICKS = 500
BEND_SEMITONES = 2.0  # of a full pitch bend, as General MIDI has it
LEAD_TICKS = 20  # program and bend before the note


@dataclass
class Notes:
    program: np.ndarray  # [n] 0..127
    key: np.ndarray  # [n] MIDI note number in steps of whole semitones, 69 is A4 = 440 Hz
    bend: np.ndarray  # [n] semitones, -2..2
    velocity: np.ndarray  # [n] 1..127


def variable_length(value: int) -> bytes:
    """A number as MIDI files have it: 7 bits a byte, the highest first."""
    content = bytes([value & 127])
    while value := value >> 7:
        content = bytes([value & 127 | 128]) + content
    return content


def write_midi(notes: Notes, path: Path) -> None:
    """A file of format 0 (Standard MIDI Files 1.0, 1988): 1000 ticks a second."""
    track = b"\x00\xff\x51\x03" + (1_000_000).to_bytes(3, "big")  # microseconds a quarter
    for program, key, bend, velocity in zip(notes.program, notes.key, notes.bend, notes.velocity, strict=True):
        wheel = int(np.clip(round(8192 + bend / BEND_SEMITONES * 8192), 0, 16383))
        key, velocity = int(key), int(velocity)
        events = (
            (0, bytes([0xB0, 120, 0])),  # all sound off
            (0, bytes([0xC0, int(program)])),
            (0, bytes([0xE0, wheel & 127, wheel >> 7])),
            (LEAD_TICKS, bytes([0x90, key, velocity])),
            (HELD_TICKS, bytes([0x80, key, 0])),
        )
        for wait, event in events:
            track += variable_length(wait) + event
        track += variable_length(SLOT_TICKS - LEAD_TICKS - HELD_TICKS) + bytes([0xB0, 120, 0])
    track += b"\x00\xff\x2f\x00"
    header = b"MThd" + (6).to_bytes(4, "big") + bytes([0, 0, 0, 1]) + SLOT_TICKS.to_bytes(2, "big")
    path.write_bytes(header + b"MTrk" + len(track).to_bytes(4, "big") + track)


def play(notes: Notes) -> np.ndarray:
    """Sound [n, 15680] at 16 kHz, each from the start of its note: 0.98 s, the note is let go after 0.5 s."""
    with tempfile.TemporaryDirectory() as folder:
        tune, wave = Path(folder) / "notes.mid", Path(folder) / "notes.wav"
        write_midi(notes, tune)
        settings = ["-R", "0", "-C", "0", "-g", "0.6", "-r", str(PLAYER_HZ), "-T", "wav"]
        command = ["fluidsynth", "-ni", *settings, "-F", str(wave), str(SOUND_FONT), str(tune)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        whole = read_sound(wave)
    slot = SLOT_TICKS * 16
    lead = LEAD_TICKS * 16
    whole = np.pad(whole, (0, max(0, len(notes.key) * slot - len(whole))))
    return whole[: len(notes.key) * slot].reshape(-1, slot)[:, lead:]
