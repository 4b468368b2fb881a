import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { tabulateBatches } from "../fleet/batch-table.ts";
import type { RunnerFit } from "../../protocol/fleet/profile.ts";
import { LINK_SUBPROTOCOL } from "../../protocol/link.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { explainMismatch, VERSION } from "../../protocol/wire/release.ts";
import { type ProjectEnv, runnerLink } from "../config.ts";
import { openLive, readDiagnosis, readMemory } from "../fleet/ask-runner.ts";
import { drainRunner, endRunner, shareRunner } from "../fleet/change-runner.ts";
import { fitTargets, reachesAll } from "../fleet/machine-fit.ts";
import { registerByToken, renewCredential } from "../fleet/registration.ts";
import { checkMayShare, mayRead, mustEndItself, mustFindRunner, runnerNotFound } from "../fleet/runner-rights.ts";
import { answerArtifact, mutable } from "../http/answers.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { addressOf } from "../http/rate-limiter.ts";
import { recallSize } from "../store/artifact-store.ts";
import { openProject } from "../store/database.ts";
import { listOwnPlacementsOfRunner } from "../store/fleet/placement-store.ts";
import { fitProfile } from "../store/fleet/profile-fit.ts";
import { findProfile, readAllProfiles } from "../store/fleet/profile-store.ts";
import { createRegistrationToken } from "../store/fleet/registration-store.ts";
import { listRunners } from "../store/fleet/runner-store.ts";
import { quotaExceeded } from "../store/quotas/quota-problem.ts";

export function bindRunners(app: Hono<AppEnv>): void {
  bind(app, endpoints.createRegistrationToken, async ({ env, body }) => {
    const token = await createRegistrationToken(openProject(env), body.ttlMs);
    if (token === null) throw await quotaExceeded(env, { registrationTokens: 1 });
    return token;
  });
  bind(app, endpoints.registerRunner, async ({ c, env, body }) => {
    const registered = await registerByToken(env, body, addressOf(c.req.raw));
    const linkUrl = new URL(endpoints.connectRunner.path, c.req.url);
    linkUrl.protocol = linkUrl.protocol.replace("http", "ws");
    return { ...registered, linkUrl: linkUrl.href };
  });
  bind(app, endpoints.rotateCredential, ({ env, params }) => renewCredential(env, params.id));

  bind(app, endpoints.listRunners, async ({ env, query }) => {
    const db = openProject(env);
    return listRunners(db, query, await readAllProfiles(db));
  });
  bind(app, endpoints.getRunner, async ({ env, params }) => {
    const [runner, placements] = await Promise.all([
      mustFindRunner(env, params.id),
      listOwnPlacementsOfRunner(openProject(env), params.id),
    ]);
    return { ...runner, batches: tabulateBatches(placements) };
  });
  bind(app, endpoints.getRunnerMemory, ({ env, params }) => readMemory(env, params.id));
  bind(app, endpoints.getRunnerFit, ({ env, params, query }) => readFit(env, params.id, query.profile));
  bind(app, endpoints.getRunnerDiagnosis, ({ env, params }) => readDiagnosis(env, params.id));
  bind(app, endpoints.streamRunnerLive, async ({ c, env, params }) =>
    mutable(await openLive(env, params.id, c.req.url)),
  );

  bind(app, endpoints.shareRunner, ({ env, params }) => {
    checkMayShare(env);
    return shareRunner(env, params.id, true);
  });
  bind(app, endpoints.unshareRunner, ({ env, params }) => shareRunner(env, params.id, false));
  bind(app, endpoints.drainRunner, ({ env, params }) => drainRunner(env, params.id, true));
  bind(app, endpoints.resumeRunner, ({ env, params }) => drainRunner(env, params.id, false));
  bind(app, endpoints.removeRunner, async ({ env, params }) => {
    if (!(await endRunner(env, params.id))) throw runnerNotFound(params.id);
    return new Response(null, { status: 204 });
  });

  bind(app, endpoints.connectRunner, async ({ c, env, principal }) => {
    const runnerId = principal?.id ?? "";
    const link = runnerLink(env, runnerId);
    // Before the handshake is checked: a refused runner asks for the reason by a plain request.
    // While the edge is deployed, an object may still run the release before, which lacks this method.
    checkRest(await link.restMs().catch(() => 0));
    checkHandshake(c.req.raw.headers);
    const request = new Request(c.req.raw);
    request.headers.delete("authorization");
    request.headers.set("x-runner-id", runnerId);
    request.headers.set("x-runner-project", env.project);
    return link.fetch(request);
  });

  bind(app, endpoints.unregisterRunner, async ({ env, principal }) => {
    const runnerId = principal?.id ?? "";
    await mustEndItself(env, runnerId);
    await endRunner(env, runnerId);
    return new Response(null, { status: 204 });
  });

  bind(app, endpoints.downloadArtifact, async ({ c, env, params: { digest }, principal }) => {
    const allowed = await mayRead(env, principal?.id ?? "", digest);
    const sizeBytes = allowed ? await recallSize(env.ARTIFACTS, digest) : null;
    if (sizeBytes === null) throw new ProblemError("not-found", `There is no artifact ${digest}.`);
    return answerArtifact(c, { digest, sizeBytes, mediaType: "application/octet-stream" });
  });
}

/** Throws `rate-limited` while a runner must stay away after a breach of the protocol. */
function checkRest(restMs: number): void {
  if (restMs <= 0) return;
  const detail = `This runner's messages broke the protocol: it may connect again in ${Math.ceil(restMs / 1_000)} s.`;
  throw new ProblemError("rate-limited", detail, { retryAfterMs: restMs });
}

/** Throws `upgrade-required` unless a runner of a known protocol wants a WebSocket. */
function checkHandshake(headers: Headers): void {
  const offered = (headers.get("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
  const spoken = { release: VERSION, protocols: [LINK_SUBPROTOCOL] };
  const mismatch = explainMismatch(spoken, offered.slice(0, 8).filter(Boolean));
  const isUpgrade = headers.get("upgrade")?.toLowerCase() === "websocket";
  // `millrace doctor` sees by these whether a proxy took the header away.
  const errors = isUpgrade ? [] : [{ pointer: "header/upgrade", message: "must be websocket" }];
  if (mismatch !== null) {
    errors.unshift({ pointer: "header/sec-websocket-protocol", message: `must offer ${LINK_SUBPROTOCOL}` });
    throw new ProblemError("upgrade-required", mismatch, { errors });
  }
  if (!isUpgrade) {
    throw new ProblemError("upgrade-required", "A runner connects by a WebSocket handshake.", { errors });
  }
}

async function readFit(env: ProjectEnv, id: string, name: string): Promise<RunnerFit> {
  const db = openProject(env);
  const { capabilities } = await mustFindRunner(env, id);
  const profile = await findProfile(db, name);
  if (profile === null) {
    const errors = [{ pointer: "query/profile", message: "is not a hardware profile" }];
    throw new ProblemError("not-found", `There is no profile ${name}.`, { errors });
  }
  if (capabilities === null) throw new ProblemError("not-found", "The runner has never connected.");
  const targets = fitTargets(profile, capabilities.hardware, await listOwnPlacementsOfRunner(db, id));
  return { ...fitProfile(profile, capabilities), runnerId: id, reaches: reachesAll(targets), targets };
}
