import { describe, expect, it } from "vitest";
import { Finding, type HealthReport } from "../../../../../src/protocol/fleet/health.ts";
import { lehmer } from "../../../../../src/stats/random/seeded.ts";
import { summarise } from "../../../../../src/stats/distribution/distribution.ts";
import {
  device,
  expectation,
  MiB,
  placement,
  type ReportFields,
  report,
  sensor,
} from "../../../../edge/stack/health-samples.ts";
import { judgeHealth } from "../../../../../src/edge/fleet/watch/judge-health.ts";
import { kindsOf, watch } from "./watch-reports.ts";

interface Planting {
  readonly healthy?: number;
  readonly planted?: number;
  readonly before?: ReportFields;
}

/** `healthy` reports, then the planted fault, `planted` times. */
function plant(fields: ReportFields, { healthy = 5, planted = 3, before = {} }: Planting = {}): HealthReport[] {
  return Array.from({ length: healthy + planted }, (_, index) => report(index, index < healthy ? before : fields));
}

const SLOW = placement([20, 22, 21, 25, 19]);
const SLOW_OUTSIDE = placement([20, 22, 21, 25, 19], [5, 5, 5, 5, 5]);
const CROWDED = { busyShare: 0.98, ownShare: 0.04, loadAverage: 2 };

/** Planted faults, and their expected names. */
const PLANTS: readonly (readonly [string, ReportFields, string, ReportFields?])[] = [
  ["a CPU hog", { host: CROWDED, placements: [SLOW] }, "host-contention"],
  [
    "a CPU hog where the own share is unknown",
    { host: { ...CROWDED, ownShare: null }, placements: [SLOW] },
    "host-contention",
  ],
  ["a sleeping backend", { placements: [SLOW] }, "slow-backend"],
  [
    "a backend that sleeps for longer than a crowd explains",
    { host: { ...CROWDED, busyShare: 0.7 }, placements: [placement([400, 400, 401])] },
    "slow-backend",
  ],
  ["a slow way to the backend", { placements: [SLOW_OUTSIDE] }, "latency-drift"],
  ["a driver that reports heat", { sensors: [sensor({ throttled: "hw-thermal-slowdown" })] }, "thermal-throttling"],
  [
    "a clock that falls under load",
    {
      host: { busyShare: 0.9, ownShare: 0.85 },
      placements: [SLOW],
      sensors: [sensor({ clockMhz: 1_200, temperatureC: 99, limitC: 100 })],
    },
    "thermal-throttling",
    { host: { busyShare: 0.9, ownShare: 0.85 }, sensors: [sensor({ clockMhz: 3_000, temperatureC: 80, limitC: 100 })] },
  ],
  [
    "small batches",
    {
      devices: [
        device({
          computeShare: 0.3,
          busyShare: 0.9,
          requests: 500,
          batches: 500,
          rows: 500,
          waiting: 40,
          longestWaiting: 60,
        }),
      ],
    },
    "low-utilisation",
  ],
  [
    "a queue that refuses",
    { devices: [device({ computeShare: 0.9, busyShare: 0.95, requests: 1_000, refused: 200 })] },
    "queueing",
  ],
  [
    "a queue that is half full",
    { devices: [device({ computeShare: 0.9, requests: 1_000, waiting: 200, longestWaiting: 300 })] },
    "queueing",
  ],
  [
    "a queue that does not keep up",
    {
      devices: [
        device({
          computeShare: 0.95,
          busyShare: 1,
          requests: 1_000,
          batches: 1_000,
          waiting: 30,
          longestWaiting: 40,
          queueMs: summarise([300, 350, 400]),
        }),
      ],
    },
    "queueing",
  ],
  ["requests that fail", { devices: [device({ computeShare: 0.5, requests: 100, errors: 10 })] }, "errors"],
  ["probes that fail", { placements: [{ ...placement([]), probes: 5, errors: 5 }] }, "errors"],
];

