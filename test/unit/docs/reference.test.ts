import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type OpenApi, renderReference } from "../../../docs/render-reference.ts";
import { renderNote, renderType } from "../../../docs/render-type.ts";
import { openApiDocument } from "../../../src/edge/http/openapi.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { PROBLEMS } from "../../../src/protocol/wire/problem.ts";

const DOCS = join(import.meta.dirname, "../../../docs");

describe("docs/reference.md", () => {
  it("is what the table of endpoints says now", async () => {
    const wanted = renderReference(endpoints, openApiDocument() as OpenApi, PROBLEMS);
    const written = await readFile(join(DOCS, "reference.md"), "utf8");
    // The texts are long: a diff of them would tell less than this.
    expect(written === wanted, "docs/reference.md is stale: run `npm run docs:reference`").toBe(true);
  });

  it("has every endpoint with its scope, and links that lead somewhere", async () => {
    const text = await readFile(join(DOCS, "reference.md"), "utf8");
    for (const { method, path } of Object.values(endpoints)) {
      expect(text).toContain(`### \`${method.toUpperCase()} ${path}\``);
    }
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

  it("are told with bounds and purpose", () => {
    expect(renderNote({ description: "How\n  many", minimum: 1, maximum: 9 })).toBe("How many; 1 to 9");
    expect(renderNote({ type: "string", minLength: 0, maxLength: 64 })).toBe("≤ 64 characters");
    expect(renderNote({ exclusiveMinimum: 0, maximum: 1 })).toBe("> 0, ≤ 1");
  });
});
