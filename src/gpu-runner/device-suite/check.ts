import type { DeviceHost } from "../device-host/device-host.ts";

/** Outcome of one check of a device, as the report keeps it. */
export interface Check {
  /** The part it belongs to, such as "kernels". */
  readonly part: string;
  /** Unique within its part; a resumed suite skips what it has. */
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
  /** Why it failed or was skipped. */
  readonly reason?: string;
  /** Measured figures; the unit is in each name, such as `p50Ms`, `gflops`, `shareOfRoof`. */
  readonly figures?: Readonly<Record<string, number | string>>;
  readonly durationMs: number;
}

/** What a part gets. */
export interface SuiteContext {
  /** The GPU's own process, started again after a crash. */
  readonly host: DeviceHost;
  /** The processor's process: the reference for networks and rollouts. */
  readonly cpu: DeviceHost;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  /** Whether a check is in the report already. */
  readonly done: (name: string) => boolean;
}

/** A part yields each check once it is known; it throws only for its own defects. */
export type Part = (context: SuiteContext) => AsyncGenerator<Check>;
