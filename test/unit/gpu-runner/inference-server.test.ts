import { describe, expect, it, vi } from "vitest";
import { InferenceServer } from "../../../src/gpu-runner/serving/inference-server.ts";
import { ProblemError } from "../../../src/protocol/problem.ts";

/** A backend whose calls end when the test says so. */
function scriptBackend() {
  const started: string[] = [];
  const pending = new Map<string, { finish: () => void; fail: (error: Error) => void }>();
  const server = new InferenceServer({
    infer: (_model, tensors, { requestId }) => {
      started.push(requestId);
      return new Promise((resolve, reject) => {
        const times = { uploadMs: 0, computeMs: 0, readbackMs: 0 };
        pending.set(requestId, { finish: () => resolve({ tensors: [...tensors], times }), fail: reject });
      });
    },
  });
  const serve = (requestId: string, budgetMs: number) => {
    const answer = server.serve({ requestId, modelVersionId: "ver_x", variant: "fp32", budgetMs }, []);
    answer.catch(() => undefined);
    return answer;
  };
  const finish = async (requestId: string) => {
    await vi.waitFor(() => expect(started).toContain(requestId));
    pending.get(requestId)?.finish();
  };
  const fail = async (requestId: string, error: Error, times = 1) => {
    await vi.waitFor(() => expect(started.filter((id) => id === requestId)).toHaveLength(times));
    pending.get(requestId)?.fail(error);
  };
  return { server, started, serve, finish, fail };
}

const code = (error: unknown) => (error instanceof ProblemError ? error.problem.code : String(error));

describe("the server of a device", () => {
  it("runs one request at a time, the earliest deadline first", async () => {
    const { serve, started, finish } = scriptBackend();
    const answers = [serve("first", 60_000), serve("late", 50_000), serve("early", 10_000), serve("middle", 20_000)];
    for (const id of ["first", "early", "middle", "late"]) {
      await finish(id);
      await vi.waitFor(() =>
        expect(started.at(-1)).toBe({ first: "early", early: "middle", middle: "late", late: "late" }[id]),
      );
    }
    await Promise.all(answers);
    expect(started).toEqual(["first", "early", "middle", "late"]);
  });

  it("does not begin what cannot end in time", async () => {
    const { serve, started, finish } = scriptBackend();
    const first = serve("first", 60_000);
    const doomed = serve("doomed", -1);
    await finish("first");
    await first;
    expect(await doomed.then(String, code)).toBe("budget-exceeded");
    expect(started).toEqual(["first"]);
  });

  it("drops what was cancelled while it waits, and finishes what runs", async () => {
    const { server, serve, started, finish } = scriptBackend();
    const running = serve("running", 60_000);
    const waiting = serve("waiting", 60_000);
    server.cancel("waiting");
    server.cancel("running");
    server.cancel("unknown");
    expect(await waiting.then(String, code)).toBe("budget-exceeded");
    await finish("running");
    expect((await running).tensors).toEqual([]);
    expect(started).toEqual(["running"]);
  });

  it("goes on behind a request that failed", async () => {
    const { serve, fail, finish } = scriptBackend();
    const broken = serve("broken", 60_000);
    const next = serve("next", 60_000);
    await fail("broken", new ProblemError("backend-failed", "It cannot."));
    expect(await broken.then(String, code)).toBe("backend-failed");
    await finish("next");
    const { times, faults } = await next;
    expect(faults).toBeUndefined();
    expect(times.queueMs).toBeGreaterThanOrEqual(0);
    expect(times.readbackMs).toBeGreaterThanOrEqual(0);
  });

  it("runs a request once more whose device was lost, and says so", async () => {
    const { serve, started, finish, fail } = scriptBackend();
    const answer = serve("unlucky", 60_000);
    await fail("unlucky", new ProblemError("device-lost", "It died."));
    await vi.waitFor(() => expect(started).toEqual(["unlucky", "unlucky"]));
    await finish("unlucky");
    expect((await answer).faults).toEqual([{ code: "device-lost", detail: "It died.", action: "retried" }]);
  });

  it("gives a request up whose device is lost again", async () => {
    const { serve, started, fail } = scriptBackend();
    const answer = serve("doomed", 60_000);
    await fail("doomed", new ProblemError("device-lost", "It died."));
    await fail("doomed", new ProblemError("device-lost", "It died again."), 2);
    expect(await answer.then(String, code)).toBe("device-lost");
    expect(started).toHaveLength(2);
  });
});
