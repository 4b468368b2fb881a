import { setTimeout as delay } from "node:timers/promises";
import { between } from "../between.ts";
import type { ChaosStack } from "../chaos-stack.ts";
import { QUEUE } from "../faulty/fault-control.ts";
import { whileDiskIsFull } from "./fill-disk.ts";
import type { EdgeFault } from "./plan-faults.ts";
import { toJumpMs } from "./to-jump-ms.ts";

const HEALTHY = { database: 0, objects: 0 };

/** Does one fault and undoes it; settles once the edge works again, as far as that is for us to do. */
export async function injectEdgeFault(
  { edge, runners }: ChaosStack,
  { kind, durationMs, severity }: EdgeFault,
): Promise<void> {
  const meanwhile = () => delay(durationMs);
  switch (kind) {
    case "kill":
      await edge.kill();
      await meanwhile();
      return edge.start();
    case "stop":
      return between(
        () => edge.signal("SIGSTOP"),
        meanwhile,
        () => edge.signal("SIGCONT"),
      );
    case "disk-full":
      return whileDiskIsFull(edge, meanwhile);
    case "clock":
      return between(
        () => edge.order({ clockOffsetMs: toJumpMs(severity) }),
        meanwhile,
        () => edge.order({ clockOffsetMs: 0 }),
      );
    case "database":
      return between(
        () => edge.order({ trouble: { ...HEALTHY, database: rate(severity) } }),
        meanwhile,
        () => edge.order({ trouble: HEALTHY }),
      );
    case "objects":
      return between(
        () => edge.order({ trouble: { ...HEALTHY, objects: rate(severity) } }),
        meanwhile,
        () => edge.order({ trouble: HEALTHY }),
      );
    case "evict": {
      const objects = [QUEUE, ...runners.map(({ id }) => id)];
      // The queue alone, one link, or all.
      const place = Math.floor(severity * (objects.length + 1));
      return edge.order({ evict: place === objects.length ? objects : [objects[place]!] });
    }
  }
}

/** From rarely to nearly always. */
function rate(severity: number): number {
  return 0.1 + 0.8 * severity;
}
