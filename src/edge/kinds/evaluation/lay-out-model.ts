import { type Activation, PolicyNetwork } from "../../../protocol/models/policy-network.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { DenseNetwork, DenseStep } from "../../models/dense-network.ts";
import { readDenseNetwork } from "../../models/read-dense-network.ts";
import { digestOf, getArtifact, hasArtifact, putArtifact } from "../../store/artifact-store.ts";
import type { NamedVersion } from "../../store/models/model-store.ts";

/** A model as one row of parameters in the runners' layout of policies, and the artifact that holds the row. */
export interface ModelRow {
  readonly inputs: number;
  readonly outputs: number;
  readonly network: PolicyNetwork;
  readonly parameters: number;
  readonly digest: string;
}

export type LaidOutModel =
  | { readonly ok: true; readonly row: ModelRow }
  | { readonly ok: false; readonly message: string };

/** Activations of policies, and softmax, which changes no choice. */
const KNOWN: ReadonlySet<string> = new Set<Activation | "softmax">(["none", "relu", "tanh", "sigmoid", "softmax"]);

/**
 * Lays out a model's weights as the row of a policy and stores them as a content-addressed artifact, so that it is
 * written once. Reports the deviation if the model is not a chain of dense layers with one activation.
 */
export async function layOutModel(bucket: R2Bucket, version: NamedVersion): Promise<LaidOutModel> {
  if (version.files.length > 0) {
    return { ok: false, message: `it is larger than ${LIMITS.modelBytes} bytes, the most that a policy's file has` };
  }
  const object = await getArtifact(bucket, version.digest);
  if (object === null) return { ok: false, message: "its file is gone" };
  const dense = readDenseNetwork(new Uint8Array(await object.arrayBuffer()), version);
  if (!dense.ok) return { ok: false, message: `it ${dense.message}` };
  const form = readForm(dense.network);
  if (!form.ok) return form;
  const row = layOutRow(dense.network);
  const digest = await digestOf(row.buffer);
  if (!(await hasArtifact(bucket, digest))) await putArtifact(bucket, digest, row.buffer);
  const outputs = dense.network.outputShape.reduce((product, size) => product * size, 1);
  const { network } = form;
  return { ok: true, row: { inputs: dense.network.inputs, outputs, network, parameters: row.length, digest } };
}

/** Dense layers with one activation between all of them, and one after the last. */
export function readForm({
  steps,
}: Pick<DenseNetwork, "steps">):
  | { readonly ok: true; readonly network: PolicyNetwork }
  | { readonly ok: false; readonly message: string } {
  const layers: { outputs: number; activation: string }[] = [];
  for (const step of steps) {
    const last = layers.at(-1);
    if (step.kind === "dense") layers.push({ outputs: step.outputs, activation: "none" });
    else if (last === undefined || last.activation !== "none") return wrong("it has an activation behind no layer");
    else last.activation = step.kind;
  }
  const [hidden, output] = [layers.slice(0, -1), layers.at(-1)!];
  const kinds = [...new Set(hidden.map(({ activation }) => activation))];
  if (kinds.length > 1) return wrong(`its hidden layers have several activations: ${kinds.join(", ")}`);
  const network = PolicyNetwork.safeParse({
    kind: "mlp",
    hidden: hidden.map(({ outputs }) => outputs),
    activation: kinds[0] ?? "tanh",
    // Softmax keeps the largest of several outputs the largest.
    outputActivation: output.activation === "softmax" ? "none" : output.activation,
  });
  const unknown = layers.find(({ activation }) => !KNOWN.has(activation));
  if (unknown !== undefined) return wrong(`it has the activation ${unknown.activation}`);
  return network.success ? { ok: true, network: network.data } : wrong("it is deeper or wider than policies may be");
}

function wrong(message: string): { ok: false; message: string } {
  return { ok: false, message };
}

type Dense = Extract<DenseStep, { kind: "dense" }>;

/** Layer by layer, weights [outputs, inputs], then biases; an ONNX file has weights [inputs, outputs]. */
function layOutRow({ steps }: DenseNetwork): Float32Array<ArrayBuffer> {
  const layers = steps.filter((step): step is Dense => step.kind === "dense");
  const row = new Float32Array(layers.reduce((sum, { inputs, outputs }) => sum + (inputs + 1) * outputs, 0));
  let at = 0;
  for (const { inputs, outputs, weights, bias } of layers) {
    for (let output = 0; output < outputs; output++) {
      for (let input = 0; input < inputs; input++) row[at++] = weights[input * outputs + output]!;
    }
    row.set(bias, at);
    at += outputs;
  }
  return row;
}
