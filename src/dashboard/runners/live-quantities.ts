import type { LiveReport } from "../../protocol/fleet/health.ts";
import { formatBytes, formatMeasure, formatNumber, formatShare } from "../../words/numbers.ts";

/** What the charts show. */
export const SHOWN_S = 120;
/** A runner that tells more often than it is asked to fills no memory. */
const KEPT_REPORTS = 240;

/** The reports of the last while up to a new one; those of a clock that was set back since are left out. */
export function keepRecent(reports: readonly LiveReport[], report: LiveReport): readonly LiveReport[] {
  const atMs = Date.parse(report.at);
  const recent = reports.filter(({ at }) => {
    const agoMs = atMs - Date.parse(at);
    return agoMs > 0 && agoMs <= SHOWN_S * 1_000;
  });
  return [...recent, report].slice(-KEPT_REPORTS);
}

/** One quantity of a runner over its last reports, a line for each of what has it. */
export interface LiveQuantity {
  readonly name: string;
  readonly format: (value: number) => string;
  /** The top of the axis where it is known; else it follows what is drawn. */
  readonly most: number | null;
  /** As many values as there are reports; null where one did not tell. */
  readonly lines: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
}

type Told = Readonly<Record<string, number | null>>;

const MS_PER_S = 1_000;

/** What each report tells, by quantity and then by line. */
const QUANTITIES: readonly (Omit<LiveQuantity, "lines"> & { readonly tell: (report: LiveReport) => Told })[] = [
  {
    name: "Utilisation",
    format: formatShare,
    most: 1,
    tell: ({ devices, host }) => ({
      ...byDevice(devices, ({ busyShare }) => busyShare),
      "all cores": host.busyShare,
    }),
  },
  {
    name: "Memory",
    format: formatBytes,
    most: null,
    tell: ({ host }) => ({ "host, in use": host.memoryBytes - host.freeBytes, runner: host.ownRssBytes }),
  },
  {
    name: "Requests a second",
    format: (value) => formatMeasure(value, "/s"),
    most: null,
    tell: ({ devices, spanMs }) =>
      byDevice(devices, ({ requests }) => (spanMs > 0 ? (requests / spanMs) * MS_PER_S : null)),
  },
  {
    name: "Requests in flight",
    format: formatNumber,
    most: null,
    tell: ({ devices }) => byDevice(devices, ({ waiting, computing = 0 }) => waiting + computing),
  },
  {
    name: "Queue, at its longest",
    format: formatNumber,
    most: null,
    tell: ({ devices }) => byDevice(devices, ({ longestWaiting }) => longestWaiting),
  },
  {
    name: "Temperature",
    format: (value) => formatMeasure(value, "°C"),
    most: null,
    tell: ({ sensors }) => bySensor(sensors, ({ temperatureC }) => temperatureC),
  },
  {
    name: "Clock",
    format: (value) => formatMeasure(value, "MHz"),
    most: null,
    tell: ({ sensors }) => bySensor(sensors, ({ clockMhz }) => clockMhz),
  },
];

/** All quantities over the reports. What no report tells is left out of the lines. */
export function readQuantities(reports: readonly LiveReport[]): LiveQuantity[] {
  return QUANTITIES.map(({ tell, ...quantity }) => {
    const told = reports.map(tell);
    const names = new Set(told.flatMap((each) => Object.keys(each).filter((name) => each[name] !== null)));
    const lines = [...names].map((name) => ({ name, values: told.map((each) => each[name] ?? null) }));
    return { ...quantity, lines };
  });
}

function byDevice(
  devices: LiveReport["devices"],
  valueOf: (device: LiveReport["devices"][number]) => number | null,
): Told {
  return Object.fromEntries(devices.map((device) => [device.deviceKey, valueOf(device)]));
}

function bySensor(
  sensors: LiveReport["sensors"],
  valueOf: (sensor: LiveReport["sensors"][number]) => number | null,
): Told {
  return Object.fromEntries(sensors.map((sensor) => [sensor.of, valueOf(sensor)]));
}
