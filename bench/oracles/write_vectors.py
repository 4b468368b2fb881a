"""Writes trajectories as kernels/environments/<folder>/<name>.vectors.json; see test/kernels/test-environment.ts.

Each script beside this one needs what it imports, from PyPI: gymnasium and numpy; for MuJoCo's also mujoco, imageio and
packaging; for EvoJAX's evojax, jax and flax.
"""

import json
from pathlib import Path

FOLDER = Path(__file__).parent.parent.parent / "kernels" / "environments"


def write_vectors(folder, source, episodes, name=None):
    """Numbers keep every digit of their f64, one episode a line."""
    lines = ",\n".join(json.dumps(episode, separators=(",", ":")) for episode in episodes)
    path = FOLDER / folder / f"{name or folder}.vectors.json"
    path.write_text(f'{{"source":{json.dumps(source)},"episodes":[\n{lines}\n]}}\n')
    print(path.name, path.stat().st_size, "bytes")


def record(start, actions, step):
    """An episode: `step(action)` gives the next state, its reward and whether the environment ended."""
    states, rewards, terminated = [start], [], []
    for action in actions:
        state, reward, ended = step(action)
        states.append([float(value) for value in state])
        rewards.append(float(reward))
        terminated.append(bool(ended))
    return {"states": states, "actions": actions, "rewards": rewards, "terminated": terminated}
