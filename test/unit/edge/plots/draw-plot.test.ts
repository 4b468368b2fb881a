import { describe, expect, it } from "vitest";
import { curvePlot } from "../../../../src/edge/kinds/validation/curve-plot.ts";
import { drawPlot } from "../../../../src/edge/plots/draw-plot.ts";
import { frontPlot } from "../../../../src/edge/kinds/optimisation/front-plot.ts";
import type { PlotSpec } from "../../../../src/edge/plots/plot-spec.ts";
import { sweepPlot } from "../../../../src/edge/models/sweep/sweep-plots.ts";
import { analyseSweep } from "../../../../src/edge/models/sweep/analyse-sweep.ts";
import { createId } from "../../../../src/protocol/wire/id.ts";
import { summarise } from "../../../../src/stats/distribution/distribution.ts";
import { infeasibleResult, optimisationResult, validationResult } from "../../../edge/stack/validation-samples.ts";

const look = { theme: "light", width: 720 } as const;
const count = (svg: string, pattern: RegExp) => [...svg.matchAll(pattern)].length;
/** Numbers of all attributes that place something. */
const placed = (svg: string, names: string) =>
  [...svg.matchAll(new RegExp(` (?:${names})="([^"]*)"`, "g"))].map((match) => Number(match[1]));

function curve(): PlotSpec {
  const server = validationResult().scenarios.find((each) => each.server !== null);
  if (server?.server == null) throw new Error("the sample has no server scenario");
  return curvePlot("lenet5", server, server.server);
}

function front(result = optimisationResult()): PlotSpec {
  const spec = frontPlot("lenet5", result);
  if (spec === null) throw new Error("nothing was measured");
  return spec;
}

function sweep(latencyMs?: number): PlotSpec {
  const steps = [1, 2, 4, 8, 16].map((rows) => ({ rows, serviceMs: summarise([3 + rows]) }));
  const budget = { budgetBytes: 1_500, of: "asked", share: null } as const;
  const analysis = analyseSweep(steps, { baseBytes: 1_000, bytesPerRow: 100 }, { budget, latencyMs });
  const place = { placementId: createId("placement"), runnerId: createId("runner"), deviceKey: "cpu" };
  const about = { model: "lenet5", version: 1, variant: "int8", backend: "ort-cpu", software: false } as const;
  return sweepPlot({ ...place, ...about, ...analysis }, latencyMs);
}

describe.each([
  ["a curve", curve],
  ["a front", () => front()],
  ["a front without a best", () => front(infeasibleResult())],
  ["a sweep", () => sweep(12)],
])("%s", (_, specOf) => {
  it.each([280, 720, 2_000])("keeps everything inside at %i pixels", (width) => {
    const svg = drawPlot(specOf(), { theme: "light", width });
    const height = Number(/ height="([\d.]+)"/.exec(svg)?.[1]);
    const xs = placed(svg, "x|cx");
    expect(Math.min(...xs)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...xs)).toBeLessThanOrEqual(width);
    const ys = placed(svg, "y|cy");
    expect(Math.min(...ys)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...ys)).toBeLessThanOrEqual(height);
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("has a title and a description, and is one image", () => {
    const svg = drawPlot(specOf(), look);
    expect(svg).toMatch(/^<svg [^>]*role="img"[^>]*><title>[^<]+<\/title><desc>[^<]+<\/desc>/);
  });

  it("holds no script, no link and, in a fixed theme, no style", () => {
    for (const theme of ["light", "dark"] as const)
      expect(drawPlot(specOf(), { theme, width: 720 })).not.toMatch(/<script|href|<style|style=|\son\w+=|url\(|class=/);
    const auto = drawPlot(specOf(), { theme: "auto", width: 720 });
    expect(auto).not.toMatch(/<script|href|style=|\son\w+=|url\(/);
    expect(auto).toContain("@media (prefers-color-scheme:dark)");
  });
});

describe("a curve", () => {
  it("marks each rate that was tried by what became of it, and its bound and highest rate", () => {
    const svg = drawPlot(curve(), look);
    expect(count(svg, /<title>[\d,]+\/s: p99 /g)).toBe(10);
    for (const text of ["bound 10 ms", "highest 900/s", "bound missed", "confirmed again", "p50"])
      expect(svg).toContain(`>${text}</text>`);
    expect(svg).toContain("through the edge");
  });

  it("says so where no rate holds, and names nothing that is not there", () => {
    const server = { highestRatePerS: null, boundMs: 1, searched: true, front: [] };
    const trial = validationResult().scenarios[1]?.server?.curve[4];
    const { scenario } = validationResult().scenarios[1] ?? {};
    if (trial === undefined || scenario === undefined) throw new Error("the sample has no server scenario");
    const svg = drawPlot(curvePlot("x", { scenario, path: "runner" }, { ...server, curve: [trial] }), look);
    expect(svg).toContain("no rate that was tried keeps it");
    expect(svg).not.toContain("bound kept");
    expect(svg).not.toContain("highest ");
  });
});

describe("a front", () => {
  it("marks the best, the default and what was tried besides, and the targets", () => {
    const svg = drawPlot(front(), look);
    expect(count(svg, /<title>fp32 on cpu by ort-cpu/g)).toBe(5);
    for (const text of ["best", "default", "tried", "Pareto", "front", "p99 ≤ 10 ms", "≥ 1,000/s"])
      expect(svg).toContain(`>${text}</text>`);
    expect(svg).toContain("5 of 6 trials were measured.");
  });

  it("marks what comes nearest where nothing fits, and says why", () => {
    const svg = drawPlot(front(infeasibleResult()), look);
    expect(svg).toContain(">nearest miss</text>");
    expect(svg).not.toContain(">best</text>");
    expect(svg).toContain("None reaches every target.");
  });

  it("is none where nothing was measured", () => {
    const { trials } = optimisationResult();
    expect(frontPlot("x", optimisationResult({ trials: trials.slice(-1), pareto: [], best: null }))).toBeNull();
  });
});

describe("a sweep", () => {
  it("marks knee, largest safe batch and bound", () => {
    const svg = drawPlot(sweep(12), look);
    for (const text of ["knee 4", "largest safe 5", "bound 12 ms", "rows/s", "p99"])
      expect(svg).toContain(`>${text}</text>`);
    expect(drawPlot(sweep(), look)).not.toContain("bound");
  });
});

it("escapes every text, and drops what XML does not allow", () => {
  const name = `<script>alert("1")</script>&'\u0000\ud800`;
  const svg = drawPlot({ ...curve(), title: name, description: name, xLabel: name }, look);
  expect(svg).not.toContain("<script");
  expect(svg).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&apos;\ufffd\ufffd");
});
