import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { describeModel, describeOutline, largeGraph, reportModel } from "../../../../src/edge/models/describe-model.ts";
import { writeModel } from "../../../../src/onnx/write-model.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";
import { modelOf, nodeOf } from "../../onnx/model-of.ts";

const relu = nodeOf("Relu", ["x"], ["y"]);
const small = writeModel(modelOf({ nodes: [relu] }));
/** Numbers of an attribute are parts, too, by eights. */
const many = { alphas: { kind: "floats" as const, value: Array.from({ length: 2 ** 18 + 8 }, () => 0.5) } };
const large = writeModel(modelOf({ nodes: [{ ...relu, attributes: new Map(Object.entries(many)) }] }));
const enter = () => largeGraph.enter("test", Date.now());

describe("of models with many parts", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([
    ["described", describeModel],
    ["described by its outline", describeOutline],
    ["reported on", reportModel],
  ])("one is %s at a time, and small ones beside it", async (_, describeFile) => {
    const place = enter()!;
    let isEnded = false;
    const asked = describeFile(large).then(() => (isEnded = true));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(isEnded).toBe(false);
    const beside = describeFile(small);
    await vi.advanceTimersByTimeAsync(100);
    await beside;
    expect(isEnded).toBe(false);
    largeGraph.leave(place);
    await vi.advanceTimersByTimeAsync(100);
    await asked;
    const free = enter();
    expect(free).not.toBeNull();
    largeGraph.leave(free!);
  });

  it("another is refused where its turn does not come in time", async () => {
    const place = enter()!;
    const refusal = describeModel(large).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(15_100);
    const error = await refusal;
    expect(error).toBeInstanceOf(ProblemError);
    expect((error as ProblemError).problem).toMatchObject({ code: "overloaded", retryAfterMs: 1_000 });
    largeGraph.leave(place);
  });

  it("one that cannot be used makes room for the next", async () => {
    const wrong = writeModel(
      modelOf({ nodes: [{ ...relu, operator: "Odd", attributes: new Map(Object.entries(many)) }] }),
    );
    const refusal = describeModel(wrong).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(String(await refusal)).toContain("does not have");
    const free = enter();
    expect(free).not.toBeNull();
    largeGraph.leave(free!);
  });
});
