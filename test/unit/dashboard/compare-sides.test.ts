import { describe, expect, it } from "vitest";
import { kindOf, sideOptions, usableKinds, usualSides } from "../../../src/dashboard/history/compare-sides.ts";
import type { HistoryPoint } from "../../../src/protocol/history/history.ts";
import { parseSide } from "../../../src/protocol/history/comparison.ts";
import { createContentId } from "../../../src/protocol/wire/id.ts";
import type { Series } from "../../../src/protocol/history/series.ts";

const NOW_MS = Date.parse("2026-11-22T01:20:00Z");

function aSeries(label: string | null, fingerprintId: string | null): Series {
  return { label, fingerprintId, fingerprint: null } as Series;
}

describe("the sides of a comparison", () => {
  it("are what the series differ in, and all are read by the edge", async () => {
    const [device, other] = await Promise.all(["a", "b"].map((text) => createContentId("fingerprint", text)));
    const runs = await Promise.all(["1", "2"].map((text) => createContentId("run", text)));
    const points = runs.map((runId, index) => ({ runId, at: `2026-11-2${index}T00:00:00.000Z` }) as HistoryPoint);
    const series = [aSeries("main", device ?? null), aSeries("a=b", other ?? null), aSeries(null, null)];
    const options = sideOptions(series, points, NOW_MS);
    expect(options.label.map(({ name }) => name)).toEqual(["a=b", "main"]);
    expect(options.run[0]).toEqual({ text: `run:${runs[1]}`, name: "2026-11-21 00:00 UTC" });
    for (const { text } of Object.values(options).flat()) expect(parseSide(text)).toHaveProperty("side");
    expect(usableKinds(options)).toEqual(["label", "device", "window", "run"]);
    expect(usualSides("label", options)).toEqual({ a: "label:main", b: "label:a=b" });
    expect(usualSides("run", options)).toEqual({ a: `run:${runs[0]}`, b: `run:${runs[1]}` });
    expect(usualSides("window", options)).toEqual({
      a: "window:2026-11-08T02:00:00.000Z/2026-11-15T02:00:00.000Z",
      b: "window:2026-11-15T02:00:00.000Z/2026-11-22T02:00:00.000Z",
    });
  });

  it("are of a kind, or of none that can be picked", () => {
    expect(kindOf("label:main")).toBe("label");
    expect(kindOf("baseline:main")).toBeNull();
    expect(kindOf(undefined)).toBeNull();
    const none = sideOptions([aSeries("main", null)], [], NOW_MS);
    expect(usableKinds(none)).toEqual(["window"]);
    expect(usualSides("label", none)).toBeNull();
  });
});
