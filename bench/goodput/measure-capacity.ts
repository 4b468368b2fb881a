import { FrameSender } from "./frame-sender.ts";
import { startPolicy } from "./open-policy.ts";
import { createInput } from "./served-models.ts";
import { createTrace, seedOfRound } from "./trace.ts";

const WARMUP_MS = 1_000;
const SECONDS = 4;
/** Enough that the server always has the next request. */
const CALLERS = 16;
const NO_BUDGET_MS = 60_000;
/** Rate of the trace whose requests are sent; only their mix counts here. */
const MIX_RATE = 1_000;

/**
 * Answers of the plain server to callers that never pause, in the best of four seconds, since other load on the machine
 * only lowers it: this is 1×.
 */
export async function measureCapacity(): Promise<number> {
  const server = await startPolicy("fifo");
  const sender = new FrameSender({ url: server.url, key: "" });
  const { requests } = createTrace(MIX_RATE, seedOfRound(0));
  let sent = 0;
  const answered = Array.from({ length: SECONDS }, () => 0);
  const startedMs = performance.now() + WARMUP_MS;
  const endMs = startedMs + SECONDS * 1e3;
  const call = async () => {
    while (performance.now() < endMs) {
      const { model, row } = requests[sent++ % requests.length]!;
      const { status } = await sender.send(model, NO_BUDGET_MS, createInput(model, row));
      if (status !== 200) throw new Error(`the plain server answered ${status}`);
      const second = Math.floor((performance.now() - startedMs) / 1e3);
      if (answered[second] !== undefined) answered[second]++;
    }
  };
  try {
    await Promise.all(Array.from({ length: CALLERS }, call));
    return Math.max(...answered);
  } finally {
    sender.close();
    await server.close();
  }
}
