import { beforeEach, describe, expect, it } from "vitest";
import { type Answered, type Attempt, PlacementWatch } from "../../../../src/edge/inference/predict/placement-watch.ts";
import { isOnlyLearnt, predictLatency } from "../../../../src/edge/inference/predict/predict-latency.ts";
import { summarise } from "../../../../src/stats/distribution/distribution.ts";
import { livePlacement } from "./live-placement.ts";

const START_MS = 1_000_000;
const P99 = 0.99;
const placement = livePlacement("a", {
  sweep: [
    { rows: 1, serviceMs: summarise([2]) },
    { rows: 4, serviceMs: summarise([4]) },
  ],
});

let watch = new PlacementWatch();
let nowMs = START_MS;

const see = (rows = 1, of = placement) => watch.outlook(of, rows, P99, nowMs);
const begin = (rows = 1, of = placement, leftMs = 10_000) => watch.begin(of, rows, see(rows, of), leftMs, nowMs);
const answered = (computeMs: number, changes: Partial<Answered> = {}): Answered => ({
  times: { queueMs: 0, uploadMs: 0, computeMs, readbackMs: 0 },
  rows: 1,
  backlogMs: 0,
  isMeasured: true,
  ...changes,
});
/** A whole request with this time on the link and in the service. */
const pass = (linkMs: number, computeMs: number, changes: Partial<Answered> = {}): void => {
  const attempt = begin(changes.rows ?? 1);
  nowMs += linkMs + computeMs;
  watch.answered(attempt, answered(computeMs, changes), nowMs);
};
/** The same, so that the runner is warm and nothing is left of it. */
const warmUp = () => {
  pass(1, 2);
  nowMs += 100;
};

beforeEach(() => {
  watch = new PlacementWatch();
  nowMs = START_MS;
});

describe("a clock that is set back", () => {
  it("makes no queue longer than its runner said", () => {
    warmUp();
    pass(1, 2, { backlogMs: 50 });
    nowMs -= 20_000;
    expect(see().queueMs).toBeCloseTo(50);
  });

  it("makes no model take longer to load", () => {
    warmUp();
    watch.refused(begin(), { code: "no-placement", heard: true }, nowMs);
    nowMs -= 20_000;
    expect(see().queueMs).toBe(placement.loadMs);
  });

  it("does not freeze what is predicted", () => {
    warmUp();
    const before = see().serviceMs;
    nowMs -= 20_000;
    for (let i = 0; i < 200; i++) pass(1, 8);
    nowMs += 60;
    expect(see().serviceMs).toBeGreaterThan(before);
  });
});

it("of a device are each project's own: another one's flood and silence count for nothing", () => {
  const other = livePlacement("b", { ...placement, id: "b", project: "crowd" });
  warmUp();
  const before = see();
  for (let count = 0; count < 300; count++) begin(1, other);
  expect(see()).toEqual(before);
  const attempt = begin(1, other);
  nowMs += 400;
  watch.missed(attempt, nowMs);
  expect(see(1, other).silentMs).toBeGreaterThan(0);
  expect(see().silentMs).toBe(0);
  for (let count = 0; count < 200; count++) {
    const slow = begin(1, other);
    nowMs += 300;
    watch.answered(slow, answered(2, { backlogMs: 500 }), nowMs);
  }
  nowMs += 60;
  expect(see().linkMs).toBeCloseTo(before.linkMs, 1);
  expect(see().queueMs).toBe(0);
});

