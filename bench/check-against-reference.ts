import { checkOutputs } from "../src/gpu-runner/kernels/benchmark/check-output.ts";
import { type KernelAtShape, referencesOf, SEED, specOf } from "./kernel-at-shape.ts";

/**
 * Throws where an output is not the kernel's, by its own f64 reference and tolerance. For a kernel with several
 * outputs, `joined` concatenates them in the references' order.
 */
export async function checkAgainstReference(input: KernelAtShape, joined: Float32Array): Promise<void> {
  const references = referencesOf(input);
  const length = references.reduce((total, reference) => total + reference.length, 0);
  if (joined.length !== length) throw new RangeError(`it has ${joined.length} elements, not ${length}`);
  let offset = 0;
  const outputs = references.map((reference) => joined.slice(offset, (offset += reference.length)));
  await checkOutputs(outputs, references, specOf(input).tolerance, input.shape, SEED, () => {});
}
