import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { GuardianOrder } from "./guardian-order.ts";

/**
 * Cleans up after a killed run. The run reports its groups and folders by lines; once it is gone its pipe ends. Every
 * remaining group of processes is killed, even a stopped one, and every folder deleted.
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
