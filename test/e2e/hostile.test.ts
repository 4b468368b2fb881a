import { afterAll, beforeAll, expect, it } from "vitest";
import { ATTACKS } from "../hostile/attacks/attacks.ts";
import { type HostileStack, startHostileStack } from "../hostile/hostile-stack.ts";
import { judgeEdge } from "../hostile/judge-outcome.ts";
import { playAttack } from "../hostile/play-attack.ts";

const SECONDS = 1;

let stack: HostileStack;
beforeAll(async () => {
  stack = await startHostileStack();
});
afterAll(() => stack.stop());

/** What `npm run hostile` does with each attack for longer. How many of the victim's requests are late is not judged here. */
it.each(["deep-json", "unread-streams", "progress", "wrong-keys"])(
  "the edge outlasts %s and serves another tenant",
  { timeout: 900_000 },
  async (name) => {
    const outcome = await playAttack(stack, ATTACKS.get(name)!, SECONDS);
    expect(judgeEdge(outcome)).toEqual([]);
    // Both must have been put to the test.
    expect(Object.values(outcome.answers).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    expect(outcome.during.inferences.sent).toBeGreaterThan(0);
    await stack.untilServed();
  },
);
