import { expect, it } from "vitest";
import { fuzzHttp } from "./fuzz-http.ts";

const SEED = 20_261_122;
/** Some for every operation; `npm run fuzz` has a hundred thousand. */
const REQUESTS = 1_000;
/** Room for a slow machine. */
const TIMEOUT_MS = 600_000;

it(
  "the edge answers every request for its document's operations as documented, and lives on",
  async () => {
    const { requests, operations, fewestReplies, byStatus, findings } = await fuzzHttp(REQUESTS, SEED, () => undefined);
    expect(findings).toEqual([]);
    expect(requests).toBe(REQUESTS);
    expect(operations).toBeGreaterThan(150);
    expect(fewestReplies).toBeGreaterThan(0);
    // Requests name existing objects, too.
    expect(byStatus["200"]).toBeGreaterThan(100);
  },
  TIMEOUT_MS,
);
