import { access, constants } from "node:fs/promises";
import { delimiter, join, sep } from "node:path";
import { runApart } from "../shell/run-apart.ts";
import { fail, ok, type Patient, type Verdict } from "./finding.ts";

/** Oldest Node for `npm` itself; the project brings the Node for its sources. */
const OLDEST = [20, 11] as const;
const NODE_WITHIN_MS = 30_000;

/** The Node of this machine: the first on the path that did not come by npm. */
export async function checkNode({ environment }: Patient): Promise<Verdict> {
  const program = await findNode(environment["PATH"] ?? "");
  if (program === null) return ok(`${process.version}, by npm; there is no other on the path`);
  const { code, stdout, stderr } = await runApart(program, ["--version"], { environment, timeoutMs: NODE_WITHIN_MS });
  if (code !== 0) return fail(`${program} does not run: ${stderr.trim()}`, "Install Node 24 anew.");
  return judgeNode(stdout.trim(), program);
}

/** Judges a version such as `v20.11.0`. */
export function judgeNode(version: string, program: string): Verdict {
  const [, major, minor] = /^v?(\d+)\.(\d+)\./.exec(version) ?? [];
  const found = `${version} (${program})`;
  if (major === undefined) return fail(`${found} is no version of Node`, "Install Node 24.");
  const isOld = Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]);
  if (isOld) return fail(`${found} is too old`, `Install Node ${OLDEST.join(".")} or newer, best 24.`);
  return ok(found);
}

async function findNode(path: string): Promise<string | null> {
  for (const folder of path.split(delimiter)) {
    if (folder === "" || folder.includes(`${sep}node_modules${sep}`)) continue;
    const program = join(folder, "node");
    const mayRun = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (mayRun) return program;
  }
  return null;
}

/** Native packages of a runner. */
const NATIVE = ["webgpu", "onnxruntime-node"] as const;
/** That of an edge on this machine. */
const EDGE_NATIVE = "workerd";
const PACKAGE_WITHIN_MS = 60_000;

/** Whether the native packages load here, each in a process of its own. */
export async function checkPackages({ installation: { root, kind }, environment }: Patient): Promise<Verdict> {
  const natives = kind === "runner" ? NATIVE : [...NATIVE, EDGE_NATIVE];
  const ends = await Promise.all(
    natives.map(async (name) => {
      const args = ["--input-type=module", "-e", `await import(${JSON.stringify(name)}); process.exit(0)`];
      return {
        name,
        ...(await runApart(process.execPath, args, { cwd: root, environment, timeoutMs: PACKAGE_WITHIN_MS })),
      };
    }),
  );
  const broken = ends.filter(({ code }) => code !== 0);
  if (broken.length === 0) return ok(`${natives.join(", ")} load`);
  const told = broken.map(({ name, signal, stderr }) => `${name}: ${signal ?? reasonOf(stderr)}`).join("; ");
  const advice =
    kind === "runner"
      ? "Unpack the archive anew, and see that it is the one for this system (docs/operations.md)."
      : "Run `npm ci` on this machine: folders that were copied from another lack its programs.";
  return fail(told, advice);
}

/** The line of a stack trace that says what was wrong. */
function reasonOf(stderr: string): string {
  const lines = stderr.split("\n").map((line) => line.trim());
  return (lines.find((line) => /Error\b.*:/.test(line)) ?? lines.find(Boolean) ?? "does not load").slice(0, 300);
}
