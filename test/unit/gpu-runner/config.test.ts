import { totalmem } from "node:os";
import { expect, it } from "vitest";
import { readConfig } from "../../../src/gpu-runner/config.ts";

const VARIABLES = {
  MILLRACE_GPU_MEMORY: "gpuBytes",
  MILLRACE_HOST_MEMORY: "hostBytes",
  MILLRACE_DISK_SPACE: "diskBytes",
  MILLRACE_BACKGROUND_BANDWIDTH: "backgroundBytesPerSecond",
} as const;

it("has budgets that are whole and positive by default", () => {
  const { memory } = readConfig({});
  expect(Object.keys(memory).toSorted()).toEqual(Object.values(VARIABLES).toSorted());
  for (const value of Object.values(memory)) expect(Number.isSafeInteger(value) && value > 0).toBe(true);
});

it.each(Object.entries(VARIABLES))("takes %s in bytes or in units", (variable, field) => {
  const read = (text: string) => readConfig({ [variable]: text }).memory[field];
  expect([read("12345"), read("3KiB"), read("5MiB"), read("2GiB")]).toEqual([12_345, 3_072, 5_242_880, 2_147_483_648]);
});

it.each(Object.keys(VARIABLES))("refuses another %s by its name", (variable) => {
  for (const text of ["", "0", "-1", "1.5", "1e9", "many", "5 MiB", "5MB", "9007199254740993", "999999999999999GiB"]) {
    expect(() => readConfig({ [variable]: text }), text).toThrow(variable);
  }
});

it("leaves a device's process half of the machine, or the configured memory", () => {
  expect(readConfig({}).processBytes).toBeGreaterThan(2 ** 26);
  expect(readConfig({}).processBytes).toBeLessThanOrEqual(totalmem() / 2);
  expect(readConfig({ MILLRACE_PROCESS_MEMORY: "3GiB" }).processBytes).toBe(3 * 2 ** 30);
  expect(() => readConfig({ MILLRACE_PROCESS_MEMORY: "much" })).toThrow("MILLRACE_PROCESS_MEMORY");
});

it("takes GPUs as a list, one device for each entry", () => {
  const read = (text: string) => readConfig({ MILLRACE_GPU: text }).gpu;
  expect(readConfig({}).gpu).toBe("auto");
  expect([read("auto"), read("none"), read("software")]).toEqual(["auto", [], ["software"]]);
  expect(read("software, NVIDIA RTX 4090")).toEqual(["software", "NVIDIA RTX 4090"]);
  for (const text of ["", "software,,software", ",", Array.from({ length: 16 }, () => "software").join()]) {
    expect(() => read(text), text).toThrow("MILLRACE_GPU");
  }
});

it("listens nowhere by default, and without a host on this machine's own address", () => {
  const read = (text: string, url?: string) =>
    readConfig({ MILLRACE_DIRECT: text, ...(url !== undefined && { MILLRACE_DIRECT_URL: url }) }).direct;
  expect(readConfig({}).direct).toBeNull();
  expect(readConfig({ MILLRACE_DIRECT_URL: "http://lab" }).direct).toBeNull();
  expect(read("8790")).toEqual({ host: "127.0.0.1", port: 8_790, url: null });
  expect(read("lab-3.local:0")).toEqual({ host: "lab-3.local", port: 0, url: null });
  expect(read("[fd00::7]:8790")).toEqual({ host: "fd00::7", port: 8_790, url: null });
  expect(read("8790", "http://[fd00::7]:80/")?.url).toBe("http://[fd00::7]:80/");
  expect(read("0.0.0.0:8790", "https://lab:443")).toEqual({ host: "0.0.0.0", port: 8_790, url: "https://lab:443" });
});

it("ends by itself only where it is told to: after a job, or after a time", () => {
  expect(readConfig({ MILLRACE_EPHEMERAL: "off" }).ephemeral).toBeNull();
  expect(readConfig({ MILLRACE_EPHEMERAL: "on" }).ephemeral).toEqual({ durationMs: null });
  const timed = { MILLRACE_EPHEMERAL: "on", MILLRACE_DURATION_MS: "1800000" };
  expect(readConfig(timed).ephemeral).toEqual({ durationMs: 1_800_000 });
  expect(() => readConfig({ MILLRACE_EPHEMERAL: "yes" })).toThrow("MILLRACE_EPHEMERAL");
  for (const text of ["", "0", "soon", "1.5", "86400001"]) {
    expect(() => readConfig({ ...timed, MILLRACE_DURATION_MS: text }), text).toThrow("MILLRACE_DURATION_MS");
  }
  expect(() => readConfig({ MILLRACE_DURATION_MS: "1800000" })).toThrow("MILLRACE_EPHEMERAL=on");
});

it("offers no metrics and sends spans nowhere by default", () => {
  expect(readConfig({})).toMatchObject({ metrics: null, tracing: null });
  expect(readConfig({ MILLRACE_METRICS: "9464" }).metrics).toEqual({ host: "127.0.0.1", port: 9_464 });
  expect(() => readConfig({ MILLRACE_METRICS: "lab" })).toThrow("MILLRACE_METRICS");
  const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://lab:4318/", OTEL_EXPORTER_OTLP_HEADERS: "key=a%20b" };
  expect(readConfig(collector).tracing).toEqual({ url: "http://lab:4318/v1/traces", headers: { key: "a b" } });
  for (const [name, text] of [
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "lab:4318"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://lab:4317"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "no value"],
  ] as const)
    expect(() => readConfig({ [name]: text }), text).toThrow(name);
});

it("refuses an address to listen on that is none, or that no client could call", () => {
  for (const text of ["", "lab", "lab:", ":8790", "lab:65536", "http://lab:80", "a b:1", "fd00::7:8790"]) {
    expect(() => readConfig({ MILLRACE_DIRECT: text }), text).toThrow(/MILLRACE_DIRECT\b/);
  }
  for (const host of ["0.0.0.0", "[::]"]) {
    expect(() => readConfig({ MILLRACE_DIRECT: `${host}:8790` }), host).toThrow("MILLRACE_DIRECT_URL");
  }
  const beyond = ["http://lab/v2", "http://lab?a=1", "http://lab?", "http://lab#a", "http://me@lab", "http:\\\\lab"];
  for (const url of ["lab:80", "ftp://lab", `http://${"a".repeat(512)}`, ...beyond]) {
    expect(() => readConfig({ MILLRACE_DIRECT: "8790", MILLRACE_DIRECT_URL: url }), url).toThrow("MILLRACE_DIRECT_URL");
  }
});
