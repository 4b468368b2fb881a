import { expect, it } from "vitest";
import { shareOut, shareRollout, splitRollout } from "../../../../src/gpu-runner/kinds/steps/share-rollout.ts";
import { mergeShares } from "../../../../src/gpu-runner/rollout/merge-shares.ts";
import type { EpisodeResults, Population } from "../../../../src/gpu-runner/rollout/population.ts";
import {
  KeptPopulation,
  type RollOutOutcome,
  type RollOutRequest,
} from "../../../../src/gpu-runner/rollout/roll-out.ts";
import type { FleetDevice } from "../../../../src/gpu-runner/serving/device-fleet.ts";
import { PolicyNetwork } from "../../../../src/protocol/models/policy-network.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";

const device = (key: string) => ({ host: { device: { key } } }) as unknown as FleetDevice;
const [first, second, third] = [device("gpu0"), device("gpu1"), device("gpu2")];
const signal = new AbortController().signal;

/** Halves of a range of numbers. */
const halve = ([from, to]: readonly [number, number], able: readonly FleetDevice[]) => {
  const step = Math.ceil((to - from) / able.length);
  return able.map((place, index) => ({
    place,
    share: [from + index * step, Math.min(to, from + (index + 1) * step)] as const,
  }));
};

it("has the share of a lost device computed by those that are left, and says so", async () => {
  const computed: string[] = [];
  const { rounds, faults } = await shareOut(
    [0, 12] as readonly [number, number],
    [first, second, third],
    halve,
    async ({ host }, [from, to]) => {
      if (host.device.key === "gpu1") throw new ProblemError("device-lost", "it died");
      computed.push(`${host.device.key} ${from}-${to}`);
    },
    signal,
  );
  expect(computed).toEqual(["gpu0 0-4", "gpu2 8-12", "gpu0 4-6", "gpu2 6-8"]);
  expect(rounds.map(({ length }) => length)).toEqual([2, 2]);
  const detail = "gpu1 was lost, and gpu0, gpu2 computed its share anew: it died";
  expect(faults).toEqual([{ code: "device-lost", detail, action: "retried-elsewhere" }]);
});

it("gives up where every round loses a device, and ends the others where one fails otherwise", async () => {
  const whole = [0, 2] as readonly [number, number];
  let tries = 0;
  const dying = async () => {
    tries++;
    throw new ProblemError("device-lost", "it died");
  };
  await expect(shareOut(whole, [first], halve, dying, signal)).rejects.toThrow("it died");
  expect(tries).toBe(4);
  let isEnded = false;
  const failing = async ({ host }: FleetDevice, _: readonly [number, number], wanted: AbortSignal) => {
    wanted.addEventListener("abort", () => (isEnded = true));
    if (host.device.key === "gpu1") throw new ProblemError("out-of-memory", "too large");
    return new Promise<void>((resolve) => setTimeout(resolve, 5));
  };
  await expect(shareOut(whole, [first, second], halve, failing, signal)).rejects.toThrow("too large");
  expect(isEnded).toBe(true);
});

/** A population whose returns are its weights: one of each member. */
async function openEcho({ members }: RollOutRequest): Promise<Population> {
  let rows = new Float32Array(members);
  const echo: Pick<Population, "write" | "evaluate" | "release"> = {
    write: async (_, written) => void (rows = written),
    evaluate: async (): Promise<EpisodeResults> => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      const [lengths, causes] = [new Uint32Array(members).fill(1), new Uint8Array(members)];
      const rest = { measures: new Float32Array(), unsound: new Uint8Array(members), waves: 1 };
      return { returns: rows.slice(), lengths, causes, ...rest };
    },
    release: async () => void (rows = new Float32Array(members)),
  };
  return echo as Population;
}

it("has the one device that is left compute the shares of two others in turn, in its one population", async () => {
  const kept = new KeptPopulation(openEcho);
  const weights = Float32Array.from({ length: 12 }, (_, member) => 1 + member);
  const plan = { seed: 1, firstEpisode: 0, episodes: 1, commonRandom: false };
  const network = PolicyNetwork.parse({ kind: "mlp", hidden: [1] });
  const roll = async ({ host }: FleetDevice, part: RollOutRequest): Promise<RollOutOutcome> => {
    if (host.device.key !== "gpu0") throw new ProblemError("device-lost", "it died");
    return { ...(await kept.rollOut(part, {})), durationMs: 10 };
  };
  const devices = [first, second, third];
  const sharing = { devices, roll, speedOf: () => null, signal, onProgress: () => {} };
  const { outcome, faults } = await shareRollout(
    { environment: "cartpole", network, members: 12, weights, ...plan },
    sharing,
  );
  expect(outcome.returns).toEqual(weights);
  expect(outcome.durationMs).toBe(30);
  expect(faults).toHaveLength(2);
});

it.each([
  [5, 3],
  [2, 7],
])("splits %i members of %i episodes by speed, and merges the results into the whole", (members, episodes) => {
  const whole = { firstMember: 0, members, firstEpisode: 0, episodes };
  const shares = splitRollout(whole, [
    { place: "slow", speed: 1 },
    { place: "fast", speed: 3 },
  ]);
  const size = ({ members: m, episodes: e }: typeof whole) => m * e;
  expect(shares.reduce((sum, { share }) => sum + size(share), 0)).toBe(members * episodes);
  expect(size(shares[1]!.share)).toBeGreaterThan(size(shares[0]!.share));
  const parts = shares.map(({ share }) => {
    const numbers = Array.from({ length: size(share) }, (_, at) => {
      const member = share.firstMember + Math.floor(at / share.episodes);
      return member * episodes + share.firstEpisode + (at % share.episodes);
    });
    const results = {
      returns: Float32Array.from(numbers),
      lengths: Uint32Array.from(numbers),
      causes: Uint8Array.from(numbers),
      measures: Float32Array.from(numbers.flatMap((number) => [number, -number])),
      unsound: new Uint8Array(share.members),
      waves: 1,
    };
    return { share, results };
  });
  const merged = mergeShares(whole, parts);
  const expected = Array.from({ length: members * episodes }, (_, at) => at);
  for (const key of ["returns", "lengths", "causes"] as const) expect([...merged[key]]).toEqual(expected);
  expect([...merged.measures]).toEqual(expected.flatMap((number) => [number, number === 0 ? -0 : -number]));
});