describe("link and service", () => {
  it("are as calibrated at first, by the rows of the request", () => {
    expect(see()).toMatchObject({ queueMs: 0, coldMs: 0, silentMs: 0 });
    expect(see().linkMs).toBeCloseTo(1, 1);
    expect(see().serviceMs).toBeCloseTo(2, 1);
    expect(see(4).serviceMs).toBeCloseTo(4, 1);
    expect(see(16).medianServiceMs).toBeCloseTo(16, 0);
  });

  it("follow what requests show, each for itself, and sizes apart", () => {
    warmUp();
    for (let i = 0; i < 200; i++) pass(5, 8);
    nowMs += 60;
    expect(see().linkMs).toBeCloseTo(5, 0);
    expect(see().serviceMs).toBeCloseTo(8, 0);
    expect(see(4).serviceMs).toBeCloseTo(4, 1);
  });

  it("are not those of one pause, however many requests it held up, but of pauses that come again", () => {
    warmUp();
    const second = (pauseMs: number) => {
      const held = Array.from({ length: 20 }, () => begin());
      nowMs += pauseMs;
      for (const attempt of held) watch.answered(attempt, answered(2), nowMs);
      for (let i = 0; i < 200; i++) pass(1, 2);
    };
    for (let i = 0; i < 60; i++) second(3);
    second(300);
    nowMs += 60;
    expect(see().linkMs).toBeLessThan(5);
    for (let i = 0; i < 10; i++) second(300);
    nowMs += 60;
    // Of requests that came alone, still one in two hundred was held up.
    expect(see().linkMs).toBeLessThan(5);
    for (let i = 0; i < 20; i++) begin();
    expect(see().linkMs).toBeGreaterThan(290);
  });

  it("are those of as many requests at once: what a crowd took says little of one alone", () => {
    warmUp();
    const crowd = (ms: number) => {
      const sent = Array.from({ length: 16 }, () => begin());
      for (const attempt of sent) {
        nowMs += ms;
        watch.answered(attempt, answered(2), nowMs);
      }
    };
    for (let i = 0; i < 50; i++) crowd(10);
    nowMs += 60;
    expect(see().linkMs).toBeLessThan(10);
    for (let i = 0; i < 15; i++) begin();
    expect(see().linkMs).toBeGreaterThan(140);
    expect(see().aloneMs).toBeLessThan(15);
    // A named budget is for a request that comes alone.
    expect(watch.nameTimes(placement, 1, P99, nowMs).idleMs).toBeLessThan(15);
  });

  it("that were slow for long are forgotten after some fast answers to probes, not after slow ones", () => {
    warmUp();
    for (let i = 0; i < 400; i++) pass(5, 80);
    const probe = (count: number, computeMs: number) => {
      for (let i = 0; i < count; i++) {
        const attempt = watch.begin(placement, 1, see(), 1_000, nowMs, true);
        nowMs += 1 + computeMs;
        watch.answered(attempt, answered(computeMs), nowMs);
        nowMs += 49;
      }
    };
    probe(30, 80);
    expect(see().serviceMs).toBeCloseTo(80, 0);
    probe(150, 2);
    expect(see().serviceMs).toBeCloseTo(2, 1);
    expect(see().linkMs).toBeCloseTo(1, 1);
  });

  it("are forgotten by probes at every size of requests", () => {
    const larger = { ...placement, size: 12 };
    warmUp();
    for (let i = 0; i < 400; i++) {
      const attempt = begin(1, larger);
      nowMs += 81;
      watch.answered(attempt, answered(80), nowMs);
    }
    expect(see(1, larger).serviceMs).toBeGreaterThan(70);
    for (let i = 0; i < 150; i++) {
      const attempt = watch.begin(placement, 1, see(), 1_000, nowMs, true);
      nowMs += 3;
      watch.answered(attempt, answered(2), nowMs);
    }
    nowMs += 60;
    expect(see(1, larger).serviceMs).toBeCloseTo(2, 1);
  });

  it("of a runner are the same for all of its devices, of another its own", () => {
    warmUp();
    for (let i = 0; i < 200; i++) pass(5, 2);
    expect(see(1, livePlacement("b", { runnerId: placement.runnerId })).linkMs).toBeCloseTo(5, 0);
    expect(see(1, livePlacement("c")).linkMs).toBeCloseTo(1, 1);
  });

  it("do not learn the service of what stood in", () => {
    warmUp();
    for (let i = 0; i < 200; i++) pass(1, 50, { isMeasured: false });
    expect(see().serviceMs).toBeCloseTo(2, 1);
  });

  it("learn from requests that ran out of time at least how long they waited", () => {
    warmUp();
    for (let i = 0; i < 10; i++) {
      const late = begin();
      nowMs += 1;
      pass(1, 2);
      nowMs += 40;
      watch.missed(late, nowMs);
    }
    nowMs += 60;
    expect(see()).toMatchObject({ silentMs: 0 });
    expect(see().linkMs).toBeGreaterThan(35);
  });
});

