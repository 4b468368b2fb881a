import { describe, expect, it } from "vitest";
import { BodyRoom, openIsolateRoom } from "../../../../src/edge/http/body-room.ts";
import { PLATFORM_LIMITS } from "../../../../src/edge/platform-limits.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";

const MIB = 2 ** 20;

function refusalOf(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    if (error instanceof ProblemError) return error.problem;
    throw error;
  }
  return null;
}

describe("room for bodies", () => {
  it("is refused to who has most of it, with a time, and others find some", () => {
    const isolate = openIsolateRoom();
    const take = (holder: string, bytes: number) => {
      const room = new BodyRoom(holder, isolate);
      return { room, refusal: refusalOf(() => room.take(bytes, bytes)) };
    };
    const greedy = Array.from({ length: 8 }, () => take("a", 8 * MIB));
    expect(greedy.map(({ refusal }) => refusal === null)).toEqual([1, 1, 1, 0, 0, 0, 0, 0].map(Boolean));
    expect(greedy[3]?.refusal).toMatchObject({ code: "overloaded", retryAfterMs: 250 });
    expect(take("b", 7 * MIB).refusal).toBeNull();
    for (const { room } of greedy) room.giveBack();
    expect(take("a", 8 * MIB).refusal).toBeNull();
  });

  it("is taken bit by bit, and given back once", () => {
    const isolate = openIsolateRoom();
    const room = new BodyRoom("a", isolate);
    for (let taken = 0; taken < 8; taken++) room.take(MIB, 8 * MIB);
    room.giveBack();
    room.giveBack();
    expect(isolate.bodies.take("b", LIMITS.bodiesBytes)).toBe(true);
  });

  it("of files is apart, and the largest has it alone", () => {
    const isolate = openIsolateRoom();
    new BodyRoom("a", isolate).take(LIMITS.poolBytes, LIMITS.poolBytes);
    expect(refusalOf(() => new BodyRoom("b", isolate).take(1, LIMITS.modelBytes))).not.toBeNull();
    new BodyRoom("b", isolate).take(LIMITS.inferBodyBytes, LIMITS.inferBodyBytes);
  });

  it("leaves a quarter of an isolate to all else", () => {
    const most = LIMITS.bodiesBytes + LIMITS.fileBodiesBytes;
    expect(most).toBeLessThanOrEqual(0.75 * PLATFORM_LIMITS.memoryBytes);
  });
});
