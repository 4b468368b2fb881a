import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { folderOf, type InstalledProvider, locateBinding, writeInstalled } from "./installed-provider.ts";
import { isOfCuda } from "./missing-libraries.ts";
import { readLibrary, scanFile, X86_64 } from "./read-library.ts";
import { LimitBytes, unpackFiles } from "./unpack-files.ts";

const BACKEND = "ort-cuda";
const CUDA_LIBRARY = "libonnxruntime_providers_cuda.so";
const SHARED_LIBRARY = "libonnxruntime_providers_shared.so";
/** Functions by which the runtime takes a provider, and the provider the runtime. */
const ENTRY_POINTS: Readonly<Record<string, readonly string[]>> = {
  [CUDA_LIBRARY]: ["GetProvider"],
  [SHARED_LIBRARY]: ["Provider_GetHost", "Provider_SetHost"],
};
const FILES = Object.keys(ENTRY_POINTS);
/** Loaded by the provider itself when it needs it, and so in no table of its file. */
const CUDNN = "libcudnn.so.9";

/**
 * SHA-256 of libraries that were read when this release was made: those of ONNX Runtime 1.30.0 in the wheels for Python
 * 3.11 and 3.12. Each wheel has a build of its own.
 */
const KNOWN: ReadonlySet<string> = new Set([
  "9d7587acb137b31bf84e4d32dc444b969bb601d098b01395effcacfe4341e364",
  "35da2e7ed0dd0d1aec5cdb16ce11a51d06c0c48cf62d1b1c9332946a4fae14fc",
  "086ec1d5388f64153d9c63470d126693db9a182c8ce236d3a1119068471b8a0d",
]);

/** Where libraries for a version of CUDA are published. */
export type Cuda = 12 | 13;

/** A file to download, with the digest that is known of it, if any. */
interface Source {
  readonly url: string;
  readonly sha256: string | null;
}

export interface InstallOptions {
  readonly dataDir: string;
  readonly cuda: Cuda;
  /** A folder with the libraries, a wheel, a NuGet package or a tarball; undefined: from where they are published. */
  readonly from?: string | undefined;
  /** SHA-256 of that file, or of each library in that folder, in lower hex: for what this release does not know. */
  readonly sha256?: readonly string[] | undefined;
  readonly fetch: typeof fetch;
  readonly onProgress?: (text: string) => void;
}

/**
 * Installs the libraries of ONNX Runtime's CUDA provider into a runner's folder. They are taken only if their digest is
 * known, or named by the caller, and if they are of the binding's own version, for this machine and for this CUDA. What is
 * installed already stays until all is proved. Fails with `invalid-request`, which says what is wrong and what to do.
 */
