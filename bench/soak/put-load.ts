import { Agent } from "node:http";
import { poissonArrivals } from "../../src/cli/load/arrivals.ts";
import { runOpenLoop } from "../../src/cli/load/open-loop.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { postFrame } from "../hop/post-frame.ts";
import { LoadRecord } from "./load-record.ts";
import { writeRequest } from "./served-network.ts";

/** Address and key of requests. */
export interface Aimed {
  readonly url: string;
  readonly key: string;
}

const CALLERS = 16;
/** Wide enough for all requests that wait during the measurement of the capacity. */
const NO_BUDGET_MS = 60_000;

/** Answers per second to callers that never pause: this is 1×. */
export async function measureCapacity(aimed: Aimed, seconds: number): Promise<number> {
  const send = openSender(aimed, NO_BUDGET_MS);
  const startedMs = performance.now();
  let answered = 0;
  const call = async () => {
    while (performance.now() - startedMs < seconds * 1e3) if ((await send.send()) === "200") answered++;
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
  send.close();
  return answered / ((performance.now() - startedMs) / 1e3);
}

/** Load on the service. */
export interface Load {
  readonly ratePerSecond: number;
  readonly seconds: number;
  readonly budgetMs: number;
  readonly seed: number;
}

/** Sends requests as a Poisson process, whether or not earlier ones were answered, and records their outcomes. */
export async function putLoad(aimed: Aimed, { seconds, budgetMs, ...load }: Load): Promise<LoadRecord> {
  const arrivalsMs = poissonArrivals({ ...load, durationMs: seconds * 1e3 });
  const record = new LoadRecord();
  const sender = openSender(aimed, budgetMs);
  await runOpenLoop(
    arrivalsMs,
    () => sender.send(),
    ({ result, latencyMs, lagMs }, index) => record.note(arrivalsMs[index]!, result, latencyMs, lagMs),
    new AbortController().signal,
  );
  sender.close();
  return record;
}

function openSender({ url, key }: Aimed, budgetMs: number) {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 64 });
  const aim = { url: new URL(endpoints.infer.path, url), bearer: key };
  const frame = writeRequest(budgetMs);
  return {
    send: () =>
      postFrame(agent, aim, frame).then(
        ({ status }) => String(status),
        () => "0",
      ),
    close: () => agent.destroy(),
  };
}
