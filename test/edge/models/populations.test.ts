import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import type { Population } from "../../../src/protocol/policies/population.ts";
import {
  callEdge,
  countStored,
  createKey,
  fetchEdge,
  pointersOf,
  problemOf,
  type Reply,
} from "../stack/edge-client.ts";
import { LAYERED_ROWS, POPULATION_FILES } from "../stack/population-files.ts";

const ROWS = Array.from({ length: 12 }, (_, index) => index / 8);
const typed = { "content-type": "application/octet-stream" };

function bytesOf(name: keyof typeof POPULATION_FILES): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(POPULATION_FILES[name]), (character) => character.charCodeAt(0));
}

function upload(body: Uint8Array, query: Record<string, string> = {}): Promise<Reply> {
  return callEdge("POST", `/v1/populations?${new URLSearchParams(query).toString()}`, { body, headers: typed });
}

/** Stored rows of a population. */
async function readRows({ id, offsetBytes, sizeBytes }: Population): Promise<number[]> {
  const file = await (await fetchEdge("GET", `/v1/populations/${id}/file`)).arrayBuffer();
  expect(file.byteLength).toBe(sizeBytes);
  return [...new Float32Array(file.slice(offsetBytes))];
}

const messageOf = (reply: Reply) => problemOf(reply).errors?.[0]?.message;

describe("a population", () => {
  it.each(["npy", "npy2", "npy3", "safetensors"] as const)(
    "comes as NumPy and safetensors write it: %s",
    async (name) => {
      const { status, json } = await upload(bytesOf(name), { network: '{"hidden":[],"activation":"relu"}' });
      const format = name === "safetensors" ? "safetensors" : "npy";
      const network = { kind: "mlp", hidden: [], activation: "relu", outputActivation: "none" };
      expect(status).toBe(201);
      expect(json).toMatchObject({ name: null, format, members: 3, parameters: 4, network });
      expect(await readRows(json)).toEqual(ROWS);
    },
  );

  it("may come layer by layer, and is kept in whole rows", async () => {
    const { status, json } = await upload(bytesOf("layers"));
    expect(status).toBe(201);
    expect(json).toMatchObject({ format: "npy", members: 3, parameters: 13 });
    expect(await readRows(json)).toEqual(LAYERED_ROWS.flat());
    const { objects } = await env.ARTIFACTS.list({ prefix: "uploads/" });
    expect(objects).toEqual([]);
  });

  it("is found by name and id, comes twice as one, and goes with its file", async () => {
    const { json } = await upload(bytesOf("npy"), { name: "mine" });
    const again = await upload(bytesOf("npy"), { name: "mine" });
    expect([again.status, again.json]).toEqual([200, json]);
    expect(problemOf(await upload(bytesOf("npy"), { name: "mine", network: '{"hidden":[4]}' })).code).toBe("conflict");
    expect(problemOf(await upload(bytesOf("layers"), { name: "mine" })).code).toBe("conflict");
    expect((await callEdge("GET", "/v1/populations/mine")).json).toEqual(json);
    expect((await callEdge("GET", `/v1/populations/${json.id}`)).json).toEqual(json);
    expect((await callEdge("GET", "/v1/populations?limit=200")).json.items).toContainEqual(json);
    const { items } = (await callEdge("GET", "/v1/populations?limit=200")).json;
    for (const { id } of items) expect((await callEdge("DELETE", `/v1/populations/${id}`)).status).toBe(204);
    expect(problemOf(await callEdge("GET", "/v1/populations/mine")).code).toBe("not-found");
    expect(await env.ARTIFACTS.head(`artifacts/${json.digest.replace(":", "/")}`)).toBeNull();
  });

  it("is refused where it is no float32 of members × parameters, and nothing of it is kept", async () => {
    const before = await countStored();
    expect(messageOf(await upload(bytesOf("double")))).toContain("not <f8");
    expect(messageOf(await upload(bytesOf("bigEndian")))).toContain("not >f4");
    expect(messageOf(await upload(bytesOf("fortran")))).toContain("C order");
    expect(messageOf(await upload(bytesOf("flat")))).toContain("two axes");
    expect(messageOf(await upload(bytesOf("halves")))).toContain("genomes");
    expect(messageOf(await upload(bytesOf("unfitting")))).toContain("layers.1.weight");
    expect(messageOf(await upload(bytesOf("misnamed")))).toContain("layers.0.weight");
    expect(await countStored()).toEqual(before);
  });

  it("is refused where it is shorter or longer than its header says", async () => {
    const before = await countStored();
    for (const name of ["npy", "safetensors", "layers"] as const) {
      const file = bytesOf(name);
      expect(pointersOf(await upload(file.subarray(0, -1)))).toEqual(["#"]);
      expect(pointersOf(await upload(Uint8Array.from([...file, 0])))).toEqual(["#"]);
      expect(pointersOf(await upload(file.subarray(0, 40)))).toEqual(["#"]);
    }
    expect(await countStored()).toEqual(before);
  });

  it("is refused by its header alone where it is too large", async () => {
    const text = (shape: string) => `{'descr': '<f4', 'fortran_order': False, 'shape': ${shape}, }\n`;
    const header = (shape: string) =>
      Uint8Array.from([
        0x93,
        ...new TextEncoder().encode("NUMPY"),
        1,
        0,
        text(shape).length,
        0,
        ...new TextEncoder().encode(text(shape)),
      ]);
    const large = await upload(header(`(${LIMITS.populationMembers}, 25)`));
    expect(problemOf(large).code).toBe("payload-too-large");
    expect(pointersOf(await upload(header(`(${LIMITS.populationMembers + 1}, 1)`)))).toEqual(["#"]);
    expect(pointersOf(await upload(header(`(1, ${LIMITS.policyParameters + 1})`)))).toEqual(["#"]);
    expect(pointersOf(await upload(header("(0, 4)")))).toEqual(["#"]);
    expect(messageOf(await upload(header("(2, 2), 'more': (1,")))).toContain("cannot be read");
  });

  it("names what is wrong with its name and network", async () => {
    for (const network of ["{", "null", '{"hidden":[0]}', '{"hidden":[],"depth":2}', '{"kind":"tree"}']) {
      const [pointer] = pointersOf(await upload(bytesOf("npy"), { network }));
      expect(pointer?.startsWith("query/network"), network).toBe(true);
    }
    expect(pointersOf(await upload(bytesOf("npy"), { name: "no name" }))).toEqual(["query/name"]);
    const { secret } = await createKey(["read"]);
    const refused = await callEdge("POST", "/v1/populations", { key: secret, body: bytesOf("npy"), headers: typed });
    expect(problemOf(refused).code).toBe("forbidden");
  });
});
