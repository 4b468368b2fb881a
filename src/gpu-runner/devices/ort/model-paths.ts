import { openAsBlob } from "node:fs";
import { link, mkdtemp, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openBlob, outlineModel, type RandomFile } from "../../../onnx/outline-model.ts";
import type { OnnxModel } from "../../../onnx/onnx-model.ts";
import { readOutline } from "../../../onnx/read-model.ts";

/** Paths of a large model's files; `data` is keyed by the names that the model has for them. */
export interface ModelPaths {
  readonly own: string;
  readonly data: Readonly<Record<string, string>>;
}

/** A model as a device's process gets it: its content, or where its files are. */
export type ModelContent = Uint8Array | ModelPaths;

/** Beginning of the name of a folder with links, beside the files. */
export const LINK_FOLDER = "linked-";
/** The same with the id of the process that made it. */
const OWN_LINKS = /^linked-(\d+)-/;

/** Above the limits of the edge, which has surveyed the files: only a damaged file exceeds them. */
const LIMITS = { reads: 2 ** 16, bytes: 2 ** 26, pieces: 2 ** 20, tensorBytes: 1_024 };

/**
 * Works with the path of a model whose files lie beside it under their names. Links suffice: the runtime maps the files
 * into memory as it loads the model, and they may go then.
 */
export async function withModelPath<Value>(
  { own, data }: ModelPaths,
  work: (path: string) => Promise<Value>,
): Promise<Value> {
  const names = Object.entries(data);
  if (names.length === 0) return work(own);
  await removeLinksOfDead(dirname(own));
  const folder = await mkdtemp(join(dirname(own), `${LINK_FOLDER}${process.pid}-`));
  try {
    const path = join(folder, "model.onnx");
    await Promise.all([link(own, path), ...names.map(([name, file]) => link(file, join(folder, name)))]);
    return await work(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes what processes left that were killed as they loaded a model. */
async function removeLinksOfDead(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] = OWN_LINKS.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(folder, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** What a model is, without its weights being read. Throws where its files are no model. */
export async function readModelPaths({ own, data }: ModelPaths): Promise<OnnxModel> {
  const files = new Map<string, RandomFile>();
  for (const [name, path] of Object.entries(data)) files.set(name, openBlob(await openAsBlob(path)));
  const model = openBlob(await openAsBlob(own));
  return readOutline((await outlineModel({ model, data: files }, LIMITS)).bytes);
}
