import { describe, expect, it } from "vitest";
import { RunnerFit } from "../../../src/protocol/fleet/profile.ts";
import { callEdge, pointersOf, problemOf } from "../stack/edge-client.ts";
import { newOnlineRunner, newRunner } from "../stack/queue-client.ts";
import { calibrationResult } from "../stack/samples.ts";
import { cartpole, variantOf } from "../stack/zoo.ts";

const fitOf = async (runnerId: string, profile: string) =>
  RunnerFit.parse((await callEdge("GET", `/v1/runners/${runnerId}/fit?profile=${profile}`)).json);

describe("the fit of a runner to a profile", () => {
  it("reports each requirement, the value found and the remedy", async () => {
    const { runnerId } = await newOnlineRunner();
    const fit = await fitOf(runnerId, "high-performance-cpu");
    expect(fit).toMatchObject({ runnerId, profile: "high-performance-cpu", fits: false, deviceKey: null });
    expect(fit.checks).toContainEqual({
      requirement: "logical cores",
      wanted: "at least 8",
      found: "4",
      ok: false,
      mend: "use a machine with more cores",
    });
    const balanced = await fitOf(runnerId, "balanced");
    expect(balanced).toMatchObject({ fits: true, reaches: null, targets: [{ ok: null }, { ok: null }, { ok: true }] });
    // The list of all profiles on the runner itself says the same.
    const { profiles } = (await callEdge("GET", `/v1/runners/${runnerId}`)).json;
    expect(profiles.find(({ profile }: { profile: string }) => profile === "balanced").checks).toEqual(balanced.checks);
  });

  it("reports by its placements whether it reaches the targets", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const headers = { "content-type": "application/octet-stream" };
    const upload = { body: variantOf(cartpole, 4_949), headers };
    const { version } = (await callEdge("POST", "/v1/models?name=fitted", upload)).json;
    let offer = await scripted.next("offer");
    while (offer.model?.modelVersionId !== version.id) offer = await scripted.next("offer");
    scripted.succeed(offer, calibrationResult(version.id));
    await scripted.next("jobSettled");

    const body = { name: "slow-enough", targets: { latencyMs: 60_000, throughputRps: 0.001 } };
    await callEdge("POST", "/v1/profiles", { body });
    const reached = await fitOf(runnerId, "slow-enough");
    expect(reached.reaches).toBe(true);
    expect(reached.targets.map(({ target, subject, ok }) => [target, subject, ok])).toEqual(
      expect.arrayContaining([["latencyMs", expect.stringMatching(/^fitted@1 fp32 on cpu by ort-cpu$/), true]]),
    );
    const impossible = { name: "too-fast", targets: { latencyMs: 1e-6 } };
    await callEdge("POST", "/v1/profiles", { body: impossible });
    const missed = await fitOf(runnerId, "too-fast");
    expect(missed).toMatchObject({ fits: true, reaches: false });
    expect(missed.targets[0]?.mend).toContain("optimisation");
  });

  it("is none with a profile or a runner that is not there", async () => {
    const { runnerId } = await newOnlineRunner();
    const unknown = await callEdge("GET", `/v1/runners/${runnerId}/fit?profile=nope`);
    expect(problemOf(unknown).code).toBe("not-found");
    expect(pointersOf(unknown)).toEqual(["query/profile"]);
    const idle = await newRunner();
    expect(problemOf(await callEdge("GET", `/v1/runners/${idle.runnerId}/fit?profile=balanced`)).code).toBe(
      "not-found",
    );
  });
});
