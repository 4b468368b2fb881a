import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { storeTrainedArchive } from "../../../src/edge/kinds/training/archives.ts";
import { addArchive } from "../../../src/edge/store/models/archive-store.ts";
import { digestOf, putArtifact, recordJobArtifact } from "../../../src/edge/store/artifact-store.ts";
import { openProject } from "../../../src/edge/store/database.ts";
import { type ArchiveDescription, decodeArchive, encodeArchive } from "../../../src/protocol/policies/archive-file.ts";
import type { StoredArchive } from "../../../src/protocol/policies/archive.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { DEFAULT_QUOTAS } from "../../../src/edge/store/quotas/default-quotas.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import {
  callEdge,
  countStored,
  createKey,
  fetchEdge,
  mainEnv,
  missingId,
  pointersOf,
  problemOf,
} from "../stack/edge-client.ts";

const description: ArchiveDescription = {
  environment: "arm",
  network: { kind: "direct" },
  parameters: 3,
  dims: [4, 2],
  ranges: [0, 1].map(() => ({ low: 0, high: 1 })),
  offset: -1,
  prunedFrom: null,
};
const elites = {
  cells: Uint32Array.of(5, 0, 7, 2),
  fitness: Float32Array.of(-0.5, -0.25, -0.5, 0),
  measures: Float32Array.of(0.6, 0.75, 0.125, 0.25, 0.9, 0.5, 0.25, 0.25),
  thresholds: Float32Array.of(-0.5, -0.25, -0.5, 0),
  genomes: Float32Array.of(1, -2, 0.5, 100, 0, 0, 0, 0, 0, 0.25, 0.5, -0.001),
};

/** An archive as a training leaves it. */
async function storeArchive(environment = "arm", jobId: string | null = createId("job")): Promise<StoredArchive> {
  const { summary, bytes } = encodeArchive({ ...description, environment }, elites);
  const digest = await digestOf(bytes.buffer);
  await putArtifact(env.ARTIFACTS, digest, bytes.buffer);
  return (await addArchive(openProject(mainEnv), { jobId, digest, sizeBytes: bytes.length, summary }))!;
}

async function download(id: string) {
  const response = await fetchEdge("GET", `/v1/archives/${id}/download`);
  return decodeArchive(new Uint8Array(await response.arrayBuffer()));
}

const prune = (id: string, body: unknown) => callEdge("POST", `/v1/archives/${id}/prune`, { body });

let archive: StoredArchive;
beforeAll(async () => {
  archive = await storeArchive();
});

