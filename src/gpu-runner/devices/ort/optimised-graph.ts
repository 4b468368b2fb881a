import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OnnxModel } from "../../../onnx/onnx-model.ts";
import { readModel } from "../../../onnx/read-model.ts";
import { createSession, openSessionFile } from "./ort-backend.ts";

/**
 * Graph that ONNX Runtime's CPU provider runs for a file, after its optimisations, with its own operators in it. Rejects
 * as the runtime does for a file that it cannot load.
 */
export async function optimiseOnCpu(file: Uint8Array): Promise<OnnxModel> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-graph-"));
  try {
    const optimisedModelFilePath = join(folder, "optimised.onnx");
    const wanted = { optimizedModelFilePath: optimisedModelFilePath, intraOpNumThreads: 1 };
    const session = await createSession(await openSessionFile(file), wanted);
    await session.release();
    return readModel(await readFile(optimisedModelFilePath));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
