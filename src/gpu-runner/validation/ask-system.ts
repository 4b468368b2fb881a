import type { SystemUnderTest } from "./system-under-test.ts";

/** Parts of one query that are in flight at once: enough to keep a device busy while an answer travels. */
const PARTS_IN_FLIGHT = 4;

/** One query of any size, cut into what the system takes at once. Throws the first problem of a part. */
export async function askSystem(system: SystemUnderTest, samples: number): Promise<void> {
  if (samples <= system.maxSamples) return system.query(samples);
  let left = samples;
  const askParts = async () => {
    while (left > 0) {
      const part = Math.min(left, system.maxSamples);
      left -= part;
      await system.query(part);
    }
  };
  const parts = await Promise.allSettled(Array.from({ length: PARTS_IN_FLIGHT }, askParts));
  for (const part of parts) if (part.status === "rejected") throw part.reason;
}
