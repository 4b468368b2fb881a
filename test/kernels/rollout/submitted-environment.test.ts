import { beforeAll, describe, expect, test } from "vitest";
import type { DeviceHost } from "../../../src/gpu-runner/device-host/device-host.ts";
import { PolicyNetwork } from "../../../src/protocol/models/policy-network.ts";
import { openAdapters } from "../open-adapters.ts";
import { counter } from "./counter.ts";

const TIMEOUT_MS = 300_000;

describe("an environment that a user submitted", () => {
  let host: DeviceHost;

  beforeAll(async () => {
    [host] = (await openAdapters()) as [DeviceHost];
  }, TIMEOUT_MS);

  /** Plays one member that ends each episode at its third step, in a process of its own. */
  function play(changes: Partial<typeof counter>, timeoutMs = TIMEOUT_MS, signal?: AbortSignal) {
    const environment = { id: "env_x", digest: "sha256:1", definition: { ...counter, ...changes } };
    const input = {
      environment,
      network: PolicyNetwork.parse({ kind: "mlp", hidden: [] }),
      members: 1,
      weights: Float32Array.of(0, 3),
      seed: 1,
      firstEpisode: 0,
      episodes: 2,
      commonRandom: true,
    };
    return host.workApart("rollOut", input, timeoutMs, "backend-failed", signal && { signal });
  }
  const failureOf = (changes: Partial<typeof counter>, timeoutMs?: number) =>
    play(changes, timeoutMs).then(
      () => null,
      (error) => error.problem,
    );

  test("is played like one of the house", { timeout: TIMEOUT_MS }, async () => {
    expect(await play({})).toMatchObject({
      returns: Float32Array.of(3, 3),
      measures: Float32Array.of(0.3, 0.3),
      waves: 1,
    });
  });

  test("has its errors reported by its own lines", { timeout: TIMEOUT_MS }, async () => {
    const wgsl = counter.wgsl.replace("return State(0u);", "return State(none);");
    expect(await failureOf({ wgsl })).toMatchObject({
      code: "kernel-invalid",
      detail: expect.stringMatching(/^counter\.wgsl:6:16: .*none/m),
    });
    expect(await failureOf({ wgsl: `${counter.wgsl}\nfn philox() {}` })).toMatchObject({
      code: "kernel-invalid",
      detail: expect.stringMatching(/^counter\.wgsl:23:1: .*philox/m),
    });
  });

  test("is refused a larger state than it declared", { timeout: TIMEOUT_MS }, async () => {
    const wgsl = counter.wgsl.replace("at: u32,", "at: u32, rest: vec4f,").replace("State(0u)", "State(0u, vec4f())");
    expect(await failureOf({ wgsl })).toMatchObject({
      code: "kernel-invalid",
      detail: expect.stringContaining("1 words that `stateWords` says"),
    });
    expect(await play({ wgsl, stateWords: 8 })).toMatchObject({ returns: Float32Array.of(3, 3) });
  });

  test("is ended with its process where it never ends, and nothing else with it", { timeout: TIMEOUT_MS }, async () => {
    const wgsl = counter.wgsl.replace(
      "(*state).at += 1u;",
      "(*state).at += 1u; while ((*state).at < 1000u) { (*state).at = ((*state).at * 5u) % 7u; }",
    );
    const restarts = host.restarts;
    expect(await failureOf({ wgsl }, 2_000)).toMatchObject({ code: "kernel-timeout" });
    expect(await play({})).toMatchObject({ returns: Float32Array.of(3, 3) });
    expect(host.restarts).toBe(restarts);
  });

  test("is cancelled with its process", { timeout: TIMEOUT_MS }, async () => {
    const ending = play({}, TIMEOUT_MS, AbortSignal.timeout(10));
    expect(
      await ending.then(
        () => null,
        (error) => error.problem.code,
      ),
    ).toBe("cancelled");
  });
});
