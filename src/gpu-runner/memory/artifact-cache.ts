import { createHash } from "node:crypto";
import { access, mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { StoredCredential } from "../credential-file.ts";

/** Artifacts of the edge on this machine's disk, by digest. */
export class ArtifactCache {
  readonly #folder: string;
  readonly #credential: StoredCredential;

  constructor(dataDir: string, credential: StoredCredential) {
    this.#folder = join(dataDir, "artifacts");
    this.#credential = credential;
  }

  /** Path of an artifact, fetched where it is not here yet. Bytes that have another digest are refused. */
  async fetchPath(digest: string): Promise<string> {
    const hex = digest.replace("sha256:", "");
    const path = join(this.#folder, hex);
    if (await exists(path)) return path;
    const bytes = await this.#download(digest);
    const found = createHash("sha256").update(bytes).digest("hex");
    if (found !== hex) throw new ProblemError("backend-failed", `The artifact ${digest} arrived damaged.`);
    await mkdir(this.#folder, { recursive: true });
    const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
    await writeFile(draft, bytes);
    await rename(draft, path);
    return path;
  }

  async #download(digest: string): Promise<Uint8Array> {
    const url = new URL(endpoints.downloadArtifact.path.replace("{digest}", digest), this.#credential.edgeUrl);
    const response = await fetch(url, { headers: { authorization: `Bearer ${this.#credential.credential}` } });
    if (!response.ok)
      throw new ProblemError("backend-failed", `The edge has no artifact ${digest} (${response.status}).`);
    if (Number(response.headers.get("content-length")) > LIMITS.modelBytes) {
      throw new ProblemError("payload-too-large", `The artifact ${digest} is larger than ${LIMITS.modelBytes} bytes.`);
    }
    return new Uint8Array(await response.arrayBuffer());
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