describe("refusals of all requests", () => {
  /** Refuses one every five milliseconds while the prediction exceeds a budget of 20 ms; returns for how long. */
  const refuse = (atMostMs: number) => {
    const startedMs = nowMs;
    while (nowMs - startedMs < atMostMs && predictLatency(see(), 0).latencyMs > 20) {
      watch.noteRefusal(placement, nowMs);
      nowMs += 5;
    }
    return nowMs - startedMs;
  };

  it("end by themselves where nothing is answered, not even a probe", () => {
    warmUp();
    for (let i = 0; i < 2_000; i++) pass(60, 2);
    expect(see().linkMs).toBeGreaterThan(50);
    expect(refuse(60_000)).toBeLessThan(8_000);
  });

  it("go on where probes show that it is as slow as before", () => {
    warmUp();
    for (let i = 0; i < 2_000; i++) pass(60, 2);
    for (let i = 0; i < 20; i++) {
      expect(refuse(500)).toBe(500);
      const attempt = watch.begin(placement, 1, see(), 1_000, nowMs, true);
      nowMs += 62;
      watch.answered(attempt, answered(2), nowMs);
    }
  });
});

it("one in ten refusals by a prediction makes a probe due, for each placement", () => {
  const due = Array.from({ length: 20 }, () => watch.noteRefusal(placement, nowMs));
  expect(due.flatMap((isDue, at) => (isDue ? [at] : []))).toEqual([9, 19]);
  expect(watch.noteRefusal(livePlacement("b"), nowMs)).toBe(false);
});

it("only what was learnt is in the way behind a short queue of a warm placement", () => {
  const outlook = { ...see(), queueMs: 3, medianServiceMs: 2, coldMs: 0 };
  expect(isOnlyLearnt(outlook, 3)).toBe(true);
  expect(isOnlyLearnt(outlook, 2.9)).toBe(false);
  expect(isOnlyLearnt({ ...outlook, queueMs: 5 }, 100)).toBe(false);
  expect(isOnlyLearnt({ ...outlook, coldMs: 1 }, 100)).toBe(false);
});

describe("a request that ran out of less time than is expected anyway", () => {
  it("teaches nothing, however often it happens", () => {
    warmUp();
    for (let i = 0; i < 400; i++) pass(20, 2);
    nowMs += 60;
    for (let i = 0; i < 800; i++) {
      const late = begin();
      nowMs += 1;
      watch.refused(begin(), { code: "backend-failed", heard: true }, nowMs);
      watch.missed(late, nowMs);
    }
    nowMs += 60;
    expect(see().linkMs).toBeCloseTo(20, 0);
    expect(watch.outlook(placement, 1, 0.5, nowMs).linkMs).toBeCloseTo(20, 0);
  });
});

