import { runApart } from "../run-apart.ts";
import { fail, ok, type Verdict } from "./finding.ts";
import type { Patient } from "./patient.ts";

const NATIVE = ["webgpu", "onnxruntime-node", "workerd"] as const;
const WITHIN_MS = 60_000;

/** Whether what is not JavaScript can be loaded here, each in a process of its own. */
export async function checkPackages({ root, environment }: Patient): Promise<Verdict> {
  const ends = await Promise.all(
    NATIVE.map(async (name) => {
      const args = ["--input-type=module", "-e", `await import(${JSON.stringify(name)}); process.exit(0)`];
      return { name, ...(await runApart(process.execPath, args, { cwd: root, environment, timeoutMs: WITHIN_MS })) };
    }),
  );
  const broken = ends.filter(({ code }) => code !== 0);
  if (broken.length === 0) return ok(`${NATIVE.join(", ")} load`);
  const told = broken.map(({ name, signal, stderr }) => `${name}: ${signal ?? reasonOf(stderr)}`).join("; ");
  return fail(told, "Run `npm ci` on this machine: folders that were copied from another lack its programs.");
}

/** The line of a stack trace that says what was wrong. */
function reasonOf(stderr: string): string {
  const lines = stderr.split("\n").map((line) => line.trim());
  return (lines.find((line) => /Error\b.*:/.test(line)) ?? lines.find(Boolean) ?? "does not load").slice(0, 300);
}
