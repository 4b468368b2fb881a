import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { instantiateAssembly } from "../../../bench/instantiate-assembly.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "millrace-assembly-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function write(source: string): Promise<URL> {
  const file = path.join(folder, `${crypto.randomUUID()}.as`);
  await writeFile(file, source);
  return pathToFileURL(file);
}

test("SIMD works on memory that the host fills", async () => {
  const program = await instantiateAssembly<{ allocate(sizeBytes: number): number; double(at: number): void }>(
    await write(`
      export function allocate(sizeBytes: usize): usize { return heap.alloc(sizeBytes); }
      export function double(at: usize): void {
        const values = v128.load(at);
        v128.store(at, f32x4.add(values, values));
      }
    `),
  );
  const at = program.allocate(16);
  const values = new Float32Array(program.memory.buffer, at, 4);
  values.set([1, 2, 3, 4]);
  program.double(at);
  expect([...values]).toEqual([2, 4, 6, 8]);
});

test("a source that does not compile is reported with its place", async () => {
  const source = await write("export function broken(): i32 { return nothing; }");
  await expect(instantiateAssembly(source)).rejects.toThrow(/does not compile: [^]*Cannot find name 'nothing'/);
});
