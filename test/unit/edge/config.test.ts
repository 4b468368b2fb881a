import { describe, expect, it } from "vitest";
import { configOf, type Env } from "../../../src/edge/config.ts";

const read = (variables: Partial<Record<keyof Env, string>>) => configOf({ ...variables } as unknown as Env);

describe("the edge's configuration", () => {
  it("traces nothing without a target", () => {
    expect(read({}).tracing).toBeNull();
    expect(read({ OTLP_HEADERS: "key=a", OTLP_SAMPLE_RATIO: "0.5" }).tracing).toBeNull();
    expect(read({ OTLP_ENDPOINT: "https://collector.example/" }).tracing).toEqual({
      url: "https://collector.example/v1/traces",
      headers: {},
      sampleRatio: 1,
    });
    const told = { OTLP_ENDPOINT: "http://lab:4318", OTLP_HEADERS: "key=a%20b", OTLP_SAMPLE_RATIO: "0.01" };
    expect(read(told).tracing).toMatchObject({ headers: { key: "a b" }, sampleRatio: 0.01 });
  });

  it("measures 300 requests in its own calibrations, or as many as it shall", () => {
    expect(read({}).calibrationIterations).toBe(300);
    expect(read({ CALIBRATION_ITERATIONS: "10" }).calibrationIterations).toBe(10);
  });

  it("finds a silent runner within two heartbeats, and within five seconds, by default", () => {
    const { silentMs, intervals } = read({});
    expect(silentMs).toBeLessThanOrEqual(2 * intervals.heartbeatMs);
    expect(silentMs).toBeLessThan(5_000);
  });

  it.each([
    ["OTLP_ENDPOINT", "collector:4318"],
    ["OTLP_ENDPOINT", "grpc://collector:4317"],
    ["OTLP_HEADERS", "no value"],
    ["OTLP_SAMPLE_RATIO", "1.5"],
    ["OTLP_SAMPLE_RATIO", "-0.1"],
    ["OTLP_SAMPLE_RATIO", "often"],
    ["CALIBRATION_ITERATIONS", "9"],
    ["CALIBRATION_ITERATIONS", "many"],
  ] as const)("refuses %s=%s, and names it", (name, text) => {
    expect(() => read({ [name]: text })).toThrow(name);
  });
});
