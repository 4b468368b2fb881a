import type { ServingConfiguration } from "../../../protocol/fleet/serving.ts";
import type { Tensor } from "../../../protocol/wire/tensor.ts";
import { rowShapeOf } from "./join-tensors.ts";
import type { Line } from "./play-queue.ts";
import { ServiceTimes } from "./service-times.ts";

/** A line with the times that are learnt of it. */
export interface ServedLine extends Line {
  readonly times: ServiceTimes;
  readonly modelKey: string;
  /** The line of those among them that have to be computed by themselves. */
  readonly alone: ServedLine;
}

/** What a line may hold at most; null or absent: no cap. */
export type Caps = Partial<Pick<ServingConfiguration, "maxRows" | "maxInFlight">>;

/** Tensors of one shape for one model: what is learnt of them holds under whatever caps. */
interface Shape {
  readonly times: ServiceTimes;
  readonly linesByCaps: Map<string, ServedLine>;
}

/** Shapes whose times are kept; callers choose the shapes that they send. */
const KEPT_SHAPES = 64;
/** Caps under which a shape was served last. */
const KEPT_CAPS = 8;

/** No model's key. */
const PROBES = "probes";

/** The lines of a device; what was used longest ago is forgotten. */
export class LineTable {
  readonly #shapes = new Map<string, Shape>();

  lineOf(modelKey: string, tensors: readonly Tensor[], joins: boolean, caps: Caps = {}): ServedLine {
    const shape = useOf(this.#shapes, `${modelKey} ${rowShapeOf(tensors)}`, KEPT_SHAPES, createShape);
    const capsKey = `${caps.maxRows ?? ""} ${caps.maxInFlight ?? ""}`;
    const line = useOf(shape.linesByCaps, capsKey, KEPT_CAPS, () => createLine(modelKey, shape.times, caps));
    return joins ? line : line.alone;
  }

  /** A line for one probe: planned by what is known of its tensors, it is remembered nowhere and counts under no cap. */
  probeLineOf(modelKey: string, tensors: readonly Tensor[]): ServedLine {
    const times = this.#shapes.get(`${modelKey} ${rowShapeOf(tensors)}`)?.times ?? new ServiceTimes();
    return createLine(PROBES, times, {}).alone;
  }
}

/** The value of a key, made where there is none, as the one that was used last; of more than `most` the first goes. */
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
