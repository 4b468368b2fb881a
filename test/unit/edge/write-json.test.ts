import { describe, expect, it, onTestFinished, vi } from "vitest";
import { writeJson } from "../../../src/edge/http/write-json.ts";
import { threadShares } from "../../../src/edge/turns.ts";
import { fc } from "../property.ts";

const leaf = fc.record({ at: fc.string(), count: fc.double(), none: fc.constant(undefined), list: fc.array(fc.nat()) });
const group = fc.record({ group: fc.object(), points: fc.array(leaf, { maxLength: 5 }), note: fc.option(fc.string()) });

describe("JSON in portions", () => {
  it("is what JSON.stringify writes", async () => {
    const answer = fc.record({
      groups: fc.array(group, { maxLength: 4 }),
      gone: fc.constant(undefined),
      to: fc.string(),
    });
    await fc.assert(
      fc.asyncProperty(answer, async (body) => {
        expect(await writeJson(body)).toBe(JSON.stringify(body));
      }),
    );
    expect(await writeJson({})).toBe("{}");
  });

  it("is so of long lists of numbers, which take several turns", async () => {
    const values = Array.from({ length: 100_000 }, (_, i) => i / 7);
    const body = { measurements: [{ values }, { subject: "few", values: [1] }], values };
    // As for a second behind an inference, however long that is for this machine.
    const urgent = vi.spyOn(threadShares, "hadUrgent").mockReturnValue(true);
    onTestFinished(() => urgent.mockRestore());
    let others = 0;
    const timer = setInterval(() => others++, 0);
    const text = await writeJson(body);
    clearInterval(timer);
    expect(text).toBe(JSON.stringify(body));
    expect(others).toBeGreaterThanOrEqual(2);
  });

  it("is so of lists that take several portions and turns", async () => {
    const points = Array.from({ length: 20_000 }, (_, i) => ({ at: i, mean: i / 7, runId: null }));
    const body = { groups: [{ points }, { points: [] }, { points: points.slice(0, 257) }], truncated: false };
    expect(await writeJson(body)).toBe(JSON.stringify(body));
  });
});
