import { checkOutput } from "../src/gpu-runner/gpu/check-output.ts";
import { inputsOf, type KernelAtShape, SEED, specOf } from "./kernel-at-shape.ts";

/** Throws where an output is not the kernel's, by its own f64 reference and tolerance, whoever computed it. */
export async function checkAgainstReference(input: KernelAtShape, output: Float32Array): Promise<void> {
  const spec = specOf(input);
  const reference = spec.reference(inputsOf(input), input.shape);
  if (output.length !== reference.length) {
    throw new RangeError(`it has ${output.length} elements, not ${reference.length}`);
  }
  await checkOutput(output as Float32Array<ArrayBuffer>, reference, spec.tolerance, input.shape, SEED, () => {});
}
