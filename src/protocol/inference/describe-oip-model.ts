import { type Backend, GPU_BACKENDS } from "../fleet/hardware.ts";
import type { TensorSpec } from "../models/model.ts";
import { LIMITS } from "../wire/limits.ts";
import { OIP_DATATYPES, type OipConfig, type OipModel } from "./oip.ts";

/** What a server of the Open Inference Protocol says of a model version. */
export interface OipSubject {
  readonly name: string;
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
}

/** The place of a version as an instance. */
interface OipInstance {
  readonly id: string;
  readonly backend: Backend;
  readonly software: boolean;
}

/** Name of the file's format, and of what serves it. */
const PLATFORM = "onnx";
const BACKEND = "millrace";

export function describeOipModel({ name, inputs, outputs }: OipSubject, versions: readonly number[]): OipModel {
  const specs = (tensors: readonly TensorSpec[]) =>
    tensors.map((tensor) => ({ name: tensor.name, datatype: OIP_DATATYPES[tensor.dtype], shape: tensor.shape }));
  return { name, versions: versions.map(String), platform: PLATFORM, inputs: specs(inputs), outputs: specs(outputs) };
}

/** Configuration of a version that these instances serve. A model whose tensors all begin with a free size has rows. */
export function describeOipConfig(
  { name, inputs, outputs }: OipSubject,
  instances: readonly OipInstance[],
  parameters: Readonly<Record<string, string>>,
): OipConfig {
  const hasRows = inputs.length > 0 && [...inputs, ...outputs].every(({ shape }) => shape[0] === -1);
  const describe = (tensor: TensorSpec) => describeTensor(tensor, hasRows);
  return {
    name,
    platform: PLATFORM,
    backend: BACKEND,
    version_policy: { all: {} },
    max_batch_size: hasRows ? LIMITS.batchRows : 0,
    input: inputs.map(describe),
    output: outputs.map(describe),
    instance_group: instances.map(({ id, backend, software }) => {
      const isGpu = !software && GPU_BACKENDS.has(backend);
      return { name: id, kind: isGpu ? "KIND_GPU" : "KIND_CPU", count: 1 };
    }),
    // No request waits for others to come: those that wait for the device are joined.
    ...(hasRows && { dynamic_batching: { max_queue_delay_microseconds: 0 } }),
    model_transaction_policy: { decoupled: false },
    parameters: Object.fromEntries(Object.entries(parameters).map(([key, value]) => [key, { string_value: value }])),
  };
}

function describeTensor({ name, dtype, shape }: TensorSpec, hasRows: boolean): OipConfig["input"][number] {
  const datatype = OIP_DATATYPES[dtype];
  const about = { name, data_type: `TYPE_${datatype === "BYTES" ? "STRING" : datatype}` };
  const dims = hasRows ? shape.slice(1) : shape;
  return dims.length > 0 ? { ...about, dims } : { ...about, dims: [1], reshape: { shape: [] } };
}
