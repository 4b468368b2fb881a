import { expect, test } from "vitest";
import type { KernelBinding } from "../../kernels/kernel-spec.ts";
import { layoutBinding, padValues, unpadValues } from "../../src/gpu-runner/kernels/dispatch/padded-layout.ts";

test("rows of bytes are filled up to whole words", () => {
  const padded = layoutBinding(
    { name: "x", access: "read", dtype: "int8", extents: () => [2, 3], alignment: [1, 4] },
    {},
  );
  expect(padded).toMatchObject({ padded: [2, 4], sizeBytes: 8 });
  const onDevice = padValues(Int8Array.of(1, -2, 3, 4, 5, -128), padded);
  expect(onDevice).toEqual(Int8Array.of(1, -2, 3, 0, 4, 5, -128, 0));
  expect(unpadValues(onDevice, padded)).toEqual(Int8Array.of(1, -2, 3, 4, 5, -128));
});

function layout(extents: readonly number[], alignment: readonly number[]) {
  const binding: KernelBinding = { name: "x", access: "read", dtype: "float32", extents: () => extents, alignment };
  return layoutBinding(binding, {});
}

test("rows and columns are filled up with zeros", () => {
  const padded = layout([2, 3], [4, 4]);
  expect(padded).toMatchObject({ padded: [4, 4], sizeBytes: 64 });
  expect([...padValues(Float32Array.of(1, 2, 3, 4, 5, 6), padded)]).toEqual([
    1, 2, 3, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  ]);
});

test.each([
  [[5], [4]],
  [
    [3, 5],
    [1, 4],
  ],
  [
    [2, 3, 5],
    [2, 4, 8],
  ],
  [
    [4, 8],
    [4, 4],
  ],
])("values of %j aligned to %j come back as they were", (extents, alignment) => {
  const values = Int32Array.from({ length: extents.reduce((a, b) => a * b) }, (_, i) => i + 1);
  const padded = layout(extents, alignment);
  const onDevice = padValues(values, padded);
  expect(onDevice.byteLength).toBe(padded.sizeBytes);
  expect(unpadValues(onDevice, padded)).toEqual(values);
});
