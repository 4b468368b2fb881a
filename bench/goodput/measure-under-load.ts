import { FrameSender } from "./frame-sender.ts";
import { startPolicy } from "./open-policy.ts";
import { putTrace } from "./put-trace.ts";
import type { ServiceTimes } from "./service-times.ts";
import { createTrace, seedOfRound } from "./trace.ts";

/**
 * Measures batches while the requests of a load arrive and are refused: every scheduler has to receive them too, on the
 * same cores.
 */
export async function measureUnderLoad(ratePerSecond: number): Promise<ServiceTimes> {
  const server = await startPolicy("refusing");
  const sender = new FrameSender({ url: server.url, key: "" });
  try {
    const measured = server.measure();
    for (;;) {
      const put = putTrace(createTrace(ratePerSecond, seedOfRound(0)), sender, server.reset).then(() => null);
      const times = await Promise.race([measured, put]);
      await put;
      if (times !== null) return times;
    }
  } finally {
    sender.close();
    await server.close();
  }
}
