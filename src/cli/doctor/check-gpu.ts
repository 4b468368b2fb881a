import { access, constants, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { checkVulkan } from "../../checkup/check-vulkan.ts";
import { nameGpuFault } from "../../checkup/judge-host.ts";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { reasonOf, runApart } from "../shell/run-apart.ts";
import { fail, judge, ok, type Patient, skip, type Verdict } from "./finding.ts";

/** Device nodes that a program opens to use a GPU (Linux: DRM's render nodes, NVIDIA's own, AMD's for compute). */
const NODES = [
  { folder: "/dev/dri", pattern: /^renderD\d+$/ },
  { folder: "/dev", pattern: /^(nvidia\d+|nvidiactl|kfd)$/ },
];

/** Whether this user may open the machine's GPUs. */
export async function checkGpuAccess(): Promise<Verdict> {
  const listed = await Promise.all(
    NODES.map(async ({ folder, pattern }) => {
      const names = await readdir(folder).catch(() => []);
      return names.filter((name) => pattern.test(name)).map((name) => join(folder, name));
    }),
  );
  const nodes = listed.flat();
  if (nodes.length === 0) return skip("there is no GPU's device file");
  const mayOpen = await Promise.all(
    nodes.map((node) =>
      access(node, constants.R_OK | constants.W_OK).then(
        () => true,
        () => false,
      ),
    ),
  );
  const closed = nodes.filter((_, index) => mayOpen[index] === false);
  if (closed.length === 0) return ok(nodes.join(", "));
  return fail(
    `${closed.join(", ")} may not be opened by this user`,
    "Add the user to the groups that own it (`sudo usermod -aG render,video $USER`), and log in again.",
  );
}

const SHOW_ADAPTERS = new URL("../../gpu-runner/show-adapters.ts", import.meta.url);
/** Its output. */
const Shown = z.object({
  adapters: z.array(z.string()),
  opened: z.object({ name: z.string(), driver: z.string(), software: z.boolean() }).nullable(),
});
type Shown = z.infer<typeof Shown>;
const WITHIN_MS = 120_000;

/** Adapters as the runner would find them: of the machine's drivers, else the software GPU that comes by npm. */
export async function checkGpu(patient: Patient): Promise<Verdict> {
  const own = await showAdapters(patient, []);
  if (typeof own !== "string" && own.opened !== null && !own.opened.software) {
    return ok(`${own.opened.name} (${own.opened.driver || "driver not told"})`);
  }
  const trouble = typeof own === "string" ? own : null;
  const software = typeof own !== "string" && own.opened !== null ? own : await showSoftware(patient);
  const opened = typeof software === "string" ? null : (software.opened?.name ?? null);
  return judge(nameGpuFault(trouble, opened, typeof software === "string" ? software : undefined), "");
}

/** Whether the way from the Vulkan loader to the drivers is whole. */
export async function checkDrivers({ environment }: Patient): Promise<Verdict> {
  const seen = await checkVulkan(environment);
  if (seen === null) return skip("known on Linux alone");
  return typeof seen === "string" ? ok(seen) : judge(seen, "");
}

async function showSoftware(patient: Patient): Promise<Shown | string> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-doctor-"));
  try {
    return await showAdapters(patient, [folder]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The program's output, or its failure in words. */
async function showAdapters(patient: Patient, args: readonly string[]): Promise<Shown | string> {
  const end = await runApart(process.execPath, [fileURLToPath(SHOW_ADAPTERS), ...args], {
    environment: patient.environment,
    timeoutMs: WITHIN_MS,
  });
  if (end.isTimedOut) return "it hangs";
  if (end.signal !== null) return `it crashes (${end.signal})`;
  const shown = Shown.safeParse(parseJson(end.stdout));
  return shown.success ? shown.data : (reasonOf(end.stderr) ?? "it shows nothing");
}
