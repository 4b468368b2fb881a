import { competitor, expecting, ownReference } from "../../edge/stack/kernel-samples.ts";

const observation = { dtype: "float32", shape: [1, 4], data: [[0.01, -0.02, 0.03, 0.04]] };
const oip = { inputs: [{ name: "observation", shape: [1, 4], datatype: "FP32", data: [0.1, 0.2, 0.3, 0.4] }] };
const measured = { subject: "sum", subjectKind: "benchmark", metric: "wallMs", unit: "ms", direction: "lower" };
const about = {
  label: "main",
  host: { cpu: "Sample CPU", adapter: "sample", driver: "1", dawn: "1", toggles: ["a"], ort: "1" },
};
const threshold = { selector: { subject: "sum", metric: "wallMs" }, test: "t-test", lower: 0.98, upper: 0.98 };
const environment = {
  description: "Counts to ten",
  observationSize: 1,
  action: { kind: "discrete", count: 2 },
  stepLimit: 10,
  measures: 0,
  scores: { worst: 0, best: 10, solvedAt: null },
  wgsl: "struct State { at: f32 }",
  stateWords: 1,
};
const evaluation = { kind: "evaluation", environment: "cartpole", policies: [{ model: "cartpole" }], episodes: 4 };

/**
 * Bodies of operations that create objects for others, or that the schema alone seldom gets right because names, shapes
 * and numbers have to fit each other. They are sent both unchanged and changed.
 */
export const EXAMPLE_BODIES: Readonly<Record<string, readonly unknown[]>> = {
  infer: [{ model: "cartpole", budgetMs: 2_000, inputs: { observation } }],
  createTicket: [{ model: "cartpole", budgetMs: 2_000 }],
  actPolicy: [{ observation: [0.1, 0.2, 0.3, 0.4], budgetMs: 2_000 }],
  oipInfer: [oip, { ...oip, outputs: [{ name: "action" }], parameters: { budget_ms: 2_000 } }],
  oipVersionInfer: [oip],
  createJob: [
    { kind: "calibration", model: "cartpole" },
    evaluation,
    { kind: "benchmark", kernel: "gemm", shape: { m: 8, n: 8, k: 8 }, iterations: 2 },
    { kind: "training", environment: "cartpole", algorithm: { name: "openes" }, generations: 1 },
    { kind: "validation", model: "cartpole", scenarios: [{ kind: "singleStream", queries: 4 }] },
  ],
  reportPoints: [
    { ...about, run: "mine", measurements: [{ ...measured, values: [1, 2, 3] }] },
    { ...about, software: true, measurements: [{ ...measured, configuration: { size: "large" }, value: 1 }] },
    {
      ...about,
      measurements: [{ ...measured, aggregate: { count: 2, min: 1, max: 3, sum: 4, percentiles: { p50: 2 } } }],
    },
  ],
  createThreshold: ["one", "two", "three"].map((name) => ({ ...threshold, name })),
  testThreshold: [{ threshold: { ...threshold, name: "tried" } }],
  submitKernel: [competitor, ownReference, expecting],
  submitEnvironment: ["first", "second", "third"].map((name) => ({ ...environment, name })),
  createWebhook: [{ url: "http://127.0.0.1:9/hook", events: ["alert.opened"], direction: "regression" }],
  encodeSymbols: [{ symbols: ["red", "green"], dimension: 8, seed: 2, budgetMs: 500 }],
  createItemMemory: [{ name: "colours", dimension: 8, seed: 2 }],
  createAgentPool: [{ name: "flock", agents: 4, stateSize: 8, residency: "host" }],
  createRequirements: [{ name: "fast", requirements: [{ metric: "startupMs", atMost: 1_000 }] }],
  beginTransfer: [{ kind: "export" }],
  setPlacement: [{ kind: "automatic" }, { kind: "profile", profile: "balanced" }],
  createVariant: [{ name: "small", recipe: { method: "int4", blockSize: 32 } }],
};
