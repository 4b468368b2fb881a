import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Endpoint } from "../../../src/protocol/endpoint.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import type { Key } from "../../../src/protocol/service/key.ts";
import { callEdge, createKey, problemOf } from "../stack/edge-client.ts";

describe("the table", () => {
  it("allows no change with a key for reading, and is open to all in five places", () => {
    const table = Object.entries<Endpoint>(endpoints as never).map(
      ([name, { method, access, isOperators = false }]) => ({
        name,
        method,
        access,
        isOperators,
      }),
    );
    const namesOf = (which: (entry: (typeof table)[number]) => boolean) =>
      new Set(table.filter(which).map(({ name }) => name));
    expect(namesOf(({ method, access }) => method !== "get" && access === "read")).toEqual(new Set());
    expect(namesOf(({ access }) => access === "public")).toEqual(
      new Set(["oipLive", "oipReady", "oipServer", "getHealth", "registerRunner"]),
    );
    expect(namesOf(({ access }) => access === "runner")).toEqual(
      new Set([
        "linkInfer",
        "putJobArtifact",
        "fetchJobArtifact",
        "connectRunner",
        "unregisterRunner",
        "downloadArtifact",
        "runAtEdge",
        "fetchTuning",
      ]),
    );
    expect(namesOf(({ isOperators }) => isOperators)).toEqual(
      new Set([
        "beginTransfer",
        "endTransfer",
        "exportRows",
        "importRows",
        "listObjects",
        "exportObject",
        "importObject",
        "createProject",
        "listProjects",
        "closeProject",
        "getQuotas",
        "setQuotas",
        "readMetrics",
      ]),
    );
    expect(namesOf(({ method, access }) => method !== "get" && access === "submit")).toEqual(
      new Set([
        "beginUpload",
        "putUploadPart",
        "muteSeries",
        "unmuteSeries",
        "reportPoints",
        "pinBaseline",
        "deleteBaseline",
        "createThreshold",
        "testThreshold",
        "updateThreshold",
        "deleteThreshold",
        "detectChanges",
        "changeAlert",
        "submitEnvironment",
        "deleteEnvironment",
        "configurePlacement",
        "createItemMemory",
        "deleteItemMemory",
        "addItems",
        "createAgentPool",
        "writeAgents",
        "deleteAgentPool",
        "createRequirements",
        "updateRequirements",
        "deleteRequirements",
        "uploadPopulation",
        "deletePopulation",
        "pruneArchive",
        "deleteArchive",
        "uploadModel",
        "uploadModelFiles",
        "checkModel",
        "uploadVariant",
        "putVersionData",
        "createVariant",
        "setPlacement",
        "oipLoad",
        "oipUnload",
        "createJob",
        "cancelJob",
        "submitKernel",
        "deleteKernel",
      ]),
    );
    expect(namesOf(({ access }) => access === "infer")).toEqual(
      new Set([
        "oipModel",
        "oipModelVersion",
        "oipModelReady",
        "oipModelVersionReady",
        "oipModelStats",
        "oipModelVersionStats",
        "oipModelConfig",
        "oipModelVersionConfig",
        "oipAllStats",
        "oipIndex",
        "oipInfer",
        "oipVersionInfer",
        "encodeSymbols",
        "computeHrr",
        "searchItems",
        "infer",
        "createTicket",
        "actPolicy",
        "streamPolicy",
      ]),
    );
  });
});

describe("keys", () => {
  it("shows the secret once and stores a hash only", async () => {
    const created = await callEdge("POST", "/v1/keys", { body: { name: "mine", scopes: ["read", "read"] } });
    expect(created.status).toBe(201);
    const { secret, ...key } = created.json;
    expect(key).toMatchObject({ name: "mine", scopes: ["read"], revokedAt: null });
    const listed = await callEdge("GET", "/v1/keys");
    expect(listed.json.items).toContainEqual(key);
    const rows = await env.DB.prepare("select * from keys").all();
    expect(JSON.stringify(rows.results)).not.toContain(secret);
  });

  it("are listed newest first, page by page, each once", async () => {
    for (let i = 0; i < 5; i++) await createKey(["read"], `paged-${i}`);
    const all: Key[] = (await callEdge("GET", "/v1/keys?limit=200")).json.items;
    const paged: Key[] = [];
    let path = "/v1/keys?limit=2";
    for (;;) {
      const { items, nextCursor } = (await callEdge("GET", path)).json;
      expect(items.length).toBeLessThanOrEqual(2);
      paged.push(...items);
      if (nextCursor === null) break;
      path = `/v1/keys?limit=2&cursor=${encodeURIComponent(nextCursor)}`;
    }
    expect(paged).toEqual(all);
    expect(all.map(({ id }) => id)).toEqual(
      all
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    );
  });

  it("stop working when they are revoked, and stay revoked", async () => {
    const { id, secret } = await createKey(["read"]);
    expect((await callEdge("GET", "/v1/runners", { key: secret })).status).toBe(200);
    const revoked = await callEdge("DELETE", `/v1/keys/${id}`);
    expect(revoked.json.revokedAt).not.toBeNull();
    expect(problemOf(await callEdge("GET", "/v1/runners", { key: secret })).code).toBe("unauthorized");
    expect((await callEdge("DELETE", `/v1/keys/${id}`)).json).toEqual(revoked.json);
  });

  it("open what their scopes name and nothing else", async () => {
    const { secret: submit } = await createKey(["submit"]);
    const { secret: both } = await createKey(["submit", "read"]);
    const { secret: admin } = await createKey(["admin"]);
    const jobs = (key: string) => callEdge("GET", "/v1/jobs", { key });
    expect(problemOf(await jobs(submit)).code).toBe("forbidden");
    expect((await jobs(both)).status).toBe(200);
    expect((await jobs(admin)).status).toBe(200);
    expect(
      problemOf(await callEdge("POST", "/v1/keys", { key: both, body: { name: "x", scopes: ["admin"] } })).code,
    ).toBe("forbidden");
  });
});
