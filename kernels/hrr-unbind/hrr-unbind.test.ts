import { describe } from "vitest";
import { testKernel } from "../../test/kernels/test-kernel.ts";
import { hrrUnbind } from "./hrr-unbind.kernel.ts";

// Binding has the same programs; this covers the rest.
testKernel(
  hrrUnbind,
  [
    { pairs: 3, dimension: 256 },
    { pairs: 5, dimension: 8 },
    { pairs: 2, dimension: 101 },
  ],
  { "in-workgroup": { lanes: 4 } },
);

// Only columns-and-rows takes each of these apart in a way of its own; a software device compiles the others for seconds.
describe("at the other sizes that fall into columns and rows", () => {
  const [columnsAndRows] = hrrUnbind.variants;
  testKernel({ ...hrrUnbind, variants: [{ ...columnsAndRows, axes: [] }] }, [
    { pairs: 3, dimension: 512 },
    { pairs: 5, dimension: 1024 },
    { pairs: 2, dimension: 2048 },
    { pairs: 1, dimension: 4096 },
  ]);
});
