import { describe, expect, it } from "vitest";
import { type ChoiceRules, choosePlacement } from "../../../../src/edge/inference/choose-placement.ts";
import type { Outlook } from "../../../../src/edge/inference/predict/placement-watch.ts";
import type { LivePlacement } from "../../../../src/edge/store/fleet/live-placement-store.ts";
import { lehmer } from "../../../../src/stats/random/seeded.ts";
import { livePlacement } from "./live-placement.ts";

const outlook = (serviceMs: number, changes: Partial<Outlook> = {}): Outlook => ({
  linkMs: 1,
  serviceMs,
  aloneMs: (changes.linkMs ?? 1) + (changes.serviceMs ?? serviceMs),
  medianServiceMs: serviceMs,
  queueMs: 0,
  excessMs: 0,
  coldMs: 0,
  silentMs: 0,
  ...changes,
});

interface Case {
  readonly placements: readonly (readonly [LivePlacement, Outlook])[];
  readonly budgetMs: number;
  readonly wishes?: Partial<ChoiceRules["wishes"]>;
  readonly spentMs?: number;
  readonly usualSpentMs?: number;
  readonly draws?: readonly number[];
  readonly calibratedMs?: number;
}

function choose({
  placements,
  budgetMs,
  wishes = {},
  spentMs = 0,
  usualSpentMs = 0,
  draws = [0, 0],
  calibratedMs = 99,
}: Case) {
  const left = [...draws];
  return choosePlacement(
    placements.map(([placement]) => placement),
    {
      wishes: { budgetMs, refuseWithinMs: 0, minFidelity: 0, onMiss: "reject", ...wishes },
      spentMs,
      usualSpentMs,
      outlook: (wanted) => placements.find(([placement]) => placement === wanted)![1],
      calibratedMs: () => calibratedMs,
      random: () => left.shift()!,
    },
  );
}

/** The admitted placement, else the reason for the refusal. */
const chosen = (given: Case): string => {
  const choice = choose(given);
  return choice.kind === "admitted" ? choice.candidate.placement.id : choice.kind;
};

