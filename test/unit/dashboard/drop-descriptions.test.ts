import { parseAst } from "vite";
import { describe, expect, it } from "vitest";
import { withoutDescriptions } from "../../../src/dashboard/drop-descriptions.ts";

const drop = (code: string) => withoutDescriptions(code, parseAst(code));

describe("what the protocol says for its document alone", () => {
  it("is left out of schemas, one within another, whatever letters it is in", () => {
    const code = `z.object({ rate: z.number().openapi({ description: "10⁹ a second — more" }).min(1) }).openapi("A").nullable();`;
    expect(drop(code)).toBe("z.object({ rate: z.number().min(1) }).nullable();");
  });

  it("goes with what stands in its own arguments", () => {
    expect(drop('of(z.string().openapi({ example: z.string().openapi("B") }));')).toBe("of(z.string());");
  });

  it("is left out of endpoints, and their schemas' fields of the same names are not", () => {
    const code =
      'defineEndpoint({ path: "/v1/x", summary, tag: "x", reply: { schema: z.object({ summary: z.string().openapi("S") }) } });';
    expect(drop(code)).toBe(
      'defineEndpoint({ path: "/v1/x", summary: "", tag: "", reply: { schema: z.object({ summary: z.string() }) } });',
    );
  });
});
