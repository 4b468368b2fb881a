import { mkdir, writeFile } from "node:fs/promises";
import { drawPlot } from "../src/edge/plots/draw-plot.ts";
import type { PlotLayer, PlotPanel } from "../src/edge/plots/plot-spec.ts";
import { median } from "../src/stats/distribution/summary.ts";
import type { Bench } from "./benches.ts";
import { bentomlWith } from "./goodput/peers/bentoml.ts";
import { clipperWith } from "./goodput/peers/clipper-aimd.ts";
import { createFifoWithTimeouts } from "./goodput/peers/fifo.ts";
import type { CreatePolicy } from "./goodput/policy.ts";
import { runnerWith } from "./goodput/runner-alone.ts";
import { boundOf, createDevice, DEVICES, drawTraces, GOODPUT, KEPT, NOISES, playRounds } from "./queue.ts";
import { createRow, type Row } from "./row.ts";

const LOADS = [0.5, 1, 2, 3];
const CONFIDENCES = [0.5, 0.8, 0.9, 0.95, 0.99, 0.999];
const PLOT_PX = 760;
/** The plots' axis of broken promises is logarithmic. */
const LATE_TICKS = [0.1, 0.3, 1, 3, 10, 30, 100];
const LEAST_LATE = 0.1;
const SETTINGS = { unit: "settings", better: "lower", oursOnly: true } as const;
const RESULTS = new URL("results/", import.meta.url);

/** Pairs of a latency for the policy and one for the vision network. */
const LATENCIES_MS = [10, 20, 50].flatMap((policy) => [10, 50, 100].map((vision) => ({ policy, vision })));

interface Setting {
  readonly name: string;
  readonly create: CreatePolicy;
}

const pairs = (create: (latencies: (typeof LATENCIES_MS)[number]) => CreatePolicy): Setting[] =>
  LATENCIES_MS.map((each) => ({ name: `${each.policy} and ${each.vision} ms`, create: create(each) }));
const confident = (patience: number): Setting[] =>
  CONFIDENCES.map((confidence) => ({ name: `confidence ${confidence}`, create: runnerWith({ confidence, patience }) }));

const OURS = { "at once": confident(0), patient: confident(1) };
const PEERS = {
  "clipper-aimd": pairs(clipperWith),
  bentoml: pairs(bentomlWith),
  "fifo-timeouts": [{ name: "", create: createFifoWithTimeouts }],
};

interface Point {
  readonly name: string;
  readonly goodputs: readonly number[];
  readonly kept: readonly number[];
}

/**
 * Goodput against the share of admitted requests that were answered in budget: ours over its confidences, peers over
 * their settings, on the simulated devices of `queue`. A peer's row compares its setting that is best against ours with
 * the best of ours that keeps promises at least as well.
 */
export const benchFrontier: Bench = async function* benchFrontier({ bench, rounds, say, save }) {
  for (const deviceName of Object.keys(DEVICES)) {
    const panels: PlotPanel[] = [];
    for (const load of LOADS) {
      const name = `${deviceName}, ${load}×`;
      say(`${bench} ${name}`);
      const { serviceTimes, ratePerSecond } = createDevice(deviceName, load);
      const traces = drawTraces(ratePerSecond, rounds);
      const measure = async ({ name: setting, create }: Setting): Promise<Point> => {
        const played = await playRounds(create, traces, serviceTimes, NOISES["uneasy"]!);
        const scores = played.map(({ score }) => score);
        return {
          name: setting,
          goodputs: scores.map(({ goodput }) => goodput),
          kept: scores.map((score) => score["in budget of admitted"]),
        };
      };
      const context = { bench, case: name, rounds, device: "simulated", software: true };
      const ours = await measureAll(OURS, measure);
      const peers = await measureAll(PEERS, measure);
      const bounds = traces.slice(1).map((trace) => boundOf(trace, serviceTimes));
      yield* describeOurs(context, ours, bounds);
      for (const [peer, points] of Object.entries(peers))
        yield* compare(context, Object.values(ours).flat(), peer, points);
      panels.push({ label: `answers in budget a second, ${load}×`, layers: layersOf(ours, peers) });
    }
    if (save) await keepPlot(deviceName, panels);
  }
};

