"""Vectors of the classic control environments, by Gymnasium in f64."""

from types import SimpleNamespace

import gymnasium
import numpy as np
from gymnasium.envs.classic_control import continuous_mountain_car

from write_vectors import record, write_vectors

SOURCE = f"gymnasium {gymnasium.__version__}, numpy {np.__version__}, seed 1"
STEPS = 60

# This one keeps its state in f32. Formulas are to be compared here and not roundings.
continuous_mountain_car.np = SimpleNamespace(**{**vars(np), "float32": np.float64})

generator = np.random.default_rng(1)


def single(values):
    """The devices' numbers, so that the inputs of both sides are the same."""
    return np.float32(values).astype(np.float64).tolist()


def episode(name, start, actions):
    """Goes on behind an end, as if each step were the first that ends."""
    environment = gymnasium.make(name, disable_env_checker=True).unwrapped
    environment.reset(seed=1)
    environment.state = np.array(start)

    def step(action):
        environment.steps_beyond_terminated = None
        _, reward, terminated, _, _ = environment.step(action if isinstance(action, int) else np.array(action))
        return environment.state, reward, terminated

    return record(single(start), actions, step)


def discrete(count, steps=STEPS):
    return generator.integers(0, count, steps).tolist()


def continuous(spread, steps=STEPS):
    return single(generator.uniform(-spread, spread, (steps, 1)))


def write(folder, name, cases):
    write_vectors(folder, SOURCE, [episode(name, single(start), actions) for start, actions in cases])


write(
    "cartpole",
    "CartPole-v1",
    [
        ([0.01, -0.02, 0.03, 0.04], discrete(2)),
        ([-0.04, 0.03, -0.02, 0.01], [1, 0] * 30),
        ([0.05, 0.05, 0.05, 0.05], [1] * 20),
        ([-2.39, 0.0, 0.0, 0.0], [0, 1] * 30),
        ([0.0, 0.0, 0.2, 1.5], [1, 1, 0, 0] * 10),
        ([0.0, 0.0, 3.1, -2.0], discrete(2)),
    ],
)
write(
    "pendulum",
    "Pendulum-v1",
    [
        ([0.5, 0.0], continuous(2.0)),
        ([3.0, 1.0], continuous(5.0)),
        ([-3.1, -7.9], [[-2.0]] * STEPS),
        ([3.14, 7.9], [[2.0]] * STEPS),
        ([-2.0, 0.5], [[0.0]] * STEPS),
        ([30.0, 0.0], continuous(2.0)),
    ],
)
write(
    "acrobot",
    "Acrobot-v1",
    [
        ([0.05, -0.08, 0.02, 0.09], discrete(3)),
        ([0.1, 0.1, 0.1, 0.1], [2] * STEPS),
        ([-0.1, 0.0, 0.0, -0.1], [0, 0, 0, 0, 2, 2, 2, 2] * 7),
        ([3.1, 0.2, 3.0, 2.0], discrete(3, 20)),
        ([1.5, -3.0, 12.0, -28.0], [2] * 20),
    ],
)
write(
    "mountain-car",
    "MountainCar-v0",
    [
        ([-0.5, 0.0], discrete(3)),
        ([-0.5, 0.0], [2] * STEPS),
        ([-1.15, -0.05], [0] * 30),
        ([0.4, 0.03], [2] * 30),
        ([-0.3, -0.069], [0] * STEPS),
    ],
)
write(
    "mountain-car-continuous",
    "MountainCarContinuous-v0",
    [
        ([-0.5, 0.0], continuous(1.0)),
        ([-0.45, 0.0], continuous(3.0)),
        ([-1.15, -0.05], [[-1.0]] * 30),
        ([0.4, 0.03], [[1.0]] * 30),
        ([-0.3, -0.069], [[-2.0]] * STEPS),
    ],
)
