import { BenchmarkSpec } from "../../src/protocol/jobs/benchmark.ts";
import type { ProbeResult } from "../../src/protocol/jobs/probe.ts";
import type { Capabilities, Device } from "../../src/protocol/fleet/hardware.ts";

/** The job that is submitted repeatedly. */
export const SPEC = BenchmarkSpec.parse({ kind: "benchmark", kernel: "triad" });

const DEVICE: Device = {
  key: "gpu0",
  kind: "gpu",
  name: "simulated",
  software: false,
  fingerprint: { adapter: "simulated", driver: null, dawn: null, toggles: [], ort: null, cpu: "simulated" },
  backends: ["wgsl"],
  features: [],
  limits: {},
  memoryBytes: null,
  timestampQuantised: null,
  roofline: null,
};

/** Capabilities of a runner that can do the job, one at a time. */
export const CAPABILITIES: Capabilities = {
  version: "simulated",
  hardware: {
    hostname: "simulated",
    os: "Linux",
    arch: "x64",
    cpu: { model: "simulated", physicalCores: 1, logicalCores: 2, speedGhz: null, features: [] },
    memoryBytes: 2 ** 33,
    virtual: true,
    node: "simulated",
  },
  devices: [DEVICE],
  kernels: [
    {
      name: "triad",
      description: "a = b + s·c",
      dimensions: [{ name: "n", description: "elements", min: 1, max: 1_048_576, default: 1_024 }],
      dtypes: ["float32"],
      variants: ["plain"],
    },
  ],
  jobSlots: 1,
};

/** A small result; nothing evaluates it. */
export const RESULT: ProbeResult = {
  kind: "probe",
  ok: true,
  claims: [{ claim: "work", claimed: "done", found: "done", ok: true }],
  environment: {
    deviceKey: DEVICE.key,
    deviceName: DEVICE.name,
    software: DEVICE.software,
    fingerprint: DEVICE.fingerprint,
    runnerVersion: CAPABILITIES.version,
    loadAverage: 0,
    otherJobs: 0,
  },
};