describe("an archive", () => {
  it("describes its elites", async () => {
    const { json } = await callEdge("GET", `/v1/archives/${archive.id}`);
    expect(json).toEqual(archive);
    const scores = { filled: 4, coverage: 0.5, qdScore: 2.75, offset: -1, best: 0 };
    expect(json).toMatchObject({ ...description, ...scores, genomes: { format: "float32", largestError: 0 } });
  });

  it("is one for each job, however often its result comes", async () => {
    const before = await countStored();
    expect(await storeArchive("arm", archive.jobId)).toEqual(archive);
    expect(await countStored()).toEqual(before);
  });

  it("comes with the result of a training, where its file arrived", async () => {
    const { summary } = encodeArchive({ ...description, environment: "trained" }, elites);
    const { digest, sizeBytes } = archive;
    const file = { name: "archive", digest, sizeBytes, mediaType: "application/octet-stream" } as const;
    const jobs = [createId("job"), createId("job"), createId("job")] as const;
    const qualityDiversity = { archive: summary, covariance: null, restarts: 0 };
    for (const job of [jobs[0], jobs[2]]) await recordJobArtifact(mainEnv, job, file, 1);
    await storeTrainedArchive(mainEnv, jobs[0], { qualityDiversity });
    await storeTrainedArchive(mainEnv, jobs[1], { qualityDiversity });
    await storeTrainedArchive(mainEnv, jobs[2], { qualityDiversity: null });
    const { items } = (await callEdge("GET", "/v1/archives?environment=trained")).json;
    expect(items).toEqual([expect.objectContaining({ ...summary, jobId: jobs[0], digest, sizeBytes })]);
  });

  it("is listed by environment and by job, newest first", async () => {
    const [first, second] = [await storeArchive("sphere"), await storeArchive("sphere")];
    const list = async (query: string) => (await callEdge("GET", `/v1/archives?${query}`)).json;
    expect((await list("environment=sphere")).items).toEqual([second, first]);
    const page = await list("environment=sphere&limit=1");
    expect(page.items).toEqual([second]);
    expect((await list(`environment=sphere&cursor=${page.nextCursor}`)).items).toEqual([first]);
    expect((await list(`job=${first.jobId}`)).items).toEqual([first]);
    expect((await list("environment=nobody")).items).toEqual([]);
  });

  it("gives its elites page by page, each once", async () => {
    const path = `/v1/archives/${archive.id}/elites`;
    const page = (await callEdge("GET", `${path}?limit=3`)).json;
    expect(page.items[0]).toEqual({ cell: 5, fitness: -0.5, measures: [Math.fround(0.6), 0.75] });
    const rest = (await callEdge("GET", `${path}?limit=3&cursor=${page.nextCursor}`)).json;
    expect(rest.nextCursor).toBeNull();
    expect([...page.items, ...rest.items].map(({ cell }: { cell: number }) => cell)).toEqual([5, 0, 7, 2]);
    const wrong = await callEdge("GET", `${path}?cursor=${btoa('["x"]')}`);
    expect([wrong.status, pointersOf(wrong)]).toEqual([400, ["query/cursor"]]);
  });

  it("comes whole and in parts as it was left", async () => {
    const { summary, ...kept } = await download(archive.id);
    expect(kept).toEqual(elites);
    expect(summary).toMatchObject(description);
    const headers = { range: "bytes=0-7" };
    const part = await fetchEdge("GET", `/v1/archives/${archive.id}/download`, { headers });
    expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 8]);
  });

  it("is drawn with its best cells fullest, where they are", async () => {
    for (const theme of ["auto", "light", "dark"]) {
      const response = await fetchEdge("GET", `/v1/archives/${archive.id}/heatmap.svg?theme=${theme}&width=400`);
      const svg = await response.text();
      expect(response.headers.get("content-type")).toContain("image/svg+xml");
      expect(svg).toContain("4 of 4 × 2 cells (50.0 %); QD-score 2.75 above -1; best fitness 0.");
      // 336 pixels wide, cells of 84 × 168: cell 2 is column 1, row 0; cells 5 and 7 lie in the upper row.
      expect(svg).toMatch(/<path d="M136 234h84v168h-84z"[^>]*fill-opacity="1"/);
      expect(svg).toMatch(/<path d="M220 66h84v168h-84zM304 66h84v168h-84z|<path d="M220 66h168v168h-168z/);
    }
  });
});

