const READ_KEY = "export MILLRACE_KEY=$(cat .millrace/admin.key)";
const HEADERS = `-H "Authorization: Bearer $MILLRACE_KEY" -H "Content-Type: application/json"`;

function startRunner(token: string): string {
  return `npx millrace runner start --edge ${location.origin} --token ${token}`;
}

function benchmarkKernel(kernel: string): string {
  return `${READ_KEY}
curl -X POST ${location.origin}/v1/jobs \\
  ${HEADERS} \\
  -d '{"kind": "benchmark", "kernel": "${kernel}"}'`;
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

  infer: `${READ_KEY}
curl -X POST ${location.origin}/v1/infer \\
  ${HEADERS} \\
  -d '{"model": "cartpole", "budgetMs": 50, "inputs": {"observation": {"data": [[0.01, -0.02, 0.03, 0.04]]}}}'`,

  createVariant: (model: string) => `${READ_KEY}
curl -X POST ${location.origin}/v1/models/${model}/variants \\
  ${HEADERS} \\
  -d '{"recipe": {"method": "int8"}}'`,

  submitBenchmark: benchmarkKernel("gemm"),

  benchmarkKernel,

  tuneKernel: (kernel: string) => `${READ_KEY}
curl -X POST ${location.origin}/v1/jobs \\
  ${HEADERS} \\
  -d '{"kind": "tuning", "kernel": "${kernel}", "budgetMs": 20000}'`,

  searchAgain: `${READ_KEY}
curl -X POST ${location.origin}/v1/history/detections \\
  ${HEADERS} \\
  -d '{"selector": {"subject": "gemm"}}'`,

  submitValidation: `${READ_KEY}
curl -X POST ${location.origin}/v1/jobs \\
  ${HEADERS} \\
  -d '{"kind": "validation", "subject": {"kind": "model", "model": "lenet5"},
    "scenarios": [{"kind": "singleStream"}, {"kind": "server", "boundMs": 10}],
    "requirements": [{"metric": "latencyMs", "percentile": 0.5, "atMost": 10}]}'`,

  submitOptimisation: `${READ_KEY}
curl -X POST ${location.origin}/v1/jobs \\
  ${HEADERS} \\
  -d '{"kind": "optimisation", "subject": {"kind": "model", "model": "lenet5"},
    "targets": {"latencyMs": 10, "throughputPerS": 1000}}'`,

  submitEvaluation: `${READ_KEY}
curl -X POST ${location.origin}/v1/jobs \\
  ${HEADERS} \\
  -d '{"kind": "evaluation", "environment": "cartpole", "policies": ["cartpole"], "record": 3}'`,

  submitTraining: `${READ_KEY}
curl -X POST ${location.origin}/v1/jobs \\
  ${HEADERS} \\
  -d '{"kind": "training", "environment": "cartpole", "algorithm": {"name": "sep-cma-es"},
    "stopAt": 475, "publish": {"model": "balancer"}}'`,

  submitDiversity: `${READ_KEY}
curl -X POST ${location.origin}/v1/jobs \\
  ${HEADERS} \\
  -d '{"kind": "training", "environment": "arm", "network": {"kind": "direct"},
    "algorithm": {"name": "map-elites"}, "episodes": 1, "generations": 50}'`,

  createThreshold: `${READ_KEY}
curl -X POST ${location.origin}/v1/history/thresholds \\
  ${HEADERS} \\
  -d '{"name": "gemm-slower", "test": "percentage", "upper": 0.1,
    "selector": {"subject": "gemm", "metric": "wallMs"}}'`,

  createRequirements: `${READ_KEY}
curl -X POST ${location.origin}/v1/requirements \\
  ${HEADERS} \\
  -d '{"name": "interactive", "requirements": [
    {"metric": "latencyMs", "percentile": 0.99, "atMost": 10}]}'`,

  createWebhook: `${READ_KEY}
curl -X POST ${location.origin}/v1/webhooks \\
  ${HEADERS} \\
  -d '{"url": "https://example.com/hooks/millrace"}'`,

  submitKernel: `${READ_KEY}
curl -X POST ${location.origin}/v1/kernels \\
  ${HEADERS} \\
  --data-binary @kernels/gemm/example-submission.json`,
} as const;
