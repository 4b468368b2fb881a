"""Text in the fonts of Debian, by families, for glyph62 and crnn-ctc.

apt-get install fonts-dejavu fonts-liberation fonts-freefont-ttf fonts-open-sans fonts-roboto-unhinted fonts-lato \
    fonts-crosextra-carlito fonts-crosextra-caladea fonts-hack fonts-firacode fonts-inconsolata fonts-cantarell \
    fonts-linuxlibertine fonts-ebgaramond fonts-cabin fonts-quicksand fonts-courier-prime fonts-urw-base35 \
    fonts-sil-gentium fonts-dosis fonts-junction fonts-jura fonts-sil-andika fonts-tuffy fonts-play
"""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

FONTS = Path("/usr/share/fonts")

# Patterns of files, one family each. No family stands on both sides, nor do two cuts of one design.
FITTING = (
    "truetype/dejavu/DejaVuSans[.-]*", "truetype/dejavu/DejaVuSansMono*", "truetype/dejavu/DejaVuSerif*",
    "truetype/liberation/LiberationSans-*", "truetype/liberation/LiberationSansNarrow*",
    "truetype/liberation/LiberationMono*", "opentype/urw-base35/NimbusRoman*", "truetype/freefont/FreeSerif*",
    "truetype/open-sans/OpenSans-*", "truetype/roboto/unhinted/RobotoTTF/Roboto-*", "truetype/crosextra/Caladea*",
    "truetype/hack/Hack*", "truetype/firacode/FiraCode*", "truetype/inconsolata/Inconsolata*",
    "opentype/ebgaramond/EBGaramond12*", "opentype/urw-base35/URWGothic*", "opentype/urw-base35/URWBookman*",
    "truetype/gentium/Gentium-*", "opentype/dosis/Dosis*", "opentype/jura/Jura*", "truetype/andika/Andika*",
    "truetype/tuffy/Tuffy*", "opentype/play/Play*", "truetype/quicksand/Quicksand*", "opentype/courier-prime/Courier Prime Sans*",
)  # fmt: skip
VALIDATION = ("opentype/cantarell/Cantarell*", "opentype/urw-base35/P052*", "truetype/crosextra/Carlito*")
HELD_OUT = (
    "truetype/lato/Lato*", "opentype/cabin/Cabin*", "opentype/linux-libertine/LinLibertine_R*", "opentype/junction/Junction*",
    "opentype/urw-base35/C059*", "opentype/linux-libertine/LinBiolinum_R*", "opentype/courier-prime/Courier Prime.otf",
)  # fmt: skip
TOO_THIN = ("Thin", "Hairline", "ExtraLight")

SOURCE = "fonts of Debian 12 packages (DejaVu, Liberation, FreeFont, URW base 35, Lato, Roboto and others)"
LICENCE = "every font is free software: SIL OFL 1.1, Apache 2.0, AGPL or GPL with the font exception, or its own free licence"


def list_fonts(patterns: tuple[str, ...]) -> list[Path]:
    """Font files in a fixed order; fails where a family is not installed."""
    found = []
    for pattern in patterns:
        paths = [path for path in sorted(FONTS.glob(pattern)) if path.suffix in (".ttf", ".otf")]
        if not paths:
            raise FileNotFoundError(f"no font {pattern} under {FONTS}")
        found += [path for path in paths if not any(word in path.stem for word in TOO_THIN)]
    return found


def draw_line(text: str, font: ImageFont.FreeTypeFont, height: int) -> np.ndarray:
    """Ink in 0..1, [height, width]: as wide as its ink, on a baseline at three quarters of the height."""
    left, _, right, _ = font.getbbox(text, anchor="ls")
    image = Image.new("L", (max(right - left, 1), height))
    ImageDraw.Draw(image).text((-left, height * 3 // 4), text, fill=255, font=font, anchor="ls")
    return np.asarray(image, dtype=np.float32) / 255


def centre(ink: np.ndarray, width: int) -> np.ndarray:
    """[height, width], with empty columns on both sides or cut on both."""
    spare = width - ink.shape[1]
    if spare < 0:
        return ink[:, -spare // 2 :][:, :width]
    return np.pad(ink, ((0, 0), (spare // 2, spare - spare // 2)))
