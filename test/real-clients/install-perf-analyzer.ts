import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** Its package at PyPI, and the libc that its binary needs; pip itself would refuse to install it beside an older one. */
const PACKAGE = "perf-analyzer==2.60.0";
const PLATFORM = "manylinux_2_38_x86_64";
/** A release of Debian with a newer libc, and the packages that the binary needs of it. */
const SUITE = "trixie";
const LIBRARIES = ["libc6", "libstdc++6", "libgcc-s1"];
const LIBRARY_FOLDER = "usr/lib/x86_64-linux-gnu";

/** Program and its first arguments. */
export type CommandLine = readonly [program: string, ...args: string[]];

/**
 * Unpacks perf_analyzer into the folder of a Python environment and returns its command. On a system with an older libc
 * it runs by the loader of a newer one, unpacked beside it from Debian's packages. Throws where neither works.
 */
export async function installPerfAnalyzer(environment: string, say: (line: string) => void): Promise<CommandLine> {
  const folder = join(environment, "perf-analyzer");
  const binary = join(folder, "perf_analyzer/bin/perf_analyzer");
  const python = join(environment, "bin/python");
  if (!(await isRun([python, "-c", `open(${JSON.stringify(binary)})`]))) {
    const options = ["--no-deps", "--platform", PLATFORM, "--only-binary=:all:", "--dest", folder];
    await run([python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", ...options, PACKAGE]);
    const wheel = (await readdir(folder)).find((name) => name.endsWith(".whl"));
    if (wheel === undefined) throw new Error(`${PACKAGE} has no wheel for ${PLATFORM}`);
    await run([python, "-m", "zipfile", "-e", join(folder, wheel), folder]);
    await chmod(binary, 0o755);
  }
  if (await isRun([binary, "--version"])) return [binary];
  const root = join(folder, SUITE);
  const libraries = join(root, LIBRARY_FOLDER);
  const path = [libraries, `/${LIBRARY_FOLDER}`].join(":");
  const loaded: CommandLine = [join(libraries, "ld-linux-x86-64.so.2"), "--library-path", path, binary];
  if (await isRun([...loaded, "--version"])) return loaded;
  say(`unpacking the libc of Debian ${SUITE} (once)`);
  await unpackLibraries(root);
  await run([...loaded, "--version"]);
  return loaded;
}

/** Unpacks the packages with apt, in a state of its own: nothing of the system changes. */
async function unpackLibraries(root: string): Promise<void> {
  const at = (name: string) => join(root, name);
  for (const name of ["lists/partial", "cache/archives/partial"]) await mkdir(at(name), { recursive: true });
  const keyring = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]";
  await writeFile(at("sources.list"), `deb ${keyring} http://deb.debian.org/debian ${SUITE} main\n`);
  const settings = {
    "Dir::Etc::sourcelist": at("sources.list"),
    "Dir::Etc::sourceparts": "/dev/null",
    "Dir::State::lists": at("lists"),
    "Dir::State::status": "/dev/null",
    "Dir::Cache": at("cache"),
  };
  const apt = ["apt-get", ...Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`])] as const;
  await run([...apt, "update"] as const);
  await run([...apt, "download", ...LIBRARIES] as const, root);
  for (const name of (await readdir(root)).filter((each) => each.endsWith(".deb")))
    await run(["dpkg-deb", "-x", at(name), root]);
}

async function isRun(command: CommandLine): Promise<boolean> {
  return run(command).then(
    () => true,
    () => false,
  );
}

async function run([program, ...args]: CommandLine, cwd?: string): Promise<void> {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], ...(cwd !== undefined && { cwd }) });
  const [errors] = await Promise.all([text(child.stderr), once(child, "close")]);
  if (child.exitCode === 0) return;
  throw new Error(`${program} ended with code ${child.exitCode}: ${errors.trim().split("\n").slice(-2).join(" ")}`);
}
