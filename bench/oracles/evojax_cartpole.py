"""Vectors of the CartPole swing-up, by EvoJAX's own functions in f64."""

from importlib.metadata import version

import jax
import numpy as np
from evojax.task import cartpole

from write_vectors import record, write_vectors

jax.config.update("jax_enable_x64", True)

SOURCE = f"evojax {version('evojax')}, jax {jax.__version__}, seed 1"
STEPS = 60

generator = np.random.default_rng(1)


def single(values):
    """The devices' numbers, so that the inputs of both sides are the same."""
    return np.float32(values).astype(np.float64).tolist()


def episode(start, actions):
    state = np.array(single(start))

    def step(action):
        nonlocal state
        state = np.array(cartpole.update_state(np.array(action), state))
        return state, cartpole.get_reward(state), cartpole.out_of_screen(state) == 1

    return record(state.tolist(), actions, step)


def continuous(spread):
    return single(generator.uniform(-spread, spread, (STEPS, 1)))


write_vectors(
    "cartpole-swing-up",
    SOURCE,
    [
        episode([0.1, -0.2, 3.1, 0.3], continuous(1)),
        episode([-0.3, 0.1, 3.4, -0.2], continuous(3)),
        episode([2.3, 5.0, 1.7, 9.9], [[1.0]] * STEPS),
        episode([-2.3, -9.0, 4.6, -9.9], [[-1.0]] * 30 + [[1.0]] * 30),
        episode([0.0, 0.0, 0.05, 0.1], [[0.0]] * STEPS),
    ],
)
