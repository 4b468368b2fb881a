import { z } from "zod";

// Stands in for `@hono/zod-openapi` in the pages' build. They need the schemas of the protocol, not
// the OpenAPI generator and router behind that import (75 KB compressed); and compiling schemas with
// `new Function` would break the content security policy.
z.config({ jitless: true });
Object.assign(z.ZodType.prototype, {
  openapi(this: z.ZodType) {
    return this;
  },
});

export { z };
