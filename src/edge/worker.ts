import { createApp } from "./http/app.ts";

export { RunnerLink } from "./link/runner-link.ts";
export { JobQueue } from "./queue/job-queue.ts";

export default createApp();
