import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { createRequire, findPackageJSON, isBuiltin } from "node:module";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** What programs reach from their entries. */
export interface Trace {
  /** Absolute paths of our modules and the files that they name, and of the packages' modules and manifests. */
  readonly files: ReadonlySet<string>;
  /** Folders of the packages that any of them come from. */
  readonly packages: ReadonlySet<string>;
}

const TYPES_ALONE = /\b(?:import|export) type [^"';]*?from\s*"[^"]+"/g;
const IMPORTED = /\b(from|import|require)\s*\(?\s*["']([^"'\n]+)["']/g;
/** How our sources name a file or a folder beside them: a program, a thread, a shader. */
const NAMED = [/\bnew URL\(\s*"([^"]+)",\s*import\.meta\.url/g, /\bjoin\(import\.meta\.dirname, "([^"]+)"/g];
/** How they ask for a package's version, or for a file in it. */
const ASKED = /\bimport\.meta\.resolve\("([^"]+)"\)/g;
const MODULE = /\.[cm]?[jt]s$/;
/** Files beside a module, or in a folder that it names, which are read by name; modules are found as imports. */
const READ_BY_NAME = /\.(wgsl|as)$|^asconfig\.json$/;
const NOTICE = /^(licen[cs]e|notice|copying)/i;

/**
 * Follows imports, by Node's own resolution, and the files that our sources name beside them. What an import computes
 * is not followed: a compiler that only some builds want stays out. Needs `--experimental-import-meta-resolve`.
 */
export async function traceFiles(entries: readonly string[]): Promise<Trace> {
  const [files, packages] = [new Set<string>(), new Set<string>()];
  const left = [...entries];
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    const folder = packageOf(file);
    if (folder !== null) for (const each of await describePackage(file, folder, packages)) files.add(each);
    if (!MODULE.test(file)) continue;
    const text = (await readFile(file, "utf8")).replaceAll(TYPES_ALONE, "");
    left.push(...listImports(file, text));
    if (folder !== null) continue;
    const named = NAMED.flatMap((pattern) => [...text.matchAll(pattern)]).map(([, path = ""]) => path);
    for (const path of [".", ...named]) left.push(...(await listNamed(resolve(dirname(file), path))));
    for (const [, asked = ""] of text.matchAll(ASKED)) left.push(...listAsked(file, asked));
  }
  return { files, packages };
}

/** Modules that one imports. An import that cannot be resolved here is not needed here: a package's optional one. */
function listImports(file: string, text: string): string[] {
  return [...text.matchAll(IMPORTED)].flatMap(([, word, name = ""]) => {
    if (isBuiltin(name)) return [];
    try {
      const found =
        word === "require"
          ? createRequire(file).resolve(name)
          : fileURLToPath(import.meta.resolve(name, pathToFileURL(file).href));
      return existsSync(found) ? [found] : [];
    } catch {
      return [];
    }
  });
}

/** A file that is there, or those of a folder that are read by name, such as an AssemblyScript folder's sources. */
async function listNamed(path: string): Promise<string[]> {
  const entries = await readdir(path).catch((error: NodeJS.ErrnoException) => (error.code === "ENOTDIR" ? null : []));
  if (entries === null) return [path];
  const isAssembly = basename(path) === "assembly";
  return entries
    .filter((name) => READ_BY_NAME.test(name) || (isAssembly && name.endsWith(".ts")))
    .map((name) => join(path, name));
}

/** The manifest of a package that is asked for: enough to find its folder. */
function listAsked(file: string, asked: string): string[] {
  const manifest = findPackageJSON(asked, pathToFileURL(file));
  return manifest === undefined ? [] : [manifest];
}

/** Folder of the package that a file belongs to; null for ours. */
function packageOf(file: string): string | null {
  const mark = `${sep}node_modules${sep}`;
  const at = file.lastIndexOf(mark);
  if (at === -1) return null;
  const [scope = "", name = ""] = file.slice(at + mark.length).split(sep);
  return join(file.slice(0, at), "node_modules", scope, scope.startsWith("@") ? name : "");
}

/** Manifests by which Node reads a file, and at a package's first file its licence. */
async function describePackage(file: string, folder: string, known: Set<string>): Promise<string[]> {
  const nearest = findPackageJSON(pathToFileURL(file));
  const manifests = [join(folder, "package.json"), ...(nearest === undefined ? [] : [nearest])];
  if (known.has(folder)) return manifests;
  known.add(folder);
  const notices = (await readdir(folder)).filter((name) => NOTICE.test(name));
  return [...manifests, ...notices.map((name) => join(folder, name))];
}

/** Path below a root with slashes, as archives have it. Throws for a file elsewhere. */
export function pathBelow(root: string, file: string): string {
  const path = relative(root, file);
  if (path.startsWith("..")) throw new RangeError(`${file} is not below ${root}`);
  return path.split(sep).join("/");
}
