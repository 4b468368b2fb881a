"""The network of the recipes that look at a log-mel spectrum as at a picture."""

from torch import Tensor, nn

CHANNELS = (16, 32, 64)


class SoundPicture(nn.Module):
    """Three convolutions with batch norm and ReLU, the first two with a pooling; then the mean and the classes."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for channels, filters in zip((1, *CHANNELS), CHANNELS, strict=False):
            layers += [nn.Conv2d(channels, filters, 3, padding=1, bias=False), nn.BatchNorm2d(filters), nn.ReLU()]
            if filters != CHANNELS[-1]:
                layers.append(nn.MaxPool2d(2))
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.3))
        self.classes = nn.Linear(CHANNELS[-1], classes)

    def forward(self, pictures: Tensor) -> Tensor:
        """[n, 1, frames, bands] -> [n, classes]."""
        return self.classes(self.layers(pictures))

    @staticmethod
    def described(classes: int) -> str:
        return (
            f"conv 16@3x3, max pool 2, conv 32@3x3, max pool 2, conv 64@3x3, mean, dense {classes};"
            " ReLU, batch norm folded"
        )
