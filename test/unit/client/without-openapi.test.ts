import { parseAst } from "vite";
import { expect, it } from "vitest";
import { withoutOpenApi } from "../../../src/client/without-openapi.ts";

const strip = (code: string) => withoutOpenApi(code, parseAst(code));

it.each([
  ['const a = z.string().openapi("A");', "const a = z.string();"],
  ["const a = z.string().openapi({ b: c().openapi() }).optional().openapi({});", "const a = z.string().optional();"],
  [
    "const a = z.object({ b: z.number().openapi({ d: 1 }), c }).openapi('A').or(d.openapi('D'));",
    "const a = z.object({ b: z.number(), c }).or(d);",
  ],
  ["x.openapi; openapi('A'); x.open();", "x.openapi; openapi('A'); x.open();"],
])("leaves schemas without their descriptions: %s", (code, expected) => {
  expect(strip(code)).toBe(expected);
});
