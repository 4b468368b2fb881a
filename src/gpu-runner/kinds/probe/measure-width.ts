import type { Tensor } from "../../../protocol/wire/tensor.ts";
import { OrtBackend } from "../../devices/ort/ort-backend.ts";
import { writeOnnxGraph } from "../../devices/ort/write-onnx-graph.ts";

const MODEL_KEY = "measure-width";
const SIZE = 384;
const ROUNDS = 12;
/**
 * Multiplications and additions of f32 per clock of a core.
 * Registers of 128 bits without fused multiply-adds do at most 8 on two ports, those of 256 bits with them at most 32.
 * Half of the former is left for everything that slows a core down.
 * Source: Intel 64 and IA-32 Architectures Optimization Reference Manual.
 */
const NARROW = 8;
const AVX2_AT_MOST = 32;
const LEAST = 4;

/** Billions of operations a second of a thread's own time, in ONNX Runtime's matrix product. */
export async function measureWidth(): Promise<number> {
  const ort = new OrtBackend("cpu");
  const values = new Float32Array(SIZE * SIZE).fill(0.5);
  const file = writeOnnxGraph({
    name: "product",
    inputs: [{ name: "x", shape: [SIZE, SIZE] }],
    outputs: [{ name: "y", shape: [SIZE, SIZE] }],
    constants: [{ name: "w", shape: [SIZE, SIZE], values }],
    nodes: [{ operator: "MatMul", inputs: ["x", "w"], output: "y" }],
  });
  await ort.load(MODEL_KEY, file);
  const x: Tensor = { name: "x", dtype: "float32", shape: [SIZE, SIZE], bytes: new Uint8Array(values.buffer) };
  try {
    await ort.run(MODEL_KEY, [x]);
    const before = process.cpuUsage();
    let computeMs = 0;
    for (let round = 0; round < ROUNDS; round++) computeMs += (await ort.run(MODEL_KEY, [x])).times.computeMs;
    const { user, system } = process.cpuUsage(before);
    // The thread's own time, without other processes on the core.
    const spentMs = Math.min(computeMs, (user + system) / 1e3);
    return (2 * SIZE ** 3 * ROUNDS) / spentMs / 1e6;
  } finally {
    await ort.unload(MODEL_KEY);
  }
}

/** Judges the register width from billions of operations a second and the clock. */
export function judgeWidth(gflops: number, clockMhz: number): { found: string; ok: boolean } {
  const perClock = gflops / (clockMhz / 1e3);
  const text = `${perClock.toFixed(1)} operations a clock at ${clockMhz.toFixed(0)} MHz`;
  if (perClock > AVX2_AT_MOST) return { found: `${text}: more than AVX2 can do`, ok: true };
  if (perClock > NARROW) return { found: `${text}: more than narrow registers can do`, ok: true };
  if (perClock >= LEAST) return { found: `${text}: not enough to tell`, ok: true };
  return { found: `${text}: less than narrow registers can do`, ok: false };
}
