import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach } from "vitest";
import { forgetCachedKeys } from "../../src/edge/http/auth.ts";
import { forgetOutcomes } from "../../src/edge/inference/outcome-log.ts";
import { forgetSnapshot } from "../../src/edge/inference/snapshot.ts";
import { forgetMetrics } from "../../src/edge/metrics/collect-metrics.ts";
import { forgetConnectedRunners } from "../../src/edge/services/ask-compute.ts";
import { forgetCapabilities } from "../../src/edge/store/fleet/capability-cache.ts";
import { endWork } from "./stack/queue-client.ts";

// A worker's files share its modules, but neither rows nor objects, nor what the isolate remembers of them.
await reset();
await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
forgetCachedKeys();
forgetMetrics();
forgetSnapshot();
forgetOutcomes();
forgetConnectedRunners();
forgetCapabilities();
afterEach(endWork);