export async function installCuda(options: InstallOptions): Promise<InstalledProvider> {
  const { dataDir, cuda, onProgress = () => {} } = options;
  const target = folderOf(dataDir, BACKEND);
  await mkdir(dirname(target), { recursive: true });
  await removeUnfinished(dataDir);
  const folder = await mkdtemp(join(dirname(target), "installing-"));
  try {
    const { version } = await locateBinding();
    const { from, digest } = await gather(options, version, folder);
    onProgress("checking the libraries");
    const checked = await checkLibraries(folder, { version, cuda, from });
    const has = (sha256: string) => sha256 === digest || Object.values(checked.files).includes(sha256);
    const wrong = options.sha256?.find((sha256) => !has(sha256));
    if (wrong !== undefined) refuse(`Nothing in ${from} has the SHA-256 ${wrong}.`);
    const strange = Object.values(checked.files).filter((sha256) => !KNOWN.has(sha256));
    const own = digest === null ? strange : strange.length > 0 ? [digest] : [];
    if (!own.every((sha256) => options.sha256?.includes(sha256))) {
      refuse(`This release does not know the libraries in ${from}. If you trust them, add --sha256 ${own.join(",")}.`);
    }
    await writeInstalled(folder, checked);
    // Runners of other users may share the folder.
    await chmod(folder, 0o755);
    await rm(target, { recursive: true, force: true });
    await rename(folder, target);
    return checked;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes what installations left that were ended. */
export async function removeUnfinished(dataDir: string): Promise<void> {
  const folder = dirname(folderOf(dataDir, BACKEND));
  const names = await readdir(folder).catch(() => []);
  const left = names.filter((name) => /^(installing|unpacking)-/.test(name));
  await Promise.all(left.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}

/** Puts the libraries into a folder; `digest` is that of the archive they were in. */
async function gather(
  { from, cuda, sha256: given, fetch, onProgress = () => {} }: InstallOptions,
  version: string,
  folder: string,
): Promise<{ readonly from: string; readonly digest: string | null }> {
  const compare = (path: string, sha256: string) =>
    given === undefined || given.includes(sha256) || refuse(`${path} has the SHA-256 ${sha256}, not the one given.`);
  if (from !== undefined) {
    const path = resolve(from);
    const found = await stat(path).catch(() => refuse(`There is no ${path}.`));
    if (found.isDirectory()) {
      for (const name of FILES) await copyFile(join(path, name), join(folder, name)).catch(() => {});
      return { from: path, digest: null };
    }
    const { sha256 } = await scanFile(path, version);
    compare(path, sha256);
    await unpackFiles(path, FILES, folder);
    return { from: path, digest: sha256 };
  }
  const source = await SOURCES[cuda](version, fetch);
  const archive = join(folder, basename(new URL(source.url).pathname));
  onProgress(`downloading ${source.url}`);
  const sha256 = await download(source.url, archive, fetch);
  if (source.sha256 !== null && source.sha256 !== sha256) {
    refuse(`${source.url} has the SHA-256 ${sha256}, and its index says ${source.sha256}.`);
  }
  compare(source.url, sha256);
  await unpackFiles(archive, FILES, folder);
  await rm(archive);
  return { from: source.url, digest: sha256 };
}

/** Version, machine, entry points and CUDA of the libraries in a folder. */
async function checkLibraries(
  folder: string,
  { version, cuda, from }: { readonly version: string; readonly cuda: number; readonly from: string },
): Promise<InstalledProvider> {
  const files: Record<string, string> = {};
  let needed: readonly string[] = [];
  for (const name of FILES) {
    const path = join(folder, name);
    const library = await readLibrary(path).catch(() => refuse(`${from} has no ${name}.`));
    if (library === null || library.machine !== X86_64)
      return refuse(`${name} in ${from} is no library for Linux on x64.`);
    const missing = ENTRY_POINTS[name]!.filter((symbol) => !library.exported.has(symbol));
    if (missing.length > 0) return refuse(`${name} in ${from} lacks ${missing.join(", ")}: it is no provider's.`);
    const { sha256, holds } = await scanFile(path, version);
    files[name] = sha256;
    if (name !== CUDA_LIBRARY) continue;
    if (!holds)
      return refuse(`${name} in ${from} is of another version than ONNX Runtime ${version}, which runs here.`);
    ({ needed } = library);
  }
  const [, built] = /libcudart\.so\.(\d+)/.exec(needed.join()) ?? [];
  if (Number(built) !== cuda) {
    refuse(`${CUDA_LIBRARY} in ${from} is built for CUDA ${built ?? "unknown"}, not ${cuda}: name it with --cuda.`);
  }
  return { ort: version, cuda, files, libraries: [...needed.filter(isOfCuda), CUDNN], from };
}

function refuse(detail: string): never {
  throw new ProblemError("invalid-request", detail);
}

/** Answer of a package index of Python in JSON. Source: PEP 691. */
const Index = z.object({
  files: z.array(z.object({ filename: z.string(), url: z.string(), hashes: z.record(z.string(), z.string()) })),
});

/**
 * CUDA 13: the wheel for Python, whose library does not depend on Python. CUDA 12: the NuGet package that the binding's
 * own install script takes.
 */
const SOURCES: Readonly<Record<Cuda, (version: string, get: typeof fetch) => Promise<Source>>> = {
  12: async (version) => {
    const name = "microsoft.ml.onnxruntime.gpu.linux";
    return { url: `https://api.nuget.org/v3-flatcontainer/${name}/${version}/${name}.${version}.nupkg`, sha256: null };
  },
  13: async (version, get) => {
    const url = "https://pypi.org/simple/onnxruntime-gpu/";
    const headers = { Accept: "application/vnd.pypi.simple.v1+json" };
    const reply = await get(url, { headers }).catch((error: unknown) => unreachable(url, String(error)));
    if (!reply.ok) return notThere(url, reply.status);
    const { files } = Index.parse(parseJson(await reply.text()));
    const wheel = files.find(({ filename }) => WHEEL.exec(filename)?.[1] === version);
    if (wheel === undefined) return refuse(`${url} has no wheel of onnxruntime-gpu ${version} for Python 3.12 on x64.`);
    return { url: new URL(wheel.url, url).href, sha256: wheel.hashes["sha256"] ?? null };
  },
};
const WHEEL = /^onnxruntime_gpu-([^-]+)-cp312-cp312-manylinux\w*_x86_64\.whl$/;

const ELSEWHERE = "Fetch the package elsewhere, and name the file or folder with --from.";

function unreachable(url: string, why: string): never {
  return refuse(`${url} does not answer, or not to the end (${why}). ${ELSEWHERE}`);
}

function notThere(url: string, status: number): never {
  return refuse(status === 404 ? `There is no ${url}. ${ELSEWHERE}` : `${url} answers ${status}. ${ELSEWHERE}`);
}

/** SHA-256 of what was written. */
async function download(url: string, target: string, get: typeof fetch): Promise<string> {
  const reply = await get(url).catch((error: unknown) => unreachable(url, String(error)));
  if (!reply.ok || reply.body === null) return notThere(url, reply.status);
  const hash = createHash("sha256");
  const limit = new LimitBytes(url);
  limit.on("data", (chunk: Buffer) => hash.update(chunk));
  await pipeline(Readable.fromWeb(reply.body as never), limit, createWriteStream(target)).catch((error: unknown) => {
    if (error instanceof ProblemError) throw error;
    return unreachable(url, String(error));
  });
  return hash.digest("hex");
}
