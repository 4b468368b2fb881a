/** `node build-cpu-program.ts <environment> <kind of policy>`: compiles that program unless it exists. */
import { mkdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { environmentNamed } from "../../../kernels/environments/registry.ts";
import { compileText } from "../devices/cpu-simd/compile-assembly.ts";
import { PolicyNetwork } from "../../protocol/models/policy-network.ts";
import { writeWhole } from "../host/files.ts";
import { locateCpuProgram, ROLLOUT_OPTIONS } from "./load-cpu-program.ts";

const [name = "", kind] = process.argv.slice(2);
const { text, binary } = await locateCpuProgram(environmentNamed(name), PolicyNetwork.parse({ kind }).kind);
const { options } = JSON.parse(await readFile(ROLLOUT_OPTIONS, "utf8")) as { options: Record<string, unknown> };
const program = await compileText(`the rollout of ${name}`, text, options);
await mkdir(new URL(".", binary), { recursive: true });
await writeWhole(fileURLToPath(binary), program);
