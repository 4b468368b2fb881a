import { cpus } from "node:os";
import { ZOO } from "../models/zoo.ts";
import type { OpenNetwork } from "../src/gpu-runner/compression/variants/ask-network.ts";
import { openJudge } from "../src/gpu-runner/compression/variants/judge-variant.ts";
import { relativeError } from "../src/gpu-runner/networks/compare-outputs.ts";
import { heldOutQuestions } from "../src/gpu-runner/compression/variants/question-source.ts";
import type { Tensor } from "../src/protocol/wire/tensor.ts";
import { mean, median } from "../src/stats/distribution/summary.ts";
import type { Bench } from "./benches.ts";
import {
  type CompressedNetwork,
  makeOurs,
  makeTheirs,
  openOurs,
  openPlain,
  readBlock,
  readZooNetwork,
  RECIPES,
  type RecipeName,
  rowsOf,
} from "./compression/recipes.ts";
import { installPython, type PythonProgram, startPython } from "./python-program.ts";
import { createRow, type Metric, type PeerResult } from "./row.ts";

const ENVIRONMENT = {
  folder: new URL("compression/.venv", import.meta.url),
  requirements: new URL("compression/requirements.txt", import.meta.url),
  ready: "bin/onnxruntime_test",
};
const SCRIPT = new URL("compression/quantise.py", import.meta.url);
const PEER = "onnxruntime-tools";
const METRICS = {
  size: { unit: "bytes", better: "lower" },
  time: { unit: "ms", better: "lower" },
  error: { unit: "relative", better: "lower" },
  fidelity: { unit: "share", better: "higher" },
} as const satisfies Record<string, Metric>;
type Name = keyof typeof METRICS;
/** Shortest duration of a round, and the most rows that outputs are compared on. */
const ROUND_MS = 100;
const COMPARED_ROWS = 32;
/** Outputs further off than zeros would be are wrong; without any error nothing was quantised. */
const MOST_ERROR = 1;

/**
 * Variants by whole numbers against the files that ONNX Runtime's own quantisation tools make of the same network on the
 * same rows, each on one thread of the CPU provider: size, the median time of a row, the root mean square of the errors
 * relative to the network's answers, and the task's own metric as a share of the network's.
 */
export const benchCompression: Bench = async function* benchCompression({ bench, rounds, say }) {
  const tools = await startTools(() => say(`${bench}: installing onnxruntime's tools (once)`));
  const device = { device: cpus()[0]?.model.trim() ?? "unknown", software: false };
  const ratios = new Map<string, number[]>();
  try {
    for (const name of [...ZOO.map((model) => model.name), null]) {
      const network = name === null ? readBlock() : await readZooNetwork(name);
      const judge = await openNetworkJudge(network);
      for (const recipe of Object.keys(RECIPES) as RecipeName[]) {
        say(`${bench}: ${network.name} ${recipe}`);
        const { ours, theirs } = await compare(network, recipe, { tools, judge, rounds });
        for (const metric of Object.keys(METRICS) as Name[]) {
          if (metric === "fidelity" && judge.fidelityOf === null) continue;
          const found: PeerResult =
            theirs instanceof Error ? { reason: theirs.message } : { values: theirs.get(metric) ?? [] };
          const own: PeerResult = ours instanceof Error ? { reason: ours.message } : { values: ours.get(metric) ?? [] };
          const row = { bench, case: `${network.name} ${recipe}`, rounds, ...device };
          const made = createRow(row, [metric, METRICS[metric]], own, { name: PEER, ...found });
          yield made;
          const key = `${recipe} ${metric}`;
          if (made.ratio !== null) ratios.set(key, [...(ratios.get(key) ?? []), made.ratio]);
        }
      }
    }
    for (const [key, values] of ratios) {
      const [recipe, metric] = key.split(" ") as [string, Name];
      const row = { bench, case: `geometric mean of ${values.length} ratios, ${recipe}`, rounds, ...device };
      const ratio = Math.exp(mean(values.map(Math.log)));
      yield createRow(row, [metric, { unit: "ratio", better: "higher" }], [ratio], { name: PEER, values: [1] });
    }
  } finally {
    if (!(tools instanceof Error)) await tools.close();
  }
};