describe("the watch", () => {
  for (const [name, fields, kind, before = {}] of PLANTS)
    it(`names ${name} within three reports`, () => {
      // Enough history that the usual clock is known.
      const found = watch(plant(fields, { healthy: 12, before }));
      expect(kindsOf(found)).toEqual([...Array<string>(13).fill(""), kind, kind]);
      for (const { finding } of found.at(-1) ?? []) {
        expect(Finding.parse(finding)).toEqual(finding);
        expect(finding.since < finding.at).toBe(true);
      }
    });

  it("names a CPU hog that no probe feels, at its third report, once", () => {
    const kinds = kindsOf(watch(plant({ host: CROWDED }, { planted: 4 })));
    expect(kinds).toEqual([...Array<string>(7).fill(""), "host-contention", "host-contention"]);
    const [first] = watch(plant({ host: CROWDED, placements: [SLOW] }, { planted: 4 })).at(-1) ?? [];
    // The effect on a placement is the better evidence.
    expect(first?.finding.detail).toContain("median of 5 probes");
  });

  it("reports size, beginning and subject, and the remedy", () => {
    const [[{ key, finding }]] = watch(plant({ placements: [SLOW] })).slice(-1) as [
      [{ key: string; finding: Finding }],
    ];
    expect(key).toBe("slow-backend cpu ort-cpu");
    expect(finding).toMatchObject({
      expected: 5,
      unit: "ms",
      deviceKey: "cpu",
      placementId: expectation.placementId,
    });
    expect(finding.measured).toBeCloseTo(21, 0);
    expect(finding).toMatchObject({ since: report(4).at, at: report(7).at });
    expect(finding.detail).toContain(
      "lenet5@1 fp32 on cpu by ort-cpu takes 21 ms, the median of 5 probes, where 5 ms were validated",
    );
    expect(finding.advice).toContain("`threads`");
  });

  it.each([
    ["one slow report", { placements: [SLOW] }, 1],
    [
      "a machine that others load, and a runner that is no slower",
      { host: { busyShare: 0.75, ownShare: 0.04, loadAverage: 2 } },
      20,
    ],
    ["a build that holds all cores for two reports", { host: CROWDED }, 2],
    [
      "a slower runner that is busy with its own work",
      { host: { busyShare: 1, ownShare: 0.9 }, placements: [placement([12, 13, 12])] },
      20,
    ],
    ["a little slower", { placements: [placement([6.4, 6.3, 6.2, 7, 6.8])] }, 20],
    ["two slow probes", { placements: [placement([50, 50])] }, 1],
    ["no probes", { placements: [placement([])] }, 20],
    [
      "a placement of another configuration",
      { placements: [{ ...SLOW, configuration: { threads: 4, maxRows: null, maxInFlight: null } }] },
      20,
    ],
    ["a placement that nothing is known of", { placements: [{ ...SLOW, variant: "int8" }] }, 20],
    ["an idle device whose clock has gone down", { sensors: [sensor({ clockMhz: 400 })] }, 20],
    [
      "a device that does little since little is asked",
      { devices: [device({ computeShare: 0.1, requests: 100, batches: 100, rows: 100 })] },
      20,
    ],
    ["a power cap, as is usual", { sensors: [sensor({ of: "gpu0", throttled: "sw-power-cap" })] }, 20],
    ["now and then an error", { devices: [device({ computeShare: 0.5, requests: 1_000, errors: 4 })] }, 20],
    [
      "a job that fills the device",
      {
        jobShare: 1,
        devices: [
          device({ computeShare: 0.3, requests: 1_000, waiting: 50, longestWaiting: 50, busyShare: 0.9, batches: 500 }),
        ],
      },
      20,
    ],
  ] as const)("says nothing of %s", (_name, fields, planted) => {
    expect(watch(plant(fields as ReportFields, { healthy: 12, planted })).flat()).toEqual([]);
  });

  it("keeps a finding while it wavers, and closes it after six reports without", () => {
    const wavering = placement([9.5, 9.4, 9.6, 9.5, 9.3]);
    const reports = [0, 1, 2].map((index) => report(index, { placements: [SLOW] }));
    for (let index = 3; index < 13; index++)
      reports.push(report(index, { placements: [index % 5 === 0 ? wavering : placement([5, 5, 5])] }));
    for (let index = 13; index < 18; index++) reports.push(report(index));
    const kinds = kindsOf(watch(reports));
    expect(kinds.slice(1, 16)).toEqual(Array<string>(15).fill("slow-backend"));
    expect(kinds.slice(16)).toEqual(["", ""]);
    expect(kindsOf(watch(reports.filter((_, index) => index < 3 || index > 12))).at(-1)).toBe("slow-backend");
  });

  it("puts the probes of several reports together where there are few, and keeps undecided findings", () => {
    const seldom = (index: number) => report(index, { placements: [placement(index % 2 === 0 ? [40] : [])] });
    const reports = Array.from({ length: 60 }, (_, index) => (index < 10 ? report(index) : seldom(index)));
    const kinds = kindsOf(watch(reports));
    expect(kinds.slice(0, 12)).toEqual(Array<string>(12).fill(""));
    expect(kinds.findIndex((kind) => kind !== "")).toBeLessThan(20);
    expect(new Set(kinds.slice(20))).toEqual(new Set(["slow-backend"]));
  });

  it("does not put together what lies across a restart or a gap", () => {
    const fields = { placements: [SLOW] };
    const restarted = { ...report(6, fields), startedAt: report(5).at };
    expect(watch([report(4), report(5, fields), restarted]).flat()).toEqual([]);
    expect(watch([report(4), report(5, fields), report(20, fields)]).flat()).toEqual([]);
    expect(watch([report(4), report(5, fields), report(6, fields)]).at(-1)).toHaveLength(1);
  });

  it("reports a cause of several slow placements of one backend once", () => {
    const other = {
      ...expectation,
      placementId: "plc_01jyyyyyyyyyyyyyyyyyyyyyyy",
      variant: "int8",
      subject: "lenet5@1 int8",
    };
    const placements = [SLOW, { ...placement([40, 41, 42]), variant: "int8" }];
    const found = watch(plant({ placements }), [expectation, other]).at(-1);
    expect(found).toMatchObject([{ finding: { kind: "slow-backend", subject: "lenet5@1 int8" } }]);
  });

  it.each([
    ["transfer-bound", { transferShare: 0.5, computeShare: 0.2 }, {}],
    ["small-batches", { batches: 500, rows: 500 }, {}],
    ["host-bound", {}, { busyShare: 0.97, ownShare: 0.9 }],
    ["synchronisation", {}, {}],
    [null, { busyShare: 0.35 }, {}],
  ] as const)("finds the likely cause of low utilisation: %s", (cause, fields, host) => {
    const told = {
      computeShare: 0.3,
      busyShare: 0.95,
      requests: 500,
      batches: 40,
      rows: 500,
      waiting: 20,
      longestWaiting: 20,
    };
    const found = watch(plant({ devices: [device({ ...told, ...fields })], host })).at(-1);
    expect(found).toMatchObject([{ finding: { kind: "low-utilisation", cause } }]);
  });

  it("holds requests against the error rate that was required", () => {
    const strict = { ...expectation, requirements: [{ metric: "errorRate" as const, atMost: 0 }] };
    const reports = plant({ devices: [device({ computeShare: 0.5, requests: 1_000, errors: 4 })] });
    expect(watch(reports).flat()).toEqual([]);
    expect(watch(reports, [strict]).at(-1)).toMatchObject([
      { finding: { kind: "errors", measured: 0.004, expected: 0 } },
    ]);
  });

  it("finds a process that keeps ending", () => {
    const reports = Array.from({ length: 10 }, (_, index) => report(index, { devices: [device({ restarts: index })] }));
    expect(kindsOf(watch(reports)).slice(0, 6)).toEqual(["", "", "", "", "errors", "errors"]);
  });

  it("holds a throttled clock against the one before it fell, however long it lasts", () => {
    const fields = (clockMhz: number) => ({
      host: { busyShare: 0.9, ownShare: 0.85 },
      sensors: [sensor({ clockMhz })],
    });
    const reports = Array.from({ length: 150 }, (_, index) => report(index, fields(index < 20 ? 3_000 : 1_500)));
    expect(watch(reports).at(-1)).toMatchObject([
      { finding: { kind: "thermal-throttling", measured: 1_500, expected: 3_000 } },
    ]);
  });
});