describe("the choice of a placement", () => {
  const exact = livePlacement("exact");
  const rough = livePlacement("rough", { fidelity: 0.98, variant: "int8" });
  const both = [
    [rough, outlook(1)],
    [exact, outlook(6)],
  ] as const;

  it("is the most faithful of those that fit", () => {
    expect(chosen({ placements: both, budgetMs: 7 })).toBe("exact");
    expect(chosen({ placements: both, budgetMs: 6.9 })).toBe("rough");
    expect(choose({ placements: both, budgetMs: 7 })).toMatchObject({
      fits: true,
      candidate: { prediction: { latencyMs: 7, linkMs: 1, queueMs: 0, serviceMs: 6 } },
    });
  });

  it("says which better one only the budget kept from being chosen", () => {
    const passedOver = { placement: { id: "exact" }, prediction: { latencyMs: 7 } };
    expect(choose({ placements: both, budgetMs: 6.9 })).toMatchObject({ kind: "admitted", passedOver });
    expect(choose({ placements: both, budgetMs: 7 })).toMatchObject({ kind: "admitted", passedOver: null });
    expect(choose({ placements: both.slice(0, 1), budgetMs: 6.9 })).toMatchObject({ passedOver: null });
  });

  it("then the one that is done first: the faster, until its queue is as long as what it is faster by", () => {
    const slow = [livePlacement("slow"), outlook(4)] as const;
    const fast = (queueMs: number) => [livePlacement("fast"), outlook(2, { queueMs })] as const;
    expect(chosen({ placements: [slow, fast(0)], budgetMs: 10 })).toBe("fast");
    expect(chosen({ placements: [slow, fast(1.9)], budgetMs: 10 })).toBe("fast");
    expect(chosen({ placements: [slow, fast(2.1)], budgetMs: 10 })).toBe("slow");
    // Loaded so much that it does not fit, it is out.
    expect(chosen({ placements: [slow, fast(3)], budgetMs: 5.5 })).toBe("slow");
  });

  it("is one whose queue is too long only where the request can wait for a refusal", () => {
    const placements = [
      [livePlacement("long"), outlook(2, { queueMs: 9 })],
      [livePlacement("short"), outlook(4, { queueMs: 6 })],
    ] as const;
    const wait = (refuseWithinMs: number, spentMs = 0) =>
      chosen({ placements, budgetMs: 9, wishes: { refuseWithinMs }, spentMs });
    expect([wait(0), wait(1), wait(2)]).toEqual(["overloaded", "overloaded", "short"]);
    expect(wait(2, 1)).toBe("overloaded");
    expect(choose({ placements, budgetMs: 9, wishes: { refuseWithinMs: 9 } })).toMatchObject({ fits: false });
    // Idle, too, it would be late.
    expect(chosen({ placements, budgetMs: 2, wishes: { refuseWithinMs: 2 } })).toBe("unattainable");
  });

  it("then, of two at random that cost about the same, the one with less to do", () => {
    const queues = [5, 1, 3];
    const placements = queues.map(
      (queueMs, index) => [livePlacement(`p${queueMs}`), outlook(2 + index / 10, { queueMs })] as const,
    );
    expect(chosen({ placements, budgetMs: 50, draws: [0, 0] })).toBe("p1");
    expect(chosen({ placements, budgetMs: 50, draws: [0, 0.99] })).toBe("p3");
    expect(chosen({ placements, budgetMs: 50, draws: [0.99, 0.99] })).toBe("p1");
    expect(chosen({ placements, budgetMs: 50, draws: [0.99, 0] })).toBe("p3");
  });

  it("is within 5 % of the best backend of its runner, until that one has more to do", () => {
    const chosenOf = (queueMs: number, slower: number, cuda: Partial<LivePlacement> = {}) =>
      [0, 0.99].map((draw) =>
        chosen({
          placements: [
            [livePlacement("cuda", { runnerId: "rnr_here", backend: "ort-cuda", ...cuda }), outlook(2, { queueMs })],
            [livePlacement("wgsl", { runnerId: "rnr_here", backend: "wgsl" }), outlook(2 * slower)],
          ],
          budgetMs: 50,
          draws: [draw, 0],
        }),
      );
    expect(chosenOf(0, 1.2)).toEqual(["cuda", "cuda"]);
    expect(chosenOf(1, 1.2)).toEqual(["wgsl", "wgsl"]);
  });

  it.each([
    ["a backend that another one of its runner beats", {}, 1.1, false],
    ["one that is too near to tell", {}, 1.04, true],
    ["one that was measured elsewhere, maybe on another day", { runnerId: "rnr_else" }, 1.1, true],
    ["an equal card", { backend: "ort-cuda" }, 1.1, true],
  ] as const)("looks at %s or not", (_, changes, slower, isSeen) => {
    const fits = [
      [livePlacement("cuda", { runnerId: "rnr_here", backend: "ort-cuda" }), outlook(2)],
      [livePlacement("wgsl", { runnerId: "rnr_here", backend: "wgsl", ...changes }), outlook(2 * slower)],
      [livePlacement("last", { runnerId: "rnr_other", backend: "wgsl" }), outlook(2.4)],
    ] as const;
    const draws = [0, 0.5, 0.99].flatMap((first) => [0, 0.99].map((second) => [first, second]));
    const all = draws.map((pair) => chosen({ placements: fits, budgetMs: 50, draws: pair }));
    expect(all.includes("wgsl")).toBe(isSeen);
  });

  it("counts what waits, what is cold and what has passed against the budget", () => {
    const busy = [[exact, outlook(1, { queueMs: 2, coldMs: 3 })]] as const;
    expect(chosen({ placements: busy, budgetMs: 8, spentMs: 1 })).toBe("exact");
    expect(chosen({ placements: busy, budgetMs: 7.9, spentMs: 1 })).toBe("overloaded");
  });
});

