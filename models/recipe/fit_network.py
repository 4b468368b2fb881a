"""The training loop of the zoo's recipes: seeded, on one thread, the weights of the best epoch kept."""

import math
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

Loss = Callable[[nn.Module, list[Tensor]], Tensor]


def begin(seed: int) -> None:
    """Makes what follows repeatable on one kind of processor; the order of float sums depends on the threads."""
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.set_num_threads(1)


def fit_network(
    network: nn.Module,
    samples: list[Tensor],
    loss: Loss,
    score: Callable[[nn.Module], float],
    *,
    epochs: int,
    batch: int = 64,
    learning_rate: float = 3e-3,
    weight_decay: float = 1e-2,
) -> dict:
    """AdamW under a one-cycle learning rate over [n, ...] samples, a higher `score` on the validation part is better.

    Leaves the weights of the best epoch in the network and returns what the card says of the outcome.
    """
    n = len(samples[0])
    optimiser = torch.optim.AdamW(network.parameters(), learning_rate, weight_decay=weight_decay)
    steps_per_epoch = math.ceil(n / batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, learning_rate, epochs=epochs, steps_per_epoch=steps_per_epoch
    )
    best, best_weights = {"epoch": 0, "validationScore": -math.inf}, {}
    started = time.monotonic()
    for epoch in range(1, epochs + 1):
        network.train()
        for rows in torch.randperm(n).split(batch):
            value = loss(network, [each[rows] for each in samples])
            optimiser.zero_grad()
            value.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            schedule.step()
        network.eval()
        with torch.no_grad():
            found = score(network)
        print(f"epoch {epoch:3d}  loss {value.item():.4f}  validation {found:.4f}  {time.monotonic() - started:.0f} s", flush=True)
        if found > best["validationScore"]:
            best = {"epoch": epoch, "validationScore": round(found, 5)}
            best_weights = {name: weight.clone() for name, weight in network.state_dict().items()}
    network.load_state_dict(best_weights)
    network.eval()
    return {"fittedSamples": n, **best}
