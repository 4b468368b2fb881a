import { parseAst } from "vite";
import { describe, expect, it } from "vitest";
import { cutDescriptions } from "../../../src/dashboard/cut-descriptions.ts";

const strip = (code: string) => cutDescriptions(code, parseAst(code));

describe("the words of the API's document", () => {
  it("are cut out wherever they stand in a schema", () => {
    const code = `const A = z.object({ n: z.number().openapi({ description: "n" }).optional() }).openapi("A").nullable();`;
    expect(strip(code)).toBe("const A = z.object({ n: z.number().optional() }).nullable();");
  });

  it("are cut out of endpoints, first, last or between, and of nothing else", () => {
    const code = `const e = {
  a: defineEndpoint({ method: "get", summary: "a", description: \`b\`, access: "read", query: z.string().openapi("Q") }),
  b: defineEndpoint({ summary: "a", path: "/" }),
  c: defineEndpoint({ path: "/", description: "b" }),
  d: { summary: "kept" },
};`;
    expect(strip(code)).toBe(`const e = {
  a: defineEndpoint({ method: "get", access: "read", query: z.string() }),
  b: defineEndpoint({ path: "/" }),
  c: defineEndpoint({ path: "/", }),
  d: { summary: "kept" },
};`);
  });
});
