import { describe, expect, it } from "vitest";
import { keepRecent, readQuantities, SHOWN_S } from "../../../src/dashboard/runners/live-quantities.ts";
import { LiveReport } from "../../../src/protocol/fleet/health.ts";
import { device, report, sensor } from "../../edge/stack/health-samples.ts";

const START_MS = Date.parse("2026-11-22T12:00:00.000Z");
const at = (second: number) => new Date(START_MS + second * 1_000).toISOString();
const live = (second: number, told: Parameters<typeof report>[1] = {}) =>
  LiveReport.parse(report(0, { at: at(second), spanMs: 1_000, ...told }));

describe("reports that are kept", () => {
  const fill = (seconds: readonly number[]) =>
    seconds.reduce<readonly LiveReport[]>((kept, second) => keepRecent(kept, live(second)), []);

  it("are those of the last while", () => {
    const kept = fill(Array.from({ length: 1_000 }, (_, second) => second));
    expect([kept.length, kept[0]?.at, kept.at(-1)?.at]).toEqual([SHOWN_S + 1, at(999 - SHOWN_S), at(999)]);
  });

  it("are bounded however often they come", () => {
    expect(fill(Array.from({ length: 1_000 }, (_, index) => index / 100)).length).toBeLessThan(300);
  });

  it("begin anew after a clock was set back", () => {
    expect(fill([100, 101, 50]).map((each) => each.at)).toEqual([at(50)]);
  });
});

describe("what is charted", () => {
  const linesOf = (reports: readonly LiveReport[], quantity: string) =>
    Object.fromEntries(
      readQuantities(reports)
        .find(({ name }) => name === quantity)!
        .lines.map(({ name, values }) => [name, values]),
    );

  it("is a rate by the length of each span, device by device", () => {
    const gpu = device({ deviceKey: "gpu0", requests: 8 });
    const reports = [
      live(0, { devices: [device({ requests: 3 })] }),
      live(2, { spanMs: 2_000, devices: [device({ requests: 3 }), gpu] }),
    ];
    expect(linesOf(reports, "Requests a second")).toEqual({ cpu: [3, 1.5], gpu0: [null, 4] });
  });

  it("counts in flight both waiting and computed requests, also of a runner that does not report the latter", () => {
    const devices = [device({ waiting: 2, computing: 3 }), device({ deviceKey: "gpu0", waiting: 1 })];
    expect(linesOf([live(0, { devices })], "Requests in flight")).toEqual({ cpu: [5], gpu0: [1] });
  });

  it("leaves out what cannot be read", () => {
    const sensors = [sensor({ temperatureC: 61 }), sensor({ of: "gpu0" })];
    const reports = [live(0, { sensors }), live(1)];
    expect(linesOf(reports, "Temperature")).toEqual({ cpu: [61, null] });
    expect(linesOf(reports, "Clock")).toEqual({});
  });
});
