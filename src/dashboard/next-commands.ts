const READ_KEY = "export MILLRACE_KEY=$(cat .millrace/admin.key)";
const HEADERS = `-H "Authorization: Bearer $MILLRACE_KEY" -H "Content-Type: application/json"`;

/** The commands that a newcomer needs next, for this edge. */
export const nextCommands = {
  registerRunner: `${READ_KEY}
curl -X POST ${location.origin}/v1/runners/tokens \\
  ${HEADERS} -d '{}'
npx millrace runner start --edge ${location.origin} --token TOKEN`,

  submitBenchmark: `${READ_KEY}
curl -X POST ${location.origin}/v1/jobs \\
  ${HEADERS} \\
  -d '{"kind": "benchmark", "kernel": "gemm"}'`,

  searchAgain: `${READ_KEY}
curl -X POST ${location.origin}/v1/history/detections \\
  ${HEADERS} \\
  -d '{"selector": {"subject": "gemm"}}'`,

  submitTuning: `${READ_KEY}
curl -X POST ${location.origin}/v1/jobs \\
  ${HEADERS} \\
  -d '{"kind": "tuning", "kernel": "gemm", "budgetMs": 20000}'`,
} as const;
