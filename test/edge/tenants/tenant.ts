import { expect } from "vitest";
import { digestOf } from "../../../src/edge/store/artifact-store.ts";
import type { Capabilities } from "../../../src/protocol/fleet/hardware.ts";
import type { JobOutcome, Offer } from "../../../src/protocol/link.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import { callEdge, type RegisteredRunner, type Sent } from "../stack/edge-client.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";

export const OCTETS = { "content-type": "application/octet-stream" };

type Outcome = Extract<JobOutcome["outcome"], { ok: true }>;

/** A project with an admin key and its own scripted runner. */
export class Tenant {
  readonly project: string;
  readonly key: string;
  readonly runner: RegisteredRunner;
  readonly scripted: ScriptedRunner;

  private constructor(project: string, key: string, runner: RegisteredRunner, scripted: ScriptedRunner) {
    this.project = project;
    this.key = key;
    this.runner = runner;
    this.scripted = scripted;
  }

  static async open(project: string, capabilities: Capabilities): Promise<Tenant> {
    expect((await callEdge("POST", "/v1/projects", { body: { name: project } })).status).toBe(201);
    const name = `${project}-admin`;
    const key = (await callEdge("POST", "/v1/keys", { body: { name, scopes: ["admin"], project } })).json.secret;
    const { token } = (await callEdge("POST", "/v1/runners/tokens", { key, body: {} })).json;
    const registering = { token, name: `${project}-runner`, labels: { site: `${project}-site` } };
    const runner = (await callEdge("POST", "/v1/runners", { key: null, body: registering })).json;
    const scripted = await ScriptedRunner.connect(runner);
    const hardware = { ...capabilities.hardware, hostname: `${project}-host` };
    scripted.send({ type: "hello", capabilities: { ...capabilities, hardware }, running: [] });
    await scripted.next("welcome");
    return new Tenant(project, key, runner, scripted);
  }

  /** The edge's reply, which must be good; bytes are sent unchanged. */
  async call(method: string, path: string, sent: Sent = {}): Promise<any> {
    const reply = await callEdge(method, path, {
      key: this.key,
      ...sent,
      headers: { ...(sent.body instanceof Uint8Array ? OCTETS : {}), ...sent.headers },
    });
    expect(reply.status, `${method} ${path}: ${JSON.stringify(reply.json)}`).toBeLessThan(300);
    return reply.json;
  }

  get(path: string): Promise<any> {
    return this.call("GET", path);
  }

  post(path: string, body: unknown = {}): Promise<any> {
    return this.call("POST", path, { body });
  }

  put(path: string, body: unknown, headers: Record<string, string> = {}): Promise<any> {
    return this.call("PUT", path, { body, headers });
  }

  /** Submits a job, does it, and returns its run. */
  async run(job: object, answer: (offer: Offer) => Promise<Partial<Outcome>> | Partial<Outcome>): Promise<string> {
    const { id, spec } = await this.post("/v1/jobs", job);
    await this.work(spec.kind, answer);
    const { runId, problem } = await this.get(`/v1/jobs/${id}`);
    expect(problem).toBeNull();
    return runId;
  }

  /** Does the next job of a kind; others fail. */
  async work(kind: string, answer: (offer: Offer) => Promise<Partial<Outcome>> | Partial<Outcome>): Promise<void> {
    for (;;) {
      const offer = await this.scripted.next("offer");
      const isIt = offer.spec.kind === kind;
      const startedAt = new Date().toISOString();
      const outcome = isIt
        ? ({ ok: true, deviceKey: "gpu0", startedAt, ...(await answer(offer)) } as Outcome)
        : ({ ok: false, problem: createProblem("backend-failed", "It is not of this test.") } as const);
      this.scripted.send({ type: "jobOutcome", lease: offer.lease, outcome });
      expect(await this.scripted.next("jobSettled")).toMatchObject({ stored: true });
      if (isIt) return;
    }
  }

  /** Leaves a file of a job, as its runner. */
  async leave({ lease }: Offer, name: string, bytes: Uint8Array<ArrayBuffer>): Promise<any> {
    const query = new URLSearchParams({ epoch: String(lease.epoch), digest: await digestOf(bytes.slice().buffer) });
    const path = `/v1/link/jobs/${lease.jobId}/artifacts/${name}?${query.toString()}`;
    const headers = { "content-length": String(bytes.byteLength) };
    return this.call("PUT", path, { key: this.runner.credential, body: bytes, headers });
  }
}