/** The tools, or the reason why they do not run here. */
async function startTools(say: () => void): Promise<PythonProgram | Error> {
  try {
    await installPython(ENVIRONMENT, say);
    return startPython(ENVIRONMENT, SCRIPT);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

interface Judge {
  /** Answers of the network itself, one for each question. */
  readonly originals: readonly Tensor[];
  readonly questions: readonly (readonly Tensor[])[];
  /** Share of the network's own metric; null without data. */
  readonly fidelityOf: ((file: Uint8Array, open: typeof openOurs) => Promise<number>) | null;
}

async function openNetworkJudge(network: CompressedNetwork): Promise<Judge> {
  const rows = rowsOf(network).measured;
  const single = network.inputs.map((input) => ({ ...input, shape: input.shape.with(0, 1) }));
  const questions = [...heldOutQuestions(network.heldOut, single, rows.slice(0, COMPARED_ROWS)).questions()];
  const own = await openPlain(network.file);
  const originals = await askAll(own, questions);
  await own.close();
  if (!network.isOfData) return { originals, questions, fidelityOf: null };
  const { signal } = new AbortController();
  const evidence = { heldOut: network.heldOut, rows };
  const fidelityOf = async (file: Uint8Array, open: typeof openOurs) => {
    const judge = await openJudge(
      network.file,
      network.inputs,
      evidence,
      (each) => (each === network.file ? openPlain : open)(each),
      signal,
    );
    return (await judge(file)).value;
  };
  return { originals, questions, fidelityOf };
}

/** First outputs. */
async function askAll(opened: OpenNetwork, questions: Judge["questions"]): Promise<Tensor[]> {
  const answers: Tensor[] = [];
  for (const question of questions) {
    const [tensor] = await opened.ask(question);
    answers.push({ ...tensor!, bytes: tensor!.bytes.slice() });
  }
  return answers;
}

type Values = ReadonlyMap<Name, readonly number[]>;

interface Means {
  readonly tools: PythonProgram | Error;
  readonly judge: Judge;
  readonly rounds: number;
}

/** Both files, judged before they take turns, each of them first in every other round. One that fails drops out. */
async function compare(
  network: CompressedNetwork,
  recipe: RecipeName,
  { tools, judge, rounds }: Means,
): Promise<{ ours: Values | Error; theirs: Values | Error }> {
  const entrants = {
    ours: await makeOurs(network, recipe)
      .then((file) => enter(file, openOurs, judge))
      .catch(asError),
    theirs:
      tools instanceof Error
        ? tools
        : await makeTheirs(network, recipe, tools)
            .then((file) => enter(file, openPlain, judge))
            .catch(asError),
  };
  for (let round = 0; round < rounds; round++) {
    const order = ["ours", "theirs"] as const;
    for (const name of round % 2 === 0 ? order : order.toReversed()) {
      const entrant = entrants[name];
      if (entrant instanceof Error) continue;
      try {
        await entrant.measure();
      } catch (error) {
        entrants[name] = asError(error);
        await entrant.close();
      }
    }
  }
  const finish = async (entrant: (typeof entrants)["ours"]) => {
    if (entrant instanceof Error) return entrant;
    await entrant.close();
    return entrant.values;
  };
  return { ours: await finish(entrants.ours), theirs: await finish(entrants.theirs) };
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));

async function enter(file: Uint8Array, open: typeof openOurs, { originals, questions, fidelityOf }: Judge) {
  const opened = await open(file);
  const error = relativeError(originals, await askAll(opened, questions));
  if (error === 0 || !(error < MOST_ERROR)) {
    await opened.close();
    throw new Error(error === 0 ? "it quantised nothing of this network" : `its answers are off by ${error}`);
  }
  const times: number[] = [];
  const values = new Map<Name, readonly number[]>([
    ["size", [file.byteLength]],
    ["time", times],
    ["error", [error]],
  ]);
  if (fidelityOf !== null) values.set("fidelity", [await fidelityOf(file, open)]);
  return {
    values,
    close: opened.close,
    async measure() {
      const [question] = questions;
      const durationsMs: number[] = [];
      const startedAt = performance.now();
      for (let now = startedAt; now - startedAt < ROUND_MS;) {
        await opened.ask(question!);
        const endedAt = performance.now();
        durationsMs.push(endedAt - now);
        now = endedAt;
      }
      times.push(median(durationsMs));
    },
  };
}
