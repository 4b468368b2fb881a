import { afterAll, expect } from "vitest";
import { cartpole } from "../../../kernels/environments/cartpole/cartpole.environment.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { createDraws } from "../../../src/stats/random/draws.ts";
import { type LocalStack, waitFor, waitForJob } from "../local-stack.ts";
import { it, openTenant } from "../shared-stack.ts";

const MODEL = "balancer";
const EPISODES = 4;
/** One that acts at random falls after about 22. */
const STEPS = 150;

let stack: LocalStack;
it.beforeAll(async ({ sharedStack }) => {
  stack = await openTenant(sharedStack);
});
afterAll(() => stack?.stop());

it("trains a policy of CartPole, which then balances it by /act", async () => {
  const { client } = stack;
  const { id } = await client.call(endpoints.createJob, {
    body: {
      kind: "training",
      environment: "cartpole",
      network: { kind: "mlp", hidden: [8] },
      algorithm: { name: "sep-cma-es", population: 32 },
      generations: 30,
      episodes: 8,
      evaluation: { everyGenerations: 1, episodes: 50 },
      stopAt: 475,
      publish: { model: MODEL },
      backend: "cpu-simd",
    },
  });
  const job = await waitForJob(stack, id, ["succeeded", "failed"]);
  expect(job.problem).toBeNull();
  if (job.result?.kind !== "training") throw new Error("the job has no training for a result");
  const { solvedAtGeneration, best, published } = job.result;
  expect(solvedAtGeneration).toBeGreaterThan(0);
  expect(best.mean.value).toBeGreaterThan(400);

  const { versions } = await client.call(endpoints.getModel, { params: { model: MODEL } });
  expect(versions).toMatchObject([
    { id: published?.modelVersionId, card: { environment: "cartpole", training: { jobId: id } } },
  ]);
  await waitFor("the policy to be placed", async () => {
    const { items } = await client.call(endpoints.listPlacements, { params: { model: MODEL } });
    return items.find(({ state }) => state === "eligible");
  });

  const reference = cartpole.reference!;
  const drawsOf = (episode: number) => createDraws({ seed: 9, stream: 1, member: 0, episode, step: 0 });
  const states = Array.from({ length: EPISODES }, (_, episode) => {
    const state = new Float64Array(4);
    reference.reset(state, drawsOf(episode));
    return state;
  });
  const fallen = new Set<number>();
  for (let taken = 0; taken < STEPS; taken++) {
    const body = { observations: states.map((state) => [...state]), budgetMs: 30_000 };
    const { actions } = await client.call(endpoints.actPolicy, { params: { id: MODEL }, body });
    for (const [episode, action] of actions!.entries()) {
      const { terminated } = reference.step(states[episode]!, Float64Array.of(Number(action)), drawsOf(episode));
      if (terminated) fallen.add(episode);
    }
  }
  expect(fallen.size).toBeLessThanOrEqual(1);
});
