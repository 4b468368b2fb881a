// A tour of an edge by `millrace/client`, in any runtime that has fetch: Node, Deno, Bun, Workers or a browser.
import {
  act,
  createClient,
  createRetry,
  endpoints,
  followJob,
  infer,
  listAll,
  ProblemError,
  submitJob,
  waitForJob,
} from "millrace/client";

/** Benchmarks a kernel and asks the policy `cartpole`; tells what came of it. */
export async function takeTour(baseUrl: string, key: string) {
  const client = createClient({ baseUrl, key, retry: createRetry({ attempts: 3 }) });
  const { status } = await client.call(endpoints.getHealth);

  const profiles: string[] = [];
  for await (const { name } of listAll(client, endpoints.listProfiles, { query: { limit: 1 } })) profiles.push(name);

  const { id } = await submitJob(client, { kind: "benchmark", kernel: "triad", shape: { n: 1_000 }, iterations: 5 });
  const events: string[] = [];
  for await (const { type } of followJob(client, id)) if (type !== "progress") events.push(type);
  const { result } = await waitForJob(client, id);
  const correct = result?.kind === "benchmark" && result.correctness.correct;

  const inputs = { observation: { data: [[0.01, -0.02, 0.03, 0.04]] } };
  const reply = await infer(client, { model: "cartpole", budgetMs: 30_000, inputs });
  const { action } = await act(client, "cartpole", { observation: [0.01, -0.02, 0.03, 0.04], budgetMs: 30_000 });
  const refusal = await infer(client, { model: "cartpole", budgetMs: 0.1, inputs }).catch((error: unknown) => error);
  const refused = refusal instanceof ProblemError ? refusal.problem.code : null;

  return { status, profiles: profiles.length, events, correct, budgetMet: reply.budgetMet, action, refused };
}
