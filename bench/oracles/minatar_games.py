"""Records play of MinAtar with every random number that it draws: python bench/oracles/minatar_games.py kernels/environments.

Needs `MinAtar==1.0.15`. Of each episode: actions, rewards, the numbers drawn (by 16 bits that decide the same), how
many of them each step drew, and a hash of each frame.
"""

import base64
import copy
import json
import pathlib
import sys
from importlib.metadata import version

import numpy as np
from minatar import Environment


class Recorder:
    """Stands for numpy's RandomState, and keeps what was drawn as 16 bits of a word that leads to the same choice."""

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)
        self.drawn = []

    def rand(self, *shape):
        values = self.random.rand(*shape)
        for value in np.atleast_1d(values):
            bits = int(value * 65536)
            for threshold in (0.1, 1 / 3, 1 / 2):
                bits += bits / 65536 < threshold <= value
            self.drawn.append(int(bits))
        return values

    def randint(self, low, high=None, size=None):
        values = self.random.randint(low, high, size)
        first, end = (0, low) if high is None else (low, high)
        for value in np.atleast_1d(values):
            self.drawn.append(int((value - first + 0.5) / (end - first) * 65536))
        return values

    def take(self):
        drawn, self.drawn = self.drawn, []
        return drawn


def hash_frame(state):
    """FNV-1a over the words of 32 bits of a frame, number i of which is bit i."""
    bits = np.packbits(state.reshape(-1), bitorder="little").tobytes()
    words = np.frombuffer(bits + bytes(-len(bits) % 4), "<u4")
    value = 0x811C9DC5
    for word in words:
        value = (value ^ int(word)) * 0x01000193 % 2**32
    return value


def join_speeds_and_directions(drawn):
    """Freeway draws eight speeds, then eight directions; ours is one of ten for each car."""
    if len(drawn) < 16:
        return drawn
    before, speeds, ways = drawn[:-16], drawn[-16:-8], drawn[-8:]
    choices = [speed * 5 // 65536 + (5 if way >= 32768 else 0) for speed, way in zip(speeds, ways)]
    return before + [int((choice + 0.5) / 10 * 65536) for choice in choices]


def look_ahead(environment, generator, depth):
    """The action after which idle play goes best for a while."""
    best, chosen = -np.inf, 0
    for action in generator.permutation(6):
        trial = copy.deepcopy(environment)
        value = 0
        for step in range(depth):
            reward, ended = trial.act(action if step == 0 else generator.randint(6))
            value += reward
            if ended:
                value -= 10
                break
        if value > best:
            best, chosen = value, action
    return int(chosen)


def follow_ball(environment, generator, depth):
    game = environment.env
    ahead = game.ball_x + (1 if game.ball_dir in (1, 2) else -1)
    return 1 if ahead < game.pos else 3 if ahead > game.pos else int(generator.choice([0, 2, 4, 5]))


def cross_road(environment, generator, depth):
    return 2


SHARE_OF_SKILL = {"breakout": 0.99, "asterix": 0.95, "space_invaders": 0.95, "freeway": 0.95}
EPISODES = {"breakout": (24, 600), "asterix": (20, 400), "space_invaders": (20, 400), "freeway": (11, 400)}
SKILL = {"breakout": follow_ball, "freeway": cross_road}


# Further episodes that begin where play seldom gets: our names of what is set, and MinAtar's.
ARRANGED = {
    "asterix": {"spawnInterval": ("spawn_speed", 3), "moveInterval": ("move_speed", 2), "rampTimer": ("ramp_timer", 5)},
    "space_invaders": {"marchInterval": ("enemy_move_interval", 7)},
    "freeway": {"framesLeft": ("terminate_timer", 40)},
}


def record(name, seed, steps, skilled, arranged={}):
    environment = Environment(name)
    environment.seed(0)
    random = Recorder(seed)
    environment.random = environment.env.random = random
    environment.reset()
    for attribute, value in arranged.values():
        setattr(environment.env, attribute, value)
    tidy = join_speeds_and_directions
    episode = {"reset": tidy(random.take()), "actions": "", "rewards": "", "counts": "", "ended": False}
    if arranged:
        episode["arranged"] = {ours: value for ours, (_, value) in arranged.items()}
    drawn, frames = [], [hash_frame(environment.state())]
    generator = np.random.RandomState(seed + 1000)
    for _ in range(steps):
        play = skilled and generator.rand() < SHARE_OF_SKILL[name]
        action = SKILL.get(name, look_ahead)(environment, generator, 6) if play else int(generator.randint(6))
        reward, ended = environment.act(action)
        numbers = tidy(random.take())
        drawn += numbers
        episode["actions"] += str(action)
        episode["rewards"] += str(int(reward))
        episode["counts"] += str(len(numbers))
        frames.append(hash_frame(environment.state()))
        if ended:
            episode["ended"] = True
            break
    episode["drawn"] = base64.b64encode(np.asarray(drawn, "<u2").tobytes()).decode()
    episode["frames"] = base64.b64encode(np.asarray(frames, "<u4").tobytes()).decode()
    return episode


def main(folder):
    for name in ("breakout", "asterix", "space_invaders", "freeway"):
        count, steps = EPISODES[name]
        episodes = [record(name, seed, steps, seed % 3 != 0) for seed in range(count)]
        if name in ARRANGED:
            episodes += [record(name, seed, steps, True, ARRANGED[name]) for seed in (100, 101)]
        vectors = {"source": f"MinAtar {version('MinAtar')}", "episodes": episodes}
        name = name.replace("_", "-")
        path = pathlib.Path(folder, name, f"{name}.vectors.json")
        path.write_text(json.dumps(vectors, separators=(",", ":")) + "\n")
        returns = [sum(map(int, episode["rewards"])) for episode in episodes]
        print(name, sum(len(episode["actions"]) for episode in episodes), "steps, returns", returns)


main(sys.argv[1])
