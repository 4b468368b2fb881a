import { FrameSender } from "./frame-sender.ts";
import { startPolicy } from "./open-policy.ts";
import { createImage } from "./served-models.ts";
import { createTrace, seedOfRound } from "./trace.ts";

const WARMUP_MS = 1_000;
const MEASURED_MS = 3_000;
/** Enough that the server always has the next request. */
const CALLERS = 16;
const NO_BUDGET_MS = 60_000;
/** Rate of the trace whose requests are sent; only their mix counts here. */
const MIX_RATE = 1_000;

/** Answers per second of the plain server under callers that never pause: what 1 × means here. */
export async function measureCapacity(): Promise<number> {
  const server = await startPolicy("fifo");
  const sender = new FrameSender({ url: server.url, key: "" });
  const { requests } = createTrace(MIX_RATE, seedOfRound(0));
  let sent = 0;
  let answered = 0;
  const endMs = performance.now() + WARMUP_MS + MEASURED_MS;
  const call = async () => {
    while (performance.now() < endMs) {
      const { model, image } = requests[sent++ % requests.length]!;
      const { status } = await sender.send(model, NO_BUDGET_MS, createImage(image));
      if (status !== 200) throw new Error(`the plain server answered ${status}`);
      if (performance.now() >= endMs - MEASURED_MS && performance.now() < endMs) answered++;
    }
  };
  try {
    await Promise.all(Array.from({ length: CALLERS }, call));
    return (1e3 * answered) / MEASURED_MS;
  } finally {
    sender.close();
    await server.close();
  }
}