describe("pruning", () => {
  it("drops the worst, of equal ones those found last, and leaves the archive as it is", async () => {
    const { status, json } = await prune(archive.id, { dropShare: 0.25 });
    expect(status).toBe(201);
    expect(json).toMatchObject({ filled: 3, coverage: 0.375, qdScore: 2.25, prunedFrom: archive.id, jobId: null });
    const kept = await download(json.id);
    expect([...kept.cells]).toEqual([5, 0, 2]);
    expect([...kept.genomes]).toEqual([...elites.genomes.subarray(0, 6), ...elites.genomes.subarray(9)]);
    expect((await callEdge("GET", `/v1/archives/${archive.id}`)).json).toEqual(archive);
  });

  it("drops those below a fitness, all if need be", async () => {
    const { json } = await prune(archive.id, { minFitness: -0.25 });
    expect([...(await download(json.id)).cells]).toEqual([0, 2]);
    const none = (await prune(archive.id, { minFitness: 1 })).json;
    expect(none).toMatchObject({ filled: 0, coverage: 0, qdScore: 0, best: null });
    expect((await callEdge("GET", `/v1/archives/${none.id}/elites`)).json.items).toEqual([]);
    expect((await fetchEdge("GET", `/v1/archives/${none.id}/heatmap.svg`)).status).toBe(200);
  });

  it.each([
    ["float16", 2 ** -12],
    ["int8", 0.5 / 127],
  ] as const)("makes genomes smaller as %s, and reports their error", async (format, bound) => {
    const { json } = await prune(archive.id, { genomes: format });
    const { genomes } = await download(json.id);
    let largest = 0;
    for (let row = 0; row < 4; row++) {
      const [own, kept] = [elites.genomes, genomes].map((all) => all.subarray(3 * row, 3 * row + 3));
      const size = Math.max(...own!.map(Math.abs));
      for (const [at, value] of own!.entries()) largest = Math.max(largest, Math.abs(kept![at]! - value) / (size || 1));
    }
    expect(json.genomes).toEqual({ format, largestError: largest });
    expect(largest).toBeGreaterThan(0);
    expect(largest).toBeLessThanOrEqual(bound * 1.001);
    const again = (await prune(json.id, { dropShare: 0 })).json;
    expect(again.genomes.format).toBe(format);
    expect(again.genomes.largestError).toBeGreaterThanOrEqual(largest);
  });

  it("refuses to do nothing, and what is not there", async () => {
    const before = await countStored();
    for (const body of [{}, { dropShare: 1.5 }, { dropShare: -0.1 }, { genomes: "int4" }, { minFitness: null }]) {
      expect((await prune(archive.id, body)).status).toBe(400);
    }
    expect(problemOf(await prune(missingId.archive, { dropShare: 0.5 })).code).toBe("not-found");
    expect(await countStored()).toEqual(before);
  });

  it("is for archives that fit into memory twice, while there is room for one more", async () => {
    const { summary } = encodeArchive(description, elites);
    const large = { jobId: null, digest: archive.digest, sizeBytes: LIMITS.prunedArchiveBytes + 1, summary };
    const wide = { ...summary, parameters: LIMITS.prunedArchiveBytes / 4 / summary.filled + 1 };
    for (const each of [large, { ...large, sizeBytes: 1_024, summary: wide }]) {
      const refused = await prune((await addArchive(openProject(mainEnv), each))!.id, { dropShare: 0.5 });
      expect([refused.status, problemOf(refused).code]).toEqual([413, "payload-too-large"]);
    }
    const fill = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1) insert into archives
      (id, project, digest, size_bytes, summary, created_at_ms) select 'filling' || i, 'main', 'sha256:0', 1, '{}', 1 from n`;
    await env.DB.prepare(fill).bind(DEFAULT_QUOTAS.archives).run();
    const full = await prune(archive.id, { dropShare: 0.25 });
    await env.DB.prepare("delete from archives where id like 'filling%'").run();
    expect([full.status, problemOf(full).code]).toEqual([409, "quota-exceeded"]);
  });

  it("wants a key that may submit", async () => {
    const { secret: key } = await createKey(["read"]);
    const refused = await callEdge("POST", `/v1/archives/${archive.id}/prune`, { body: { dropShare: 0.5 }, key });
    expect(refused.status).toBe(403);
  });
});

describe("deleting", () => {
  it("takes the file along unless another archive has it", async () => {
    const [one, other] = [await storeArchive("lone"), await storeArchive("lone")];
    expect(one.digest).toBe(other.digest);
    expect((await callEdge("DELETE", `/v1/archives/${one.id}`)).status).toBe(204);
    expect((await callEdge("GET", `/v1/archives/${one.id}`)).status).toBe(404);
    expect((await download(other.id)).summary.environment).toBe("lone");
    await callEdge("DELETE", `/v1/archives/${other.id}`);
    expect(await env.ARTIFACTS.head(`artifacts/${one.digest.replace(":", "/")}`)).toBeNull();
  });
});
