import type { Capabilities } from "../../protocol/fleet/hardware.ts";
import type { Lease } from "../../protocol/link.ts";
import { createProblem } from "../../protocol/wire/problem.ts";
import type { RunnerOwner } from "../store/project-store.ts";
import { dispatchJobs } from "./dispatch-jobs.ts";
import { ALL_PROJECTS } from "./job-log.ts";
import * as machine from "./lease-machine.ts";
import type { QueueParts } from "./queue-parts.ts";
import { GOOD_STANDING, noteFlap, type RunnerStanding } from "./runner-standing.ts";
import type { KnownRunner } from "./queue-rpc.ts";
import { logFailure } from "../log-failure.ts";

/**
 * Connects a runner after its hello: leases from before the hello that it no longer works on end now, and it may get
 * work. Returns the leases that it lost.
 */
export async function connectRunner(
  queue: QueueParts,
  runner: Omit<KnownRunner, "online">,
  running: readonly Lease[],
  helloAtMs: number,
): Promise<Lease[]> {
  const { store, log, outside } = queue;
  const { id } = runner;
  queue.runners.save({ ...runner, online: true });
  const stale = renewLeases(queue, id, running);
  const problem = createProblem("runner-lost", "The runner came back without the job.");
  for (const job of store.leased()) {
    if (job.runnerId !== id || running.some((lease) => machine.holdsLease(job, lease, id))) continue;
    // One that was offered since its welcome is on the way to it.
    if ((store.leasedAtMs(job.id) ?? 0) > helloAtMs) {
      if (runner.jobsLeft !== null) queue.runners.setJobsLeft(id, 0);
      continue;
    }
    log.apply(job, machine.failAttempt(job, problem, outside.now()), problem.detail);
  }
  await catchUp(queue, runner);
  await announceRunner(queue, id);
  outside.later(dispatchJobs(queue));
  return stale;
}

/** Applies what was changed of a runner between the reading of its hello and its connection. */
async function catchUp(queue: QueueParts, connected: Omit<KnownRunner, "online">): Promise<void> {
  const { runners, outside } = queue;
  const { id } = connected;
  const state = await outside.readRunner(id).catch(() => null);
  const known = runners.find(id);
  if (state === null || known === null) return;
  if (state.isRemoved) return runners.forget(id);
  // What differs from the hello's was set meanwhile, and is later than what was read.
  if (known.shared === connected.shared && state.shared !== known.shared) {
    runners.setShared(id, state.shared);
    if (!state.shared) await takeFromOthers(queue, id, state.project);
  }
  if (known.draining === connected.draining && state.draining !== known.draining) {
    runners.setDraining(id, state.draining);
  }
}

/** Saves the changed capabilities of a connected runner; the link announces them once they can be read. */
export function changeRunner(queue: QueueParts, id: string, capabilities: Capabilities): void {
  queue.runners.setCapabilities(id, capabilities);
  queue.outside.later(dispatchJobs(queue));
}

/** Marks a runner offline. Its leases continue, since it may return in time. */
export async function disconnectRunner(queue: QueueParts, id: string): Promise<void> {
  queue.runners.setOnline(id, false);
  await announceRunner(queue, id);
}

/** Drains a runner, also before it stops, or lets it take work again and ends its quarantine. */
export async function drainRunner(queue: QueueParts, id: string, draining: boolean): Promise<void> {
  queue.runners.setDraining(id, draining);
  if (!draining) await changeStanding(queue, id, () => GOOD_STANDING);
  await announceRunner(queue, id);
  if (!draining) await dispatchJobs(queue);
}

/** Opens a runner to all projects, or restricts it to its own: its jobs of other projects then go to other runners. */
export async function shareRunner(queue: QueueParts, id: string, shared: boolean): Promise<void> {
  const owner = await findOwner(queue, id);
  if (owner === null) return;
  queue.runners.setShared(id, shared);
  // Projects that no longer see the runner are notified too.
  queue.log.announce({ type: "runner", id }, ALL_PROJECTS);
  if (!shared) await takeFromOthers(queue, id, owner.project);
  await dispatchJobs(queue);
}

/** Notes a lost connection of a runner that did not leave on purpose. */
export async function flapRunner(queue: QueueParts, id: string): Promise<void> {
  await changeStanding(queue, id, (standing) => noteFlap(standing, queue.outside.now()));
}

