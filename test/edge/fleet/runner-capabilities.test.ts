import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { scopeEnv } from "../../../src/edge/config.ts";
import { openProject } from "../../../src/edge/store/database.ts";
import { readConnectedRunners, readRunnerCapabilities } from "../../../src/edge/store/fleet/runner-store.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { capabilities } from "../stack/samples.ts";

const dbOf = (project: string) => openProject(scopeEnv(env, project));
const text = JSON.stringify(capabilities);

/** Stores a runner that is connected. */
async function add(project: string, announced: string | null, change = ""): Promise<string> {
  const id = createId("runner");
  const statement = `insert into runners (id, project, name, credential_hash, labels, capabilities, online, created_at_ms)
    values (?1, ?2, ?1, ?1, '{}', ?3, 1, 0)`;
  await env.DB.prepare(statement).bind(id, project, announced).run();
  if (change !== "") await env.DB.prepare(`update runners set ${change} where id = ?`).bind(id).run();
  return id;
}

const idsOf = (runners: readonly { readonly id: string }[]) => runners.map(({ id }) => id).toSorted();

afterEach(() => vi.restoreAllMocks());

describe("what runners announced", () => {
  it("is read of the project's runners and shared ones, and of no other", async () => {
    // Whoever parsed it would fail.
    await add("others", "{");
    const own = await add("sighted", text);
    const shared = await add("others", text, "shared = 1");
    await add("others", "{", "shared = 1, removed_at_ms = 1");
    await add("sighted", null);
    expect(idsOf(await readRunnerCapabilities(dbOf("sighted")))).toEqual([own, shared].toSorted());
  });

  it("is read of connected ones alone where they are to compute", async () => {
    const id = await add("computing", text);
    const until = new Date(Date.now() + 60_000).toISOString();
    for (const change of ["online = 0", "draining = 1", `quarantine = '${JSON.stringify({ until })}'`]) {
      await add("computing", "{", change);
    }
    const found = await readConnectedRunners(dbOf("computing"));
    const own = found.filter(({ project }) => project === "computing");
    expect(own).toMatchObject([{ id, labels: {}, capabilities }]);
  });

  it("is read and parsed anew only once it has changed", async () => {
    const [changing] = [await add("lasting", text), await add("lasting", text)];
    const read = async () => {
      const all = await readRunnerCapabilities(dbOf("lasting"));
      return new Map(all.filter(({ project }) => project === "lasting").map((one) => [one.id, one.capabilities]));
    };
    const first = await read();
    // The same objects serve both runners, since they announced the same.
    expect(new Set([...first.values()].map(({ kernels }) => kernels[0])).size).toBe(1);
    const prepared = vi.spyOn(env.DB, "prepare");
    expect([...(await read())].every(([id, one]) => one === first.get(id))).toBe(true);
    expect(prepared.mock.calls.flat().filter((statement) => statement.includes("capabilities"))).toEqual([]);
    const other = JSON.stringify({ ...capabilities, jobSlots: 7 });
    const update = "update runners set capabilities = ?2, version = version + 1 where id = ?1";
    await env.DB.prepare(update).bind(changing, other).run();
    expect(new Set([...(await read()).values()].map(({ jobSlots }) => jobSlots))).toEqual(new Set([1, 7]));
  });
});
