import type { OnnxContainer, OnnxModel } from "../../onnx/onnx-model.ts";
import { type TensorOutput, tensorOutputs } from "../../onnx/tensor-outputs.ts";
import type { TensorSpec } from "../../protocol/models/model.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import type { FieldError } from "../../protocol/wire/problem.ts";
import { DType } from "../../protocol/wire/tensor.ts";
import { shorten } from "./check-graph.ts";

export interface Signature {
  readonly inputs: TensorSpec[];
  readonly outputs: TensorSpec[];
}

export type SignatureResult =
  | ({ readonly ok: true } & Signature)
  | { readonly ok: false; readonly messages: readonly string[] };

/** Names of values that are no tensors, in messages. */
const CONTAINERS: Record<OnnxContainer, string> = {
  sequence: "a sequence",
  "sequence of maps": "a sequence of maps",
  map: "a map",
  optional: "optional",
  "sparse tensor": "a sparse tensor",
  opaque: "of a type that only its own operators know",
};

/** Inputs and outputs of a network, and all errors that no request could name or carry. */
export function readSignature(model: Pick<OnnxModel, "nodes" | "inputs" | "outputs">): SignatureResult {
  const { inputs } = model;
  const outputs = tensorOutputs(model);
  const tensors = outputs.filter((output) => output !== null);
  const messages = [
    ...(inputs.length === 0 ? ["the graph has no inputs"] : []),
    ...(outputs.length === 0 ? ["the graph has no outputs"] : []),
    ...inputs.flatMap(({ name, container }) =>
      container === undefined
        ? []
        : [`the input ${shorten(name)} is ${CONTAINERS[container]}: only tensors can be sent`],
    ),
    ...model.outputs.flatMap(({ name, container }, index) =>
      container === undefined || outputs[index] !== null
        ? []
        : [`the output ${shorten(name)} is ${CONTAINERS[container]}, and cannot be made a tensor`],
    ),
    ...[inputs, tensors].flatMap(complaintsOf),
  ];
  if (messages.length > 0) return { ok: false, messages };
  return { ok: true, inputs: inputs.flatMap(toSpec), outputs: tensors.flatMap(toSpec) };
}

function complaintsOf(values: readonly TensorOutput[]): string[] {
  const { tensorsPerRequest, tensorNameLength, tensorRank } = LIMITS;
  if (values.length > tensorsPerRequest) return [`the graph has more than ${tensorsPerRequest} inputs or outputs`];
  return values.flatMap(({ name, dtype, shape }) => {
    if (name === "" || name.length > tensorNameLength) {
      return [`an input or output has a name that is not 1 to ${tensorNameLength} characters long`];
    }
    if (shape.length > tensorRank) return [`${name} has more than ${tensorRank} dimensions`];
    return DType.safeParse(dtype).success ? [] : [`${name} has elements of ${dtype}, which no request can carry`];
  });
}

function toSpec({ name, dtype, shape, labels }: TensorOutput): TensorSpec[] {
  const known = DType.safeParse(dtype);
  const labelled = labels === undefined ? {} : { labels: labels.slice(0, LIMITS.outputLabels) };
  return known.success ? [{ name, dtype: known.data, shape: shape.map(sizeOf), ...labelled }] : [];
}

/** A fixed size, or -1 if the file names or omits the dimension. */
function sizeOf(size: number | string): number {
  return typeof size === "number" ? size : -1;
}

/**
 * Errors of a file as a variant: its inputs and outputs must equal its version's, so that either may answer a request.
 */
export function compareSignatures(version: Signature, file: Signature): FieldError[] {
  return (["inputs", "outputs"] as const).flatMap((side) => {
    const [wanted, found] = [version[side], file[side]].map(describeTensors);
    return wanted === found ? [] : [{ pointer: "#", message: `has the ${side} ${found}, and the version ${wanted}` }];
  });
}

function describeTensors(specs: readonly TensorSpec[]): string {
  return specs.map(({ name, dtype, shape }) => `${name}: ${dtype} [${shape.join(", ")}]`).join(", ");
}
