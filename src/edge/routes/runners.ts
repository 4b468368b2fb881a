import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { LINK_SUBPROTOCOL } from "../../protocol/link.ts";
import { explainMismatch, VERSION } from "../../protocol/wire/release.ts";
import type { Diagnosis } from "../../protocol/fleet/health.ts";
import type { RunnerMemory } from "../../protocol/fleet/memory.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { MAIN_PROJECT } from "../../protocol/service/project.ts";
import type { RunnerFit } from "../../protocol/fleet/profile.ts";
import type { RegistrationInput, Runner } from "../../protocol/fleet/runner.ts";
import { fitProfile } from "../store/fleet/profile-fit.ts";
import { planRunner } from "../fleet/plan-runner.ts";
import { fitTargets, reachesAll } from "../fleet/machine-fit.ts";
import { configOf, type Env, jobQueue, type ProjectEnv, runnerLink } from "../config.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { addressOf, checkAddress, noteWrongSecret } from "../http/rate-limiter.ts";
import { isSecretOf } from "../store/secret.ts";
import { mutable } from "../http/answers.ts";
import { getArtifact } from "../store/artifact-store.ts";
import { openDatabase, openProject } from "../store/database.ts";
import { readAllVersions, readVersionsOfDigest } from "../store/models/model-store.ts";
import { deletePlacements, isPlacedOn, listOwnPlacementsOfRunner } from "../store/fleet/placement-store.ts";
import { isPoolDigest } from "../store/kernels/agent-pool-store.ts";
import { isMemoryPart } from "../store/kernels/item-memory-store.ts";
import { findOwnerOfRunner } from "../store/project-store.ts";
import { findProfile, readAllProfiles } from "../store/fleet/profile-store.ts";
import {
  changeRunner,
  createRegistrationToken,
  findRunner,
  listRunners,
  readRunnerCapabilities,
  type RegistrationOutcome,
  registerRunner,
  removeRunner,
  rotateCredential,
} from "../store/fleet/runner-store.ts";
import { diagnose } from "../fleet/diagnosis/diagnose.ts";

const TOKEN_PROBLEMS = {
  unknown: ["unauthorized", "is not a token that was given out"],
  expired: ["token-expired", "has expired: ask for a new one"],
  used: ["token-used", "was used already: ask for a new one"],
} as const satisfies Record<Exclude<RegistrationOutcome["kind"], "registered">, readonly [string, string]>;