describe("memory", () => {
  /** Reports of three hours, with memory as a function of the minutes. */
  const grown = (bytesAt: (minute: number) => number) =>
    Array.from({ length: 180 }, (_, minute) => {
      const fields = { host: { ownRssBytes: bytesAt(minute) }, devices: [device({ processRssBytes: null })] };
      return { ...report(6 * minute + 5, fields), spanMs: 60_000 };
    });
  const random = lehmer(7);
  const noise = () => (random() - 0.5) * 20 * MiB;

  it("that grows without end is found, with its pace", () => {
    const found = watch(grown((minute) => 400 * MiB + 2 * MiB * minute + noise()));
    const first = found.findIndex((open) => open.length > 0);
    expect(first).toBeGreaterThan(45);
    expect(first).toBeLessThan(80);
    const [{ finding } = { finding: undefined }] = found.at(-1) ?? [];
    expect(finding).toMatchObject({ kind: "memory-growth", deviceKey: null, unit: "bytes per hour" });
    expect((finding?.measured ?? 0) / MiB).toBeGreaterThan(110);
    expect((finding?.measured ?? 0) / MiB).toBeLessThan(130);
  });

  it("of one process is reported for that process", () => {
    const reports = grown(() => 0).map((each, minute) => ({
      ...each,
      devices: [device({ deviceKey: "gpu0", processRssBytes: 300 * MiB + 3 * MiB * minute })],
    }));
    expect(watch(reports).at(-1)).toMatchObject([{ key: "memory-growth gpu0", finding: { deviceKey: "gpu0" } }]);
  });

  it("of processes that rested in between is none, though later ones had more work", () => {
    const reports = grown(() => 0).map((each, minute) => ({
      ...each,
      devices: [device({ deviceKey: "gpu0", processRssBytes: minute % 40 < 4 ? null : 300 * MiB + 3 * MiB * minute })],
    }));
    expect(watch(reports).flat()).toEqual([]);
  });

  it.each([
    ["noise", () => 400 * MiB + noise()],
    ["a start that takes its time", (minute: number) => 400 * MiB * (1 - Math.exp(-minute / 5)) + noise()],
    ["a cache that fills", (minute: number) => 300 * MiB + 200 * MiB * (1 - Math.exp(-minute / 12)) + noise()],
    [
      "steps of models that are loaded",
      (minute: number) => 300 * MiB + 150 * MiB * Math.min(1, Math.floor(minute / 60)) + noise(),
    ],
    ["sawteeth of a garbage collector", (minute: number) => 300 * MiB + 8 * MiB * (minute % 15)],
    ["slow growth by little", (minute: number) => 400 * MiB + 0.2 * MiB * minute],
  ])("that is %s is none", (_name, bytesAt) => {
    expect(watch(grown(bytesAt)).flat()).toEqual([]);
  });
});

