import { expect, it } from "vitest";
import { drawHeat } from "../../../../src/edge/plots/draw-heat.ts";
import type { HeatSpec } from "../../../../src/edge/plots/heat-plot.ts";

const spec: HeatSpec = {
  title: "mountain-car-continuous: fitness of elites by behaviour",
  description: "2 of 4 cells",
  x: { label: "position", low: 0, high: 1, cells: 2 },
  y: { label: "speed", low: 0, high: 1, cells: 2 },
  values: Float64Array.of(1, Number.NaN, Number.NaN, 2),
};

it("shortens a title that is wider than the picture, and keeps it whole for who is read to", () => {
  const narrow = drawHeat(spec, { theme: "light", width: 280 });
  expect(narrow).toContain(`<title>${spec.title}</title>`);
  expect(narrow).toMatch(/>mountain-car-continuous: fit[^<]*…<\/text>/);
  expect(drawHeat(spec, { theme: "light", width: 720 })).toContain(`${spec.title}</text>`);
});
