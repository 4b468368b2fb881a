import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type RequestKind, ThreadShares } from "../../../src/edge/thread-shares.ts";
import { ProblemError } from "../../../src/protocol/wire/problem.ts";

/** Milliseconds for which a turn of the thread has lasted, beside the timers. */
let heldMs: number;
let shares: ThreadShares;

beforeEach(() => {
  vi.useFakeTimers();
  heldMs = 0;
  shares = new ThreadShares(() => performance.now() + heldMs);
});
afterEach(() => void vi.useRealTimers());

interface Begun {
  /** Null while it waits. */
  leave: (() => void) | null;
  readonly turn: Promise<unknown>;
}

function begin(holder: string, kind: RequestKind = "other", gone?: AbortSignal): Begun {
  const waitUntil = () => {};
  const turn = shares.begin({ holder, kind, waitUntil, ...(gone && { gone }) });
  const begun: Begun = {
    leave: null,
    turn: turn.then(
      (leave) => (begun.leave = leave),
      (error: unknown) => error,
    ),
  };
  return begun;
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const countBegun = (requests: readonly Begun[]) => requests.filter(({ leave }) => leave !== null).length;

/** A thread that is late seven times: each holder has one place now, for 24 ms at least. */
async function holdThread(lateMs = 20): Promise<void> {
  for (let beat = 0; beat < 7; beat++) {
    heldMs += lateMs;
    await pass(3);
  }
}

/** A thread that is late by so much all the time, while another holder sends inferences. */
function keepLate(lateMs: number): () => void {
  const timer = setInterval(() => {
    void shares.begin({ holder: "other", kind: "inference", waitUntil: () => {} }).then((leave) => leave());
    heldMs += lateMs;
  }, 3);
  return () => clearInterval(timer);
}

/** Two holders with a request each, which keep the thread late. */
async function meet(kind: RequestKind): Promise<{ readonly one: Begun; readonly other: Begun }> {
  const [one, other] = [begin("one", kind), begin("other", kind)];
  await pass(0);
  await holdThread();
  return { one, other };
}

describe("the thread of an isolate", () => {
  it("has room for all requests of a holder that is alone, however late it is", async () => {
    const requests = Array.from({ length: 200 }, () => begin("one"));
    await pass(0);
    await holdThread();
    requests.push(begin("one"));
    await pass(0);
    expect(countBegun(requests)).toBe(201);
  });

  it("has room for all requests of several holders while it is in time", async () => {
    const requests = Array.from({ length: 100 }, (_, at) => begin(`holder ${at % 2}`));
    await pass(100);
    expect(countBegun(requests)).toBe(100);
  });

  it("gives each holder one place once it is late, in the order in which they came", async () => {
    const { one, other } = await meet("inference");
    one.leave!();
    other.leave!();
    const requests = ["one", "one", "other", "one"].map((holder) => begin(holder));
    const areBegun = () => requests.map(({ leave }) => leave !== null);
    await pass(20);
    expect(areBegun()).toEqual([true, false, true, false]);
    requests[0]!.leave!();
    await pass(2);
    expect(areBegun()).toEqual([true, true, true, false]);
  });

  it("gives places back as it is in time again", async () => {
    const { one, other } = await meet("inference");
    one.leave!();
    other.leave!();
    const requests = Array.from({ length: 6 }, () => begin("one"));
    await pass(2);
    begin("other");
    for (const places of [1, 2, 3, 4, 5, 6]) {
      expect(countBegun(requests)).toBeGreaterThanOrEqual(places - 1);
      expect(countBegun(requests)).toBeLessThanOrEqual(places);
      // Eight beats of three milliseconds.
      await pass(24);
    }
    expect(countBegun(requests)).toBe(6);
  });

  it("lets a holder pause for three times the time that its share of late turns took", async () => {
    const one = begin("one");
    begin("other");
    await pass(0);
    heldMs += 101;
    await pass(3);
    one.leave!();
    const waiting = begin("one");
    await pass(147);
    expect(waiting.leave).toBeNull();
    await pass(6);
    expect(waiting.leave).not.toBeNull();
  });

  it("gives inferences at least four places, and no pause", async () => {
    await meet("inference");
    const requests = Array.from({ length: 6 }, () => begin("one", "inference"));
    await pass(2);
    expect(countBegun(requests)).toBe(3);
    requests[0]!.leave!();
    await pass(6);
    expect(countBegun(requests)).toBe(4);
  });

  it("lets other work wait for inferences, of its own project, too, but not for long", async () => {
    const end = shares.beginUrgent();
    const first = begin("one", "inference");
    await pass(0);
    begin("other", "inference");
    await holdThread();
    first.leave!();
    const waiting = begin("one");
    await pass(19);
    expect(waiting.leave).toBeNull();
    await pass(3);
    expect(waiting.leave).not.toBeNull();
    waiting.leave!();
    end();
    const next = begin("one");
    await pass(0);
    expect(next.leave).not.toBeNull();
  });

  it("takes a place back from a request that lasts, and ends its beats after one that never ends", async () => {
    await meet("inference");
    const end = keepLate(8);
    await pass(90);
    const requests = Array.from({ length: 5 }, () => begin("one", "inference"));
    await pass(0);
    expect(countBegun(requests)).toBe(3);
    await pass(60);
    end();
    expect(countBegun(requests)).toBe(4);
    await pass(11_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("refuses what waits beyond sixty-four, or for too long, and what has no caller any more", async () => {
    const { other } = await meet("other");
    other.leave!();
    const leaving = new AbortController();
    const gone = begin("one", "other", leaving.signal);
    const waiting = Array.from({ length: 63 }, () => begin("one"));
    const refused = begin("one");
    await pass(0);
    expect(codeOf(await refused.turn)).toBe("overloaded");
    leaving.abort();
    // The thread stays late: the first of the line pauses for a second each time.
    const end = keepLate(8);
    await pass(110);
    expect(codeOf(await gone.turn)).toBe("overloaded");
    expect(countBegun(waiting)).toBe(0);
    await pass(15_200);
    end();
    const codes = await Promise.all(waiting.map(async ({ turn }) => codeOf(await turn)));
    const refusals = codes.filter((code) => code === "overloaded").length;
    expect(refusals).toBeGreaterThan(3);
    expect(refusals + countBegun(waiting)).toBe(63);
    expect(countBegun(waiting)).toBeGreaterThan(5);
  });

  it("refuses an inference beyond thirty-two that wait, and one that has waited for half a second", async () => {
    await meet("inference");
    const end = keepLate(8);
    const running = Array.from({ length: 3 }, () => begin("one", "inference"));
    const waiting = Array.from({ length: 32 }, () => begin("one", "inference"));
    const refused = begin("one", "inference");
    await pass(0);
    expect(codeOf(await refused.turn)).toBe("overloaded");
    await pass(12);
    expect([countBegun(running), countBegun(waiting)]).toEqual([3, 0]);
    running[0]!.leave!();
    await pass(20);
    expect(waiting.findIndex(({ leave }) => leave !== null)).toBe(0);
    // The clock runs faster than these timers: a turn of 8 ms for each 3.
    await pass(250);
    end();
    const codes = await Promise.all(waiting.map(async ({ turn }) => codeOf(await turn)));
    const late = codes.filter((code) => code === "overloaded").length;
    expect(late + countBegun(waiting)).toBe(32);
    expect(late).toBeGreaterThan(24);
    for (const { leave } of [...running, ...waiting]) leave?.();
    const next = begin("one", "inference");
    await pass(10);
    expect(next.leave).not.toBeNull();
  });

  it("lets a few inferences wait for one long turn", async () => {
    await meet("inference");
    const requests = Array.from({ length: 8 }, () => begin("one", "inference"));
    await pass(0);
    expect(countBegun(requests)).toBe(3);
    heldMs += 300;
    const late = begin("one", "inference");
    for (const ms of [30, 40, 60]) {
      for (const { leave } of requests) leave?.();
      await pass(ms);
    }
    expect(countBegun([...requests, late])).toBe(9);
  });

  it("does not let a request wait for ever behind one whose context was ended", async () => {
    const { one } = await meet("other");
    one.leave!();
    // Its timer never fires. A spy would leave the fake timers to the files that follow.
    const { setTimeout } = globalThis;
    globalThis.setTimeout = (() => 0) as never;
    const ended = begin("one");
    globalThis.setTimeout = setTimeout;
    const next = begin("one");
    await pass(4_900);
    expect([ended.leave, next.leave]).toEqual([null, null]);
    await pass(300);
    expect(next.leave).not.toBeNull();
  });

  it("keeps a bounded number of requests waiting for all holders together", async () => {
    await meet("other");
    const waiting = Array.from({ length: 12 * 50 }, (_, at) => begin(`holder ${at % 12}`));
    await pass(0);
    let refusals = 0;
    for (const { turn } of waiting) void turn.then((outcome) => (refusals += Number(outcome instanceof ProblemError)));
    await pass(0);
    expect(refusals).toBe(600 - countBegun(waiting) - 512);
    expect(refusals).toBeGreaterThan(70);
  });

  it("waits no longer than a second for the end of a pause by a clock that was set back", async () => {
    const { one } = await meet("other");
    one.leave!();
    heldMs -= 3_600_000;
    begin("other");
    const waiting = begin("one");
    await pass(900);
    expect(waiting.leave).toBeNull();
    await pass(200);
    expect(waiting.leave).not.toBeNull();
  });
});

function codeOf(outcome: unknown): string | null {
  return outcome instanceof ProblemError ? outcome.problem.code : null;
}
