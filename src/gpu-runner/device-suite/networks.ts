import { readNetwork, readTensors } from "../../../models/zoo-case.ts";
import { ZOO } from "../../../models/zoo.ts";
import type { OnnxModel } from "../../onnx/onnx-model.ts";
import { readModel } from "../../onnx/read-model.ts";
import { writeModel } from "../../onnx/write-model.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import { median } from "../../stats/distribution/summary.ts";
import { quantiseWeights } from "../compression/quantise-weights.ts";
import { toFloat16 } from "../compression/to-float16.ts";
import type { DeviceHost } from "../device-host/device-host.ts";
import { agreementOf } from "../kinds/calibration/ask-placement.ts";
import { maxRelativeError } from "../networks/compare-outputs.ts";
import { type BlockCase, createBlock } from "./block-networks.ts";
import type { Check, SuiteContext } from "./check.ts";
import { judgeAgreement, listProviders, openProviders, type SuiteBackend } from "./open-providers.ts";
import { runCheck, skipCheck } from "./run-check.ts";

const PART = "networks";
const REFERENCE = "ort-cpu";
/** Answers that are timed end with the first of these. */
const MOST_ANSWERS = 30;
const MOST_MS = 500;

interface Network {
  readonly name: string;
  /** Whether an emulated GPU would take minutes for an answer. */
  readonly isLarge: boolean;
  readonly open: () => Promise<{ readonly file: Uint8Array<ArrayBuffer>; readonly inputs: readonly Tensor[] }>;
}

const BLOCKS: readonly BlockCase["block"][] = ["transformer", "resnet18", "mobilenet", "encoder"];

/** Weights whose products are computed in their own arithmetic where that is faster. */
const COMPRESSIONS = {
  float16: toFloat16,
  int8: (model: OnnxModel) => quantiseWeights(model, "dynamic"),
} as const;

const NETWORKS: readonly Network[] = [
  ...ZOO.map(({ name }) => ({
    name,
    isLarge: false,
    open: async () => ({ file: await readNetwork({ model: name }), inputs: await readTensors({ model: name }) }),
  })),
  ...BLOCKS.map((block) => ({ name: block, isLarge: true, open: async () => createBlock({ block }) })),
  ...Object.entries(COMPRESSIONS).map(([kind, compress]) => ({
    name: `encoder ${kind}`,
    isLarge: true,
    open: async () => {
      const { file, inputs } = createBlock({ block: "encoder" });
      return { file: writeModel(compress(readModel(file)).model), inputs };
    },
  })),
];

/**
 * Runs every network of the zoo and six larger ones on our kernels and on each of ONNX Runtime's providers on the GPU,
 * and compares their answers with its CPU provider's by the tolerance of placements.
 */
export async function* checkNetworks(context: SuiteContext): AsyncGenerator<Check> {
  const { host, done } = context;
  const present = await listProviders();
  const backends: readonly SuiteBackend[] = ["wgsl", ...present];
  const nameOf = (network: Network, backend: string) => `${network.name} ${backend}`;
  if (NETWORKS.every((network) => backends.every((backend) => done(nameOf(network, backend))))) return;
  const providers = await openProviders(host, present);
  try {
    for (const network of NETWORKS) {
      const wanted = backends.filter((backend) => !done(nameOf(network, backend)));
      if (wanted.length === 0) continue;
      const opened = await network.open();
      const expected = await settle(askReference(context, network.name, opened));
      for (const backend of wanted) {
        const name = nameOf(network, backend);
        const provider = backend === "wgsl" ? undefined : providers.get(backend);
        const device = provider === undefined ? host : provider.host;
        if (device === null) yield skipCheck(PART, name, provider?.reason ?? "");
        else if (network.isLarge && host.device.software) yield skipCheck(PART, name, "an emulation takes minutes");
        else {
          const measured = await runCheck({ part: PART, name }, context, async (signal) => {
            const { tensors, p50Ms } = await expected();
            const found = await ask(device, network.name, opened, signal);
            const relativeError = Math.min(Number.MAX_VALUE, maxRelativeError(tensors, found.tensors));
            const agreement = await agreementOf(opened.file);
            const { loadMs } = found;
            return { figures: { p50Ms: found.p50Ms, loadMs, ortCpuP50Ms: p50Ms, relativeError, agreement } };
          });
          yield judgeAgreement(measured, backend);
        }
      }
    }
  } finally {
    await Promise.all([...providers.values()].map(async (each) => each.host?.stop()));
  }
}

type Opened = Awaited<ReturnType<Network["open"]>>;

function askReference({ cpu, signal }: SuiteContext, modelKey: string, opened: Opened): Promise<Answered> {
  return ask(cpu, `${REFERENCE} ${modelKey}`, opened, signal);
}

/** The outcome of some work, thrown only to those who ask for it. */
async function settle<Value>(work: Promise<Value>): Promise<() => Promise<Value>> {
  await work.catch(() => {});
  return () => work;
}

interface Answered {
  readonly tensors: readonly Tensor[];
  readonly loadMs: number;
  /** Of an answer to one row, there and back. */
  readonly p50Ms: number;
}

/** Loads a network, and answers the same row again and again. */
async function ask(
  host: DeviceHost,
  modelKey: string,
  { file, inputs }: Opened,
  signal: AbortSignal,
): Promise<Answered> {
  const { loadMs } = await host.loadModel({ modelKey, read: async () => file });
  try {
    const answer = () => host.infer(modelKey, inputs, { requestId: modelKey, signal });
    const { tensors } = await answer();
    const durationsMs: number[] = [];
    const begunMs = performance.now();
    while (durationsMs.length === 0 || (durationsMs.length < MOST_ANSWERS && performance.now() - begunMs < MOST_MS)) {
      const startedMs = performance.now();
      await answer();
      durationsMs.push(performance.now() - startedMs);
    }
    return { tensors, loadMs, p50Ms: median(durationsMs) };
  } finally {
    await host.unloadModel(modelKey).catch(() => {});
  }
}
