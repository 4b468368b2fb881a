import type { Tensor } from "../../protocol/tensor.ts";
import { rowShapeOf } from "./join-tensors.ts";
import type { Line } from "./play-queue.ts";
import { ServiceTimes } from "./service-times.ts";

/** A line with the times that are learnt of it. */
export interface ServedLine extends Line {
  readonly times: ServiceTimes;
  /** The line of those among them that have to be computed by themselves. */
  readonly alone: ServedLine;
}

/** Lines whose times are kept; callers choose the shapes that they send. */
const KEPT_LINES = 64;

/** The lines of a device; the one that was used longest ago is forgotten. */
export class LineTable {
  readonly #lines = new Map<string, ServedLine>();

  lineOf(modelKey: string, tensors: readonly Tensor[], joins: boolean): ServedLine {
    const key = `${modelKey} ${rowShapeOf(tensors)}`;
    const line = this.#lines.get(key) ?? createLine();
    this.#lines.delete(key);
    this.#lines.set(key, line);
    if (this.#lines.size > KEPT_LINES) this.#lines.delete(this.#lines.keys().next().value!);
    return joins ? line : line.alone;
  }
}

function createLine(): ServedLine {
  const times = new ServiceTimes();
  const alone: ServedLine = {
    joins: false,
    times,
    get alone() {
      return alone;
    },
  };
  return { joins: true, times, alone };
}
