import denseNetwork from "../../../../dist/edge-simd/dense-network.wasm";
import {
  type EdgeRunInput,
  type EdgeRunReply,
  type EdgeVariant,
  withRows,
} from "../../../protocol/models/edge-place.ts";
import { createSeededInputs } from "../../../protocol/models/model-inputs.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { ModelVersion } from "../../../protocol/models/model.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { type Tensor, tensorToJson, typedView } from "../../../protocol/wire/tensor.ts";
import type { Env } from "../../config.ts";
import type { DenseNetwork } from "../../models/dense-network.ts";
import { readDenseNetwork } from "../../models/read-dense-network.ts";
import { getArtifact } from "../../store/artifact-store.ts";
import { endTurn } from "../../turns.ts";
import { type DenseProgram, openDenseProgram, type Precision } from "./dense-program.ts";
import { NetworkCache } from "./network-cache.ts";

/** The fields of a version that the edge needs to compute it. */
export type EdgeVersion = Pick<ModelVersion, "digest" | "inputs" | "outputs">;

/** A network in this isolate; only the program holds its weights. */
export interface EdgeNetwork
  extends DenseProgram, Pick<DenseNetwork, "inputs" | "output" | "outputShape" | "rowProducts"> {}

const PRECISIONS: Record<EdgeVariant, Precision> = { fp32: "fp32", "edge-int8": "int8" };
/** A load behind a request that has not ended by then was cut off with it. */
const OVERDUE_MS = 5_000;

const kept = new NetworkCache<EdgeNetwork>({ maxBytes: LIMITS.edgeNetworkBytes, maxCount: LIMITS.edgeNetworks });
/** Start of each network's background load: requests cannot share a promise, so they share a time. */
const warmingSinceMs = new Map<string, number>();

export function isLoaded({ digest }: EdgeVersion, variant: string): boolean {
  return kept.has(keyOf(digest, variant));
}

/** The network in this isolate, read from R2 where necessary. Throws `backend-failed` where that fails. */
export async function loadNetwork(env: Env, version: EdgeVersion, variant: string): Promise<EdgeNetwork> {
  const key = keyOf(version.digest, variant);
  const known = kept.use(key);
  if (known !== null) return known;
  const file = await getArtifact(env.ARTIFACTS, version.digest);
  if (file === null) throw new ProblemError("backend-failed", "The model's file is gone.");
  const loaded = openNetwork(new Uint8Array(await file.arrayBuffer()), version, variant);
  kept.keep(key, loaded);
  return loaded;
}

/** Loads behind a request, so that the next one finds the network here. */
export function warmNetwork(
  env: Env,
  version: EdgeVersion,
  variant: string,
  waitUntil: (work: Promise<unknown>) => void,
): void {
  const key = keyOf(version.digest, variant);
  const nowMs = Date.now();
  if (kept.has(key) || nowMs - (warmingSinceMs.get(key) ?? Number.NEGATIVE_INFINITY) < OVERDUE_MS) return;
  warmingSinceMs.set(key, nowMs);
  const load = loadNetwork(env, version, variant).catch(() => undefined);
  waitUntil(load.finally(() => warmingSinceMs.delete(key)));
}

/** Computes seeded inputs `repetitions` times, for a runner that calibrates the edge. Throws where that would take too long. */
export async function runAtEdge(env: Env, version: EdgeVersion, run: EdgeRunInput): Promise<EdgeRunReply> {
  // Start as a new isolate would.
  if (run.fresh) kept.drop(keyOf(version.digest, run.variant));
  const network = await loadNetwork(env, version, run.variant);
  const specs = withRows(version.inputs, run.rows);
  const { sizeBytes, rowProducts } = network;
  const products = rowProducts * (specs[0]?.shape[0] ?? 1);
  const most = Math.floor(LIMITS.edgeRunProducts / products);
  if (run.repetitions > most) {
    throw new ProblemError("invalid-request", "That would keep the edge too long.", {
      errors: [{ pointer: "#/repetitions", message: `must be at most ${most}` }],
    });
  }
  const ofTurn = Math.max(2, Math.ceil(LIMITS.edgeTurnProducts / products));
  // Inferences first.
  await endTurn();
  const [input] = createSeededInputs(specs, run.seed);
  if (input === undefined) throw new ProblemError("internal", "A dense network without an input was stored.");
  let output = computeRows(network, input);
  for (let done = 1; done < run.repetitions; done++) {
    if (done % ofTurn === 0) await endTurn();
    output = computeRows(network, input);
  }
  return { outputs: { [output.name]: tensorToJson(output) }, sizeBytes, rowProducts };
}

/** Computes the rows of an input; the input must match the version's signature. */
export function computeRows(network: EdgeNetwork, input: Tensor): Tensor {
  const { inputs, output, outputShape } = network;
  const values = typedView(input) as Float32Array;
  const found = network.run(values, values.length / inputs);
  const shape = [input.shape[0] ?? 1, ...outputShape];
  return { name: output, dtype: "float32", shape, bytes: new Uint8Array(found.buffer) };
}

function openNetwork(file: Uint8Array, version: EdgeVersion, variant: string): EdgeNetwork {
  const dense = readDenseNetwork(file, version);
  const precision = (PRECISIONS as Record<string, Precision | undefined>)[variant];
  if (!dense.ok || precision === undefined) {
    const reason = dense.ok ? `There is no variant ${variant} of it` : `It ${dense.message}`;
    throw new ProblemError("backend-failed", `The edge cannot compute this model. ${reason}.`);
  }
  const { inputs, output, outputShape, rowProducts } = dense.network;
  return { inputs, output, outputShape, rowProducts, ...openDenseProgram(denseNetwork, dense.network, precision) };
}

function keyOf(digest: string, variant: string): string {
  return `${digest} ${variant}`;
}