async function measureAll<Name extends string>(
  settings: Readonly<Record<Name, readonly Setting[]>>,
  measure: (setting: Setting) => Promise<Point>,
): Promise<Record<Name, Point[]>> {
  const all: Partial<Record<Name, Point[]>> = {};
  for (const [name, each] of Object.entries(settings) as [Name, Setting[]][]) {
    all[name] = [];
    for (const setting of each) all[name].push(await measure(setting));
  }
  return all as Record<Name, Point[]>;
}

function* describeOurs(
  context: Parameters<typeof createRow>[0],
  ours: Readonly<Record<string, readonly Point[]>>,
  bounds: readonly number[],
): Generator<Row> {
  for (const [way, points] of Object.entries(ours)) {
    for (const { name, goodputs, kept } of points) {
      const named = { ...context, case: `${context.case}, ${way}, ${name}` };
      yield createRow(named, ["goodput", GOODPUT], goodputs, { name: "oracle", values: bounds });
      yield createRow(named, ["in budget of admitted", { ...KEPT, oursOnly: true }], kept, null);
    }
  }
}

function* compare(
  context: Parameters<typeof createRow>[0],
  ours: readonly Point[],
  peer: string,
  points: readonly Point[],
): Generator<Row> {
  const goodput = ({ goodputs }: Point) => median(goodputs);
  const compared = points.flatMap((theirs) => {
    const asGood = ours.filter(({ kept }) => median(kept) >= median(theirs.kept));
    const [best] = asGood.toSorted((a, b) => goodput(b) - goodput(a));
    return best === undefined ? [] : [{ theirs, best, ratio: goodput(best) / Math.max(1e-9, goodput(theirs)) }];
  });
  const [least] = compared.toSorted((a, b) => a.ratio - b.ratio);
  if (least !== undefined) {
    const { best, theirs } = least;
    const name = theirs.name === "" ? peer : `${peer}, ${theirs.name}`;
    const values = { name, values: theirs.goodputs };
    yield createRow(context, ["goodput, promises kept as well", GOODPUT], best.goodputs, values);
  }
  const unmatched = points.length - compared.length;
  yield createRow(context, [`settings of ${peer} that keep more`, SETTINGS], [unmatched], null);
}

function layersOf(
  ours: Readonly<Record<keyof typeof OURS, readonly Point[]>>,
  peers: Readonly<Record<keyof typeof PEERS, readonly Point[]>>,
): PlotLayer[] {
  const at = ({ kept, goodputs }: Point) => [Math.max(LEAST_LATE, 100 - median(kept)), median(goodputs)] as const;
  const line = (way: keyof typeof OURS, dashed: boolean): PlotLayer => ({
    kind: "line",
    name: `ours, ${way}`,
    colour: "first",
    dashed,
    points: ours[way].map(at).toSorted(([a], [b]) => a - b),
  });
  const marks = (peer: keyof typeof PEERS, shape: "dot" | "square" | "diamond"): PlotLayer => ({
    kind: "marks",
    name: peer,
    colour: shape === "dot" ? "second" : shape === "square" ? "third" : "bad",
    shape,
    marks: peers[peer].map((point) => ({ x: at(point)[0], y: at(point)[1], title: point.name })),
  });
  return [
    line("at once", false),
    line("patient", true),
    marks("clipper-aimd", "dot"),
    marks("bentoml", "square"),
    marks("fifo-timeouts", "diamond"),
  ];
}

async function keepPlot(deviceName: string, panels: readonly PlotPanel[]): Promise<void> {
  const spec = {
    title: `Goodput against broken promises, simulated device "${deviceName}"`,
    description: `At ${LOADS.join(", ")} times the capacity: ours by confidence (${CONFIDENCES.join(", ")}), peers by setting.`,
    xLabel: `% of admitted requests that were not answered in budget (${LEAST_LATE}: at most that)`,
    xTicks: LATE_TICKS,
    panels,
  };
  await mkdir(RESULTS, { recursive: true });
  const svg = drawPlot(spec, { theme: "auto", width: PLOT_PX });
  await writeFile(new URL(`frontier-${deviceName}.svg`, RESULTS), `${svg}\n`);
}
