import { readFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { join } from "node:path";
import { withWorkerHeap } from "../../../bench/worker-heap.ts";
import { uploadModel } from "../../../src/client/upload-model.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { POPULATION_FILES } from "../../edge/stack/population-files.ts";
import { type LocalStack, startLocalStack } from "../../e2e/local-stack.ts";
import { childPids } from "../../process/child-pids.ts";
import type { KnownValues } from "./known-values.ts";
import type { Secrets } from "./request-arbitrary.ts";

const ROOT = join(import.meta.dirname, "../../..");
const LOW_PRIORITY = 10;
/** Names of existing objects: models, kernels, environments, profiles, metrics and columns. */
const NAMES = `
  cartpole gemm saxpy reduce hrr-bind balanced fp32 int8 float32 wallMs latencyMs
  observation action main kernel subject profiles samples cpu wgsl ort-cpu ok
`
  .trim()
  .split(/\s+/);

/** An edge with a runner, a model, a history and everything else that requests may be of. */
export interface FuzzedStack {
  readonly stack: LocalStack;
  readonly secrets: Secrets;
  /** Bodies that are no JSON. */
  readonly files: readonly Uint8Array[];
}

/** Starts it with state; the runner computes with the cores that the fuzzer and the edge leave. */
export async function startFuzzedStack(known: KnownValues): Promise<FuzzedStack> {
  const runnerVariables = () => ({ MILLRACE_GPU: "none", MILLRACE_JOB_SLOTS: "1" });
  const stack = await withWorkerHeap(() => startLocalStack({ runnerVariables }));
  for (const pid of [stack.runnerPid(), ...(await stack.devicePids())]) setPriority(pid, LOW_PRIORITY);
  const { client } = stack;
  // It is not awaited until it is placed: requests during the placement are tested, too.
  await uploadModel(client, "cartpole", new Uint8Array(await readFile(join(ROOT, "models/cartpole/cartpole.onnx"))));
  const { secret: admin } = await client.call(endpoints.createKey, { body: { name: "fuzz", scopes: ["admin"] } });
  const { secret: reader } = await client.call(endpoints.createKey, { body: { name: "reader", scopes: ["read"] } });
  const { token } = await client.call(endpoints.createRegistrationToken, { body: {} });
  const { credential, runnerId } = await client.call(endpoints.registerRunner, { body: { token, name: "silent" } });
  const { items: keys } = await client.call(endpoints.listKeys);
  known.protect([stack.runnerId, runnerId, ...keys.map(({ id }) => id)]);
  known.addNames(NAMES);
  const files = await readFiles();
  return { stack, secrets: { admin, reader, runner: credential }, files };
}

async function readFiles(): Promise<Uint8Array[]> {
  const importers = ["google-benchmark", "hyperfine", "mitata", "tinybench"].map((name) =>
    readFile(join(ROOT, `test/unit/edge/importers/${name}.json`)),
  );
  const model = readFile(join(ROOT, "models/cartpole/cartpole.onnx"));
  const lines = Buffer.from('["mine","{}",1,1]\n{"type":"hello"}\n');
  const populations = Object.values(POPULATION_FILES).map((text) => Buffer.from(text, "base64"));
  return [...(await Promise.all([model, ...importers])), ...populations, lines].map((bytes) => new Uint8Array(bytes));
}

/** Memory of the edge's process now, in bytes; null where the system does not report it. */
export async function measureEdgeBytes(): Promise<number | null> {
  for (const pid of await childPids(process.pid).catch(() => [])) {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    const [, kilobytes] = /^Name:\tworkerd\n[^]*^VmRSS:\s+(\d+) kB/m.exec(status) ?? [];
    if (kilobytes !== undefined) return 1_024 * Number(kilobytes);
  }
  return null;
}
