/** `node build-cpu-program.ts [<environment> <kind of policy>]`: compiles that program, or all, where absent. */
import { access, mkdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { environmentNamed } from "../../../kernels/environments/registry.ts";
import { compileText } from "../devices/cpu-simd/compile-assembly.ts";
import { PolicyNetwork } from "../../protocol/models/policy-network.ts";
import { writeWhole } from "../host/files.ts";
import { CPU_ROLLOUTS, locateCpuProgram, ROLLOUT_OPTIONS } from "./load-cpu-program.ts";

const [name, kind] = process.argv.slice(2);
const { options } = JSON.parse(await readFile(ROLLOUT_OPTIONS, "utf8")) as { options: Record<string, unknown> };
const wanted =
  name === undefined
    ? CPU_ROLLOUTS
    : [{ environment: environmentNamed(name), kind: PolicyNetwork.parse({ kind }).kind }];
for (const rollout of wanted) {
  const { text, binary } = await locateCpuProgram(rollout.environment, rollout.kind);
  const isThere = await access(binary).then(
    () => true,
    () => false,
  );
  if (isThere) continue;
  const program = await compileText(`the rollout of ${rollout.environment.name}`, text, options);
  await mkdir(new URL(".", binary), { recursive: true });
  await writeWhole(fileURLToPath(binary), program);
}
