import { z } from "zod";

// Stands in for `@hono/zod-openapi` in the pages' build, where schemas are plain (see `plainSchemas`): compiling them
// with `new Function` would break the content security policy.
z.config({ jitless: true });

export { z };
