"""Vectors of the MuJoCo pendulums, by Gymnasium's v5 models."""

import gymnasium
import mujoco
import numpy as np

from write_vectors import record, write_vectors

SOURCE = f"gymnasium {gymnasium.__version__}, mujoco {mujoco.__version__}, seed 1"
STEPS = 60

generator = np.random.default_rng(1)


def single(values):
    """The devices' numbers, so that the inputs of both sides are the same."""
    return np.float32(values).astype(np.float64).tolist()


def episode(name, read, start, actions):
    """Goes on behind an end. `read` gives the state; `start` is of positions, then speeds."""
    environment = gymnasium.make(name, disable_env_checker=True).unwrapped
    environment.reset(seed=1)
    start = np.array(single(start))
    environment.set_state(start[: environment.model.nq], start[environment.model.nq :])

    def step(action):
        _, reward, terminated, _, _ = environment.step(np.array(action))
        return read(environment.data), reward, terminated

    return record(read(environment.data), actions, step)


def continuous(spread, steps=STEPS):
    return single(generator.uniform(-spread, spread, (steps, 1)))


def write(folder, name, read, cases):
    write_vectors(folder, SOURCE, [episode(name, read, start, actions) for start, actions in cases])


def coordinates(data):
    return [*data.qpos.tolist(), *data.qvel.tolist()]


def coordinates_and_stop(data):
    return [*coordinates(data), float(data.qfrc_constraint[0])]


def balance(gains, name, start, steps):
    """Actions of a linear controller with noise, which stays up a while and drives into the rail's end."""
    environment = gymnasium.make(name, disable_env_checker=True).unwrapped
    environment.reset(seed=1)
    start = np.array(single(start))
    environment.set_state(start[: environment.model.nq], start[environment.model.nq :])
    actions = []
    for _ in range(steps):
        state = np.array(coordinates(environment.data))
        actions.append(single([gains @ state + generator.normal(0, 0.02)]))
        environment.step(np.array(actions[-1]))
    return actions


SINGLE = "InvertedPendulum-v5"
SINGLE_GAINS = np.array([0.0, 3.0, 0.3, 0.6])
write(
    "inverted-pendulum",
    SINGLE,
    coordinates,
    [
        ([0.01, -0.01, 0.005, 0.01], continuous(0.3, 12)),
        ([0.0, 0.1, 0.0, -0.2], continuous(4.0, 10)),
        ([0.98, 0.02, 0.5, 0.0], balance(SINGLE_GAINS, SINGLE, [0.98, 0.02, 0.5, 0.0], 15)),
        ([-0.995, -0.02, -2.0, 0.1], [[-3.0]] * 7),
        ([0.9, 0.0, 3.0, 0.0], [[3.0]] * 6),
        ([0.01, 0.01, 0.01, 0.01], balance(SINGLE_GAINS, SINGLE, [0.01] * 4, STEPS)),
    ],
)

DOUBLE = "InvertedDoublePendulum-v5"
write(
    "inverted-double-pendulum",
    DOUBLE,
    coordinates_and_stop,
    [
        ([0.05, -0.08, 0.06, 0.1, -0.1, 0.05], continuous(0.2, 14)),
        ([0.0, 0.01, -0.01, 0.0, 0.0, 0.0], continuous(1.5, 12)),
        ([0.97, 0.05, -0.1, 0.6, 0.3, -0.2], [[0.2]] * 12),
        ([-0.98, 0.0, 0.0, -3.0, 0.0, 0.0], [[-1.0]] * 10),
        ([0.2, 2.0, 3.0, 0.5, -4.0, 7.0], continuous(1.0, 15)),
        ([0.02, 0.01, -0.01, 0.05, -0.02, 0.01], continuous(0.02, 12)),
    ],
)