describe("false alarms", () => {
  /** Normal deviate, by Box and Muller. */
  const gauss = (random: () => number) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

  it.each([
    ["an idle machine", 0.05, 0.01],
    ["a machine that others keep busy", 0.7, 0.3],
  ])("are none in half a day of noisy, healthy reports on %s", (_name, busy, jitter) => {
    const random = lehmer(11);
    let drift = 0;
    const reports = Array.from({ length: 4_320 }, (_, index) => {
      // Service times wander by some per cent, and one probe in twenty comes ten times late.
      drift = 0.99 * drift + 0.01 * gauss(random);
      const probes = Array.from({ length: 5 }, () => {
        const late = random() < 0.05 ? 10 : 1;
        return 5.2 * Math.exp(0.08 * gauss(random) + jitter * drift) * late;
      });
      const host = { busyShare: busy, ownShare: 0.02, ownRssBytes: 400 * MiB + gauss(random) * 10 * MiB };
      const sensors = [sensor({ clockMhz: 2_800 + 150 * gauss(random), temperatureC: 70, limitC: 100 })];
      return report(index, { host, placements: [placement(probes)], sensors });
    });
    expect(watch(reports).flat()).toEqual([]);
  });
});

describe("a judgement", () => {
  it("reads no probes of placements that nothing is expected of", () => {
    const foreign = { ...SLOW, serviceMs: { ...summarise([20]), count: 5, sketch: "not read" } };
    expect(watch(plant({ placements: [foreign] }), []).at(-1)).toEqual([]);
  });

  it("judges the latest report alone where nothing is found", () => {
    let looks = 0;
    const watched = (each: HealthReport): HealthReport => ({
      ...each,
      // A judgement reads them first; the latest report is compared with the shares of the one before it besides.
      get sensors() {
        looks++;
        return each.sensors;
      },
    });
    const reports = plant({});
    for (const index of [4, 6]) reports[index] = watched(reports[index]!);
    judgeHealth("rnr", { expectations: [], reports, memory: [], open: [] });
    expect(looks).toBe(0);
    const open = watch(plant({ host: CROWDED })).at(-1)!;
    judgeHealth("rnr", { expectations: [], reports, memory: [], open });
    expect(looks).toBeGreaterThan(0);
  });
});
