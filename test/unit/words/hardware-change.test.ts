import { describe, expect, it } from "vitest";
import { describeHardwareChange, findHardwareChanges } from "../../../src/words/history.ts";
import type { Fingerprint } from "../../../src/protocol/fleet/hardware.ts";
import { instant } from "./sample-change.ts";

const old: Fingerprint = { adapter: "GPU", driver: "1", dawn: "1", toggles: [], ort: null, cpu: "CPU" };

function span(seriesId: string, from: number, to: number) {
  return { seriesId, fingerprintId: null, from: instant(from), to: instant(to) };
}

describe("a change of hardware", () => {
  it("names the differences", () => {
    expect(describeHardwareChange(old, { ...old, driver: "2", ort: "1.30" })).toBe(
      "driver 1 to 2, ONNX Runtime none to 1.30",
    );
    expect(describeHardwareChange(old, { ...old, toggles: ["fast"] })).toBe("Dawn toggles");
    expect(describeHardwareChange(old, null)).toBe("other hardware");
  });

  it("lies where one series ended before another began, nearest first; those side by side are none", () => {
    const spans = [span("long-ago", 0, 10), span("before", 20, 30), span("beside", 35, 45), span("own", 40, 50)];
    const fingerprints = new Map([
      ["own", { ...old, driver: "2" }],
      ["before", old],
    ]);
    expect(findHardwareChanges(spans, "own", fingerprints)).toEqual([
      { at: instant(40), otherId: "before", isBefore: true, text: "driver 1 to 2" },
    ]);
    expect(findHardwareChanges(spans, "before", fingerprints).map(({ otherId }) => otherId)).toEqual([
      "long-ago",
      "beside",
    ]);
  });
});
