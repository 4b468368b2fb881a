import type { Capabilities } from "../../protocol/fleet/hardware.ts";

/** A connected runner that may compute a kernel. */
export interface ComputeRunner {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Names of its kernels. */
  readonly kernels: readonly string[];
  readonly hasRealGpu: boolean;
}

/** What a choice needs of what a runner announced: that is kept for many projects. */
export function toComputeRunner(
  id: string,
  labels: ComputeRunner["labels"],
  { kernels, devices }: Capabilities,
): ComputeRunner {
  const hasRealGpu = devices.some(
    ({ kind, software, backends }) => kind === "gpu" && !software && backends.includes("wgsl"),
  );
  return { id, labels, kernels: kernels.map(({ name }) => name), hasRealGpu };
}

interface Wishes {
  readonly kernel: string;
  readonly runnerId?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/**
 * Runners that may compute a kernel, in the order to ask them: real GPUs first, and among equals by rendezvous hashing
 * of `key`.
 * Hence a runner's cache for a key stays useful when other runners come and go.
 * Source: Thaler and Ravishankar, 1998.
 */
export function chooseRunners(runners: readonly ComputeRunner[], wishes: Wishes, key: string): ComputeRunner[] {
  const { kernel, runnerId, labels = {} } = wishes;
  const able = runners.filter(
    (runner) =>
      (runnerId === undefined || runner.id === runnerId) &&
      Object.entries(labels).every(([name, value]) => runner.labels[name] === value) &&
      runner.kernels.includes(kernel),
  );
  const rank = (runner: ComputeRunner) => [runner.hasRealGpu ? 1 : 0, hash(`${runner.id} ${key}`)] as const;
  return able
    .map((runner) => ({ runner, rank: rank(runner) }))
    .toSorted((a, b) => b.rank[0] - a.rank[0] || b.rank[1] - a.rank[1])
    .map(({ runner }) => runner);
}

/** FNV-1a of 32 bits with MurmurHash3's finaliser, which spreads keys that differ only in their last letters. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
