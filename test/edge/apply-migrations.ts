import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach } from "vitest";
import { endWork } from "./stack/queue-client.ts";

// A worker's files share its modules, but neither rows nor objects.
await reset();
await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
afterEach(endWork);
