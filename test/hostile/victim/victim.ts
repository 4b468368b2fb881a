/** Program of the victim: a process of its own, so that the attacker's work does not delay its clock. */
import { type Aim, measureCapacity, putLoad } from "./put-load.ts";
import type { VictimOrder } from "./victim-process.ts";

const aim = JSON.parse(process.argv[2] ?? "") as Aim;

process.on("message", (order: VictimOrder) => void obey(order).then((reply) => process.send?.(reply)));
// The parent is gone, or needs it no more.
process.once("disconnect", () => process.exit(0));

function obey(order: VictimOrder): Promise<unknown> {
  return order.kind === "capacity" ? measureCapacity(aim, order.seconds) : putLoad(aim, order.load);
}
