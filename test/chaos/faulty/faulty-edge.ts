import type { Env } from "../../../src/edge/config.ts";
import worker, {
  JobQueue as RealQueue,
  PolicyStream as RealStream,
  RunnerLink as RealLink,
} from "../../../src/edge/worker.ts";
import { CONTROL_PATH, type EdgeOrder, type EdgeTrouble, QUEUE } from "./fault-control.ts";
import { faultyEnv } from "./faulty-env.ts";
import { shiftPlatform } from "./shift-platform.ts";
import { installShiftedClock, shiftClock } from "./shifted-clock.ts";

installShiftedClock();

let trouble: EdgeTrouble = { database: 0, objects: 0 };
const environments = new WeakMap<Env, Env>();

/** One for each isolate, since the product keeps its configuration by it. */
function envOf(env: Env): Env {
  const faulty = environments.get(env) ?? faultyEnv(env, () => trouble);
  environments.set(env, faulty);
  return faulty;
}

function shifted(ctx: DurableObjectState): DurableObjectState {
  shiftPlatform(ctx);
  return ctx;
}

export class RunnerLink extends RealLink {
  constructor(ctx: DurableObjectState, env: Env) {
    super(shifted(ctx), envOf(env));
  }

  evict(): void {
    this.ctx.abort("evicted by chaos");
  }
}

export class JobQueue extends RealQueue {
  constructor(ctx: DurableObjectState, env: Env) {
    super(shifted(ctx), envOf(env));
  }

  evict(): void {
    this.ctx.abort("evicted by chaos");
  }
}

export class PolicyStream extends RealStream {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, envOf(env));
  }
}

async function obey(order: EdgeOrder, env: Env): Promise<void> {
  if (order.clockOffsetMs !== undefined) shiftClock(order.clockOffsetMs);
  if (order.trouble !== undefined) ({ trouble } = order);
  for (const name of order.evict ?? []) {
    const [namespace, object] = name === QUEUE ? [env.JOB_QUEUE, "main"] : [env.RUNNER_LINK, name];
    const stub = namespace.get(namespace.idFromName(object)) as unknown as { evict(): Promise<void> };
    // The call ends with the object.
    await stub.evict().catch(() => undefined);
  }
}

/** The real Worker on bindings, objects and a clock that fail on request; the product is unaware of it. */
export default {
  async fetch(request, env, ctx) {
    if (new URL(request.url).pathname !== CONTROL_PATH) return worker.fetch(request, envOf(env), ctx);
    if (request.method === "POST") await obey(await request.json<EdgeOrder>(), env);
    return new Response(null, { status: 204 });
  },
  scheduled: (controller, env) => worker.scheduled(controller, envOf(env)),
} satisfies ExportedHandler<Env>;