describe("the wishes of a request", () => {
  const here = livePlacement("here", { labels: { site: "lab", rack: "1" }, profiles: ["balanced"] });
  const there = livePlacement("there", { backend: "ort-webgpu", fidelity: 0.9, variant: "int8" });
  const placements = [
    [here, outlook(6)],
    [there, outlook(1)],
  ] as const;
  const wish = (wishes: Case["wishes"] & {}) => chosen({ placements, budgetMs: 100, wishes });

  it("narrow the choice by fidelity, backend, profile, labels, runner and placement", () => {
    expect(chosen({ placements, budgetMs: 2, wishes: { minFidelity: 0.9 } })).toBe("there");
    expect(chosen({ placements, budgetMs: 2, wishes: { minFidelity: 0.91 } })).toBe("unattainable");
    expect(wish({ backend: "ort-webgpu" })).toBe("there");
    expect(wish({ runnerId: "rnr_there" })).toBe("there");
    expect(wish({ placementId: "here" })).toBe("here");
    expect(wish({ placementId: "gone" })).toBe("unmatched");
    expect(wish({ placementId: "here", runnerId: "rnr_there" })).toBe("unmatched");
    expect(wish({ profile: "balanced" })).toBe("here");
    expect(wish({ labels: { site: "lab" } })).toBe("here");
    expect(wish({ labels: { site: "lab", rack: "1" } })).toBe("here");
  });

  it("that nothing is like find no placement", () => {
    expect(wish({ labels: { site: "lab", rack: "2" } })).toBe("unmatched");
    expect(wish({ profile: "gpu-accelerated" })).toBe("unmatched");
    expect(wish({ backend: "wgsl" })).toBe("unmatched");
    expect(wish({ runnerId: "rnr_other" })).toBe("unmatched");
    expect(chosen({ placements: [], budgetMs: 1 })).toBe("none");
  });

  it("for a best effort are tried on the fastest where none fits", () => {
    const wishes = { onMiss: "best-effort" } as const;
    expect(choose({ placements, budgetMs: 0.5, wishes })).toMatchObject({
      fits: false,
      candidate: { placement: { id: "there" } },
    });
    expect(choose({ placements, budgetMs: 50, wishes })).toMatchObject({ fits: true });
  });
});

describe("what is in the way", () => {
  const placement = livePlacement("only");
  const only = (changes: Partial<Outlook> = {}) => [[placement, outlook(4, changes)]] as const;

  it("is the budget, where no placement could meet it even idle", () => {
    const slow = [livePlacement("slow", { variant: "int8" }), outlook(9)] as const;
    expect(choose({ placements: [slow, ...only({ queueMs: 50 })], budgetMs: 4.9 })).toMatchObject({
      kind: "unattainable",
      nearest: { placement: { id: "only" } },
    });
  });

  it("is the queue, where one could if it were idle: until then it is to be waited", () => {
    const other = [livePlacement("other"), outlook(4, { queueMs: 9 })] as const;
    expect(choose({ placements: [other, ...only({ queueMs: 20 })], budgetMs: 6 })).toMatchObject({
      kind: "overloaded",
      retryAfterMs: 8,
      nearest: { placement: { id: "other" } },
    });
  });

  it("is a slow moment, where a placement could when it was measured", () => {
    expect(choose({ placements: only(), budgetMs: 3, calibratedMs: 3 })).toMatchObject({
      kind: "overloaded",
      retryAfterMs: 2,
    });
    expect(chosen({ placements: only(), budgetMs: 3, calibratedMs: 3.1 })).toBe("unattainable");
  });

  it("is the budget too, where it leaves no room for the time that requests usually take to be chosen for", () => {
    expect(chosen({ placements: only(), budgetMs: 5.9, spentMs: 1, usualSpentMs: 1 })).toBe("unattainable");
    expect(chosen({ placements: only(), budgetMs: 6, spentMs: 1, usualSpentMs: 1 })).toBe("only");
    expect(chosen({ placements: only(), budgetMs: 5.9, spentMs: 0, usualSpentMs: 1 })).toBe("only");
  });

  it("is the queue, where this request itself was chosen for sooner than is usual of late", () => {
    const queued = [[livePlacement("only"), outlook(4, { queueMs: 4 })]] as const;
    expect(chosen({ placements: [...queued], budgetMs: 6.5, spentMs: 1, usualSpentMs: 90 })).toBe("overloaded");
    expect(chosen({ placements: [...queued], budgetMs: 6.5, spentMs: 2, usualSpentMs: 90 })).toBe("unattainable");
  });

  it("is no budget that a request alone would keep, whatever a crowd takes", () => {
    const crowded = [[livePlacement("only"), outlook(4, { linkMs: 40, aloneMs: 12 })]] as const;
    expect(chosen({ placements: [...crowded], budgetMs: 20, calibratedMs: 30 })).toBe("overloaded");
    expect(chosen({ placements: [...crowded], budgetMs: 11, calibratedMs: 30 })).toBe("unattainable");
  });

  it("is the time that has passed, where it is longer than usual and alone too much", () => {
    const late = { placements: only(), budgetMs: 7, spentMs: 12, usualSpentMs: 2 };
    expect(choose(late)).toEqual({ kind: "late", retryAfterMs: 10 });
    expect(choose({ ...late, spentMs: 2.1 })).toEqual({ kind: "late", retryAfterMs: 1 });
  });

  it("is that no runner is online, or that all online ones have stopped answering", () => {
    const gone = [livePlacement("gone", { online: false }), outlook(1)] as const;
    const leaving = [livePlacement("leaving", { draining: true }), outlook(1)] as const;
    const silent = [livePlacement("silent"), outlook(1, { silentMs: Infinity })] as const;
    expect(chosen({ placements: [gone, leaving], budgetMs: 9 })).toBe("offline");
    expect(chosen({ placements: [gone, silent], budgetMs: 9 })).toBe("silent");
    expect(chosen({ placements: [gone, leaving, silent, ...only()], budgetMs: 9 })).toBe("only");
    // The silent one could, if it answered: the budget is not to blame.
    expect(chosen({ placements: [silent, ...only()], budgetMs: 3 })).toBe("silent");
  });
});

