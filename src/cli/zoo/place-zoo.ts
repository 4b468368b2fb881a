import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { readZooCard } from "../../../models/model-card.ts";
import { type ZooModel, zooFolder } from "../../../models/zoo.ts";
import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { FIRST_VARIANT, type Placement } from "../../protocol/model.ts";

/** From the last placement that came to the next one. */
const PATIENCE_MS = 300_000;
const POLL_MS = 500;

/** A network of the zoo on an edge. */
export interface UploadedModel extends ZooModel {
  readonly parameters: number;
  readonly modelVersionId: string;
  readonly version: number;
}

/** Uploads a network of the zoo with the data that its variants are measured on; one that is there already stays what it was. */
export async function uploadZooModel(client: Client, { name, category }: ZooModel): Promise<UploadedModel> {
  const { file, heldOut, parameters } = readZooCard(zooFolder(name));
  const read = async (fileName: string) => ({
    mediaType: "application/octet-stream",
    content: new Uint8Array(await readFile(new URL(fileName, zooFolder(name)))),
  });
  const { version } = await client.call(endpoints.uploadModel, { query: { name }, rawBody: await read(file.name) });
  if (version.data?.digest !== `sha256:${heldOut.sha256}`) {
    const params = { model: name, version: version.version };
    await client.call(endpoints.putVersionData, { params, rawBody: await read(heldOut.file) });
  }
  return { name, category, parameters, modelVersionId: version.id, version: version.version };
}

/**
 * Waits until every network was calibrated on the runner, and gives its placements there. Throws where none comes for
 * five minutes.
 */
export async function waitForPlacements(
  client: Client,
  models: readonly UploadedModel[],
  runner: { readonly id: string; readonly name: string },
  onProgress: (placed: number) => void,
): Promise<ReadonlyMap<string, readonly Placement[]>> {
  const placed = new Map<string, readonly Placement[]>();
  let lastMs = performance.now();
  while (placed.size < models.length) {
    for (const { name, modelVersionId } of models.filter((model) => !placed.has(model.name))) {
      const { items } = await client.call(endpoints.listPlacements, { params: { model: name } });
      const found = items.filter((each) => each.modelVersionId === modelVersionId && each.runnerId === runner.id);
      if (found.length === 0) continue;
      placed.set(
        name,
        found.filter(({ variant }) => variant === FIRST_VARIANT),
      );
      lastMs = performance.now();
      onProgress(placed.size);
    }
    if (placed.size === models.length) break;
    if (performance.now() - lastMs > PATIENCE_MS) {
      const missing = models.filter((model) => !placed.has(model.name)).map(({ name }) => name);
      throw new ProblemError(
        "no-placement",
        `${runner.name} has no placement of ${missing.join(", ")} yet: look at its jobs.`,
      );
    }
    await delay(POLL_MS);
  }
  return placed;
}
