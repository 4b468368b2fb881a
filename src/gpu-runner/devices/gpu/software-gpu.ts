import { createHash } from "node:crypto";
import { access, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { ProblemError } from "../../../protocol/wire/problem.ts";

const BLOCK = 512;

/** Regular files of a tar archive (POSIX ustar) by name; folders, links and extensions are skipped. */
export function* untar(archive: Uint8Array): Generator<{ name: string; bytes: Uint8Array }> {
  const decoder = new TextDecoder();
  const readText = (start: number, length: number) =>
    decoder
      .decode(archive.subarray(start, start + length))
      .replace(/\0.*$/s, "")
      .trim();

  for (let offset = 0; offset + BLOCK <= archive.length && archive[offset] !== 0;) {
    const name = readText(offset, 100);
    const size = Number.parseInt(readText(offset + 124, 12), 8);
    const type = readText(offset + 156, 1);
    const start = offset + BLOCK;
    if (!Number.isInteger(size) || start + size > archive.length) throw new RangeError("the archive is damaged");
    if (type === "0" || type === "") yield { name, bytes: archive.subarray(start, start + size) };
    offset = start + Math.ceil(size / BLOCK) * BLOCK;
  }
}

/** The archive that has it; a runner may be packed without. */
export const SOFTWARE_GPU = new URL("../bin/swiftshader.tar.br", import.meta.resolve("@sparticuz/chromium"));
const ICD_FILE = "vk_swiftshader_icd.json";
const WANTED = new Set(["libvulkan.so.1", "libvk_swiftshader.so", ICD_FILE]);

/**
 * Unpacks SwiftShader and a Vulkan loader from the npm package `@sparticuz/chromium` into the cache folder, unless they
 * are there, and returns the environment variables for a process to find them. They must be set before the process
 * starts: the dynamic linker reads LD_LIBRARY_PATH only once. Fails with `backend-failed` where the package has no
 * build for this machine.
 */
export async function installSoftwareGpu(cacheDir: string): Promise<Record<string, string>> {
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new ProblemError("backend-failed", `There is no software GPU for ${process.platform} on ${process.arch}`);
  }
  const packed = await readFile(SOFTWARE_GPU).catch((error: Error) => {
    throw new ProblemError("backend-failed", `This runner came without its software GPU: ${error.message}`);
  });
  const digest = createHash("sha256").update(packed).digest("hex").slice(0, 16);
  const folder = path.resolve(cacheDir, `swiftshader-${digest}`);
  if (!(await exists(folder))) await unpack(packed, folder);
  const icd = path.join(folder, ICD_FILE);
  const inherited = process.env["LD_LIBRARY_PATH"];
  return {
    LD_LIBRARY_PATH: inherited ? `${folder}:${inherited}` : folder,
    VK_ICD_FILENAMES: icd,
    // Newer name of the same setting, which has precedence.
    VK_DRIVER_FILES: icd,
  };
}

/** Completely or not at all, even in two processes at once: the folder appears by renaming. */
async function unpack(packed: Uint8Array, folder: string): Promise<void> {
  await mkdir(path.dirname(folder), { recursive: true });
  const draft = await mkdtemp(`${folder}.`);
  try {
    const archive = await promisify(brotliDecompress)(packed);
    const files = [...untar(archive)].filter(({ name }) => WANTED.has(name));
    if (files.length !== WANTED.size)
      throw new ProblemError("backend-failed", "The software GPU's archive lacks files");
    for (const { name, bytes } of files) await writeFile(path.join(draft, name), bytes, { mode: 0o755 });
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process was faster, and its folder is the same.
    if (!(await exists(folder))) throw error;
  }
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