describe("a placement that has been silent for a moment", () => {
  const quiet = [livePlacement("quiet"), outlook(4, { silentMs: 300 })] as const;

  it("gets the requests that could wait for as long again", () => {
    expect(choose({ placements: [quiet], budgetMs: 305 })).toMatchObject({
      kind: "admitted",
      fits: true,
      candidate: { placement: { id: "quiet" }, prediction: { latencyMs: 305, queueMs: 300 } },
    });
    // The silence alone makes it late, and the budget is not to blame.
    expect(chosen({ placements: [quiet], budgetMs: 304 })).toBe("silent");
    expect(chosen({ placements: [quiet], budgetMs: 4.9 })).toBe("unattainable");
  });

  it("is left for one that answers, though that is dearer and less faithful", () => {
    const other = [livePlacement("other", { fidelity: 0.9 }), outlook(50)] as const;
    expect(chosen({ placements: [quiet, other], budgetMs: 400 })).toBe("other");
    // Where that one is too slow or has too much to do, it is the better promise.
    const busy = [livePlacement("busy"), outlook(4, { queueMs: 900 })] as const;
    expect(chosen({ placements: [quiet, busy], budgetMs: 400 })).toBe("quiet");
    expect(chosen({ placements: [quiet, busy], budgetMs: 200 })).toBe("overloaded");
  });

  it("is tried by a best effort where all are quiet, unless it has stopped answering", () => {
    const wishes = { onMiss: "best-effort" } as const;
    const longer = [livePlacement("longer"), outlook(1, { silentMs: 900 })] as const;
    const gone = [livePlacement("gone"), outlook(1, { silentMs: Infinity })] as const;
    expect(chosen({ placements: [longer, quiet, gone], budgetMs: 9, wishes })).toBe("quiet");
    expect(chosen({ placements: [gone], budgetMs: 9, wishes })).toBe("silent");
    const slow = [livePlacement("slow"), outlook(2_000)] as const;
    expect(chosen({ placements: [quiet, slow], budgetMs: 9, wishes })).toBe("slow");
  });
});

