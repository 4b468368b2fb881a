import type { Hono } from "hono";
import { encodeArchive } from "../../protocol/policies/archive-file.ts";
import type { ArchiveSummary, StoredArchive } from "../../protocol/policies/archive.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { pruneElites, readArchive, readArchiveHead } from "../kinds/training/archives.ts";
import type { ProjectEnv } from "../config.ts";
import { answerArtifact, answerSvg } from "../http/answers.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { drawHeat } from "../plots/draw-heat.ts";
import { heatPlot } from "../plots/heat-plot.ts";
import { addArchive, findArchive, listArchives, removeArchive } from "../store/models/archive-store.ts";
import { deleteUnnamed, digestOf, putArtifact } from "../store/artifact-store.ts";
import { cutPage, decodeCursor, wrongCursor } from "../store/cursor.ts";
import { openProject } from "../store/database.ts";
import { mustHaveRoomForFile, quotaExceeded } from "../store/quotas/quota-problem.ts";

/** Archives of elites. */
export function bindArchives(app: Hono<AppEnv>): void {
  bind(app, endpoints.listArchives, ({ env, query }) => listArchives(openProject(env), query));
  bind(app, endpoints.getArchive, ({ env, params }) => mustFind(env, params.id));
  bind(app, endpoints.listElites, async ({ env, params, query: { limit, cursor } }) => {
    const last = cursor === undefined ? -1 : Number(decodeCursor(cursor, 1)[0]);
    if (!Number.isInteger(last)) throw wrongCursor();
    const { summary, cells, fitness, measures } = await readArchiveHead(env.ARTIFACTS, await mustFind(env, params.id));
    const axes = summary.dims.length;
    const from = last + 1;
    const found = Array.from(cells.subarray(from, from + limit + 1), (cell, at) => ({ cell, index: from + at }));
    const { rows, nextCursor } = cutPage(found, limit, ({ index }) => [index]);
    const items = rows.map(({ cell, index }) => ({
      cell,
      fitness: fitness[index]!,
      measures: [...measures.subarray(index * axes, (index + 1) * axes)],
    }));
    return { items, nextCursor };
  });
  bind(app, endpoints.plotArchive, async ({ c, env, params, query }) => {
    const head = await readArchiveHead(env.ARTIFACTS, await mustFind(env, params.id));
    return answerSvg(c, drawHeat(heatPlot(head), query));
  });
  bind(app, endpoints.downloadArchive, async ({ c, env, params }) => {
    const { digest, sizeBytes } = await mustFind(env, params.id);
    return answerArtifact(c, { digest, sizeBytes, mediaType: "application/octet-stream" });
  });
  bind(app, endpoints.pruneArchive, async ({ env, params, body }) => {
    const archive = await mustFind(env, params.id);
    // Its genomes are float32 while it is pruned, in whatever format they are kept.
    const bytes = Math.max(archive.sizeBytes, 4 * archive.filled * archive.parameters);
    if (bytes > LIMITS.prunedArchiveBytes) {
      const detail = `The archive has ${bytes} bytes in memory; the edge prunes up to ${LIMITS.prunedArchiveBytes}.`;
      throw new ProblemError("payload-too-large", detail);
    }
    const { summary, ...elites } = await readArchive(env.ARTIFACTS, archive);
    const description = { ...summary, prunedFrom: archive.id };
    const pruned = encodeArchive(description, pruneElites(elites, body), body.genomes ?? summary.genomes.format);
    return storePruned(env, pruned.bytes, withLoss(pruned.summary, summary));
  });
  bind(app, endpoints.deleteArchive, async ({ env, params }) => {
    const { id, digest } = await mustFind(env, params.id);
    await removeArchive(openProject(env), id);
    await deleteUnnamed(env.DB, env.ARTIFACTS, [digest]);
    return new Response(null, { status: 204 });
  });
}

/** Keeps the loss of an earlier reduction of the genomes. */
function withLoss(pruned: ArchiveSummary, { genomes }: ArchiveSummary): ArchiveSummary {
  const largestError = pruned.genomes.largestError + genomes.largestError;
  return { ...pruned, genomes: { ...pruned.genomes, largestError } };
}

async function storePruned(
  env: ProjectEnv,
  bytes: Uint8Array<ArrayBuffer>,
  summary: ArchiveSummary,
): Promise<StoredArchive> {
  const digest = await digestOf(bytes.buffer);
  await mustHaveRoomForFile(env, digest, bytes.length);
  await putArtifact(env.ARTIFACTS, digest, bytes.buffer);
  const stored = await addArchive(openProject(env), { jobId: null, digest, sizeBytes: bytes.length, summary });
  if (stored !== null) return stored;
  await deleteUnnamed(env.DB, env.ARTIFACTS, [digest]);
  throw await quotaExceeded(env, { archives: 1 });
}

async function mustFind(env: ProjectEnv, id: string): Promise<StoredArchive> {
  const archive = await findArchive(openProject(env), id);
  if (archive === null) throw new ProblemError("not-found", `There is no archive ${id}.`);
  return archive;
}
