import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { conformanceCommand } from "../../../src/cli/conformance/conformance-command.ts";
import {
  cutBody,
  fillBody,
  parseCarrier,
  parsePlace,
  writeDuration,
} from "../../../src/cli/conformance/carry-value.ts";
import {
  findBroken,
  judgeExpiry,
  judgeRecovery,
  judgeRefusal,
  recoveryMs,
} from "../../../src/cli/conformance/judge-overload.ts";
import { invertedShare, judgeOrder, judgeRetries, judgeSlots } from "../../../src/cli/conformance/judge-rounds.ts";
import { judgeEnd, judgeShare, medianOfRounds, type Seen } from "../../../src/cli/conformance/judgement.ts";
import { exitCodeOf, renderReport } from "../../../src/cli/conformance/render-report.ts";
import { measureBaseline } from "../../../src/cli/conformance/measure-baseline.ts";
import { countFresh } from "../../../src/cli/conformance/measure-overload.ts";
import { evenArrivals, putRequests } from "../../../src/cli/conformance/put-requests.ts";
import { findOwnError, Sender } from "../../../src/cli/conformance/sender.ts";
import { openTarget } from "../../../src/cli/conformance/target.ts";
import { createTestShell } from "./test-shell.ts";

const bounds = { deadlineMs: 100, toleranceMs: 20 };
const seenOf = (change: Partial<Seen> = {}): Seen => ({
  atMs: 0,
  lagMs: 0,
  status: 200,
  latencyMs: 50,
  doubtMs: 0,
  ...change,
});
const many = (count: number, change: Partial<Seen> = {}) => Array.from({ length: count }, () => seenOf(change));

describe("an end", () => {
  it("is in time up to the deadline and its tolerance, whatever it is", () => {
    expect(judgeEnd(seenOf({ latencyMs: 120 }), bounds)).toBe("in-time");
    expect(judgeEnd(seenOf({ latencyMs: 120, status: 504 }), bounds)).toBe("in-time");
    expect(judgeEnd(seenOf({ latencyMs: 121 }), bounds)).toBe("late");
  });

  it("that was seen behind a stall of the generator is neither in time nor late", () => {
    expect(judgeEnd(seenOf({ latencyMs: 140, doubtMs: 20 }), bounds)).toBe("blurred");
    expect(judgeEnd(seenOf({ latencyMs: 140, doubtMs: 19 }), bounds)).toBe("late");
  });

  it("that never came is late, also behind a stall", () => {
    expect(judgeEnd(seenOf({ status: -1, latencyMs: 110, doubtMs: 50 }), bounds)).toBe("late");
  });
});

describe("a share", () => {
  it("passes where its whole interval is below the limit, and fails where it is above", () => {
    expect(judgeShare(0, 3_838, 0.001)).toBe("passed");
    expect(judgeShare(0, 3_837, 0.001)).toBe("untold");
    expect(judgeShare(4, 4_000, 0.001)).toBe("untold");
    expect(judgeShare(20, 4_000, 0.001)).toBe("failed");
    expect(judgeShare(0, 0, 0.001)).toBe("untold");
  });

  it("of rounds needs six of them", () => {
    expect(medianOfRounds([1, 2, 3, 4, 5])).toBeNull();
    expect(medianOfRounds([6, 1, 2, 3, 4, 5])).toEqual({ value: 3.5, low: 1, high: 6 });
  });
});

