import { describe, expect, it } from "vitest";
import { environmentNamed } from "../../../../kernels/environments/registry.ts";
import { countParameters } from "../../../../kernels/rollout/policy-layout.ts";
import { CAUSES, rollOut } from "../../../../kernels/rollout/roll-out.reference.ts";
import { seededUniform } from "../../../../kernels/seeded-uniform.ts";
import { type RecordRequest, recordEpisodes } from "../../../../src/gpu-runner/kinds/evaluation/record-episodes.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import type { PolicyNetwork } from "../../../../src/protocol/models/policy-network.ts";
import { readReplay } from "../../../../src/protocol/jobs/evaluation/replay-file.ts";

const network: PolicyNetwork = { kind: "mlp", hidden: [4], activation: "tanh", outputActivation: "none" };

/** A policy of noise in an environment. */
function requestOf(environment: string, changes: Partial<RecordRequest> = {}): RecordRequest {
  const width = countParameters(network, environmentNamed(environment));
  const parameters = Float32Array.from(seededUniform(5, 0, width));
  const members = [{ entrant: 0, member: 0, drawnAs: 3, network, parameters }];
  return { environment, members, episodes: 1, seed: 2, commonRandom: false, ...changes };
}

const causesOf = (records: readonly Float64Array[]) => records.map((record) => record[5]);

describe("recording episodes", () => {
  it("goes through the episode that its place among all members draws", () => {
    const request = requestOf("acrobot");
    const { records } = readReplay(recordEpisodes(request, () => 0));
    const key = { seed: 2, member: 3, episode: 0, commonRandom: false };
    const { parameters } = request.members[0]!;
    const { total, length, cause } = rollOut(environmentNamed("acrobot"), network, parameters, key);
    expect(records).toHaveLength(length + 1);
    expect(records.reduce((sum, record) => sum + record[4]!, 0)).toBe(total);
    expect(causesOf(records).at(-1)).toBe(cause);
  });

  it("names the content of each cell of a game", () => {
    const { fields, records } = readReplay(recordEpisodes(requestOf("breakout-plain"), () => 0));
    const at = fields.slice(0, -1).reduce((sum, { count }) => sum + count, 0);
    expect(fields.at(-1)).toEqual({ name: "cells", type: "<u2", count: 100 });
    const paddles = records.map((record) => record.subarray(at + 90).findIndex((bits) => (bits & 1) === 1));
    const place = fields.findIndex(({ name }) => name === "state.paddle");
    expect(paddles).toEqual(records.map((record) => record[place]));
    expect(records[0]!.subarray(at + 10, at + 40).every((bits) => (bits & 8) === 8)).toBe(true);
  });

  it("cuts episodes off at their share of the states, and leaves none of them out", () => {
    const many = requestOf("mountain-car", { episodes: 400 });
    const { records } = readReplay(recordEpisodes(many, () => 0));
    expect(records.length).toBeLessThanOrEqual(LIMITS.recordedStates);
    expect(new Set(records.map((record) => record[2])).size).toBe(400);
    expect(causesOf(records)).not.toContain(CAUSES.truncated);
    const { records: few } = readReplay(recordEpisodes(requestOf("mountain-car"), () => 0));
    expect(few).toHaveLength(201);
    expect(causesOf(few).at(-1)).toBe(CAUSES.truncated);
  });

  it("ends with its time, and has no state of a member that is none", () => {
    let nowMs = 0;
    const { records } = readReplay(recordEpisodes(requestOf("mountain-car"), () => (nowMs += LIMITS.recordingMs / 10)));
    expect(records.length).toBeGreaterThan(0);
    expect(records.length).toBeLessThan(10);
    expect(causesOf(records).at(-1)).toBe(0);
    const broken = requestOf("mountain-car");
    broken.members[0]!.parameters[0] = Number.NaN;
    expect(readReplay(recordEpisodes(broken, () => 0)).records).toEqual([]);
  });
});
