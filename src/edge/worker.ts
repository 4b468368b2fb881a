import type { Env } from "./config.ts";
import { removeVanished } from "./fleet/change-runner.ts";
import { tendHistory } from "./history/tend-history.ts";
import { createApp } from "./app.ts";

export { RunnerLink } from "./link/runner-link.ts";
export { JobQueue } from "./queue/job-queue.ts";
export { PolicyStream } from "./routes/inference/policy-stream.ts";

const app = createApp();

export default {
  fetch: app.fetch,
  scheduled: async ({ scheduledTime }, env) => {
    await removeVanished(env, scheduledTime);
    await tendHistory(env, scheduledTime);
  },
} satisfies ExportedHandler<Env>;
