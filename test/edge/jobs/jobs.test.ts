import { beforeAll, describe, expect, it } from "vitest";
import { submitJob } from "../../../src/edge/queue/submit-job.ts";
import { JobInput, type JobSummary } from "../../../src/protocol/jobs/job.ts";
import {
  callEdge,
  countStored,
  createKey,
  mainEnv,
  missingId,
  pointersOf,
  problemOf,
  type RegisteredRunner,
  registerRunner,
} from "../stack/edge-client.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";

const triad = { kind: "benchmark", kernel: "triad", shape: { n: 64 } };
const submit = (body: object, idempotencyKey?: string) =>
  callEdge("POST", "/v1/jobs", {
    body,
    headers: idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey },
  });

let runner: RegisteredRunner;

beforeAll(async () => {
  runner = await registerRunner();
  // Its kernels are known from now on; without a socket, jobs stay in the queue.
  const scripted = await ScriptedRunner.online(runner);
  await callEdge("POST", `/v1/runners/${runner.runnerId}/drain`);
  scripted.socket.close(1000, "seen");
});

describe("submitting", () => {
  it("queues a job with its defaults and says where it is", async () => {
    const reply = await submit(triad);
    expect(reply.status).toBe(202);
    expect(reply.headers.get("location")).toBe(`/v1/jobs/${reply.json.id}`);
    expect(reply.json).toMatchObject({
      state: "queued",
      attempt: 0,
      runId: null,
      spec: { kernel: "triad", iterations: 100 },
    });
    expect((await callEdge("GET", reply.headers.get("location") ?? "")).json).toEqual(reply.json);
  });

  it("asks the database once, with all statements in one batch", async () => {
    await submit({ ...triad, runnerId: runner.runnerId });
    const asked: string[] = [];
    let batches = 0;
    const instead = {
      prepare: (query: string) => {
        asked.push(query);
        return mainEnv.DB.prepare(query);
      },
      batch: (statements: D1PreparedStatement[]) => {
        batches++;
        expect(statements).toHaveLength(asked.length);
        return mainEnv.DB.batch(statements);
      },
    };
    const submitter = { principal: null, key: undefined, scope: null };
    const input = JobInput.parse({ ...triad, runnerId: runner.runnerId, profile: "balanced" });
    const spec = submitJob({ ...mainEnv, DB: instead as unknown as D1Database }, submitter, input);
    expect((await spec).state).toBe("queued");
    expect([batches, asked.length]).toEqual([1, 4]);
  });

  it("shows which key submitted a job, and lists the jobs of one", async () => {
    const { id, secret } = await createKey(["submit"]);
    const mine = await callEdge("POST", "/v1/jobs", { body: triad, key: secret });
    expect(mine.json.submittedBy).toBe(id);
    await submit(triad);
    const { items } = (await callEdge("GET", `/v1/jobs?submittedBy=${id}`)).json;
    expect(items.map((job: JobSummary) => job.id)).toEqual([mine.json.id]);
    expect((await callEdge("GET", "/v1/jobs?submittedBy=nobody")).json.items).toEqual([]);
  });

  it("gives the same job for the same Idempotency-Key, and refuses it for another request", async () => {
    const first = await submit(triad, "once");
    const again = await submit({ ...triad, iterations: 100 }, "once");
    expect(again.json).toEqual(first.json);
    const other = await submit({ ...triad, shape: { n: 65 } }, "once");
    expect(other.status).toBe(422);
    expect(problemOf(other).code).toBe("idempotency-key-reused");
    expect(pointersOf(other)).toEqual(["header/idempotency-key"]);
  });

  it("gives one job to requests with one key that come at once", async () => {
    const replies = await Promise.all([1, 2, 3, 4].map(() => submit(triad, "at-once")));
    expect(new Set(replies.map(({ json }) => json.id)).size).toBe(1);
  });

  it("names what is not there, and queues nothing", async () => {
    const before = await countStored();
    const cases: [object, string, string[]][] = [
      [{ ...triad, kernel: "nobody" }, "unknown-kernel", ["#/kernel"]],
      [{ ...triad, kernel: "halves" }, "kernel-invalid", ["#/kernel"]],
      [{ ...triad, shape: { n: 0 } }, "invalid-request", ["#/shape/n"]],
      [{ ...triad, shape: { n: 2 ** 30, m: 1 } }, "invalid-request", ["#/shape/n", "#/shape/m"]],
      [{ ...triad, shape: { "a/b~c": 1 } }, "invalid-request", ["#/shape/a~1b~0c"]],
      [{ ...triad, dtype: "int8" }, "invalid-request", ["#/dtype"]],
      [{ ...triad, variant: "baroque" }, "invalid-request", ["#/variant"]],
      [{ ...triad, profile: "nobody", runnerId: missingId.runner }, "invalid-request", ["#/profile", "#/runnerId"]],
      [{ ...triad, kind: "throughput", shape: { m: 1 } }, "invalid-request", ["#/shape/m"]],
      [{ ...triad, kind: "throughput", iterations: 3 }, "invalid-request", ["#/iterations"]],
      [{ ...triad, kind: "throughput", adaptMs: 600, timeoutMs: 5_600 }, "invalid-request", ["#/timeoutMs"]],
      [{ kind: "calibration", modelVersionId: `ver_${"0".repeat(26)}` }, "invalid-request", ["#/modelVersionId"]],
    ];
    for (const [body, code, pointers] of cases) {
      const reply = await submit(body);
      expect(problemOf(reply).code).toBe(code);
      expect(pointersOf(reply)).toEqual(pointers);
    }
    expect(await countStored()).toEqual(before);
  });
});

describe("a list of jobs", () => {
  it("is filtered by state and kind, and paged newest first", async () => {
    for (let i = 0; i < 3; i++) await submit(triad);
    const { id: cancelled } = (await submit(triad)).json;
    await callEdge("POST", `/v1/jobs/${cancelled}/cancel`);
    const list = async (query: string) =>
      (await callEdge("GET", `/v1/jobs?${query}`)).json as { items: JobSummary[]; nextCursor: string | null };
    expect((await list("state=cancelled")).items.map(({ id }) => id)).toEqual([cancelled]);
    expect((await list("kind=calibration")).items).toEqual([]);
    const all = (await list("kind=benchmark&limit=200")).items.map(({ id }) => id);
    expect(all).toEqual(all.toSorted().toReversed());
    const paged: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: { items: JobSummary[]; nextCursor: string | null } = await list(
        `limit=2${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      paged.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(all);
  });
});

describe("cancelling", () => {
  it("ends a job once; what has ended stays as it is", async () => {
    const { id } = (await submit(triad)).json;
    const cancelled = await callEdge("POST", `/v1/jobs/${id}/cancel`);
    expect(cancelled.json).toMatchObject({ state: "cancelled", problem: { code: "cancelled" } });
    expect((await callEdge("POST", `/v1/jobs/${id}/cancel`)).json).toEqual(cancelled.json);
  });
});
