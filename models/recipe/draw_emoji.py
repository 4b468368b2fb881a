"""The colour emoji of the Debian package fonts-noto-color-emoji, and how they are laid over a background.

Which emoji belong together is read from emoji-test.txt of the Debian package unicode-data (Unicode Technical
Standard #51).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFont
from torch import Tensor
from torch.nn import functional as F

FONT = Path("/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf")
LIST = Path("/usr/share/unicode/emoji/emoji-test.txt")
FONT_PX = 109  # the one size that the font's bitmaps have
SKIN_TONES = range(0x1F3FB, 0x1F400)
SOURCE = "colour emoji of the Debian packages fonts-noto-color-emoji and unicode-data"
LICENCE = "Noto Color Emoji: SIL Open Font License 1.1; unicode-data: Unicode licence"


@dataclass(frozen=True)
class Emoji:
    text: str
    subgroup: str
    base: int  # the first code point: what variants by skin, sex and hair have in common


def list_emoji() -> list[Emoji]:
    """Every fully qualified emoji in the standard's order."""
    found, subgroup = [], ""
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("# subgroup: "):
            subgroup = line.removeprefix("# subgroup: ")
        elif "; fully-qualified" in line:
            points = [int(point, 16) for point in line.split(";")[0].split()]
            found.append(Emoji("".join(map(chr, points)), subgroup, points[0]))
    return found


def is_plain(emoji: Emoji) -> bool:
    """Neither a variant by skin tone nor a sequence of several pictures."""
    return not any(ord(point) in SKIN_TONES or ord(point) == 0x200D for point in emoji.text)


def draw(emoji: list[Emoji], side: int) -> Tensor:
    """RGBA [n, 4, side, side] in 0..1, colours multiplied by alpha, cut to what is drawn and centred."""
    font = ImageFont.truetype(str(FONT), FONT_PX)
    pictures = []
    for each in emoji:
        image = Image.new("RGBA", (2 * FONT_PX, 2 * FONT_PX))
        ImageDraw.Draw(image).text((FONT_PX // 3, FONT_PX // 3), each.text, font=font, embedded_color=True)
        image = image.crop(image.getbbox())
        square = Image.new("RGBA", (max(image.size),) * 2)
        square.paste(image, tuple((square.width - edge) // 2 for edge in image.size))
        pixels = np.asarray(square.resize((side, side), Image.Resampling.BOX), dtype=np.float32) / 255
        pixels = np.concatenate([pixels[..., :3] * pixels[..., 3:], pixels[..., 3:]], axis=2)
        pictures.append(pixels.transpose(2, 0, 1))
    return torch.from_numpy(np.stack(pictures))


def place(pictures: Tensor, side: int, size: tuple[float, float], turn: float, draws: Tensor) -> Tensor:
    """Each of [n, c, s, s] somewhere in an empty [n, c, side, side], by draws [n, 4] in 0..1.

    `size` is the share of the side that it takes, `turn` the most it is turned, in radians; it stays within the frame.
    """
    scale = size[0] + (size[1] - size[0]) * draws[:, 0]
    angle = turn * (2 * draws[:, 1] - 1)
    shift = (2 * draws[:, 2:] - 1) * (1 - scale).clamp(min=0.0)[:, None]  # of its centre, in -1..1
    cos, sin = angle.cos() / scale, angle.sin() / scale
    x = -cos * shift[:, 0] + sin * shift[:, 1]
    y = -sin * shift[:, 0] - cos * shift[:, 1]
    rows = torch.stack([cos, -sin, x, sin, cos, y], dim=1).reshape(-1, 2, 3)
    grid = F.affine_grid(rows, [len(pictures), pictures.shape[1], side, side], align_corners=False)
    return F.grid_sample(pictures, grid, align_corners=False)


def lay_over(pictures: Tensor, backgrounds: Tensor) -> Tensor:
    """RGBA [n, 4, s, s], colours multiplied by alpha, over [n, 3, s, s]."""
    return pictures[:, :3] + backgrounds * (1 - pictures[:, 3:])