describe("the queue", () => {
  beforeEach(warmUp);

  it("holds what this isolate has sent and got no answer to, in batches", () => {
    const sent: Attempt[] = [];
    const queues = [1, 2, 3, 4, 5].map(() => {
      sent.push(begin());
      return Math.round(10 * see().queueMs) / 10;
    });
    // Rows 1 and 4 were measured, with 2 and 4 ms; five rows are a batch of four and one.
    expect(queues).toEqual([2, 2.7, 3.3, 4, 6]);
    for (const attempt of sent) watch.answered(attempt, answered(1), nowMs);
    expect(see().queueMs).toBe(0);
  });

  it("is what the runner says of it, less the time since", () => {
    pass(0, 2, { backlogMs: 30 });
    expect(see().queueMs).toBe(30);
    nowMs += 20;
    expect(see().queueMs).toBe(10);
    nowMs += 20;
    expect(see().queueMs).toBe(0);
  });

  it("adds to the runner's word only what was sent after it", () => {
    begin();
    nowMs += 1;
    pass(0, 2, { backlogMs: 7 });
    expect(see().queueMs).toBe(7);
    begin();
    expect(see().queueMs).toBeCloseTo(9, 0);
  });

  it("is that of the device, whichever placement is asked for; another device has its own", () => {
    begin();
    expect(see(1, livePlacement("b", { runnerId: placement.runnerId })).queueMs).toBeCloseTo(2, 0);
    expect(see(1, livePlacement("c", { runnerId: placement.runnerId, deviceKey: "gpu0" })).queueMs).toBe(0);
  });

  it("is as long as what the runner refused could not wait, if it refused for want of time", () => {
    for (const code of ["overloaded", "budget-exceeded"] as const) {
      watch.refused(begin(1, placement, 50), { code, heard: true }, nowMs);
      expect(see().queueMs).toBeCloseTo(48, 0);
      nowMs += 60;
    }
    watch.refused(begin(), { code: "backend-failed", heard: true }, nowMs);
    expect(see().queueMs).toBe(0);
  });

  it("is no longer than the runner said, and as it was when the request was sent", () => {
    const queueBehind = (leftMs: number, retryAfterMs: number | undefined, afterMs: number) => {
      const attempt = begin(1, placement, leftMs);
      nowMs += afterMs;
      watch.refused(attempt, { code: "overloaded", heard: true, retryAfterMs }, nowMs);
      const { queueMs } = see();
      nowMs += 1_000;
      return queueMs;
    };
    expect(queueBehind(600_000, 70, 0)).toBe(70);
    expect(queueBehind(600_000, 70, 20)).toBe(50);
    expect(queueBehind(50, 70, 0)).toBeCloseTo(48, 0);
    expect(queueBehind(50, undefined, 50)).toBe(0);
  });

  it("does not hold an unfinished request for ever, nor refuse for it", () => {
    for (let i = 0; i < 100; i++) begin(1, placement, 50);
    expect(see().queueMs).toBeGreaterThan(50);
    nowMs += 50;
    expect(see().queueMs).toBeGreaterThan(50);
    nowMs += 1;
    expect(see().queueMs).toBe(0);
  });

  it("that took longer than expected does not count with the link", () => {
    for (let i = 0; i < 200; i++) {
      const attempt = begin();
      nowMs += 13;
      const times = { queueMs: 10, uploadMs: 0, computeMs: 2, readbackMs: 0 };
      watch.answered(attempt, answered(2, { times }), nowMs);
    }
    expect(see().linkMs).toBeCloseTo(1, 0);
    expect(see()).toMatchObject({ queueMs: 0, excessMs: 0 });
  });

  it("is expected to exceed its prediction as it usually did, where there is one", () => {
    warmUp();
    for (let i = 0; i < 50; i++) {
      pass(1, 2, { backlogMs: 20 });
      const attempt = begin();
      const times = { queueMs: attempt.outlook.queueMs + 30, uploadMs: 0, computeMs: 2, readbackMs: 0 };
      nowMs += times.queueMs + 3;
      watch.answered(attempt, answered(2, { times }), nowMs);
    }
    expect(see()).toMatchObject({ queueMs: 0, excessMs: 0 });
    pass(1, 2, { backlogMs: 20 });
    expect(see().excessMs).toBeCloseTo(30, 0);
    expect(predictLatency(see(), 0).queueMs).toBeCloseTo(see().queueMs + 30, 0);
    nowMs += 60_000;
    pass(1, 2, { backlogMs: 20 });
    expect(see().excessMs).toBe(0);
  });

  it("and the way are as slow as with fewer requests, where no more were under way before", () => {
    for (let i = 0; i < 400; i++) pass(25, 2);
    nowMs += 60;
    for (let i = 0; i < 7; i++) begin();
    expect(see().linkMs).toBeGreaterThan(24);
  });

  it("exceeds its prediction by less after answers to probes behind it", () => {
    const behind = (beyondMs: number, isProbe: boolean) => {
      pass(1, 2, { backlogMs: 20 });
      const attempt = watch.begin(placement, 1, see(), 1_000, nowMs, isProbe);
      const times = { queueMs: attempt.outlook.queueMs + beyondMs, uploadMs: 0, computeMs: 2, readbackMs: 0 };
      nowMs += times.queueMs + 3;
      watch.answered(attempt, answered(2, { times }), nowMs);
    };
    for (let i = 0; i < 50; i++) behind(30, false);
    for (let i = 0; i < 150; i++) behind(0, true);
    pass(1, 2, { backlogMs: 20 });
    expect(see().excessMs).toBeLessThan(5);
  });

  it("and the rest exceed their predictions together by less than each by itself", () => {
    // Either the queue or the link takes 30 ms longer, in one of fifty requests each.
    for (let i = 0; i < 3_000; i++) {
      pass(1, 2, { backlogMs: 20 });
      const attempt = begin();
      const [queueMs, linkMs] = [attempt.outlook.queueMs + (i % 50 === 0 ? 30 : 0), i % 50 === 25 ? 31 : 1];
      nowMs += queueMs + linkMs + 2;
      watch.answered(attempt, answered(2, { times: { queueMs, uploadMs: 0, computeMs: 2, readbackMs: 0 } }), nowMs);
    }
    pass(1, 2, { backlogMs: 20 });
    const { linkMs, serviceMs, excessMs } = see();
    expect(linkMs + serviceMs + excessMs).toBeGreaterThan(30);
    expect(linkMs + serviceMs + excessMs).toBeLessThan(40);
  });

  it("for which a runner refuses is longer than predicted, and so is one in which a budget ends", () => {
    for (const end of ["refused", "missed"] as const) {
      watch = new PlacementWatch();
      warmUp();
      for (let i = 0; i < 50; i++) {
        pass(1, 2, { backlogMs: 20 });
        const attempt = begin(1, placement, 100);
        if (end === "refused") watch.refused(attempt, { code: "overloaded", heard: true, retryAfterMs: 30 }, nowMs);
        else {
          // The device is not silent.
          pass(1, 2);
          nowMs = attempt.deadlineAtMs;
          watch.missed(attempt, nowMs);
        }
        nowMs += 40;
      }
      pass(1, 2, { backlogMs: 20 });
      expect(see().excessMs, end).toBeGreaterThan(50);
      expect(see().linkMs, end).toBeLessThan(10);
    }
  });
});

