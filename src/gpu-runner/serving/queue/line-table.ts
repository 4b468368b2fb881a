import type { ServingConfiguration } from "../../../protocol/fleet/serving.ts";
import type { Tensor } from "../../../protocol/wire/tensor.ts";
import { rowShapeOf } from "./join-tensors.ts";
import type { Line } from "./play-queue.ts";
import { ServiceTimes } from "./service-times.ts";

/** Line with its measured times. */
export interface ServedLine extends Line {
  readonly times: ServiceTimes;
  readonly modelKey: string;
  /** Line for requests of it that must be computed by themselves. */
  readonly alone: ServedLine;
}

/** Limits of a line; null or absent: no cap. */
export type Caps = Partial<Pick<ServingConfiguration, "maxRows" | "maxInFlight">>;

/** Tensors of one shape for one model: its times hold under any caps. */
interface Shape {
  readonly times: ServiceTimes;
  readonly linesByCaps: Map<string, ServedLine>;
}

/** Number of shapes with times; callers choose the shapes that they send. */
const KEPT_SHAPES = 64;
/** Number of recent caps of a shape. */
const KEPT_CAPS = 8;

/** Key that no model has. */
const PROBES = "probes";

/** Lines of a device; the least recently used are forgotten. */
export class LineTable {
  readonly #shapes = new Map<string, Shape>();

  lineOf(modelKey: string, tensors: readonly Tensor[], joins: boolean, caps: Caps = {}): ServedLine {
    const shape = useOf(this.#shapes, `${modelKey} ${rowShapeOf(tensors)}`, KEPT_SHAPES, createShape);
    const capsKey = `${caps.maxRows ?? ""} ${caps.maxInFlight ?? ""}`;
    const line = useOf(shape.linesByCaps, capsKey, KEPT_CAPS, () => createLine(modelKey, shape.times, caps));
    return joins ? line : line.alone;
  }

  /** Line for one probe: planned by the known times of its tensors, but not recorded and without caps. */
  probeLineOf(modelKey: string, tensors: readonly Tensor[]): ServedLine {
    const times = this.#shapes.get(`${modelKey} ${rowShapeOf(tensors)}`)?.times ?? new ServiceTimes();
    return createLine(PROBES, times, {}).alone;
  }
}

/** Line for one trial of a line: as if nothing were known of its times. */
export function createTrialLine({ modelKey, ...caps }: ServedLine): ServedLine {
  return createLine(modelKey, new ServiceTimes(), caps).alone;
}

/** Value of a key, created if absent, and marked as most recently used; beyond `most` the first is removed. */
function useOf<Value>(map: Map<string, Value>, key: string, most: number, create: () => Value): Value {
  const value = map.get(key) ?? create();
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value!);
  return value;
}

function createShape(): Shape {
  return { times: new ServiceTimes(), linesByCaps: new Map() };
}

function createLine(modelKey: string, times: ServiceTimes, { maxRows = null, maxInFlight = null }: Caps): ServedLine {
  const shared = { times, modelKey, maxRows, maxInFlight };
  const alone: ServedLine = {
    ...shared,
    joins: false,
    get alone() {
      return alone;
    },
  };
  return { ...shared, joins: true, alone };
}