describe("expiry on time", () => {
  it("passes where every request has an end by its deadline and the tolerance", () => {
    expect(judgeExpiry(many(400, { status: 504, latencyMs: 119 }), bounds)).toMatchObject({
      verdict: "passed",
      figures: { late: 0, worstMs: 19 },
    });
  });

  it("fails where ends come later, or not at all", () => {
    const late = [...many(380), ...many(20, { status: 504, latencyMs: 900 })];
    expect(judgeExpiry(late, bounds)).toMatchObject({ verdict: "failed", figures: { late: 20, worstMs: 800 } });
    const silent = [...many(380), ...many(20, { status: -1, latencyMs: 2_100 })];
    expect(judgeExpiry(silent, bounds)).toMatchObject({ verdict: "failed", figures: { silent: 20 } });
  });

  it("cannot be told of connections that break, as a dead server's do, but for a few", () => {
    const judged = (broken: number) =>
      judgeExpiry([...many(1_000 - broken), ...many(broken, { status: 0, latencyMs: 1 })], bounds);
    expect(judged(10)).toMatchObject({ verdict: "passed", figures: { broken: 10 } });
    expect(judged(11)).toMatchObject({ verdict: "untold", sentence: expect.stringContaining("11 of 1,000") });
    expect(findBroken([])).toBeNull();
    const late = [...many(400, { latencyMs: 900 }), ...many(400, { status: 0, latencyMs: 1 })];
    expect(judgeExpiry(late, bounds).verdict).toBe("failed");
  });

  it("cannot be told of few requests, of none, or by a generator that lags", () => {
    expect(judgeExpiry(many(100), bounds).verdict).toBe("untold");
    expect(judgeExpiry([], bounds)).toMatchObject({ verdict: "untold", sentence: "No request was sent." });
    const lagging = judgeExpiry([...many(390), ...many(10, { lagMs: 11 })], bounds);
    expect(lagging.verdict).toBe("untold");
    expect(lagging.sentence).toContain("behind its schedule");
    expect(judgeExpiry(many(400, { latencyMs: 140, doubtMs: 30 }), bounds)).toMatchObject({
      verdict: "untold",
      sentence: expect.stringContaining("400 of 400 ends came in stalls"),
    });
    expect(judgeExpiry([...many(390), ...many(10, { latencyMs: 140, doubtMs: 30 })], bounds).sentence).toContain(
      "stalls",
    );
  });
});

describe("refusal against queueing", () => {
  const overload = { ...bounds, lateShare: 0.001, capacityPerSecond: 100, durationMs: 40_000 };

  it("passes where the admitted are in time and the rest is refused early", () => {
    const seen = [...many(3_900), ...many(3_900, { status: 503, latencyMs: 4 })];
    expect(judgeRefusal(seen, overload)).toMatchObject({
      verdict: "passed",
      figures: { admitted: 3_900, refused: 3_900, late: 0, refusedP50Ms: 4, goodputShare: 0.975 },
    });
  });

  it("counts a late refusal, an expiry and an error as admitted and late", () => {
    for (const end of [
      { status: 503, latencyMs: 60 },
      { status: 504, latencyMs: 4 },
      { status: 500, latencyMs: 4 },
      { status: 200, latencyMs: 500 },
    ]) {
      expect(judgeRefusal([...many(3_000), ...many(30, end)], overload)).toMatchObject({
        verdict: "failed",
        figures: { late: 30 },
      });
    }
  });

  it("fails a server that refuses instead of working", () => {
    const seen = [...many(1_900), ...many(6_000, { status: 503, latencyMs: 4 })];
    expect(judgeRefusal(seen, overload)).toMatchObject({ verdict: "failed", figures: { goodputShare: 0.475 } });
    expect(judgeRefusal(many(4_000, { status: 503, latencyMs: 4 }), overload).verdict).toBe("failed");
  });

  it("cannot be told where nothing was too much, or of few requests", () => {
    expect(judgeRefusal(many(4_000), overload).sentence).toContain("no overload");
    expect(
      judgeRefusal([...many(400), ...many(400, { status: 503, latencyMs: 4 })], { ...overload, durationMs: 4_000 })
        .verdict,
    ).toBe("untold");
  });
});

describe("recovery", () => {
  const fresh = (good: (index: number) => boolean) =>
    Array.from({ length: 60 }, (_, index) =>
      seenOf({ atMs: 5_000 + 20 * index, ...(!good(index) && { status: 503 }) }),
    );

  it("is the first fresh request that begins a row of which nineteen of twenty are in time", () => {
    expect(
      recoveryMs(
        fresh(() => true),
        bounds,
      ),
    ).toBe(0);
    expect(
      recoveryMs(
        fresh((index) => index >= 30),
        bounds,
      ),
    ).toBe(600);
    expect(
      recoveryMs(
        fresh((index) => index !== 5),
        bounds,
      ),
    ).toBe(0);
    expect(
      recoveryMs(
        fresh((index) => index >= 50),
        bounds,
      ),
    ).toBeNull();
  });

  it("is watched for as long as it may take, and a row longer", () => {
    expect(countFresh(50, 5_000, 1_000)).toBe(270);
    expect(countFresh(5, 5_000, 60_000)).toBe(320);
    expect(countFresh(1, 1_000, 1_000)).toBe(40);
    const mostMs = 2_000;
    const last = Array.from({ length: countFresh(50, 1_000, mostMs) }, (_, index) =>
      seenOf({ atMs: 20 * index, status: 20 * index < mostMs ? 503 : 200 }),
    );
    expect(recoveryMs(last, bounds)).toBe(mostMs);
  });

  it("passes where every round is quick, fails where most are slow, else cannot be told", () => {
    const [quick, slow] = [fresh(() => true), fresh(() => false)];
    const judged = (...rounds: Seen[][]) => judgeRecovery(rounds, { ...bounds, mostMs: 200, watchedMs: 1_200 }).verdict;
    expect(judged(quick, quick, quick)).toBe("passed");
    expect(judged(quick, slow, slow)).toBe("failed");
    expect(judged(quick, quick, slow)).toBe("untold");
    expect(judged(quick, quick, [])).toBe("untold");
  });
});