describe("a cold start", () => {
  it("adds what the first requests after a rest took more, and only then", () => {
    pass(21, 2);
    expect(see()).toMatchObject({ coldMs: 0 });
    expect(see().linkMs).toBeCloseTo(1, 1);
    nowMs += 10_001;
    expect(see().coldMs).toBeCloseTo(20, 0);
    pass(1, 2);
    expect(see().coldMs).toBe(0);
  });

  it("adds what is left of loading the models, until the placement has answered", () => {
    const loading = livePlacement("loading", { connectedAtMs: START_MS - 10, warmAtMs: START_MS + 40 });
    expect(see(1, loading).queueMs).toBe(40);
    nowMs += 15;
    expect(see(1, loading).queueMs).toBe(25);
    watch.answered(begin(1, loading), answered(1), nowMs);
    expect(see(1, loading).queueMs).toBe(0);
    // It has connected again since.
    const back = { ...loading, connectedAtMs: nowMs + 1, warmAtMs: nowMs + 31 };
    expect(see(1, back).queueMs).toBe(31);
  });

  it("adds the loading of a model that the runner has lost, or whose device it has", () => {
    for (const code of ["no-placement", "device-lost"] as const) {
      warmUp();
      watch.refused(begin(), { code, heard: true }, nowMs);
      expect(see().queueMs).toBe(placement.loadMs);
      nowMs += 10;
      expect(see().queueMs).toBe(placement.loadMs - 10);
      watch.answered(begin(), answered(1), nowMs);
      expect(see().queueMs).toBe(0);
    }
  });
});

