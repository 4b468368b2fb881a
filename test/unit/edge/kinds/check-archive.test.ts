import { describe, expect, test } from "vitest";
import { checkArchive, checkStart } from "../../../../src/edge/kinds/training/check-archive.ts";
import type { StoredArchive } from "../../../../src/protocol/policies/archive.ts";
import { PolicyNetwork } from "../../../../src/protocol/models/policy-network.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import type { RolloutEnvironment } from "../../../../src/protocol/fleet/rollout-environment.ts";
import { Algorithm } from "../../../../src/protocol/jobs/training.ts";

const environment: RolloutEnvironment = {
  name: "arm",
  description: "",
  observationSize: 1,
  action: { kind: "continuous", size: 100, low: 0, high: 1 },
  stepLimit: 1,
  measures: 2,
  scores: { worst: -0.5, best: 0, solvedAt: null },
};
const network = { kind: "direct" } as const;
const ask = (algorithm: Record<string, unknown>) => ({ algorithm: Algorithm.parse(algorithm), network });
const pointersOf = (errors: readonly { pointer: string }[]) => errors.map(({ pointer }) => pointer);

describe("the archive of a search", () => {
  const check = (algorithm: Record<string, unknown>, parameters: number | null = 100, measures = 2) =>
    pointersOf(checkArchive(ask(algorithm), { ...environment, measures }, parameters));

  test("has an axis for each measure, and an environment has some", () => {
    expect(check({ name: "map-elites" })).toEqual([]);
    expect(check({ name: "map-elites", dims: [10, 10] })).toEqual([]);
    expect(check({ name: "map-elites", dims: [10] })).toEqual(["#/algorithm/dims"]);
    expect(check({ name: "cma-me" }, 100, 0)).toEqual(["#/environment"]);
    expect(check({ name: "openes" }, 100, 0)).toEqual([]);
  });

  test("has no more cells than there may be, and no more bytes than a file", () => {
    expect(check({ name: "map-elites", dims: [1_024, 1_024] }, 1)).toEqual([]);
    expect(check({ name: "map-elites", dims: [1_024, 1_025] }, 1)).toEqual(["#/algorithm/dims"]);
    const most = LIMITS.jobArtifactBytes / 4 / 100 ** 2 - 5;
    expect(check({ name: "map-elites", dims: [100, 100] }, Math.floor(most))).toEqual([]);
    expect(check({ name: "map-elites", dims: [100, 100] }, Math.ceil(most))).toEqual(["#/algorithm/dims"]);
  });

  test("goes with a full covariance of few parameters", () => {
    const full = { name: "cma-me", covariance: "full" };
    expect(check(full, LIMITS.fullCovarianceParameters)).toEqual([]);
    expect(check(full, LIMITS.fullCovarianceParameters + 1)).toEqual(["#/algorithm/covariance"]);
    expect(check({ name: "cma-me" }, LIMITS.fullCovarianceParameters + 1)).toEqual([]);
  });
});

test("a search begins with an archive of the same environment, network and measures alone", () => {
  const archive = { environment: "arm", network, dims: [5, 5] } as unknown as StoredArchive;
  const check = (found: StoredArchive | null, algorithm = "map-elites") =>
    checkStart(ask({ name: algorithm }), environment, found).map(({ pointer, message }) => `${pointer} ${message}`);
  expect(check(archive)).toEqual([]);
  expect(check(null)).toEqual(["#/archive is no archive"]);
  expect(check(archive, "openes")[0]).toContain("#/archive is for algorithms with an archive");
  expect(check({ ...archive, environment: "sphere" })[0]).toContain("is of sphere");
  expect(check({ ...archive, dims: [5] })[0]).toContain("has 1 measures");
  expect(check({ ...archive, network: PolicyNetwork.parse({ kind: "mlp" }) })[0]).toContain("another form of network");
});
