"""Steps of a vector environment under a network of its own for every member, inferred by numpy in one batch.

Reads JSON lines: {"library", "environment", "members", "compared", "hidden", "weightsFile"} first, which is answered by
first episodes, then one line for each round. Everything is f32, as the libraries give it.
"""

import json
import sys
import time
import warnings

import gymnasium
import numpy

warnings.filterwarnings("ignore")

ROUND_SECONDS = 1.0


def open_gymnasium(environment, members):
    if environment == "cartpole":
        # The one that computes all members at once.
        return gymnasium.make_vec("CartPole-v1", num_envs=members, vectorization_mode="vector_entry_point")
    if environment == "acrobot":
        return gymnasium.make_vec("Acrobot-v1", num_envs=members, vectorization_mode="sync")
    if environment == "breakout-plain":
        import minatar.gym

        if "MinAtar/Breakout-v0" not in gymnasium.registry:
            minatar.gym.register_envs()
        arguments = {"sticky_action_prob": 0.0, "disable_env_checker": True}
        return gymnasium.make_vec("MinAtar/Breakout-v0", num_envs=members, vectorization_mode="sync", **arguments)
    raise LookupError(f"gymnasium has no {environment}")


def open_envpool(environment, members):
    import envpool

    names = {"cartpole": "CartPole-v1", "acrobot": "Acrobot-v1"}
    if environment not in names:
        raise LookupError(f"envpool has no {environment}")
    return envpool.make(names[environment], env_type="gymnasium", num_envs=members, seed=7)


OPEN = {"gymnasium": open_gymnasium, "envpool": open_envpool}


class Policies:
    """Dense layers of every member; the faster of two ways to multiply is taken."""

    def __init__(self, rows, widths):
        self.layers = []
        at = 0
        for inner, outer in zip(widths, widths[1:]):
            weights = rows[:, at : at + inner * outer].reshape(-1, outer, inner)
            at += inner * outer
            self.layers.append((numpy.ascontiguousarray(weights), numpy.ascontiguousarray(rows[:, at : at + outer])))
            at += outer
        self.multiply = multiply_matrices

    def choose_way(self, observation):
        times = {}
        for way in (multiply_matrices, multiply_sums):
            self.multiply = way
            self.act(observation)
            started = time.perf_counter()
            self.act(observation)
            times[way] = time.perf_counter() - started
        self.multiply = min(times, key=times.get)

    def act(self, observation):
        values = observation.reshape(len(observation), -1).astype(numpy.float32)
        for index, (weights, biases) in enumerate(self.layers):
            values = self.multiply(weights, values) + biases
            if index + 1 < len(self.layers):
                values = numpy.tanh(values)
        return values.argmax(axis=1)


def multiply_matrices(weights, values):
    return numpy.matmul(weights, values[:, :, None])[:, :, 0]


def multiply_sums(weights, values):
    return numpy.einsum("moi,mi->mo", weights, values)


def play_first_episodes(library, environment, policies, members):
    vector = OPEN[library](environment, members)
    observation, _ = reset(vector, library)
    first = observation.reshape(members, -1).astype(numpy.float64)
    lengths = numpy.zeros(members)
    totals = numpy.zeros(members)
    playing = numpy.ones(members, dtype=bool)
    while playing.any():
        observation, reward, terminated, truncated, _ = vector.step(policies.act(observation))
        lengths += playing
        totals += numpy.where(playing, reward, 0)
        playing &= ~(terminated | truncated)
    vector.close()
    return numpy.column_stack([first, lengths, totals]).ravel().tolist()


def reset(vector, library):
    return vector.reset(seed=7) if library == "gymnasium" else vector.reset()


def main():
    question = json.loads(sys.stdin.readline())
    library, environment, members = question["library"], question["environment"], question["members"]
    vector = OPEN[library](environment, members)
    observation, _ = reset(vector, library)
    size = int(numpy.prod(observation.shape[1:]))
    outputs = int(vector.action_space.n if library == "envpool" else vector.single_action_space.n)
    rows = numpy.fromfile(question["weightsFile"], dtype=numpy.float32).reshape(members, -1)
    widths = [size, question["hidden"], outputs]
    compared = question["compared"]
    output = play_first_episodes(library, environment, Policies(rows[:compared], widths), compared)
    policies = Policies(rows, widths)
    policies.choose_way(observation)
    print(json.dumps({"output": output}), flush=True)
    ended = numpy.zeros(members, dtype=bool)
    for _ in sys.stdin:
        started = time.perf_counter()
        steps = 0
        while time.perf_counter() - started < ROUND_SECONDS:
            observation, _, terminated, truncated, _ = vector.step(policies.act(observation))
            # A member that had ended is reset by this call, which is no step.
            steps += members - int(ended.sum())
            ended = terminated | truncated
        print(json.dumps({"steps": steps / (time.perf_counter() - started)}), flush=True)


main()
