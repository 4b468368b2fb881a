import type { Tensor } from "../../protocol/tensor.ts";
import type { OrtBackend } from "../serving/backends/ort-backend.ts";

/** A network that answers, until it is closed. */
export interface OpenNetwork {
  readonly ask: (inputs: readonly Tensor[]) => Promise<Tensor[]>;
  readonly close: () => Promise<void>;
}

/** Opens the file of a network. Throws ProblemError where it cannot be loaded. */
export type NetworkOpener = (file: Uint8Array) => Promise<OpenNetwork>;

/** Networks by ONNX Runtime in this process. */
export function openByOrt(ort: Pick<OrtBackend, "load" | "run" | "unload">): NetworkOpener {
  let opened = 0;
  return async (file) => {
    const key = `variant ${opened++}`;
    await ort.load(key, file);
    return {
      ask: async (inputs) => (await ort.run(key, inputs)).tensors,
      close: () => ort.unload(key),
    };
  };
}
