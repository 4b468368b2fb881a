/** What a runner may use for artifacts, weights and buffers. */
export interface MemoryBudgets {
  /** Of each GPU, all buffers together. */
  readonly gpuBytes: number;
  /** Of this process's memory. */
  readonly hostBytes: number;
  readonly diskBytes: number;
  /** For migrations that no request waits for. */
  readonly backgroundBytesPerSecond: number;
}
