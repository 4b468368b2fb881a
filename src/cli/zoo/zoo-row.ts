import type { ZooCategory } from "../../../models/zoo.ts";
import type { Backend } from "../../protocol/hardware.ts";

/** What one network of the zoo came to on one backend of a runner. */
export interface ZooRow {
  readonly category: ZooCategory;
  readonly model: string;
  readonly parameters: number;
  readonly runner: string;
  readonly deviceKey: string;
  readonly backend: Backend;
  /** Whether the device is emulated on the processor. */
  readonly software: boolean;
  /** Of single rows, on the runner. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** Rows a second where all are there at once. */
  readonly samplesPerS: number;
  /** Of the loaded network with one row; null where it could not be measured. */
  readonly memoryBytes: number | null;
  readonly startupMs: number;
  /** Of the history. */
  readonly runId: string | null;
}

/** A network that could not be measured on a backend. */
export interface ZooFailure {
  readonly category: ZooCategory;
  readonly model: string;
  readonly backend: Backend;
  readonly reason: string;
}

/** Means over networks, each on the backend that is fastest for it. */
export interface ZooMean {
  readonly mean: ZooCategory | "all";
  readonly models: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly samplesPerS: number;
}
