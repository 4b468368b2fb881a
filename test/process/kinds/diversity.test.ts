import { createHash } from "node:crypto";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DeviceHost } from "../../../src/gpu-runner/device-host/device-host.ts";
import { runTraining } from "../../../src/gpu-runner/kinds/training/run-training.ts";
import { decodeArchive } from "../../../src/protocol/policies/archive-file.ts";
import { TrainingResult, TrainingSpec } from "../../../src/protocol/jobs/training.ts";
import { CACHE_DIR } from "../../kernels/software-gpu-cache.ts";

const TIMEOUT_MS = 300_000;

let host: DeviceHost;
beforeAll(async () => {
  const options = { role: "gpu", deviceKey: "gpu0", cacheDir: CACHE_DIR, driver: "software" } as const;
  host = await DeviceHost.start({ ...options, logger: pino({ level: "silent" }) });
}, TIMEOUT_MS);
afterAll(() => host.stop());

const digestOf = (bytes: Uint8Array) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** Trains as a runner does, and gives the result with the archive that was left. */
async function train(changes: object, known = new Map<string, Uint8Array<ArrayBuffer>>()) {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const fleet = {
    all: () => [{ host }],
    cpu: { host },
    find: () => ({ host }),
    use: (_: unknown, work: () => unknown) => work(),
  };
  const context = {
    fleet,
    backends: { choose: async () => ({ backend: "wgsl", device: { host }, chosenFrom: [] }) },
    residency: { read: async (digest: string) => known.get(digest) },
    artifacts: {
      get: async () => null,
      put: async (name: string, bytes: Uint8Array<ArrayBuffer>, mediaType = "application/octet-stream") => {
        files.set(name, bytes);
        return { name, digest: digestOf(bytes), sizeBytes: bytes.length, mediaType };
      },
    },
    environment: null,
    userKernels: false,
    otherJobs: 0,
    signal: new AbortController().signal,
    onProgress: () => undefined,
    logger: pino({ level: "silent" }),
  };
  const evaluation = { everyGenerations: 100, episodes: 1 };
  const spec = TrainingSpec.parse({
    kind: "training",
    environment: "arm",
    network: { kind: "direct" },
    algorithm: { name: "map-elites", population: 128, dims: [20, 20], offset: -1 },
    generations: 12,
    episodes: 1,
    evaluation,
    ...changes,
  });
  const result = TrainingResult.parse((await runTraining(spec, context as never)).result);
  return { result, file: files.get("archive")! };
}

test("a training for diversity leaves its archive, and another goes on from it", { timeout: TIMEOUT_MS }, async () => {
  const { result, file } = await train({});
  const { summary, genomes } = decodeArchive(file);
  expect(result.qualityDiversity).toEqual({ archive: summary, covariance: null, restarts: 0 });
  expect(result.artifacts).toContainEqual(expect.objectContaining({ name: "archive", digest: digestOf(file) }));
  expect(summary).toMatchObject({ environment: "arm", parameters: 100, dims: [20, 20], offset: -1 });
  expect(summary.filled).toBeGreaterThan(20);
  expect(genomes).toHaveLength(100 * summary.filled);
  // The best elite is the policy, and the arm has no chance in it.
  expect(result.best.mean.value).toBeCloseTo(summary.best!, 6);

  const digest = digestOf(file);
  const changes = { generations: 6, seed: 2, archiveFile: { digest, sizeBytes: file.length } };
  const next = decodeArchive((await train(changes, new Map([[digest, file]]))).file);
  expect(next.summary.filled).toBeGreaterThan(summary.filled);
  expect(next.summary.qdScore).toBeGreaterThan(summary.qdScore);
  expect([...next.cells.subarray(0, summary.filled)]).toEqual([...decodeArchive(file).cells]);
});
