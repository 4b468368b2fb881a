import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { GuardianOrder } from "./guardian-order.ts";

/**
 * Ends what a killed run leaves. The run says by lines what there is; once it is gone its pipe ends, and every group of
 * processes that is still there is killed, even one that is stopped, and every folder deleted.
 */
const groups = new Set<number>();
const folders = new Set<string>();
for await (const line of createInterface({ input: process.stdin })) {
  const order = GuardianOrder.parse(JSON.parse(line));
  if (order.began !== undefined) groups.add(order.began);
  if (order.ended !== undefined) groups.delete(order.ended);
  if (order.folder !== undefined) folders.add(order.folder);
}
for (const group of groups) {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // It is gone already.
  }
}
for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
