import { describe, expect, it } from "vitest";
import { describeEnd, numbersOf, openReplay, tracksOf } from "../../../src/dashboard/evaluations/replay.ts";
import { drawScene } from "../../../src/dashboard/evaluations/scene.ts";
import { REPLAY_FIELDS, type ReplayField, writeReplay } from "../../../src/protocol/jobs/evaluation/replay-file.ts";

const field = (name: string, count = 1): ReplayField => ({ name, type: "<f4", count });

describe("a replay", () => {
  const fields = [...REPLAY_FIELDS, field("action"), field("state.angles", 2), field("state.speed")];
  const record = (entrant: number, episode: number, step: number, reward: number, cause: number) => [
    entrant,
    7,
    episode,
    step,
    reward,
    cause,
    1,
    0.5,
    -0.5,
    step,
  ];
  const file = writeReplay(fields, [
    record(0, 0, 0, 0, 0),
    record(0, 0, 1, -1, 1),
    record(0, 1, 0, 0, 0),
    record(2, 0, 0, 0, 4),
  ]);

  it("is identified by entrant and episode, with the return and the end of each", () => {
    const { episodes } = openReplay(file);
    expect(episodes.map(({ records, ...told }) => ({ ...told, states: records.length }))).toEqual([
      { entrant: 0, member: 7, episode: 0, cause: 1, total: -1, states: 2 },
      { entrant: 0, member: 7, episode: 1, cause: 0, total: 0, states: 1 },
      { entrant: 2, member: 7, episode: 0, cause: 4, total: 0, states: 1 },
    ]);
    expect(episodes.map(describeEnd)).toEqual([
      "the environment ended it",
      "the recording was cut off there",
      "the policy failed",
    ]);
    expect(describeEnd({ cause: 2 })).toBe("the limit of steps ended it");
  });

  it("names every number that is worth following, and finds it", () => {
    const opened = openReplay(file);
    expect(tracksOf(opened.fields).map(({ name }) => name)).toEqual([
      "reward",
      "action",
      "angles 1",
      "angles 2",
      "speed",
    ]);
    const last = opened.episodes[0]!.records[1]!;
    expect(tracksOf(opened.fields).map(({ place }) => last[place])).toEqual([-1, 1, 0.5, -0.5, 1]);
    expect(numbersOf(opened.fields, last, "state.angles")).toEqual([0.5, -0.5]);
    expect(numbersOf(opened.fields, last, "cells")).toBeNull();
  });
});

describe("a scene", () => {
  /** End of the last limb. */
  function endOf(environment: string, state: Readonly<Record<string, readonly number[]>>): readonly number[] {
    const fields = Object.entries(state).map(([name, values]) => field(`state.${name}`, values.length));
    const scene = drawScene(environment, fields, Float64Array.from(Object.values(state).flat()))!;
    const limb = scene.shapes.find((shape) => shape.kind === "line" && shape.role === "limb");
    if (limb?.kind !== "line") throw new Error(`${environment} has no limb`);
    return limb.points.at(-1)!.map((value) => Number(value.toFixed(6)) + 0);
  }

  it("has a pole lean to where its angle says, on its cart", () => {
    expect(endOf("cartpole", { x: [1], xSpeed: [0], angle: [Math.PI / 2] })).toEqual([2, 0]);
    expect(endOf("cartpole-swing-up", { x: [1], angle: [Math.PI] })).toEqual([1, -1.2]);
    expect(endOf("cartpole-swing-up", { x: [0], angle: [Math.PI / 2] })).toEqual([-1.2, 0]);
    expect(endOf("inverted-double-pendulum", { place: [0.5, 0, Math.PI / 2] })).toEqual([1.1, 0.6]);
  });

  it("has links hang or stand as their angles say", () => {
    expect(endOf("pendulum", { angle: [0] })).toEqual([0, 1]);
    expect(endOf("pendulum", { angle: [Math.PI / 2] })).toEqual([-1, 0]);
    expect(endOf("acrobot", { angles: [0, 0] })).toEqual([0, -2]);
    expect(endOf("acrobot", { angles: [Math.PI / 2, 0] })).toEqual([2, 0]);
  });

  it("has a car on its hill, and is none for an environment without a drawing", () => {
    const scene = drawScene("mountain-car", [field("state.position")], Float64Array.of(-Math.PI / 6))!;
    const car = scene.shapes.find(({ role }) => role === "body");
    expect(car).toMatchObject({ at: [expect.closeTo(-0.5236, 4), expect.closeTo(0.145, 6)] });
    expect(drawScene("hopper", [], new Float64Array())).toBeNull();
  });
});
