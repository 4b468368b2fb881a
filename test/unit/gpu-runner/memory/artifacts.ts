import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { seededUniform } from "../../../../kernels/seeded-uniform.ts";

export interface Artifact {
  readonly digest: string;
  readonly bytes: Uint8Array;
}

export function artifactOf(bytes: Uint8Array): Artifact {
  return { digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}`, bytes };
}

/** Bytes that zstd makes a fraction of. */
export function createCompressible(seed: number, sizeBytes: number): Artifact {
  return artifactOf(Uint8Array.from({ length: sizeBytes }, (_, index) => (seed * 31 + (index >> 6)) % 251));
}

/** Bytes that nothing makes smaller. */
export function createRandom(seed: number, sizeBytes: number): Artifact {
  return artifactOf(Uint8Array.from(seededUniform(seed, 0, sizeBytes), (value) => Math.floor((value + 1) * 1e6) % 256));
}

/** The edge as a runner sees it: its artifacts, and the requests to it. */
export function createSource(artifacts: readonly Artifact[]) {
  const asked: string[] = [];
  const source = async (digest: string): Promise<Uint8Array> => {
    asked.push(digest);
    const found = artifacts.find((artifact) => artifact.digest === digest);
    if (found === undefined) throw new Error(`the edge has no ${digest}`);
    return found.bytes;
  };
  const fileSource = async ({ digest }: { readonly digest: string }, path: string): Promise<void> => {
    await writeFile(path, await source(digest));
  };
  return { asked, source, fileSource };
}
