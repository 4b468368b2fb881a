import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { writeCredential } from "../../src/gpu-runner/link/registration.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import { type LocalStack, waitFor, waitForJob } from "./local-stack.ts";
import { run } from "./run-npm.ts";
import { it, openTenant } from "./shared-stack.ts";

/** Runners that end by themselves, as processes that a person starts. */
describe("an ephemeral runner", () => {
  let tenant: LocalStack;
  let folder: string;
  it.beforeAll(async ({ sharedStack }) => {
    tenant = await openTenant(sharedStack, { lend: false });
  });
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-ephemeral-"));
  });
  afterAll(async () => {
    await tenant.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function start(dataDir: string, ...options: string[]) {
    const { token } = await tenant.client.call(endpoints.createRegistrationToken, { body: {} });
    const command = ["src/cli/main.ts", "runner", "start", "--ephemeral", "--gpu", "none"];
    const place = ["--edge", tenant.baseUrl, "--token", token, "--data-dir", dataDir, "--name", "brief"];
    return run(process.execPath, [...command, ...place, ...options]);
  }
  const listRunners = async () => (await tenant.client.call(endpoints.listRunners)).items;

  it("does one job, is gone from the edge, and exits with 0", async () => {
    const dataDir = join(folder, "one-job");
    const ended = start(dataDir);
    const runner = await waitFor("the runner to be online", async () => {
      return (await listRunners()).find(({ state }) => state === "online");
    });
    expect(runner).toMatchObject({ name: "brief", ephemeral: true });
    const probe = { kind: "probe", deviceKey: "cpu" } as const;
    const jobs = [];
    for (let count = 0; count < 2; count++) jobs.push(await tenant.client.call(endpoints.createJob, { body: probe }));
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(0);
    const [done, waiting] = jobs.map(({ id }) => id);
    expect(await waitForJob(tenant, done ?? "", ["succeeded", "failed"])).toMatchObject({
      state: "succeeded",
      attempt: 1,
      runnerId: runner.id,
    });
    expect(await waitForJob(tenant, waiting ?? "", ["queued"])).toMatchObject({ attempt: 0 });
    expect(await listRunners()).toEqual([]);
    expect(await readdir(dataDir)).not.toContain("credential.json");
    await tenant.client.call(endpoints.cancelJob, { params: { id: waiting ?? "" } });
  });

  it("ends after its time as well, without a job", async () => {
    const { code, stderr } = await start(join(folder, "timed"), "--duration", "1");
    expect(code, stderr).toBe(0);
    expect(await listRunners()).toEqual([]);
  });

  it("does not take the folder of another runner", async () => {
    const dataDir = join(folder, "taken");
    const other = { runnerId: createId("runner"), credential: "mc_other" };
    await writeCredential(dataDir, { edgeUrl: tenant.baseUrl, linkUrl: "ws://lab/v1/link", ...other });
    const { code, stderr } = await start(dataDir);
    expect(code).toBe(6);
    expect(stderr).toContain(`is the folder of the runner ${other.runnerId}`);
    expect(await listRunners()).toEqual([]);
  });
});
