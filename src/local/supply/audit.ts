import { spawn } from "node:child_process";
import { once } from "node:events";
import { z } from "zod";

const Advisory = z.object({ name: z.string(), title: z.string(), url: z.string(), severity: z.string() });

/** Output of `npm audit --json`; `via` also names intermediate packages. */
const AuditReport = z.object({
  vulnerabilities: z.record(z.string(), z.object({ via: z.array(z.union([Advisory, z.string()])) })),
});

/** A finding that was looked at: why it does no harm here. */
export const KnownAdvisory = z.strictObject({
  id: z.string().regex(/^GHSA(-[0-9a-z]{4}){3}$/),
  package: z.string(),
  reason: z.string().min(20),
});
export type KnownAdvisory = z.infer<typeof KnownAdvisory>;

export type AuditVerdict =
  /** The registry was not reached, or has no audit: nothing is known. */
  | { readonly kind: "unknown" }
  | {
      readonly kind: "known";
      readonly unexplained: readonly string[];
      readonly explained: readonly string[];
      /** Written explanations that nothing needs any more. */
      readonly stale: readonly string[];
    };

/** Holds what npm found against what is explained; `report` is its answer, whatever that is. */
export function judgeAudit(report: unknown, known: readonly KnownAdvisory[]): AuditVerdict {
  const parsed = AuditReport.safeParse(report);
  if (!parsed.success) return { kind: "unknown" };
  const via = Object.values(parsed.data.vulnerabilities).flatMap((each) => each.via);
  const advisories = via.filter((each) => typeof each !== "string");
  const found = new Map(advisories.map((advisory) => [`${idOf(advisory)} of ${advisory.name}`, advisory]));
  const isKnown = (key: string): boolean => known.some((each) => keyOf(each) === key);
  return {
    kind: "known",
    unexplained: [...found]
      .filter(([key]) => !isKnown(key))
      .map(([key, { severity, title, url }]) => `${key} (${severity}): ${title}, ${url}`),
    explained: [...found.keys()].filter(isKnown),
    stale: known.map(keyOf).filter((key) => !found.has(key)),
  };
}

function keyOf(known: KnownAdvisory): string {
  return `${known.id} of ${known.package}`;
}

function idOf({ url }: z.infer<typeof Advisory>): string {
  return url.slice(url.lastIndexOf("/") + 1);
}

/** Output of npm, whatever its exit code; the npm that started this process is preferred to one on the path. */
export async function runNpm(args: readonly string[], folder: string): Promise<string> {
  const npm = process.env["npm_execpath"];
  const [command, first] = npm === undefined ? ["npm", []] : [process.execPath, [npm]];
  const child = spawn(command, [...first, ...args], { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  await once(child, "close");
  return output;
}
