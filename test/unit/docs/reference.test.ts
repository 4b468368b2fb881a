import { describe, expect, it } from "vitest";
import { type OpenApi, renderReference } from "../../../docs/render-reference.ts";
import { renderNote, renderType } from "../../../docs/render-type.ts";
import { openApiDocument } from "../../../src/edge/http/openapi.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { PROBLEMS } from "../../../src/protocol/wire/problem.ts";

describe("the reference", () => {
  const text = renderReference(endpoints, openApiDocument() as OpenApi, PROBLEMS);

  it("has every endpoint once, and every problem", () => {
    const titles = [...text.matchAll(/^### `(.*)`$/gm)].map(([, title]) => title);
    const wanted = Object.values(endpoints).map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(new Set(titles)).toEqual(new Set(wanted));
    expect(titles.length).toBe(wanted.length);
    for (const code of Object.keys(PROBLEMS)) expect(text).toContain(`| \`${code}\` |`);
    expect(text).not.toMatch(/\bundefined\b/);
  });

  it("has links that lead somewhere", () => {
    const anchors = new Set(
      [...text.matchAll(/^##+ (.*)$/gm)].map(([, title = ""]) => title.toLowerCase().replaceAll(" ", "-")),
    );
    const links = [...text.matchAll(/\]\(#([^)]*)\)/g)].map(([, target]) => target ?? "");
    expect(links.length).toBeGreaterThan(Object.keys(endpoints).length);
    expect(links.filter((target) => !anchors.has(target))).toEqual([]);
  });
});

describe("types of a schema", () => {
  it("are written as in TypeScript", () => {
    expect(renderType({ type: ["string", "null"] })).toBe("string | null");
    expect(renderType({ type: "array", items: { enum: ["read", "admin"] } })).toBe('("read" | "admin")[]');
    expect(renderType({ type: "object", additionalProperties: { type: "number" } })).toBe("Record<string, number>");
    expect(renderType({ allOf: [{ $ref: "#/components/schemas/DType" }, { description: "absent: float32" }] })).toBe(
      "DType",
    );
    expect(renderType({ type: "object", properties: { n: { type: "integer", minimum: 1, default: 5 } } })).toBe(
      "{\n  n?: integer; // ≥ 1; default 5\n}",
    );
    expect(renderType({})).toBe("unknown");
  });

  it("are shown with bounds and purpose", () => {
    expect(renderNote({ description: "How\n  many", minimum: 1, maximum: 9 })).toBe("How many; 1 to 9");
    expect(renderNote({ type: "string", minLength: 0, maxLength: 64 })).toBe("≤ 64 characters");
    expect(renderNote({ exclusiveMinimum: 0, maximum: 1 })).toBe("> 0, ≤ 1");
  });
});
