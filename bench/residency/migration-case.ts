import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededUniform } from "../../kernels/seeded-uniform.ts";
import { DiskStore } from "../../src/gpu-runner/memory/disk-store.ts";
import { createEdgeSource } from "../../src/gpu-runner/link/artifacts.ts";
import { GpuStore } from "../../src/gpu-runner/memory/tier-store.ts";
import type { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import { summarise } from "../../src/stats/distribution/distribution.ts";
import type { Contender } from "../contest.ts";
import type { Metric } from "../row.ts";
import { closeOnError } from "../close-on-error.ts";

export interface MigrationCase {
  readonly sizeBytes: number;
  /** Migrations each way a round; with fewer than a hundred, the p99 is the slowest. */
  readonly repeats: number;
}

interface Artifact {
  readonly digest: string;
  readonly bytes: Uint8Array;
}

const WAYS = ["host→gpu", "gpu→host", "host→disk", "disk→host", "host→disk zstd", "disk→host zstd", "edge→host"];
const MS = { unit: "ms", better: "lower", oursOnly: true } as const;
/** The p50 and p99 of each way. */
export const MIGRATION_METRICS: Readonly<Record<string, Metric>> = Object.fromEntries(
  WAYS.flatMap((way) => [`${way} p50`, `${way} p99`]).map((name) => [name, MS]),
);

/** Weights that do not compress, and the same rounded to 255 values, which do. */
function createWeights({ sizeBytes }: MigrationCase): { plain: Artifact; rounded: Artifact } {
  const values = seededUniform(1, 0, sizeBytes / 4);
  return { plain: artifactOf(values), rounded: artifactOf(values.map((value) => Math.round(value * 127) / 127)) };
}

function artifactOf(values: Float32Array<ArrayBuffer>): Artifact {
  const bytes = new Uint8Array(values.buffer);
  return { bytes, digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}` };
}

/** Expected result of the four ways up: from the GPU, the disk twice, and the edge. */
export function expectedOutput(input: MigrationCase): Float32Array {
  const { plain, rounded } = createWeights(input);
  return joinFloats([plain, plain, rounded, plain].map(({ bytes }) => bytes));
}

/** Stores of a runner's tiers, on a device's process, a folder and an edge on this machine. */
export function openMigrations(host: DeviceHost): Contender<MigrationCase> {
  return async (input) => {
    const { plain, rounded } = createWeights(input);
    const folder = await mkdtemp(join(tmpdir(), "millrace-bench-migrations-"));
    const edge = await startLoopbackEdge(plain);
    const [gpu, disk] = [new GpuStore(host), new DiskStore(folder)];
    const ways: readonly (() => Promise<unknown>)[] = [
      () => gpu.write(plain.digest, plain.bytes),
      () => gpu.read(plain.digest),
      () => disk.write(plain.digest, plain.bytes),
      () => disk.read(plain.digest),
      () => disk.write(rounded.digest, rounded.bytes),
      () => disk.read(rounded.digest),
      () => edge.fetch(plain.digest),
    ];
    const walk = async (): Promise<number[]> => {
      const tookMs: number[] = [];
      for (const way of ways) {
        const startedMs = performance.now();
        await way();
        tookMs.push(performance.now() - startedMs);
      }
      return tookMs;
    };
    const open = async () => {
      for (let warmUp = 0; warmUp < 3; warmUp++) await walk();
      const way = [
        gpu.read(plain.digest),
        disk.read(plain.digest),
        disk.read(rounded.digest),
        edge.fetch(plain.digest),
      ];
      const back = (await Promise.all(way)).map((bytes) => bytes ?? new Uint8Array());
      return { output: joinFloats(back), adapter: host.device.fingerprint.adapter };
    };
    const close = async () => {
      await edge.stop();
      await rm(folder, { recursive: true, force: true });
      await gpu.drop(plain.digest);
    };
    return {
      opened: await closeOnError(open, close),
      measure: async () => {
        const walks: number[][] = [];
        for (let repeat = 0; repeat < input.repeats; repeat++) walks.push(await walk());
        return Object.fromEntries(
          WAYS.flatMap((way, index) => {
            const { p50, p99 } = summarise(walks.map((tookMs) => tookMs[index] ?? Number.NaN));
            return [
              [`${way} p50`, p50],
              [`${way} p99`, p99],
            ];
          }),
        );
      },
      close,
    };
  };
}

/** An edge with one artifact, without the network of a real one. */
async function startLoopbackEdge({ bytes }: Artifact) {
  const server = createServer((_, response) => response.writeHead(200, { "content-length": bytes.length }).end(bytes));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    fetch: createEdgeSource({ edgeUrl: `http://127.0.0.1:${port}`, credential: "mc_bench" }),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

function joinFloats(parts: readonly Uint8Array[]): Float32Array {
  return new Float32Array(Uint8Array.from(Buffer.concat(parts)).buffer);
}