describe("of very many placements", () => {
  const COUNT = 5_000;
  /** A choice among as many, and how many of them were looked at. */
  const chooseOfMany = (
    changes: (index: number) => Partial<Outlook>,
    {
      budgetMs = 10,
      fidelityOf = () => 1,
      count = COUNT,
    }: {
      budgetMs?: number;
      fidelityOf?: (index: number) => number;
      count?: number;
    } = {},
  ) => {
    const placements = Array.from({ length: count }, (_, index) =>
      livePlacement(`p${index}`, { fidelity: fidelityOf(index) }),
    );
    const indices = new Map(placements.map((placement, index) => [placement, index]));
    const looked = new Set<LivePlacement>();
    const choice = choosePlacement(placements, {
      wishes: { budgetMs, refuseWithinMs: 0, minFidelity: 0, onMiss: "reject" },
      spentMs: 0,
      usualSpentMs: 0,
      outlook: (placement) => {
        looked.add(placement);
        return outlook(1, changes(indices.get(placement)!));
      },
      calibratedMs: (placement) => outlook(1, changes(indices.get(placement)!)).aloneMs,
      random: lehmer(),
    });
    return { choice, looked: looked.size };
  };
  const SLOW = { serviceMs: 50, medianServiceMs: 50 };

  it("sixteen decide; one of them fits that is as faithful as any", () => {
    const { choice, looked } = chooseOfMany(() => ({}));
    expect(choice).toMatchObject({ kind: "admitted", fits: true });
    expect(looked).toBe(16);
    expect(chooseOfMany(() => ({}), { count: 64 }).looked).toBe(64);
  });

  it("each is as likely to be looked at, and who has less to do is chosen", () => {
    const { choice } = chooseOfMany((index) => ({ queueMs: index % 2 === 0 ? 0 : 5 }));
    expect(choice).toMatchObject({ candidate: { outlook: { queueMs: 0 } } });
  });

  it("more are looked at for a fidelity that few of them have", () => {
    const { choice, looked } = chooseOfMany(() => ({}), { fidelityOf: (index) => (index % 200 === 0 ? 1 : 0.9) });
    expect(choice).toMatchObject({ candidate: { placement: { fidelity: 1 } } });
    expect(looked).toBe(512);
  });

  it("a queue is found in the way without a look at all", () => {
    const { choice, looked } = chooseOfMany(() => ({ queueMs: 100 }));
    expect(choice.kind).toBe("overloaded");
    expect(looked).toBe(512);
  });

  it("the only one that is not silent, or that is fast enough, is found", () => {
    for (const silentMs of [5, Infinity]) {
      const heard = chooseOfMany((index) => ({ silentMs: index === 4_321 ? 0 : silentMs }));
      expect(heard.choice).toMatchObject({ kind: "admitted", candidate: { placement: { id: "p4321" } } });
    }
    const fast = chooseOfMany((index) => (index === 1_234 ? {} : SLOW), { budgetMs: 2 });
    expect(fast.choice).toMatchObject({ kind: "admitted", candidate: { placement: { id: "p1234" } } });
  });

  it("that nothing could ever fit is said of all", () => {
    const { choice, looked } = chooseOfMany(() => SLOW, { budgetMs: 1.5 });
    expect(choice.kind).toBe("unattainable");
    expect(looked).toBe(COUNT);
  });

  it("a runner's backends are compared in linear time", () => {
    let reads = 0;
    const placements = Array.from({ length: COUNT }, (_, index) =>
      Object.defineProperty(livePlacement(`p${index}`), "backend", { get: () => (reads++, "ort-cpu") }),
    );
    const choice = choosePlacement(placements, {
      wishes: { budgetMs: 10, refuseWithinMs: 0, minFidelity: 0, onMiss: "reject" },
      spentMs: 0,
      usualSpentMs: 0,
      // All are looked at, since none of them is heard.
      outlook: () => outlook(1, { silentMs: 5 }),
      calibratedMs: () => 1,
      random: lehmer(),
    });
    expect(choice.kind).toBe("admitted");
    expect(reads).toBeGreaterThan(COUNT);
    expect(reads).toBeLessThan(4 * COUNT);
  });
});
