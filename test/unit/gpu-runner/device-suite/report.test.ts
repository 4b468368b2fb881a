import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Check } from "../../../../src/gpu-runner/device-suite/check.ts";
import { MOST_REPORT_BYTES, renderReport } from "../../../../src/gpu-runner/device-suite/report.ts";
import {
  openFolder,
  readEarlier,
  ReportWriter,
  type SuiteSubject,
} from "../../../../src/gpu-runner/device-suite/suite-report.ts";

const subject: SuiteSubject = {
  device: {
    key: "gpu0",
    kind: "gpu",
    name: "<b>GPU</b>",
    software: false,
    fingerprint: { adapter: "a", driver: "d", dawn: null, toggles: [], ort: null, cpu: "c" },
    backends: ["wgsl"],
    features: ["shader-f16"],
    limits: { maxBufferSize: 1 },
    memoryBytes: null,
    timestampQuantised: null,
    roofline: null,
  },
  adapters: ["a"],
  board: null,
  hardware: {
    hostname: "h",
    os: "o",
    arch: "x64",
    cpu: { model: "c", physicalCores: 1, logicalCores: 2, speedGhz: null, features: [] },
    memoryBytes: 1,
    virtual: false,
    node: "v24",
  },
  release: "0.1.0",
  commit: null,
};
const about = { subject, startedAt: "2026-11-26T16:00:00.000Z", limitMs: 540_000 };
const render = (checks: readonly Check[]) => renderReport({ ...about, updatedAt: about.startedAt, checks });

const failed: Check = {
  part: "kernels",
  name: `gemm "x"`,
  outcome: "failed",
  reason: "<script>alert(1)</script> & more",
  durationMs: 3,
};
const passed: Check = {
  part: "networks",
  name: "lenet5 wgsl",
  outcome: "passed",
  figures: { p50Ms: 0.5, note: "<i>", missing: Number.POSITIVE_INFINITY },
  durationMs: 2,
};

it("puts failures first, and escapes everything", () => {
  const html = render([passed, failed]);
  expect(html.indexOf("&lt;script&gt;alert(1)&lt;/script&gt; &amp; more")).toBeGreaterThan(0);
  expect(html.indexOf("gemm &quot;x&quot;")).toBeLessThan(html.indexOf("lenet5 wgsl"));
  expect(html).toContain("&lt;b&gt;GPU&lt;/b&gt;: 1 failed");
  expect(html).toContain("&lt;i&gt;");
  expect(html).not.toMatch(/<script|<b>|<i>|<link|@import|url\(/);
  expect(html).toContain("prefers-color-scheme: dark");
});

it("draws a figure as a share of the largest in its column", () => {
  const html = render([passed, { ...passed, name: "slower", figures: { p50Ms: 1 } }]);
  expect([...html.matchAll(/class="bar" width="([\d.]+)"/g)].map(([, width]) => Number(width))).toEqual([40, 80]);
});

it("has at most 16 MiB, and says how many checks it leaves out", () => {
  const reason = "ü".repeat(600);
  const checks = Array.from({ length: 20_000 }, (_, index): Check => {
    return { ...passed, part: index % 2 === 0 ? "a" : "b", name: `check ${index}`, reason };
  });
  const html = render(checks);
  expect(Buffer.byteLength(html)).toBeLessThanOrEqual(MOST_REPORT_BYTES);
  const shown = html.match(/<td class="name">check \d+<\/td>/g)?.length ?? 0;
  const left = [...html.matchAll(/(\d+) more checks are in the JSON/g)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
  expect(shown).toBeGreaterThan(5_000);
  expect(shown + left).toBe(checks.length);
  const failures = render(checks.map((check) => ({ ...check, outcome: "failed" })));
  expect(Buffer.byteLength(failures)).toBeLessThanOrEqual(MOST_REPORT_BYTES);
});

it("reads back what it wrote, and refuses the report of another device or other code", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-suite-"));
  try {
    expect(await readEarlier(folder, subject)).toEqual([]);
    const writer = new ReportWriter(folder, about);
    await writer.write([failed], true);
    expect(await readFile(writer.paths.html, "utf8")).toContain("gemm");
    expect(await readEarlier(folder, subject)).toEqual([failed]);
    const { fingerprint } = subject.device;
    const reordered = Object.fromEntries(Object.entries(fingerprint).toReversed()) as typeof fingerprint;
    const same = { ...subject, device: { ...subject.device, fingerprint: reordered } };
    expect(await readEarlier(folder, same)).toEqual([failed]);
    const newer = { ...subject, commit: "c0ffee" };
    await expect(readEarlier(folder, newer)).rejects.toThrow(
      "is of release 0.1.0, and this is release 0.1.0 at commit c0ffee: name another folder by --out",
    );
    await expect(readEarlier(folder, { ...subject, release: "0.2.0" })).rejects.toThrow("this is release 0.2.0");
    const other = { ...subject, device: { ...subject.device, fingerprint: { ...fingerprint, driver: "newer" } } };
    await expect(readEarlier(folder, other)).rejects.toThrow("of another driver: name another folder by --out");
    await writeFile(writer.paths.json, "{");
    await expect(readEarlier(folder, subject)).rejects.toThrow("is no report of this suite");
    await rm(writer.paths.json);
    await mkdir(writer.paths.json);
    await expect(readEarlier(folder, subject)).rejects.toThrow("cannot be read: EISDIR");
    const file = writer.paths.html;
    await expect(openFolder(file)).rejects.toThrow(`--out ${file} is no folder to write to`);
    await openFolder(join(folder, "a", "b"));
  } finally {
    await rm(folder, { recursive: true });
  }
});
