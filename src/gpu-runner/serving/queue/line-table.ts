import type { ServingConfiguration } from "../../../protocol/fleet/serving.ts";
import type { Tensor } from "../../../protocol/wire/tensor.ts";
import { rowShapeOf } from "./join-tensors.ts";
import type { Line } from "./play-queue.ts";
import { ServiceTimes } from "./service-times.ts";
import { dropBeyond } from "./traffic.ts";

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

/** Number of a tenant's shapes with times, and of those of all; callers choose the shapes that they send. */
const KEPT_SHAPES = 64;
const KEPT_IN_ALL = 256;
/** Number of recent caps of a shape. */
const KEPT_CAPS = 8;

/** Key that no model has. */
const PROBES = "probes";

/** Lines of a device by tenant; the least recently used are forgotten, of all those of the tenant with most. */
export class LineTable {
  readonly #tenants = new Map<number | undefined, Map<string, Shape>>();

  lineOf(
    modelKey: string,
    tensors: readonly Tensor[],
    joins: boolean,
    { tenant, ...caps }: Caps & Pick<Line, "tenant"> = {},
  ): ServedLine {
    const shapes = useOf(this.#tenants, tenant, KEPT_IN_ALL, () => new Map<string, Shape>());
    const shape = useOf(shapes, `${modelKey} ${rowShapeOf(tensors)}`, KEPT_SHAPES, createShape);
    dropBeyond(KEPT_IN_ALL, this.#tenants);
    const capsKey = `${caps.maxRows ?? ""} ${caps.maxInFlight ?? ""}`;
    const create = () => createLine(modelKey, shape.times, { ...caps, tenant });
    const line = useOf(shape.linesByCaps, capsKey, KEPT_CAPS, create);
    return joins ? line : line.alone;
  }

  /** Line for one probe: planned by the known times of its tensors, but not recorded, without caps and nobody's. */
  probeLineOf(modelKey: string, tensors: readonly Tensor[], { tenant }: Pick<Line, "tenant">): ServedLine {
    const times = this.#tenants.get(tenant)?.get(`${modelKey} ${rowShapeOf(tensors)}`)?.times ?? new ServiceTimes();
    return createLine(PROBES, times, {}).alone;
  }
}

/** Line for one trial of a line: as if nothing were known of its times. */
export function createTrialLine({ modelKey, ...caps }: ServedLine): ServedLine {
  return createLine(modelKey, new ServiceTimes(), caps).alone;
}

/** Value of a key, created if absent, and marked as most recently used; beyond `most` the first is removed. */
function useOf<Key, Value>(map: Map<Key, Value>, key: Key, most: number, create: () => Value): Value {
  const value = map.get(key) ?? create();
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value!);
  return value;
}

function createShape(): Shape {
  return { times: new ServiceTimes(), linesByCaps: new Map() };
}

function createLine(
  modelKey: string,
  times: ServiceTimes,
  { maxRows = null, maxInFlight = null, tenant }: Caps & Pick<Line, "tenant">,
): ServedLine {
  const shared = { times, modelKey, maxRows, maxInFlight, tenant };
  const alone: ServedLine = {
    ...shared,
    joins: false,
    get alone() {
      return alone;
    },
  };
  return { ...shared, joins: true, alone };
}
