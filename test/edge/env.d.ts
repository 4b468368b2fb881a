import type { D1Migration } from "cloudflare:test";
import type { Env } from "../../src/edge/config.ts";

declare global {
  namespace Cloudflare {
    interface Env extends EdgeEnv {
      readonly TEST_MIGRATIONS: D1Migration[];
      readonly BOOTSTRAP_SECRET: string;
    }
    interface GlobalProps {
      mainModule: typeof import("../../src/edge/worker.ts");
    }
  }
}

type EdgeEnv = Omit<Env, "BOOTSTRAP_SECRET">;
