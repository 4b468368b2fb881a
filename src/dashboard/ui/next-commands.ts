import type { JobKind } from "../../protocol/jobs/job.ts";
import { benchmark } from "../../words/kinds/benchmark.ts";
import { evaluation } from "../../words/kinds/evaluation.ts";
import { optimisation } from "../../words/kinds/optimisation.ts";
import { training } from "../../words/kinds/training.ts";
import { tuning } from "../../words/kinds/tuning.ts";
import { validation } from "../../words/kinds/validation.ts";

const READ_KEY = "export MILLRACE_KEY=$(cat .millrace/admin.key)";
const HEADERS = `-H "Authorization: Bearer $MILLRACE_KEY" -H "Content-Type: application/json"`;

function startRunner(token: string): string {
  return `npx millrace runner start --edge ${location.origin} --token ${token}`;
}

function post(path: string, fields: string): string {
  return `${READ_KEY}
curl -X POST ${location.origin}${path} \\
  ${HEADERS} \\
  -d '{${fields}}'`;
}

function submit({ kind }: { readonly kind: JobKind }, fields: string): string {
  return post("/v1/jobs", `"kind": "${kind}", ${fields}`);
}

function benchmarkKernel(kernel: string): string {
  return submit(benchmark, `"kernel": "${kernel}"`);
}

/** The commands that a newcomer needs next, for this edge. */
export const nextCommands = {
  registerRunner: `${READ_KEY}
curl -X POST ${location.origin}/v1/runners/tokens \\
  ${HEADERS} -d '{}'
${startRunner("TOKEN")}`,

  startRunner,

  uploadModel: `${READ_KEY}
curl -X POST "${location.origin}/v1/models?name=cartpole" \\
  -H "Authorization: Bearer $MILLRACE_KEY" -H "Content-Type: application/octet-stream" \\
  --data-binary @models/cartpole/cartpole.onnx`,

  infer: post(
    "/v1/infer",
    `"model": "cartpole", "budgetMs": 50, "inputs": {"observation": {"data": [[0.01, -0.02, 0.03, 0.04]]}}`,
  ),

  createVariant: (model: string) => post(`/v1/models/${model}/variants`, `"recipe": {"method": "int8"}`),

  submitBenchmark: benchmarkKernel("gemm"),

  benchmarkKernel,

  tuneKernel: (kernel: string) => submit(tuning, `"kernel": "${kernel}", "budgetMs": 20000`),

  searchAgain: post("/v1/history/detections", `"selector": {"subject": "gemm"}`),

  submitValidation: submit(
    validation,
    `"subject": {"kind": "model", "model": "lenet5"},
    "scenarios": [{"kind": "singleStream"}, {"kind": "server", "boundMs": 10}],
    "requirements": [{"metric": "latencyMs", "percentile": 0.5, "atMost": 10}]`,
  ),

  submitOptimisation: submit(
    optimisation,
    `"subject": {"kind": "model", "model": "lenet5"},
    "targets": {"latencyMs": 10, "throughputPerS": 1000}`,
  ),

  submitEvaluation: submit(evaluation, `"environment": "cartpole", "policies": ["cartpole"], "record": 3`),

  submitTraining: submit(
    training,
    `"environment": "cartpole", "algorithm": {"name": "sep-cma-es"},
    "stopAt": 475, "publish": {"model": "balancer"}`,
  ),

  submitDiversity: submit(
    training,
    `"environment": "arm", "network": {"kind": "direct"},
    "algorithm": {"name": "map-elites"}, "episodes": 1, "generations": 50`,
  ),

  createThreshold: post(
    "/v1/history/thresholds",
    `"name": "gemm-slower", "test": "percentage", "upper": 0.1,
    "selector": {"subject": "gemm", "metric": "wallMs"}`,
  ),

  createRequirements: post(
    "/v1/requirements",
    `"name": "interactive", "requirements": [
    {"metric": "latencyMs", "percentile": 0.99, "atMost": 10}]`,
  ),

  createWebhook: post("/v1/webhooks", `"url": "https://example.com/hooks/millrace"`),

  submitKernel: `${READ_KEY}
curl -X POST ${location.origin}/v1/kernels \\
  ${HEADERS} \\
  --data-binary @kernels/gemm/example-submission.json`,
} as const;