describe("silence", () => {
  beforeEach(warmUp);
  /** A request that ends without an answer, so much later than its deadline as the edge itself pauses. */
  const miss = (budgetMs: number, pausedMs = 0) => {
    const attempt = begin(1, placement, budgetMs);
    nowMs += budgetMs + pausedMs;
    watch.missed(attempt, nowMs);
  };

  it("is believed once a request has ended in it and a moment has passed", () => {
    miss(50);
    expect(see().silentMs).toBe(0);
    nowMs += 149;
    expect(see().silentMs).toBe(0);
    nowMs += 1;
    expect(see().silentMs).toBe(200);
  });

  it("is as long as it has lasted, and without end once a probe would have been answered", () => {
    miss(300);
    expect(see().silentMs).toBe(300);
    miss(400);
    expect(see().silentMs).toBe(700);
    nowMs += 299;
    expect(see().silentMs).toBe(999);
    nowMs += 1;
    expect(see().silentMs).toBe(Infinity);
  });

  it("counts with the queue of a request", () => {
    miss(300);
    const { latencyMs, queueMs, linkMs, serviceMs } = predictLatency(see(), 0);
    expect(queueMs).toBe(300);
    expect(latencyMs).toBeCloseTo(300 + linkMs + serviceMs);
  });

  it("is not a pause of the edge itself, after which an answer may lie unread", () => {
    miss(50, 5_000);
    expect(see().silentMs).toBe(0);
    nowMs += 149;
    expect(see().silentMs).toBe(0);
    nowMs += 1;
    expect(see().silentMs).toBe(200);
  });

  it("is not hidden by timers that fire a little late, as they do under load", () => {
    const sent: ReturnType<typeof begin>[] = [];
    for (let request = 0; request < 80; request++) {
      sent.push(begin(1, placement, 50));
      nowMs += 5;
      const expired = sent[request - 10];
      if (expired !== undefined) watch.missed(expired, nowMs);
    }
    expect(see().silentMs).toBe(400);
  });

  it("is shortened once by a pause that held up several requests", () => {
    const held = [50, 60, 100].map((leftMs) => begin(1, placement, leftMs));
    nowMs += 600;
    for (const attempt of held) watch.missed(attempt, nowMs++);
    // From the first deadline to the last of these ends nothing was read; one more moment passed since.
    expect(see().silentMs).toBe(0);
    nowMs += 149;
    expect(see().silentMs).toBe(200);
  });

  it("is not a request that takes long, while others are answered", () => {
    const long = begin();
    nowMs += 100;
    pass(1, 2);
    nowMs += 200;
    watch.missed(long, nowMs);
    expect(see().silentMs).toBe(0);
  });

  it("is not a request that still may wait", () => {
    begin();
    nowMs += 1_000;
    expect(see().silentMs).toBe(0);
  });

  it("ends with the first word from the device, be it a refusal", () => {
    for (const heard of [true, false]) {
      miss(300);
      expect(see().silentMs).toBe(300);
      const attempt = begin();
      if (heard) watch.refused(attempt, { code: "backend-failed", heard: true }, nowMs);
      else watch.answered(attempt, answered(1), nowMs);
      expect(see().silentMs).toBe(0);
    }
  });

  it("is no time of the link for those that were answered after it", () => {
    const before = see();
    for (let i = 0; i < 200; i++) {
      miss(300);
      const attempt = begin();
      nowMs += 300;
      watch.answered(attempt, answered(2, { backlogMs: 7 }), nowMs);
      expect(see().queueMs).toBe(7);
      nowMs += 100;
    }
    expect(see()).toEqual(before);
  });

  it("is not ended by what the link says in the runner's stead", () => {
    miss(300);
    watch.refused(begin(), { code: "overloaded", heard: false, retryAfterMs: 100 }, nowMs);
    expect(see()).toMatchObject({ silentMs: 300, queueMs: 0 });
  });

  it("is known at once where the runner is gone", () => {
    watch.lost(begin(), nowMs);
    expect(see()).toMatchObject({ silentMs: Infinity, queueMs: 0 });
  });

  it("lapses without requests for long, and lasts while probes fail", () => {
    miss(300);
    nowMs += 9_000;
    expect(see().silentMs).toBe(Infinity);
    miss(900);
    nowMs += 9_000;
    expect(see().silentMs).toBe(Infinity);
    nowMs += 1_000;
    expect(see().silentMs).toBe(0);
  });

  it("is probed although the last probe lies ahead of a clock that was set back", () => {
    expect(watch.takeProbe(placement, 1_000, nowMs)).toBe(true);
    expect(watch.takeProbe(placement, 1_000, nowMs - 20_000)).toBe(true);
  });

  it("is probed no more often than its interval", () => {
    expect(watch.takeProbe(placement, 1_000, nowMs)).toBe(true);
    expect(watch.takeProbe(placement, 1_000, nowMs + 999)).toBe(false);
    expect(watch.takeProbe(placement, 1_000, nowMs + 1_000)).toBe(true);
  });

  it("is a new one for probes once the device has sent something since the last", () => {
    expect(watch.wasHeardSinceProbe(placement)).toBe(true);
    miss(300);
    watch.takeProbe(placement, 50, nowMs);
    expect(watch.wasHeardSinceProbe(placement)).toBe(false);
    nowMs += 1;
    pass(1, 2);
    expect(watch.wasHeardSinceProbe(placement)).toBe(true);
    miss(300);
    expect(watch.wasHeardSinceProbe(placement)).toBe(true);
    watch.takeProbe(placement, 50, nowMs);
    expect(watch.wasHeardSinceProbe(placement)).toBe(false);
  });
});

describe("what is kept", () => {
  const others = Array.from({ length: 5_000 }, (_, index) => livePlacement(`other${index}`));

  it("is not forgotten for others that were only looked at", () => {
    warmUp();
    for (let i = 0; i < 200; i++) pass(5, 8);
    for (const other of others) see(1, other);
    nowMs += 60;
    expect(see().serviceMs).toBeCloseTo(8, 0);
  });

  it("of more placements than are kept is that of the last", () => {
    for (const other of others) {
      const attempt = begin(1, other);
      watch.answered(attempt, answered(2, { backlogMs: 70 }), nowMs);
    }
    expect(see(1, others[0]).queueMs).toBe(0);
    expect(see(1, others[2_000]).queueMs).toBeCloseTo(70, 5);
    expect(see(1, others.at(-1)).queueMs).toBeCloseTo(70, 5);
  });
});
