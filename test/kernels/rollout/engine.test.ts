import { beforeAll, describe, expect, test } from "vitest";
import { CAUSES } from "../../../kernels/rollout/roll-out.reference.ts";
import { runApart } from "./run-apart.ts";

const { terminated, truncated, failed, reward } = CAUSES;

describe("the rollout engine", () => {
  let lines: readonly unknown[] = [];

  beforeAll(async () => {
    lines = await runApart("run-engine.ts");
  });

  test("gives the same bits however episodes are dispatched, parted and kept", () => {
    expect(lines.slice(0, 3)).toEqual([1, 1, 3].map((waves) => ({ same: true, waves })));
    // Not even the weights fit: the host keeps them, and one part at a time is played.
    expect(lines[3]).toMatchObject({ same: true });
    expect((lines[3] as { waves: number }).waves).toBeGreaterThan(3);
  });

  test("plays an episode alike in any batch", () => {
    expect(lines[4]).toEqual({ oneEpisode: true });
  });

  test("reports its progress, and ends on request", () => {
    expect(lines[5]).toEqual({ rises: true, last: 1, more: true });
    expect(lines[6]).toEqual({ code: "cancelled" });
  });

  test("fails the members whose weights are not finite, and no other", () => {
    const never = [failed, failed, failed];
    expect(lines[7]).toEqual({ unsound: [10, 20], others: true, causes: [never, never], lengths: [0, 0, 0] });
  });

  test("checks weights where there are no episodes", () => {
    expect(lines[8]).toEqual({ none: 0, unsound: 2 });
  });

  test("counts the terminal reward, and distinguishes truncation, an end, both, and a failure", () => {
    expect(lines[9]).toEqual({
      returns: [10, 3, 10, 0, 0],
      lengths: [10, 3, 10, 1, 0],
      causes: [truncated, terminated, terminated | truncated, failed | reward, failed],
      measures: [1, Math.fround(0.3), 1, 0, 0],
    });
  });

  test("plays one step where the limit is one", () => {
    expect(lines[10]).toEqual({ returns: [1, 1], lengths: [1, 1], causes: [truncated, terminated | truncated] });
  });

  test("leaves nothing on the device", () => {
    expect(lines[11]).toEqual({ liveBytes: 0 });
  });
});
