import { expect, test, vi } from "vitest";
import { type Contender, type Contest, runContest } from "../../../bench/contest.ts";
import type { Row } from "../../../bench/row.ts";

interface Script {
  readonly output?: number;
  readonly adapter?: string | null;
  readonly time?: number;
  readonly onMeasure?: () => void;
  readonly onClose?: () => void;
}

function scripted({ output = 1, adapter = null, time = 1, onMeasure, onClose }: Script): Contender<number> {
  return async () => ({
    opened: { output: Float32Array.of(output), adapter },
    measure: async () => {
      onMeasure?.();
      return { time };
    },
    close: async () => onClose?.(),
  });
}

type Contenders = Pick<Contest<number>, "ours" | "peers"> & Partial<Contest<number>>;

async function run(contenders: Contenders, rounds = 5): Promise<Row[]> {
  const contest: Contest<number> = {
    metrics: { time: { unit: "ms", better: "lower" } },
    cases: [{ name: "one", input: 1 }],
    device: { name: "scripted", software: true },
    check: (expected, [found]) => {
      if (found !== expected) throw new Error(`${found} is not ${expected}`);
    },
    ...contenders,
  };
  return Array.fromAsync(runContest(contest, { bench: "asked-for", rounds, save: false, say: () => {} }));
}

test("all take turns, a round each, and are closed", async () => {
  const order: string[] = [];
  const closed: string[] = [];
  const record = (name: string) => ({ onMeasure: () => order.push(name), onClose: () => closed.push(name) });
  const peers = { a: scripted({ ...record("a"), time: 3 }), b: scripted({ ...record("b"), time: 0.5 }) };
  const rows = await run({ ours: scripted(record("ours")), peers }, 2);
  expect(order).toEqual(["ours", "a", "b", "ours", "a", "b"]);
  expect(closed.toSorted()).toEqual(["a", "b", "ours"]);
  expect(rows.map(({ bench, peer, ratio }) => ({ bench, peer, ratio }))).toEqual([
    { bench: "asked-for", peer: "a", ratio: 3 },
    { bench: "asked-for", peer: "b", ratio: 0.5 },
  ]);
});

test("a metric that ours has no value of makes no row", async () => {
  const metrics = { time: { unit: "ms", better: "lower" }, "rows read": { unit: "rows", better: "lower" } } as const;
  const rows = await run({ ours: scripted({}), peers: { a: scripted({}) }, metrics });
  expect(rows.map(({ metric }) => metric)).toEqual(["time"]);
});

test("a peer that is wrong is never timed", async () => {
  const onMeasure = vi.fn<() => void>();
  const [row] = await run({ ours: scripted({}), peers: { a: scripted({ output: 2, onMeasure }) } });
  expect(row).toMatchObject({ ours: 1, ratio: null, reason: "its output is wrong: 2 is not 1" });
  expect(onMeasure).not.toHaveBeenCalled();
});

test("a peer on another adapter does not count; one on an unknown adapter does", async () => {
  const peers = { a: scripted({ adapter: "other" }), b: scripted({ adapter: null }) };
  const rows = await run({ ours: scripted({ adapter: "same" }), peers });
  expect(rows[0]).toMatchObject({ ratio: null, reason: "it ran on other, ours on same" });
  expect(rows[1]).toMatchObject({ ratio: 1 });
});

test("a peer that cannot start, or dies in a round, leaves its reason", async () => {
  const dies = vi.fn<() => void>().mockImplementationOnce(() => {});
  dies.mockImplementation(() => {
    throw new Error("its process ended");
  });
  const missing: Contender<number> = () =>
    Promise.reject(new Error("Cannot find package 'a' imported from /here\nand more"));
  const onClose = vi.fn<() => void>();
  const rows = await run({ ours: scripted({}), peers: { missing, dies: scripted({ onMeasure: dies, onClose }) } });
  expect(rows[0]).toMatchObject({ peer: "missing", ratio: null, reason: "Cannot find package 'a'" });
  expect(rows[1]).toMatchObject({ peer: "dies", ratio: null, reason: "its process ended" });
  expect(onClose).toHaveBeenCalledTimes(1);
});

test("where ours is wrong there is no row, and it is closed", async () => {
  const onClose = vi.fn<() => void>();
  await expect(run({ ours: scripted({ output: 2, onClose }), peers: {} })).rejects.toThrow("2 is not 1");
  expect(onClose).toHaveBeenCalledTimes(1);
});
