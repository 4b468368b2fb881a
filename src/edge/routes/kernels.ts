import type { Hono } from "hono";
import { BenchmarkSpec } from "../../protocol/jobs/benchmark.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { ListedKernel, SubmittedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import { jobQueue, type ProjectEnv } from "../config.ts";
import type { Principal } from "../http/auth.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { digestRequest } from "../queue/submit-job.ts";
import type { SubmitOutcome } from "../queue/queue-rpc.ts";
import { canRun } from "../kinds/subjects/kernel-devices.ts";
import { openProject } from "../store/database.ts";
import {
  addKernel,
  deleteKernel,
  findKernel,
  isKernelId,
  listSubmittedKernels,
  setCheckJob,
} from "../store/kernels/kernel-store.ts";
import { withCapabilities } from "../store/fleet/capability-cache.ts";
import { readAllCapabilities, selectInSight } from "../store/fleet/runner-store.ts";
import { readLeaderboard } from "../store/kernels/standing-store.ts";
import { selectJobRoom } from "../store/quotas/quota-store.ts";
import { resolveReference } from "../kinds/subjects/submitted-kernel.ts";

/** Untimed runs before the timed ones, in the benchmark that checks a new kernel. */
const CHECK_WARMUP = 3;

export function bindKernels(app: Hono<AppEnv>): void {
  bind(app, endpoints.submitKernel, async ({ env, principal, body }) => {
    const db = openProject(env);
    const [[room], ...inSight] = await db.batch([selectJobRoom(db), ...selectInSight(db)]);
    const runners = (await withCapabilities(db, inSight.flat())).map(({ capabilities }) => capabilities);
    const { reference, dtype } = await resolveReference(db, body, runners);
    const ownerId = principal?.id ?? "";
    const added = await addKernel(db, { ownerId, definition: body, dtype, reference });
    if (added === null) {
      // Its reference kernel may be gone by now.
      await resolveReference(db, body, runners);
      throw new ProblemError("conflict", `This key has ${LIMITS.kernelsPerKey} kernels: delete one first.`);
    }
    const { kernel, created } = added;
    const target = { kernel: kernel.id, reference: kernel.reference };
    const isOffered = runners.some((runner) => canRun(target, runner));
    const needsCheck = isOffered && kernel.state === "unchecked" && kernel.checkJobId === null;
    const checked = needsCheck ? await queueCheck(env, kernel, room?.mostQueued ?? 0) : kernel;
    const location = `/v1/kernels/${kernel.id}`;
    return Response.json(checked, { status: created ? 201 : 200, headers: { location } });
  });

  bind(app, endpoints.listKernels, async ({ env, query }) => {
    const db = openProject(env);
    const submitted = await listSubmittedKernels(db, query);
    // Announced kernels come on the first page, beyond its limit, so that cursors name only stored ones.
    return query.cursor === undefined
      ? { ...submitted, items: [...(await listAnnounced(env)), ...submitted.items] }
      : submitted;
  });

  bind(app, endpoints.getKernel, ({ env, params }) => mustFind(env, params.id));

  bind(app, endpoints.deleteKernel, async ({ env, principal, params }) => {
    const { owner } = await mustFind(env, params.id);
    if (!mayDelete(principal, owner)) {
      throw new ProblemError("forbidden", "This kernel is another key's; an admin may delete it.");
    }
    if (!(await deleteKernel(openProject(env), params.id))) {
      throw new ProblemError("conflict", "Other kernels compete with this one: they have to be deleted first.");
    }
    return new Response(null, { status: 204 });
  });

  bind(app, endpoints.getLeaderboard, async ({ env, params, query }) => {
    const { kernel } = params;
    const db = openProject(env);
    const submitted = isKernelId(kernel) ? await findKernel(db, kernel) : null;
    const leaderboard = await readLeaderboard(db, submitted?.reference ?? kernel, query);
    if (submitted !== null || leaderboard.boards.length > 0) return leaderboard;
    if ((await listAnnounced(env)).some(({ name }) => name === kernel)) return leaderboard;
    throw new ProblemError("not-found", `There is no kernel ${kernel}.`);
  });
}

/** Queues the benchmark that checks a new kernel. A full queue leaves it unchecked. */
async function queueCheck(env: ProjectEnv, kernel: SubmittedKernel, mostQueued: number): Promise<SubmittedKernel> {
  const { id, dtype, reference, definition } = kernel;
  const { timeoutMs } = definition.limits;
  const request = { kind: "benchmark", kernel: id, dtype, timeoutMs, reference };
  const spec = BenchmarkSpec.parse({ ...request, warmup: CHECK_WARMUP, iterations: LIMITS.rankedIterations });
  const requestHash = await digestRequest(spec);
  const submitted: SubmitOutcome = await jobQueue(env).submit({
    project: env.project,
    // A kernel names its owner itself.
    submittedBy: kernel.owner,
    spec,
    profile: null,
    idempotencyKey: `check:${id}`,
    requestHash,
    mostQueued,
  });
  if (!submitted.ok) return kernel;
  await setCheckJob(openProject(env), id, submitted.job.id);
  return { ...kernel, checkJobId: submitted.job.id };
}

async function listAnnounced(env: ProjectEnv): Promise<ListedKernel[]> {
  const announced = (await readAllCapabilities(openProject(env))).flatMap(({ kernels }) => kernels);
  const byName = new Map(announced.map((kernel) => [kernel.name, { ...kernel, source: "announced" } as const]));
  return [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function mustFind(env: ProjectEnv, id: string): Promise<SubmittedKernel> {
  const kernel = await findKernel(openProject(env), id);
  if (kernel === null) throw new ProblemError("not-found", `There is no kernel ${id}.`);
  return kernel;
}

function mayDelete(principal: Principal | null, owner: string): boolean {
  return principal?.kind === "key" && (principal.id === owner || principal.scopes.includes("admin"));
}
