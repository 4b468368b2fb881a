// The README's tour by a client that oazapfts generated: `npx oazapfts http://127.0.0.1:8787/openapi.json api.ts`.
import * as api from "./api.js";

/** Follows the tour with a digit, as a request for `lenet5`, and with the file of a policy; tells what came of it. */
export async function takeTour(baseUrl: string, key: string, digit: api.InferRequest, policy: Blob) {
  api.defaults.baseUrl = baseUrl;
  api.defaults.headers = { authorization: `Bearer ${key}` };
  const health = await api.getHealth();

  const queued = await api.createJob(
    { kind: "benchmark", kernel: "triad", shape: { n: 10_000 }, iterations: 5 },
    { idempotencyKey: "my-first-triad" },
  );
  if (queued.status !== 202) throw new Error(queued.data.detail);
  // The stream ends with the job.
  const events = await api.streamJobEvents(queued.data.id);
  const ended = await api.getJob(queued.data.id);
  if (ended.status !== 200) throw new Error(ended.data.detail);
  const { result, problem } = ended.data;

  const reply = await api.postV1Infer(digit);
  if (reply.status !== 200) throw new Error(reply.data.detail);
  const logits: number[] = reply.data.outputs["logits"]?.data ?? [];
  const refusal = await api.postV1Infer({ ...digit, budgetMs: 0.1 });

  const uploaded = await api.uploadModel("my-policy", policy);
  if (uploaded.status !== 201) throw new Error(String(uploaded.status));
  const again = await api.uploadModel("my-policy", policy);

  const found = await api.listSeries({ subject: "triad", metric: "wallMs" });
  if (found.status !== 200) throw new Error(String(found.status));
  const [series] = found.data.items;
  const points = series === undefined ? null : await api.listPoints(series.id, { step: "1h", percentiles: "50,99" });
  return {
    health: health.data.status,
    events: events.status,
    correct: result?.kind === "benchmark" && result.correctness.correct,
    problem,
    digit: logits.indexOf(Math.max(...logits)),
    budgetMet: reply.data.budgetMet,
    refused: refusal.status === 422 ? [refusal.data.code, refusal.data.fits !== undefined] : refusal.status,
    uploads: [uploaded.data.version.version, again.status],
    percentiles: points?.status === 200 ? Object.keys(points.data.points[0]?.percentiles ?? {}) : [],
  };
}
