import type { Plugin } from "vite";
import { withoutOpenApi } from "./without-openapi.ts";

/**
 * A plugin of Vite that leaves schemas plain zod: what describes them is for the OpenAPI document, and calls for the
 * generator behind `@hono/zod-openapi`, which is as large as a page.
 */
export const plainSchemas: Plugin = {
  name: "plain-schemas",
  enforce: "post",
  transform(code, id) {
    if (id.includes("node_modules") || !code.includes(".openapi(")) return null;
    return { code: withoutOpenApi(code, this.parse(code)), map: null };
  },
};
