import { beforeAll, describe, expect, test } from "vitest";
import { expectSame } from "../../unit/gpu-runner/archive/expect-same.ts";
import { type PlayedBatch, PYRIBS } from "../../unit/gpu-runner/archive/pyribs-vectors.ts";
import { runApart } from "../rollout/run-apart.ts";

interface Findings {
  readonly played: readonly { readonly lanes: number; readonly index: number; readonly batches: PlayedBatch[] }[];
  readonly crowds: readonly {
    readonly sameCells: boolean;
    readonly sameMeasures: boolean;
    readonly sameGenomes: boolean;
    readonly sameAgain: boolean;
    readonly thresholds: readonly number[];
    readonly thresholdError: number;
    readonly childError: number;
  }[];
  readonly ofPopulation: { readonly elites: number; readonly ownGenomes: boolean; readonly childrenOfElites: boolean };
  readonly wideCells: readonly number[];
  readonly liveBytes: number;
}

let findings: Findings;

beforeAll(async () => {
  [findings] = (await runApart("../archive/run-archive.ts")) as [Findings];
});

describe(`an archive on a GPU is that of ${PYRIBS.source}`, () => {
  for (const lanes of [7, 64, 256]) {
    test(`with workgroups of ${lanes}`, () => {
      const own = findings.played.filter((played) => played.lanes === lanes);
      expect(own).toHaveLength(lanes === 64 ? 6 : 3);
      for (const { index, batches } of own) expectSame(batches, PYRIBS.cases[index]!.batches, `case ${index}`);
    });
  }
});

test("crowded batches of equals leave what typed arrays have, however the population is parted", () => {
  expect(findings.crowds).toHaveLength(3);
  for (const crowd of findings.crowds) {
    expect(crowd).toMatchObject({ sameCells: true, sameMeasures: true, sameGenomes: true, sameAgain: true });
    expect(crowd.thresholds).toEqual(findings.crowds[0]!.thresholds);
    expect(crowd.thresholdError).toBeLessThan(1e-5);
    expect(crowd.childError).toBeLessThan(2e-6);
  }
});

test("a population's elites are its own members, and their children theirs", () => {
  expect(findings.ofPopulation).toEqual({ elites: expect.any(Number), ownGenomes: true, childrenOfElites: true });
  expect(findings.ofPopulation.elites).toBeGreaterThan(20);
  expect(findings.liveBytes).toBe(0);
});

test("an axis may have hundreds of thousands of cells", () => {
  expect(findings.wideCells).toEqual([0, 100_000, 199_999]);
});