export function bindRunners(app: Hono<AppEnv>): void {
  bind(app, endpoints.createRegistrationToken, ({ env, body }) =>
    createRegistrationToken(openProject(env), body.ttlMs),
  );

  bind(app, endpoints.registerRunner, async ({ c, env, body }) => {
    const outcome = await spendToken(env, body, addressOf(c.req.raw));
    if (outcome.kind !== "registered") {
      const [code, message] = TOKEN_PROBLEMS[outcome.kind];
      throw new ProblemError(code, `The token ${message}.`, { errors: [{ pointer: "#/token", message }] });
    }
    await jobQueue(env).announceRunner(outcome.runnerId);
    const linkUrl = new URL(endpoints.connectRunner.path, c.req.url);
    linkUrl.protocol = linkUrl.protocol.replace("http", "ws");
    return { runnerId: outcome.runnerId, credential: outcome.credential, linkUrl: linkUrl.href };
  });

  bind(app, endpoints.listRunners, async ({ env, query }) => {
    const db = openProject(env);
    return listRunners(db, query, await readAllProfiles(db));
  });
  bind(app, endpoints.getRunner, ({ env, params }) => mustFindRunner(env, params.id));
  bind(app, endpoints.getRunnerMemory, ({ env, params }) => readMemory(env, params.id));
  bind(app, endpoints.getRunnerFit, ({ env, params, query }) => readFit(env, params.id, query.profile));
  bind(app, endpoints.getRunnerDiagnosis, ({ env, params }) => readDiagnosis(env, params.id));
  bind(app, endpoints.streamRunnerLive, ({ c, env, params }) => streamLive(env, params.id, c.req.url));
  bind(app, endpoints.shareRunner, ({ env, params }) => {
    checkMayShare(env);
    return share(env, params.id, true);
  });
  bind(app, endpoints.unshareRunner, ({ env, params }) => share(env, params.id, false));
  bind(app, endpoints.drainRunner, ({ env, params }) => drain(env, params.id, true));
  bind(app, endpoints.resumeRunner, ({ env, params }) => drain(env, params.id, false));

  bind(app, endpoints.rotateCredential, async ({ env, params }) => {
    const credential = await rotateCredential(openProject(env), params.id);
    if (credential === null) throw notFound(params.id);
    return { runnerId: params.id, credential };
  });

  bind(app, endpoints.removeRunner, async ({ env, params }) => {
    if (!(await endRunner(env, params.id))) throw notFound(params.id);
    return new Response(null, { status: 204 });
  });

  bind(app, endpoints.connectRunner, async ({ c, env, principal }) => {
    const offered = (c.req.header("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
    const spoken = { release: VERSION, protocols: [LINK_SUBPROTOCOL] };
    const mismatch = explainMismatch(spoken, offered.slice(0, 8).filter(Boolean));
    if (mismatch !== null) {
      const errors = [{ pointer: "header/sec-websocket-protocol", message: `must offer ${LINK_SUBPROTOCOL}` }];
      throw new ProblemError("upgrade-required", mismatch, { errors });
    }
    if (c.req.header("upgrade")?.toLowerCase() !== "websocket") {
      const errors = [{ pointer: "header/upgrade", message: "must be websocket" }];
      throw new ProblemError("upgrade-required", "A runner connects by a WebSocket handshake.", { errors });
    }
    const request = new Request(c.req.raw);
    request.headers.delete("authorization");
    request.headers.set("x-runner-id", principal?.id ?? "");
    return runnerLink(env, principal?.id ?? "").fetch(request);
  });

  bind(app, endpoints.downloadArtifact, async ({ env, params, principal }) => {
    const allowed = await mayRead(env, principal?.id ?? "", params.digest);
    const artifact = allowed ? await getArtifact(env.ARTIFACTS, params.digest) : null;
    if (artifact === null) throw new ProblemError("not-found", `There is no artifact ${params.digest}.`);
    return new Response(artifact.body, {
      headers: {
        "content-type": "application/octet-stream",
        "content-length": String(artifact.size),
        etag: artifact.httpEtag,
      },
    });
  });
}

/** Registers a runner by its token; whoever guesses is not looked up for a while. */
async function spendToken(env: Env, input: RegistrationInput, address: string): Promise<RegistrationOutcome> {
  if (!isSecretOf("token", input.token)) return { kind: "unknown" };
  checkAddress(address);
  const outcome = await registerRunner(env.DB, input);
  if (outcome.kind === "unknown") noteWrongSecret(address);
  return outcome;
}

/** A runner reads what it has placed, and what a job under its lease is about; the rest is not there for it. */
export async function mayRead(env: Env, runnerId: string, digest: string): Promise<boolean> {
  const db = openDatabase(env.DB);
  const versionIds = await readVersionsOfDigest(db, digest);
  if (await isPlacedOn(db, runnerId, versionIds)) return true;
  // Every runner of a project may be asked to search its memories, or to work on its pools.
  const owner = await findOwnerOfRunner(db, runnerId);
  if (owner === null) return false;
  const servedProject = owner.shared ? null : owner.project;
  if ((await isMemoryPart(db, digest, servedProject)) || (await isPoolDigest(db, digest, servedProject))) return true;
  const queue = jobQueue(env);
  return (await queue.isCalibrating(runnerId, versionIds)) || queue.isWorkingOn(runnerId, digest);
}

/** Removes a runner of the project and ends its socket; false where there is none. */
export async function endRunner(env: ProjectEnv, id: string): Promise<boolean> {
  if (!(await removeRunner(openProject(env), id))) return false;
  await runnerLink(env, id).removed(id);
  await jobQueue(env).runnerRemoved(id);
  return true;
}

/** Throws `forbidden` for a project that the operator does not trust with the work of others. */
export function checkMayShare(env: ProjectEnv): void {
  if (env.project === MAIN_PROJECT || configOf(env).projectsShareRunners) return;
  const message = "Only the operator's runners are shared here; see PROJECTS_SHARE_RUNNERS.";
  throw new ProblemError("forbidden", message, { errors: [{ pointer: "header/authorization", message }] });
}

async function share(env: ProjectEnv, id: string, shared: boolean): Promise<Runner> {
  if (!(await changeRunner(openProject(env), id, { shared }))) throw notFound(id);
  await jobQueue(env).runnerShared(id, shared);
  await planAnew(env, id);
  return mustFindRunner(env, id);
}

/** Drops the placements that a runner is to have no longer, and has it measured for what it owes now. */
async function planAnew(env: ProjectEnv, id: string): Promise<void> {
  const nowMs = Date.now();
  const db = openProject(env);
  const runner = (await readRunnerCapabilities(db)).find((each) => each.id === id);
  // One that never connected owes nothing yet.
  if (runner === undefined) return;
  const { uncalibrated, outdated } = await planRunner(env.DB, await readAllVersions(db), runner);
  await deletePlacements(db, outdated, nowMs);
  await jobQueue(env).ensureCalibrations(id, uncalibrated);
}

async function drain(env: ProjectEnv, id: string, draining: boolean): Promise<Runner> {
  if (!(await changeRunner(openProject(env), id, { draining }))) throw notFound(id);
  await jobQueue(env).runnerDraining(id, draining);
  await runnerLink(env, id).setDraining(draining);
  return mustFindRunner(env, id);
}

/** Asks the runner itself: what it had an interval ago would be no help with what is wrong now. */
async function readMemory(env: ProjectEnv, id: string): Promise<RunnerMemory> {
  await mustOwn(env, id);
  // An object that was restarted or moved rejects its calls.
  const outcome = await runnerLink(env, id)
    .reportMemory()
    .catch(() => null);
  if (outcome === null) throw new ProblemError("runner-lost", "The runner's link broke.", { retryAfterMs: 1_000 });
  if (!outcome.ok) throw new ProblemError(outcome.problem.code, outcome.problem.detail, outcome.problem);
  return { runnerId: id, reportedAt: new Date().toISOString(), ...outcome.answer };
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

/** Asks the runner itself, too; where it does not answer, by what it told last. */
async function readDiagnosis(env: ProjectEnv, id: string): Promise<Diagnosis> {
  await mustOwn(env, id);
  const health = await runnerLink(env, id)
    .reportHealth(id)
    .catch(() => null);
  if (health === null) throw new ProblemError("runner-lost", "The runner's link broke.", { retryAfterMs: 1_000 });
  if (!health.ok) throw new ProblemError(health.problem.code, health.problem.detail, health.problem);
  return diagnose(id, health);
}

/** The stream outlives the runner's connection, and tells of it. */
async function streamLive(env: ProjectEnv, id: string, base: string): Promise<Response> {
  await mustOwn(env, id);
  const response = await runnerLink(env, id)
    .fetch(new URL("/live", base))
    .catch(() => null);
  if (response === null) throw new ProblemError("runner-lost", "The runner's link broke.", { retryAfterMs: 1_000 });
  if (response.ok) return mutable(response);
  const detail = `${LIMITS.liveWatchers} watch this runner already.`;
  throw new ProblemError("overloaded", detail, { retryAfterMs: 10_000 });
}

async function mustFindRunner(env: ProjectEnv, id: string): Promise<Runner> {
  const db = openProject(env);
  const runner = await findRunner(db, id, await readAllProfiles(db));
  if (runner === null) throw notFound(id);
  return runner;
}

/** What a runner tells of itself names the models of all that it works for: that is its owner's to know. */
async function mustOwn(env: ProjectEnv, id: string): Promise<void> {
  const { owned } = await mustFindRunner(env, id);
  if (!owned) throw notFound(id);
}

function notFound(id: string): ProblemError {
  return new ProblemError("not-found", `There is no runner ${id}.`);
}