export async function removeRunner(queue: QueueParts, id: string): Promise<void> {
  const { store, log, outside } = queue;
  await announceRunner(queue, id);
  queue.runners.forget(id);
  queue.standings.forget(id);
  const problem = createProblem("runner-lost", "The runner was removed.");
  for (const job of store.leased()) {
    if (job.runnerId === id) log.apply(job, machine.failAttempt(job, problem, outside.now()), problem.detail);
  }
  // No other runner may take a job that is pinned to this one.
  for (const job of store.queuedOnlyFor(id)) {
    log.apply(job, machine.fail(job, problem, outside.now()), problem.detail);
  }
  outside.later(dispatchJobs(queue));
}

/**
 * Renews the leases that a runner works on. Returns those that it no longer holds, and whether a job waits that it
 * might get, so that its next heartbeat is needed too.
 */
export async function heedHeartbeat(
  queue: QueueParts,
  runnerId: string,
  running: readonly Lease[],
): Promise<{ stale: Lease[]; isWanted: boolean }> {
  queue.runners.setOnline(runnerId, true);
  const stale = renewLeases(queue, runnerId, running);
  const isWanted = queue.store.hasQueuedFor(runnerId, queue.runners.fleet);
  const runner = isWanted ? queue.runners.find(runnerId) : null;
  if (runner !== null) await dispatchJobs(queue, [runner]);
  return { stale, isWanted };
}

/** Announces a change of a runner to the projects that see it. */
export async function announceRunner(queue: QueueParts, id: string): Promise<void> {
  const owner = await findOwner(queue, id);
  if (owner !== null) queue.log.announce({ type: "runner", id }, owner.shared ? ALL_PROJECTS : owner.project);
}

/** Updates a runner's standing; the start or end of a quarantine is announced once it can be read. */
export async function changeStanding(
  queue: QueueParts,
  runnerId: string,
  change: (before: RunnerStanding) => RunnerStanding,
): Promise<void> {
  const before = queue.standings.find(runnerId);
  const after = change(before);
  if (after === before) return;
  queue.standings.save(runnerId, after);
  const { quarantine } = after;
  if (quarantine?.untilMs === before.quarantine?.untilMs) return;
  const shown = quarantine && { until: new Date(quarantine.untilMs).toISOString(), reason: quarantine.reason };
  try {
    await queue.outside.recordQuarantine(runnerId, shown);
  } catch (error) {
    // The queue still withholds jobs from the runner; requests still reach it.
    logFailure("quarantine-not-recorded", error, { runnerId });
  }
  await announceRunner(queue, runnerId);
}

/** Owner of a runner; only the database knows one that never said hello. */
async function findOwner({ runners, outside }: QueueParts, runnerId: string): Promise<RunnerOwner | null> {
  return runners.findOwner(runnerId) ?? outside.readRunner(runnerId);
}

/** Ends a runner's leases of projects other than this one, and fails their jobs that are pinned to it. */
async function takeFromOthers({ store, log, outside }: QueueParts, runnerId: string, project: string): Promise<void> {
  const problem = createProblem("runner-lost", "The runner works for its own project alone now.");
  const held = store.leasedTo(runnerId, project);
  // All at once: another job may end while one is being cancelled at the runner.
  for (const job of held) log.apply(job, machine.failAttempt(job, problem, outside.now()), problem.detail);
  for (const job of store.queuedOnlyFor(runnerId, project)) {
    log.apply(job, machine.fail(job, problem, outside.now()), problem.detail);
  }
  for (const { id, epoch } of held) {
    // A runner that cannot be reached learns of it by its next heartbeat.
    await outside
      .linkOf(runnerId)
      .cancelJob({ jobId: id, epoch })
      .catch(() => undefined);
  }
}

/** Renews leases of a runner; returns those that it does not hold. */
function renewLeases({ store, outside, leaseMs }: QueueParts, runnerId: string, running: readonly Lease[]): Lease[] {
  const nowMs = outside.now();
  return running.filter((lease) => {
    const job = store.findRecord(lease.jobId);
    if (job === null || !machine.holdsLease(job, lease, runnerId)) return true;
    store.save(machine.renewLease(job, nowMs, leaseMs));
    return false;
  });
}
