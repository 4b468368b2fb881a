import { expect, test } from "vitest";
import { normalQuantile } from "./normal-quantile.ts";

test.each([
  [0.5, 0],
  [0.75, 0.6744897501960817],
  [0.975, 1.959963984540054],
  [1e-10, -6.361340902404056],
  [1e-20, -9.262340089798409],
])("the quantile of %d is %d", (p, quantile) => {
  expect(normalQuantile(p)).toBeCloseTo(quantile, 13);
  if (p > 1e-9) expect(normalQuantile(1 - p)).toBeCloseTo(-quantile, 13);
});
