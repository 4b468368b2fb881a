import { fc } from "../property.ts";
import { describe, expect, it } from "vitest";
import { createTraceContext, formatTraceparent, parseTraceparent } from "../../../src/telemetry/trace-context.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const parentId = "b7ad6b7169203331";

describe("a traceparent", () => {
  it("is read as the specification shows it", () => {
    expect(parseTraceparent(`00-${traceId}-${parentId}-01`)).toEqual({ traceId, parentId, sampled: true });
    expect(parseTraceparent(`00-${traceId}-${parentId}-02`)?.sampled).toBe(false);
  });

  it("that is absent or malformed is none", () => {
    for (const header of [
      null,
      undefined,
      "",
      `01-${traceId}`,
      `00-${traceId.toUpperCase()}-${parentId}-01`,
      `00-${"0".repeat(32)}-${parentId}-01`,
      `00-${traceId}-${"0".repeat(16)}-01`,
      `00-${traceId}-${parentId}-01-more`,
      ` 00-${traceId}-${parentId}-01`,
    ]) {
      expect(parseTraceparent(header)).toBeNull();
    }
    fc.assert(fc.property(fc.string(), (text) => parseTraceparent(text) === null));
  });

  it("of a child keeps the trace and the choice, under a span of its own", () => {
    for (const sampled of [true, false]) {
      const child = createTraceContext({ traceId, parentId, sampled });
      expect(child).toMatchObject({ traceId, sampled });
      expect(child.parentId).not.toBe(parentId);
      expect(parseTraceparent(formatTraceparent(child))).toEqual(child);
    }
    expect(parseTraceparent(formatTraceparent(createTraceContext(null)))?.sampled).toBe(true);
  });
});
