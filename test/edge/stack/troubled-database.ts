import { runInDurableObject } from "cloudflare:test";
import type { Env } from "../../../src/edge/config.ts";

/** Runs each of an object's statements, inside it: may throw, like an unreachable database, or wait in polls. */
export type Trouble = (run: () => Promise<unknown>) => Promise<unknown>;

/** Gives an object a failing database, until its eviction or a call of the returned function. */
export async function troubleDatabase(stub: DurableObjectStub, trouble: Trouble): Promise<() => Promise<void>> {
  const replace = (change: (db: D1Database) => D1Database) =>
    runInDurableObject(stub, (instance) => {
      const { env } = instance as unknown as { env: Env };
      Object.assign(instance, { env: { ...env, DB: change(env.DB) } });
    });
  let healthy: D1Database;
  await replace((db) => {
    healthy = db;
    const prepare = (query: string) => wrap(db.prepare(query), trouble);
    return new Proxy(db, { get: (_, name) => (name === "prepare" ? prepare : bound(db, name)) });
  });
  return () => replace(() => healthy);
}

const RUNS = new Set<PropertyKey>(["run", "all", "raw", "first"]);
type Method = (...values: unknown[]) => unknown;

function wrap(statement: D1PreparedStatement, trouble: Trouble): D1PreparedStatement {
  return new Proxy(statement, {
    get: (_, name) => {
      const method = bound(statement, name) as Method;
      if (name === "bind") return (...values: unknown[]) => wrap(method(...values) as D1PreparedStatement, trouble);
      return RUNS.has(name) ? (...values: unknown[]) => trouble(async () => method(...values)) : method;
    },
  });
}

function bound(target: object, name: PropertyKey): unknown {
  const value: unknown = Reflect.get(target, name);
  return typeof value === "function" ? (value as Method).bind(target) : value;
}