describe("slots", () => {
  const rounds = (probeMs: number, change = {}) =>
    Array.from({ length: 6 }, (_, round) => ({
      controlMs: 80,
      probeMs: probeMs + round,
      leftMs: 1_000,
      doubtMs: 0,
      ...change,
    }));
  const judged = (each: ReturnType<typeof rounds>) => judgeSlots(each, { toleranceMs: 20, after: "after a burst" });

  it("are free where fresh requests hardly wait, and held where they wait for the rest of the burst", () => {
    expect(judged(rounds(100))).toMatchObject({ verdict: "passed", figures: { excessMs: 22.5, leftMs: 1_000 } });
    expect(judged(rounds(900))).toMatchObject({ verdict: "failed", figures: { excessMs: 822.5 } });
    expect(judged([...rounds(100).slice(0, 3), ...rounds(900).slice(0, 3)]).verdict).toBe("untold");
  });

  it("cannot be told where nothing was left, or in stalls", () => {
    expect(judged(rounds(100, { leftMs: 79 })).verdict).toBe("untold");
    expect(judged([...rounds(100).slice(0, 5), ...rounds(100, { doubtMs: 21 })]).verdict).toBe("untold");
  });
});

describe("order", () => {
  const backlog = (endOf: (index: number) => number) =>
    Array.from({ length: 20 }, (_, index) => seenOf({ atMs: 5 * index, latencyMs: endOf(index) - 5 * index }));
  const judged = (seen: Seen[], callers = 1) =>
    judgeOrder(
      Array.from({ length: 6 }, () => seen),
      { jitterMs: 2, idleMs: 20, callers },
    );

  it("is kept by a queue, turned by a stack, and half kept by chance", () => {
    expect(judged(backlog((index) => 200 + 20 * index))).toMatchObject({
      verdict: "passed",
      figures: { invertedShare: 0 },
    });
    expect(judged(backlog((index) => 1_000 - 20 * index))).toMatchObject({
      verdict: "failed",
      figures: { invertedShare: 1 },
    });
    const shuffled = judged(backlog((index) => 200 + 20 * ((index * 7) % 20)));
    expect(shuffled.verdict).toBe("failed");
  });

  it("is not asked of what ends together, as a batch does, or came together", () => {
    expect(
      invertedShare(
        backlog((index) => 300 - (index % 4 === 0 ? 1 : 0)),
        { jitterMs: 2, callers: 1 },
      ),
    ).toBe(0);
    const together = [seenOf({ atMs: 0, latencyMs: 90 }), seenOf({ atMs: 1, latencyMs: 10 })];
    expect(invertedShare(together, { jitterMs: 2, callers: 1 })).toBeNaN();
  });

  it("is not asked of what several workers of one queue may do at once", () => {
    const freeAtMs = Array<number>(8).fill(0);
    const queue = backlog((index) => {
      const worker = freeAtMs.indexOf(Math.min(...freeAtMs));
      return (freeAtMs[worker] = Math.max(freeAtMs[worker]!, 5 * index) + (index % 2 === 0 ? 200 : 40));
    });
    expect(judged(queue, 8).verdict).toBe("passed");
    expect(judged(queue, 1).verdict).toBe("failed");
    const stack = backlog((index) => 1_000 - 20 * index);
    expect(judged(stack, 8).verdict).toBe("failed");
    expect(judged(stack, 20).verdict).toBe("untold");
  });

  it("cannot be told without a backlog of answers", () => {
    expect(judged(backlog((index) => 5 * index + 10)).verdict).toBe("untold");
    expect(judged(backlog(() => 900).map((each) => ({ ...each, status: 503 }))).verdict).toBe("untold");
  });
});

