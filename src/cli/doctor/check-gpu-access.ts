import { access, constants, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fail, ok, skip, type Verdict } from "./finding.ts";

/** Where drivers put what programs open to reach a GPU (Linux: DRM's render nodes, NVIDIA's own, AMD's for compute). */
const NODES = [
  { folder: "/dev/dri", pattern: /^renderD\d+$/ },
  { folder: "/dev", pattern: /^(nvidia\d+|nvidiactl|kfd)$/ },
];

/** Whether this user may open the GPUs that are there. */
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
