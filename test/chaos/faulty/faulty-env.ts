import type { Env } from "../../../src/edge/config.ts";
import type { EdgeTrouble } from "./fault-control.ts";
import { troubled } from "./trouble.ts";

type Method = (...values: unknown[]) => unknown;
const RUNS = ["run", "all", "raw", "first"] as const;

/** Bindings for the product: the real ones, which fail at the current rate of `trouble`. */
export function faultyEnv(env: Env, trouble: () => EdgeTrouble): Env {
  return {
    ...env,
    DB: faultyDatabase(env.DB, () => trouble().database),
    JOB_QUEUE: faultyNamespace(env.JOB_QUEUE, () => trouble().objects),
    RUNNER_LINK: faultyNamespace(env.RUNNER_LINK, () => trouble().objects),
    POLICY_STREAM: faultyNamespace(env.POLICY_STREAM, () => trouble().objects),
  };
}

function faultyDatabase(db: D1Database, rate: () => number): D1Database {
  const batch = (statements: D1PreparedStatement[]) => troubled("D1", rate(), () => db.batch(statements));
  const prepare = (query: string) => faultyStatement(db.prepare(query), rate);
  return new Proxy(db, {
    get: (_, name) => (name === "prepare" ? prepare : name === "batch" ? batch : bound(db, name)),
  });
}

/** The statement itself, since a batch takes no other. */
function faultyStatement(statement: D1PreparedStatement, rate: () => number): D1PreparedStatement {
  const bind = statement.bind.bind(statement);
  const methods = RUNS.map((name) => {
    const run = bound(statement, name) as Method;
    return [name, (...values: unknown[]) => troubled("D1", rate(), async () => run(...values))] as const;
  });
  return Object.assign(statement, {
    ...Object.fromEntries(methods),
    bind: (...values: unknown[]) => faultyStatement(bind(...values), rate),
  });
}

function faultyNamespace<Target extends Rpc.DurableObjectBranded | undefined>(
  namespace: DurableObjectNamespace<Target>,
  rate: () => number,
): DurableObjectNamespace<Target> {
  const get = (id: DurableObjectId) => faultyStub(namespace.get(id), rate);
  return new Proxy(namespace, { get: (_, name) => (name === "get" ? get : bound(namespace, name)) });
}

function faultyStub<Stub extends object>(stub: Stub, rate: () => number): Stub {
  return new Proxy(stub, {
    get: (_, name) => {
      if (typeof Reflect.get(stub, name) !== "function") return Reflect.get(stub, name) as unknown;
      // Called on the stub itself: its methods are calls to come, which have an `apply` of the other side.
      return (...values: unknown[]) =>
        troubled(`the object's ${String(name)}`, rate(), async () =>
          (stub as Record<string, Method>)[String(name)]!(...values),
        );
    },
  });
}

function bound(target: object, name: PropertyKey): unknown {
  const value: unknown = Reflect.get(target, name);
  return typeof value === "function" ? (value as Method).bind(target) : value;
}