describe("retries", () => {
  const burst = { durationMs: 1_000, answeredShare: 1, leftMs: 1_000 };
  const judged = (retryMs: number, change = {}, controlChange = {}) =>
    judgeRetries(
      Array.from({ length: 6 }, () => ({
        control: { ...burst, ...controlChange },
        retried: { ...burst, durationMs: retryMs, ...change },
      })),
      { toleranceMs: 20, how: "send again" },
    );

  it("take no longer than the burst alone, or all of it twice", () => {
    expect(judged(1_040)).toMatchObject({ verdict: "passed", figures: { ratio: 1.04 } });
    expect(judged(1_990).verdict).toBe("failed");
  });

  it("cannot be told where they were not answered, or nothing was waiting", () => {
    expect(judged(1_040, { answeredShare: 0.8 }).verdict).toBe("untold");
    expect(judged(1_040, { leftMs: 79 }).verdict).toBe("untold");
  });

  it("cannot be told against a burst of which too little was answered or waiting", () => {
    expect(judged(1_990, {}, { answeredShare: 0.8 }).verdict).toBe("untold");
    expect(judged(1_990, {}, { leftMs: 79 }).verdict).toBe("untold");
  });
});

/** Uses a server, and a sender to it. */
async function withServer(
  listener: RequestListener,
  use: (sender: Sender, url: string) => Promise<void>,
  maxOpen = 64,
): Promise<void> {
  const server = createServer(listener);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asked = { url, path: "/", method: "POST", rows: 1, header: [], deadline: "none", reset: false };
  const traffic = { maxRequests: 10_000, maxOpen, maxMs: 60_000, resets: false };
  const sender = new Sender(await openTarget(asked, createTestShell()), traffic);
  try {
    await use(sender, url);
  } finally {
    sender.close();
    server.closeAllConnections();
    server.close();
  }
}

describe("the generator", () => {
  it("cuts a load short where too many requests are open, and says so", async () => {
    const most = 8;
    const plan = { deadlineMs: 100, horizonMs: 200 };
    const put = (count: number) => {
      const open: ServerResponse[] = [];
      return withServer(
        // None is answered before more are open than may be; where there are no more, the horizon closes them.
        (_, reply) => {
          open.push(reply);
          if (open.length > most) for (const each of open) if (!each.writableEnded) each.end();
        },
        async (sender) => {
          // A generator that stands still for seconds sends what was due meanwhile, and still not all.
          const { seen, isCut } = await putRequests(sender, evenArrivals(count, 100), plan);
          expect({ isCut, some: seen.length >= Math.min(count, most), all: seen.length === count }).toEqual(
            count > most ? { isCut: true, some: true, all: false } : { isCut: false, some: true, all: true },
          );
        },
        most,
      );
    };
    await put(6_000);
    await put(most);
  });

  it("gives the reason of a stop, not the status of what it closed", async () => {
    let asked = 0;
    await withServer(
      (_, reply) => void (asked++ < 12 && reply.end()),
      async (sender) => {
        const baseline = measureBaseline(sender, () => {});
        await expect.poll(() => asked, { timeout: 20_000 }).toBeGreaterThan(12);
        sender.stop("it was interrupted");
        await expect(baseline).rejects.toThrow("the run ended before anything could be judged: it was interrupted");
        await sender.pause(3_600_000);
      },
    );
  });

  it("keeps its machine's own errors apart from the server's", () => {
    const errorOf = (code: string) => Object.assign(new Error(code), { code });
    expect(findOwnError(errorOf("EADDRNOTAVAIL"))).toBe("EADDRNOTAVAIL");
    expect(findOwnError(errorOf("ECONNREFUSED"))).toBeNull();
    expect(findOwnError(errorOf("ECONNRESET"))).toBeNull();
    expect(findOwnError(new Error("socket hang up"))).toBeNull();
    // A name whose second address has no server.
    const both = new AggregateError([errorOf("EADDRNOTAVAIL"), errorOf("ECONNREFUSED")]);
    expect(findOwnError(both)).toBeNull();
  });

  it("follows no redirect of a model's metadata", async () => {
    let isLed = false;
    await withServer(
      ({ url }, reply) => {
        isLed ||= url === "/elsewhere";
        reply.writeHead(url === "/elsewhere" ? 200 : 302, { location: "/elsewhere" }).end();
      },
      async (_, url) => {
        const asked = { url, model: "a", method: "POST", rows: 1, header: [], deadline: "none", reset: false };
        await expect(openTarget(asked, createTestShell())).rejects.toThrow("answered 302");
        expect(isLed).toBe(false);
      },
    );
  });
});

