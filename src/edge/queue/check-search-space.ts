import type { Device } from "../../protocol/hardware.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { SearchSpace } from "../../protocol/optimisation.ts";
import type { FieldError } from "../../protocol/problem.ts";

/** What a runner has to search in. */
export interface SpaceBounds {
  readonly devices: readonly Pick<Device, "key" | "backends">[];
  readonly variants: readonly string[];
  /** Null for a kernel, which has neither threads nor callers. */
  readonly logicalCores: number | null;
}

/** What of a space is not there, or more than there can be. */
export function checkSearchSpace(space: SearchSpace, { devices, variants, logicalCores }: SpaceBounds): FieldError[] {
  const keys = devices.map(({ key }) => key);
  const backends = devices.flatMap((device) => device.backends);
  return [
    ...amongst("deviceKeys", space.deviceKeys, keys),
    ...amongst("backends", space.backends, backends),
    ...amongst("variants", space.variants, variants),
    ...upTo("maxRows", space.maxRows, logicalCores === null ? Number.MAX_SAFE_INTEGER : LIMITS.batchRows),
    ...(logicalCores === null
      ? [...absent("threads", space.threads), ...absent("concurrency", space.concurrency)]
      : [
          ...upTo("threads", space.threads, Math.min(logicalCores, LIMITS.intraOpThreads)),
          ...upTo("concurrency", space.concurrency, LIMITS.deviceQueueRequests),
        ]),
  ];
}

function amongst(field: string, wanted: readonly string[] = [], known: readonly string[]): FieldError[] {
  const message = `must be one of: ${[...new Set(known)].toSorted().join(", ")}`;
  return wanted.flatMap((each, index) =>
    known.includes(each) ? [] : [{ pointer: `#/space/${field}/${index}`, message }],
  );
}

function upTo(field: string, wanted: readonly number[] = [], most: number): FieldError[] {
  return wanted.flatMap((each, index) =>
    each <= most ? [] : [{ pointer: `#/space/${field}/${index}`, message: `must be at most ${most}` }],
  );
}

function absent(field: string, wanted: readonly number[] | undefined): FieldError[] {
  return wanted === undefined ? [] : [{ pointer: `#/space/${field}`, message: "belongs to models" }];
}
