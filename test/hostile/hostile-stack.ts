import { setTimeout as delay } from "node:timers/promises";
import { withWorkerHeap } from "../../bench/worker-heap.ts";
import { createClient } from "../../src/client/client.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import type { Scope } from "../../src/protocol/service/key.ts";
import { type LocalStack, startLocalStack, waitFor } from "../e2e/local-stack.ts";
import { Attacker, type KeyKind } from "./attacker/attacker.ts";
import { SERVED, writeNetwork } from "./served-network.ts";
import { VICTIM_MODEL } from "./victim/put-load.ts";
import { startVictim, type Victim } from "./victim/victim-process.ts";
import { edgePids } from "./watch-edge.ts";

const CAPACITY_SECONDS = 2;
/** Share of the capacity that the victim takes. */
const VICTIM_SHARE = 0.5;
/** Inferences per second that it sends at least, also where the machine stood still while the capacity was measured. */
const LEAST_RATE = 20;
/** The victim must be limited by the runner alone. */
const VICTIM_RATE = 100_000;
const USER: Scope[] = ["infer", "submit", "read"];
/** Time that what an attack left takes to end. */
const REST_MS = 1_000;
const CLOSING_MS = 60_000;

/** A stack with a shared runner, and a tenant who works there. */
export interface HostileStack {
  readonly victim: Victim;
  /** Inferences per second that the victim sends. */
  readonly victimRate: number;
  /** Processes of other edges that this process has started. */
  readonly otherPids: ReadonlySet<number>;
  /** Waits until the victim is served. */
  untilServed(): Promise<void>;
  openAttacker(): Promise<Attacker>;
  /** Ends the attacker's work, closes the project, and lets the stack rest. */
  closeAttacker(attacker: Attacker): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it; the edge has the heap of a Worker, and the runner the CPU alone, with a listener for tickets. */
export async function startHostileStack(): Promise<HostileStack> {
  const otherPids = await edgePids();
  const runnerVariables = () => ({ MILLRACE_GPU: "none", MILLRACE_DIRECT: "127.0.0.1:0" });
  const stack = await withWorkerHeap(() =>
    startLocalStack({ edgeVariables: { CALIBRATION_ITERATIONS: "300" }, runnerVariables }),
  );
  try {
    await stack.client.call(endpoints.shareRunner, { params: { id: stack.runnerId } });
    return await openVictim(stack, otherPids);
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

async function openVictim(stack: LocalStack, otherPids: ReadonlySet<number>): Promise<HostileStack> {
  const { baseUrl: url } = stack;
  const { key } = await openTenant(stack, VICTIM_RATE);
  const client = createClient({ baseUrl: url, key });
  const rawBody = { mediaType: "application/octet-stream", content: writeNetwork(SERVED, 1) };
  await client.call(endpoints.uploadModel, { query: { name: VICTIM_MODEL }, rawBody });
  await waitFor("the victim's model to be placed", async () => {
    const { items } = await client.call(endpoints.listPlacements, { params: { model: VICTIM_MODEL } });
    return items.find(({ state, backend }) => state === "eligible" && backend === "ort-cpu");
  });
  const victim = startVictim({ url, key });
  const untilServed = async () => {
    await waitFor("the victim to be served", async () => {
      const { inferences } = await victim.putLoad({ ratePerSecond: 20, seconds: 0.5, seed: 1 });
      if (inferences.failed > 0) throw new Error(`its inferences: ${JSON.stringify(inferences.byAnswer)}`);
      return inferences.sent > 0 ? true : undefined;
    });
  };
  const attackers = new Map<Attacker, string>();
  const victimRate = Math.max(LEAST_RATE, VICTIM_SHARE * (await victim.measureCapacity(CAPACITY_SECONDS)));
  return {
    victim,
    victimRate,
    otherPids,
    untilServed,
    openAttacker: async () => {
      const { project, key: secret, adminKey } = await openTenant(stack);
      const openProject = async (kind: KeyKind) => {
        const further = await openTenant(stack);
        return kind === "admin" ? further.adminKey : further.key;
      };
      const attacker = new Attacker({ url, key: secret, adminKey, openProject });
      attackers.set(attacker, project);
      return attacker;
    },
    closeAttacker: async (attacker) => {
      attacker.end();
      const params = { name: attackers.get(attacker)! };
      await stack.client.call(endpoints.closeProject, { params, signal: AbortSignal.timeout(CLOSING_MS) });
      await delay(REST_MS);
    },
    stop: async () => {
      await victim.stop();
      await stack.stop();
    },
  };
}

/** A project of its own with an ordinary key and an administrator's. */
async function openTenant({ client }: LocalStack, requestsPerSecond?: number) {
  const project = `tenant-${crypto.randomUUID()}`;
  await client.call(endpoints.createProject, { body: { name: project } });
  const create = async (name: string, scopes: Scope[]) => {
    const body = { name, scopes, project, ...(requestsPerSecond !== undefined && { requestsPerSecond }) };
    return (await client.call(endpoints.createKey, { body })).secret;
  };
  return { project, key: await create("user", USER), adminKey: await create("admin", ["admin"]) };
}
