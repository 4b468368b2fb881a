"""Inserts into pyribs' GridArchive of float32.

Reads JSON lines: {"dataFile", "batches", "batch", "dims", "parameters"} first, which is answered by the archive after all
batches, then one line for each round, answered by inserts a second into a new archive.
"""

import json
import sys
import time

import numpy
from ribs.archives import GridArchive


def open_case(question):
    batches, batch, parameters = question["batches"], question["batch"], question["parameters"]
    dims = question["dims"]
    data = numpy.fromfile(question["dataFile"], dtype=numpy.float32)
    solutions = data[: batch * parameters].reshape(batch, parameters)
    offered = data[batch * parameters :].reshape(batches, -1)
    fitness = offered[:, :batch]
    measures = offered[:, batch:].reshape(batches, batch, len(dims))

    def play():
        archive = GridArchive(solution_dim=parameters, dims=dims, ranges=[(0, 1)] * len(dims), dtype=numpy.float32)
        started = time.perf_counter()
        for index in range(batches):
            archive.add(solutions, fitness[index], measures[index])
        return archive, time.perf_counter() - started

    return play


def main():
    play = None
    for line in sys.stdin:
        question = json.loads(line)
        if "dataFile" in question:
            play = open_case(question)
            data = play()[0].data(return_type="dict")
            reply = {
                "cells": data["index"].tolist(),
                "fitness": data["objective"].tolist(),
                "members": data["solution"][:, 0].tolist(),
            }
        else:
            reply = {"seconds": play()[1]}
        print(json.dumps(reply), flush=True)


main()
