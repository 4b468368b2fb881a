import { describe, expect, it } from "vitest";
import type { ProbeResult } from "../../../src/protocol/jobs/probe.ts";
import { callEdge, pointersOf, problemOf } from "../stack/edge-client.ts";
import { newOnlineRunner } from "../stack/queue-client.ts";
import { benchmarkResult } from "../stack/samples.ts";

const submit = (body: object) => callEdge("POST", "/v1/jobs", { body: { kind: "probe", ...body } });

/** Device of the sample results. */
const result: ProbeResult = {
  kind: "probe",
  ok: false,
  claims: [
    { claim: "atomics", claimed: "no update is lost", found: "4096 invocations are counted", ok: true },
    { claim: "software", claimed: "a real GPU", found: "an emulation", ok: false },
  ],
  environment: benchmarkResult().environment,
};

describe("a probe", () => {
  it("goes to a runner with the device that it names, and reports each claim", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const { deviceKey } = result.environment;
    const job = await submit({ runnerId, deviceKey });
    expect(job.status).toBe(202);
    expect(job.json.spec).toEqual({ kind: "probe", runnerId, deviceKey, timeoutMs: 120_000 });
    const offer = await scripted.next("offer");
    expect(offer).toMatchObject({ spec: { kind: "probe", deviceKey }, model: null });
    scripted.succeed(offer, result);
    await scripted.next("jobSettled");
    const done = (await callEdge("GET", `/v1/jobs/${job.json.id}`)).json;
    expect(done).toMatchObject({ state: "succeeded", result: { kind: "probe", ok: false, claims: result.claims } });
  });

  it("of a device that the runner has not is refused", async () => {
    const { runnerId } = await newOnlineRunner();
    const refused = await submit({ runnerId, deviceKey: "gpu9" });
    expect(problemOf(refused).code).toBe("invalid-request");
    expect(pointersOf(refused)).toEqual(["#/deviceKey"]);
  });

  it("that says of itself what its claims do not say fails", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const job = await submit({ runnerId });
    scripted.succeed(await scripted.next("offer"), { ...result, ok: true });
    await scripted.next("jobSettled");
    expect((await callEdge("GET", `/v1/jobs/${job.json.id}`)).json.state).toBe("failed");
  });
});
