/** A graphics card as its driver's own program or the system's files tell of it; null is what they do not tell. */
export interface GpuBoard {
  readonly source: "nvidia-smi" | "sysfs";
  readonly vendor: "nvidia" | "amd" | "intel";
  readonly name: string | null;
  readonly uuid: string | null;
  readonly memoryBytes: number | null;
  readonly powerLimitW: number | null;
  readonly maxClockMhz: number | null;
  readonly maxMemoryClockMhz: number | null;
  readonly clockMhz: number | null;
  readonly temperatureC: number | null;
  /** Where it slows itself down. */
  readonly limitC: number | null;
  /** Share of the last moments, of a length that the driver chooses. */
  readonly utilisation: number | null;
  /** Why it slows itself down now. */
  readonly throttled: string | null;
}
