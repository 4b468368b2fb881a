import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DeviceHost } from "../../../src/gpu-runner/device-host/device-host.ts";
import type { JobProgress } from "../../../src/protocol/jobs/job.ts";
import { ProblemError } from "../../../src/protocol/wire/problem.ts";
import { Tuning, KernelTuningSpec } from "../../../src/protocol/jobs/tuning.ts";
import { CACHE_DIR } from "../../kernels/software-gpu-cache.ts";
import { abortWithoutGrace } from "../abort-without-grace.ts";

const TIMEOUT_MS = 300_000;
const MEASURED = Tuning.omit({ fingerprint: true, deviceName: true, software: true, tunedAt: true });

let host: DeviceHost;
beforeAll(async () => {
  const logger = pino({ level: "silent" });
  host = await DeviceHost.start({ role: "gpu", deviceKey: "gpu0", cacheDir: CACHE_DIR, logger, driver: "software" });
}, TIMEOUT_MS);
afterAll(() => host.stop());

const triad = KernelTuningSpec.parse({ kind: "tuning", kernel: "triad", shape: { n: 3_000 }, budgetMs: 120_000 });

test(
  "a kernel of the house is searched whole, with the default among its trials",
  async () => {
    const { tuning, trials } = await host.tune(triad);
    expect(MEASURED.parse(tuning)).toEqual(tuning);
    expect(tuning).toMatchObject({ kernel: "triad", shape: { n: 3_000 }, bucket: { n: 4_096 } });
    expect(trials).toHaveLength(tuning.candidates);
    expect(trials[0]).toMatchObject({ variant: tuning.untuned?.variant, axes: tuning.untuned?.axes, outcome: "timed" });
    expect(trials.map(({ outcome }) => outcome)).not.toContain("wrong");
  },
  TIMEOUT_MS,
);

test(
  "a search that is cancelled ends between two runs, and its process lives on",
  async () => {
    const { pid } = host;
    const controller = new AbortController();
    const onProgress = ({ rung }: JobProgress) => rung === 1 && abortWithoutGrace(controller);
    const search = host.tune(triad, { signal: controller.signal, onProgress });
    const problem = await search.then(
      () => null,
      (error: unknown) => (error as ProblemError).problem,
    );
    expect(problem?.code).toBe("cancelled");
    expect((await host.tune({ ...triad, budgetMs: 200 })).tuning.kernel).toBe("triad");
    expect(host.pid).toBe(pid);
  },
  TIMEOUT_MS,
);

test("a search that is impossible is refused by field", async () => {
  for (const [wrong, code, pointer] of [
    [{ kernel: "nope" }, "unknown-kernel", "#/kernel"],
    [{ shape: { n: 0 } }, "invalid-request", "#/shape/n"],
  ] as const) {
    const error = await host.tune({ ...triad, ...wrong }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ProblemError);
    expect((error as ProblemError).problem).toMatchObject({ code, errors: [{ pointer }] });
  }
});
