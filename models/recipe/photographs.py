"""Photographs that come with scikit-image, for textures and scenes; which of them are for fitting and which held out.

Their files are read where the package lies, without importing it. skimage/data/_fetchers.py says where each is from and
on what terms.
"""

from importlib.metadata import files

import numpy as np
from PIL import Image

FITTING = ("brick", "grass", "chelsea", "ihc", "rocket", "coins", "hubble_deep_field")
HELD_OUT = ("coffee", "gravel")  # none of these or of the above shows a person
HELD_OUT_PEOPLE = ("camera", "astronaut")

SOURCE = "the photographs that the Python package scikit-image 0.26.0 ships"
LICENCE = "photographs: CC0, public domain or without known restrictions, as the package says of them"


def load_photograph(name: str, shrink: int = 1) -> np.ndarray:
    """RGB [3, height, width] in 0..1, made smaller by `shrink` in both directions."""
    path = next(path for path in files("scikit-image") if path.stem == name and path.suffix in (".png", ".jpg"))
    image = Image.open(path.locate()).convert("RGB")
    image = image.reduce(shrink) if shrink > 1 else image
    return np.asarray(image, dtype=np.float32).transpose(2, 0, 1) / 255


def cut_patches(names: tuple[str, ...], each: int, side: int, seed: int, shrinks: tuple[int, ...] = (1, 2, 4)) -> np.ndarray:
    """Random squares [n, 3, side, side], `each` of every photograph and size, turned and mirrored at random."""
    random = np.random.default_rng(seed)
    patches = []
    for name in names:
        for shrink in shrinks:
            picture = load_photograph(name, shrink)
            tops = random.integers(0, picture.shape[1] - side + 1, each)
            lefts = random.integers(0, picture.shape[2] - side + 1, each)
            for top, left in zip(tops, lefts, strict=True):
                patch = np.rot90(picture[:, top : top + side, left : left + side], random.integers(4), axes=(1, 2))
                patches.append(patch if random.random() < 0.5 else patch[:, :, ::-1])
    return np.stack(patches)


def to_grey(pictures: np.ndarray) -> np.ndarray:
    """Luma [n, 1, ...] of RGB [n, 3, ...]: ITU-R BT.601."""
    return np.einsum("c,nchw->nhw", np.array([0.299, 0.587, 0.114], dtype=np.float32), pictures)[:, None]
