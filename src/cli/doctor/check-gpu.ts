import { access, constants, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { runApart } from "../shell/run-apart.ts";
import { fail, ok, type Patient, skip, type Verdict, warn } from "./finding.ts";

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

/** Output of `src/gpu-runner/show-adapters.ts`. */
const Shown = z.object({
  adapters: z.array(z.string()),
  opened: z.object({ name: z.string(), driver: z.string(), software: z.boolean() }).nullable(),
});
type Shown = z.infer<typeof Shown>;
const WITHIN_MS = 120_000;
const DRIVER = "For a real GPU install its vendor's driver with the Vulkan part";

/** Adapters as the runner would find them: of the machine's drivers, else the software GPU that comes by npm. */
export async function checkGpu(patient: Patient): Promise<Verdict> {
  const own = await showAdapters(patient, []);
  if (typeof own !== "string" && own.opened !== null && !own.opened.software) {
    return ok(`${own.opened.name} (${own.opened.driver || "driver not told"})`);
  }
  const trouble = typeof own === "string" ? own : null;
  const software = typeof own !== "string" && own.opened !== null ? own : await showSoftware(patient);
  return judgeFallback(trouble, software);
}

/** `trouble`: how the probe of the machine's own drivers ended, if not well. */
export function judgeFallback(trouble: string | null, software: Shown | string): Verdict {
  const fallback = typeof software === "string" ? null : software.opened;
  const stead = fallback === null ? "no software GPU either" : `in its stead the software GPU ${fallback.name}`;
  if (trouble !== null)
    return fail(`the GPU's driver fails: ${trouble}; ${stead}`, `Install the driver anew. ${DRIVER}.`);
  if (fallback !== null) return warn(`no GPU; ${stead}`, `It computes rightly but slowly. ${DRIVER}.`);
  const reason = typeof software === "string" ? software : "nothing opens";
  return fail(`no GPU, and ${stead}: ${reason}`, `Models run on the CPU alone. ${DRIVER}.`);
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
async function showAdapters({ environment }: Patient, args: readonly string[]): Promise<Shown | string> {
  const program = join(import.meta.dirname, "../../gpu-runner/show-adapters.ts");
  const end = await runApart(process.execPath, [program, ...args], { environment, timeoutMs: WITHIN_MS });
  if (end.isTimedOut) return "it hangs";
  if (end.signal !== null) return `it crashes (${end.signal})`;
  const shown = Shown.safeParse(parseJson(end.stdout));
  return shown.success ? shown.data : (end.stderr.trim().split("\n").at(-1) ?? "it shows nothing").slice(0, 300);
}
