import type { Hono } from "hono";
import type { AgentPool } from "../../protocol/jobs/agent-pool.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { ProjectEnv } from "../config.ts";
import { answerArtifact } from "../http/answers.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { readOctets } from "../http/read-body.ts";
import { eTagOf, isMatch, missingMatch, staleMatch, withETag } from "../http/version-tag.ts";
import { putStates } from "../services/pool-states.ts";
import { deleteUnnamed } from "../store/artifact-store.ts";
import {
  createAgentPool,
  deleteAgentPool,
  findAgentPool,
  listAgentPools,
  saveStates,
  sizeOf,
} from "../store/kernels/agent-pool-store.ts";
import { openProject } from "../store/database.ts";
import { quotaExceeded } from "../store/quotas/quota-problem.ts";

const ZEROS_BYTES = 65_536;
const STATES = "application/octet-stream";

export function bindAgents(app: Hono<AppEnv>): void {
  bind(app, endpoints.createAgentPool, async ({ env, body }) => {
    if (sizeOf(body) > LIMITS.poolBytes) {
      const message = `must leave the states within ${LIMITS.poolBytes} bytes; these have ${sizeOf(body)}`;
      throw invalidRequest([{ pointer: "#/agents", message }]);
    }
    const created = await createAgentPool(openProject(env), body);
    if (created === "full") throw await quotaExceeded(env, { agentPools: 1 });
    if (created === "taken") {
      const errors = [{ pointer: "#/name", message: "is taken" }];
      throw new ProblemError("conflict", `There is an agent pool ${body.name} already.`, { errors });
    }
    return withETag(created, 201);
  });
  bind(app, endpoints.listAgentPools, ({ env, query }) => listAgentPools(openProject(env), query));
  bind(app, endpoints.getAgentPool, async ({ env, params: { name } }) => withETag(await mustFind(env, name)));

  bind(app, endpoints.readAgents, async ({ c, env, params: { name } }) => {
    const { digest, sizeBytes } = await mustFind(env, name);
    if (digest !== null) return answerArtifact(c, { digest, sizeBytes, mediaType: STATES });
    return new Response(zerosOf(sizeBytes), { headers: { "content-type": STATES } });
  });

  bind(app, endpoints.writeAgents, async ({ c, env, params: { name }, headers }) => {
    const bytes = await readOctets(c.req.raw, LIMITS.poolBytes);
    const pool = await mustFind(env, name);
    const wanted = headers["if-match"];
    if (wanted === undefined) throw missingMatch("pool");
    if (!isMatch(wanted, pool)) throw staleMatch("pool", `is not the current ETag ${eTagOf(pool)}`);
    const digest = await putStates(env, pool, bytes);
    const saved = await saveStates(openProject(env), name, pool.version, { digest, generation: pool.generation });
    if (saved === null) throw staleMatch("pool", "is of before another change");
    if (pool.digest !== null && pool.digest !== digest) await deleteUnnamed(env.DB, env.ARTIFACTS, [pool.digest]);
    return withETag(saved);
  });

  bind(app, endpoints.deleteAgentPool, async ({ env, params: { name } }) => {
    const digest = await deleteAgentPool(openProject(env), name);
    if (digest === undefined) throw missing(name);
    if (digest !== null) await deleteUnnamed(env.DB, env.ARTIFACTS, [digest]);
    return new Response(null, { status: 204 });
  });
}

/** States that nobody has written, in chunks: all of them may take half of an isolate's memory. */
function zerosOf(sizeBytes: number): ReadableStream<Uint8Array> {
  const chunk = new Uint8Array(ZEROS_BYTES);
  let leftBytes = sizeBytes;
  const zeros = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      controller.enqueue(chunk.subarray(0, leftBytes));
      leftBytes -= ZEROS_BYTES;
      if (leftBytes <= 0) controller.close();
    },
  });
  return zeros.pipeThrough(new FixedLengthStream(sizeBytes));
}

async function mustFind(env: ProjectEnv, name: string): Promise<AgentPool> {
  const pool = await findAgentPool(openProject(env), name);
  if (pool === null) throw missing(name);
  return pool;
}

function missing(name: string): ProblemError {
  return new ProblemError("not-found", `There is no agent pool ${name}.`);
}
