import type { LiveReport } from "../../protocol/fleet/health.ts";
import { formatBytes, formatMeasure, formatNumber, formatShare } from "../../words/numbers.ts";

/** Length of the charts' time axis. */
export const SHOWN_S = 120;
/** Caps the memory for a runner that reports more often than asked. */
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
  /** One value per report; null where a report has none. */
  readonly lines: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
}

type LineValues = Readonly<Record<string, number | null>>;

const MS_PER_S = 1_000;

/** Values of each report, by quantity and then by line. */
const QUANTITIES: readonly (Omit<LiveQuantity, "lines"> & { readonly read: (report: LiveReport) => LineValues })[] = [
  {
    name: "Utilisation",
    format: formatShare,
    most: 1,
    read: ({ devices, host }) => ({
      ...byDevice(devices, ({ busyShare }) => busyShare),
      "all cores": host.busyShare,
    }),
  },
  {
    name: "Memory",
    format: formatBytes,
    most: null,
    read: ({ host }) => ({ "host, in use": host.memoryBytes - host.freeBytes, runner: host.ownRssBytes }),
  },
  {
    name: "Requests a second",
    format: (value) => formatMeasure(value, "/s"),
    most: null,
    read: ({ devices, spanMs }) =>
      byDevice(devices, ({ requests }) => (spanMs > 0 ? (requests / spanMs) * MS_PER_S : null)),
  },
  {
    name: "Requests in flight",
    format: formatNumber,
    most: null,
    read: ({ devices }) => byDevice(devices, ({ waiting, computing = 0 }) => waiting + computing),
  },
  {
    name: "Queue, at its longest",
    format: formatNumber,
    most: null,
    read: ({ devices }) => byDevice(devices, ({ longestWaiting }) => longestWaiting),
  },
  {
    name: "Temperature",
    format: (value) => formatMeasure(value, "°C"),
    most: null,
    read: ({ sensors }) => bySensor(sensors, ({ temperatureC }) => temperatureC),
  },
  {
    name: "Clock",
    format: (value) => formatMeasure(value, "MHz"),
    most: null,
    read: ({ sensors }) => bySensor(sensors, ({ clockMhz }) => clockMhz),
  },
];

/** All quantities over the reports. Lines without any value are left out. */
export function readQuantities(reports: readonly LiveReport[]): LiveQuantity[] {
  return QUANTITIES.map(({ read, ...quantity }) => {
    const reported = reports.map(read);
    const names = new Set(reported.flatMap((each) => Object.keys(each).filter((name) => each[name] !== null)));
    const lines = [...names].map((name) => ({ name, values: reported.map((each) => each[name] ?? null) }));
    return { ...quantity, lines };
  });
}

function byDevice(
  devices: LiveReport["devices"],
  valueOf: (device: LiveReport["devices"][number]) => number | null,
): LineValues {
  return Object.fromEntries(devices.map((device) => [device.deviceKey, valueOf(device)]));
}

function bySensor(
  sensors: LiveReport["sensors"],
  valueOf: (sensor: LiveReport["sensors"][number]) => number | null,
): LineValues {
  return Object.fromEntries(sensors.map((sensor) => [sensor.of, valueOf(sensor)]));
}
