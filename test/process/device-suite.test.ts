import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { expect, test } from "vitest";
import type { KernelSpec } from "../../kernels/kernel-spec.ts";
import { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import { checkKernels } from "../../src/gpu-runner/device-suite/kernels.ts";
import { runSuite } from "../../src/gpu-runner/device-suite/suite.ts";
import { CACHE_DIR } from "../kernels/software-gpu-cache.ts";
import { faulty } from "./faulty/faulty-kernel.ts";

const PROGRAM = path.join(import.meta.dirname, "../../src/gpu-runner/device-suite/main.ts");

/** `home` is the user's folder. */
async function runProgram(args: readonly string[], home: string) {
  const env = { ...process.env, HOME: home };
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", "pipe", "pipe"], env });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code: code as number | null, out, err };
}

test("kernels that are wrong, crash or lack a feature are told from sound ones", async () => {
  const entry = new URL("faulty/faulty-device.ts", import.meta.url);
  const shared = { cacheDir: CACHE_DIR, logger: pino({ level: "silent" }) };
  const [host, cpu] = await Promise.all([
    DeviceHost.start({ role: "gpu", deviceKey: "gpu0", driver: "software", entry, ...shared }),
    DeviceHost.start({ role: "cpu", deviceKey: "cpu", ...shared }),
  ]);
  const lacking = faulty("lacking", "ones.wgsl", { features: ["hovercraft"] });
  const planted = [
    faulty("not-twos", "ones.wgsl"),
    faulty("crashes-at-once", "ones.wgsl"),
    faulty("invalid", "does-not-compile.wgsl"),
    lacking,
    faulty("ones", "ones.wgsl"),
  ] as KernelSpec[];
  const kernels = new Map(planted.map((kernel) => [kernel.name, kernel]));
  try {
    const load = async () => (context: Parameters<typeof checkKernels>[0]) => checkKernels(context, kernels);
    const checks = await runSuite(
      [{ name: "kernels", share: 1, load }],
      { host, cpu, say: () => {} },
      { limitMs: 600_000, keep: async () => {}, signal: new AbortController().signal },
    );
    expect(checks).toMatchObject([
      { name: "not-twos only", outcome: "failed", reason: expect.stringMatching(/^kernel-incorrect: .* says 2$/) },
      { name: "crashes-at-once only", outcome: "failed", reason: expect.stringMatching(/^device-lost/) },
      { name: "invalid only", outcome: "failed", reason: expect.stringMatching(/^kernel-invalid/) },
      { name: "lacking", outcome: "skipped", reason: "the device lacks hovercraft" },
      { name: "ones only", outcome: "passed", figures: { checkedElements: 64, maxRelativeError: 0 } },
    ]);
  } finally {
    await Promise.all([host.stop(), cpu.stop()]);
  }
});

test(
  "the command checks a selection on the software GPU, and a second run makes none of it again",
  { timeout: 900_000 },
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "millrace-suite-"));
    const only = "kernels/empty-dispatch,networks/fall-cnn wgsl,environments/xor";
    const options = ["--gpu=software", `--out=${folder}`, "--resume", "--limit-s=3600"];
    const run = (selected: string) => runProgram([...options, `--only=${selected}`], folder);
    try {
      const first = await run(only);
      const json = await readFile(path.join(folder, "report.json"), "utf8");
      expect(first).toMatchObject({ code: 0, out: expect.stringMatching(/^11 passed, 0 failed, 0 skipped: /) });
      const { subject, checks } = JSON.parse(json);
      expect(subject.device).toMatchObject({ software: true, fingerprint: { driver: expect.any(String) } });
      expect(subject.hardware).toMatchObject({ node: process.version });
      const named = (name: string) => checks.find((check: { name: string }) => check.name === name);
      expect(named("fall-cnn wgsl").figures.p50Ms).toBeGreaterThan(0);
      const { steps, agreeing } = named("xor steps").figures;
      expect(steps).toBeGreaterThan(0);
      expect(agreeing).toBe(steps);
      expect(await readFile(path.join(folder, "report.html"), "utf8")).toContain(
        "empty-dispatch one-dispatch lanes=32",
      );
      const second = await run(only);
      expect(second).toMatchObject({ code: 0, out: first.out, err: expect.not.stringContaining("passed kernels") });
      expect(JSON.parse(await readFile(path.join(folder, "report.json"), "utf8")).checks).toEqual(checks);
      // The driver that a process loads is in no folder that others may write to.
      const cached = await readdir(path.join(folder, ".millrace/device-suite"));
      expect(cached).toContainEqual(expect.stringMatching(/^swiftshader-/));
      const unknown = { code: 2, out: "", err: expect.stringContaining("--only kernels/gemm-m names no check.") };
      expect(await run("kernels/empty-dispatch,kernels/gemm-m")).toMatchObject(unknown);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);

test.each([
  [["--only", "kernel"], "--only kernel names no part; there are: kernels, "],
  [["--limit-s", "soon"], "--limit-s must be a number of seconds up to 86400"],
  [["--gpus", "all"], "'--gpus'"],
  [["--out", PROGRAM], `--out ${PROGRAM} is no folder to write to`],
])("%j is a wrong command line", async (args, message) => {
  expect(await runProgram(args, tmpdir())).toMatchObject({ code: 2, out: "", err: expect.stringContaining(message) });
});
