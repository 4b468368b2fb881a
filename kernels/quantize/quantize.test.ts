import { expect, test } from "vitest";
import { testKernel } from "../../test/kernels/test-kernel.ts";
import { quantize } from "./quantize.kernel.ts";
import { quantizeReference } from "./quantize.reference.ts";

testKernel(quantize, [
  { channels: 6, length: 135 },
  { channels: 1, length: 1 },
  { channels: 2, length: 17 },
  { channels: 3, length: 16 },
  { channels: 5, length: 515 },
  { channels: 65_535, length: 3 },
  { channels: 2, length: 2 ** 19 },
]);

test("the reference takes ties to the even step and saturates", () => {
  const x = Float32Array.of(0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 1000, -1000);
  const inputs = { x, scales: Float32Array.of(1), zeroPoints: Int32Array.of(0) };
  const reference = quantizeReference(inputs, { channels: 1, length: x.length });
  expect(Array.from(x, (_, index) => reference.element(index) + 0)).toEqual([0, 2, 2, 0, -2, -2, 127, -128]);
});

test("inputs have ties and values beyond int8 on both sides", () => {
  const shape = { channels: 2, length: 4096 };
  const inputs = quantize.generate(shape, 1);
  const { x, scales } = inputs as { x: Float32Array; scales: Float32Array };
  const steps = Array.from(x.subarray(0, shape.length), (value) => value / (scales[0] ?? 1));
  expect(steps.filter((step) => Math.abs(step % 1) === 0.5).length).toBeGreaterThan(100);
  const reference = quantize.reference(inputs, shape);
  const outputs = Array.from({ length: reference.length }, (_, index) => reference.element(index));
  expect(outputs.filter((output) => output === 127).length).toBeGreaterThan(100);
  expect(outputs.filter((output) => output === -128).length).toBeGreaterThan(100);
});