describe("a deadline", () => {
  it("travels in a header or a field, in its unit", () => {
    expect(parseCarrier("none")).toBeNull();
    expect(parseCarrier("triton")).toEqual({ place: { kind: "body", path: ["parameters", "timeout"] }, unit: "us" });
    expect(parseCarrier("header:X-Deadline:s")).toEqual({ place: { kind: "header", name: "x-deadline" }, unit: "s" });
    expect(writeDuration(250.4, "us")).toBe(250_400);
    expect(writeDuration(250.4, "ms")).toBe(250);
    expect(writeDuration(0.2, "ms")).toBe(1);
    expect(writeDuration(250.4, "s")).toBe(0.25);
  });

  it("that is none names the option", () => {
    for (const text of ["soon", "header:x:minutes", "body:field:ms", "header::ms"])
      expect(() => parseCarrier(text)).toThrow("--deadline");
    expect(() => parsePlace("id", "--retry-key")).toThrow("--retry-key");
  });

  it("fills its place in the body, which is made where it lacks", () => {
    const template = cutBody(
      { inputs: [1], parameters: { a: "b" } },
      [["parameters", "timeout"], ["id"]],
      "--deadline",
    );
    expect(JSON.parse(fillBody(template, ["250", '"k\\"1"']))).toEqual({
      inputs: [1],
      parameters: { a: "b", timeout: 250 },
      id: 'k"1',
    });
    const nested = cutBody({}, [["a", "b", "c"]], "--deadline");
    expect(fillBody(nested, ["7"])).toBe('{"a":{"b":{"c":7}}}');
    expect(() => cutBody({ a: 3 }, [["a", "b"]], "--deadline")).toThrow("--deadline");
  });
});

describe("a report", () => {
  const judgement = (verdict: "passed" | "failed" | "untold") => ({
    verdict,
    figures: { late: 0 },
    sentence: "It was judged.",
  });

  it("ends with 0 where everything passed, 1 where something failed, else 3", () => {
    expect(exitCodeOf([judgement("passed"), judgement("passed")])).toBe(0);
    expect(exitCodeOf([judgement("untold"), judgement("failed")])).toBe(1);
    expect(exitCodeOf([judgement("passed"), judgement("untold")])).toBe(3);
  });

  it("has a row and a sentence for each property", () => {
    const text = renderReport(
      {
        exitCode: 1,
        url: "http://127.0.0.1:1/",
        atIso: "2026-11-26T00:00:00.000Z",
        durationS: 60,
        requests: 1_234,
        baseline: { idleP50Ms: 12.3, idleP95Ms: 20, capacityPerSecond: 80, callers: 8 },
        ...bounds,
        properties: [{ property: "expiry", ...judgement("failed") }],
      },
      { colour: false, columns: undefined },
    );
    expect(text).toContain("expiry on time  FAILED   late 0");
    expect(text).toContain("expiry on time: It was judged.");
    expect(text).toContain("1,234 requests in 60 s");
  });
});

describe("the command", () => {
  const run = async (...args: string[]) => {
    const shell = createTestShell();
    await conformanceCommand(shell)
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
      .parseAsync(args, { from: "user" });
  };
  const base = ["--url", "http://127.0.0.1:1", "--deadline", "none"];

  it.each([
    ["neither model nor path", base, "Either --model or --path"],
    ["model and path", [...base, "--model", "a", "--path", "/b"], "Either --model or --path"],
    ["no address", ["--url", "nowhere", "--deadline", "none", "--path", "/"], "--url nowhere"],
    ["another origin", [...base, "--path", "http://example.com/"], "--path must be a path of --url"],
    ["a wrong header", [...base, "--path", "/", "--header", "nonsense"], "--header nonsense"],
    ["a deadline in no body", ["--url", "http://127.0.0.1:1", "--deadline", "triton", "--path", "/"], "needs a --body"],
    ["an unknown property", [...base, "--path", "/", "--only", "luck"], "must be of expiry"],
    ["a reset of TLS", ["--url", "https://127.0.0.1:1", "--deadline", "none", "--path", "/", "--reset"], "--reset"],
  ])("refuses %s", async (_, args, words) => {
    await expect(run(...args)).rejects.toThrow(words);
  });
});
