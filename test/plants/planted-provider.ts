/**
 * Read by a device's process before its own program: a process of `ort-cuda` gets ONNX Runtime's CPU provider instead, in
 * a session that behaves as the file says that `PLANTED_PROVIDER_FILE` names. Other processes are as always.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";

/**
 * `right`: a provider that works. `partial`: one that leaves a node to the CPU. `fallback`: all of them, in silence.
 * `wrong`: answers that are off by one. `crash`, `hang`: each run ends so.
 */
export type PlantedBehaviour = "right" | "partial" | "fallback" | "wrong" | "crash" | "hang";

const CPU = '"CPUExecutionProvider"';
const CUDA = '"CUDAExecutionProvider"';

const file = process.env["PLANTED_PROVIDER_FILE"];
if (file !== undefined && process.argv.includes("ort-cuda")) {
  const readBehaviour = () => readFileSync(file, "utf8") as PlantedBehaviour;
  const create = InferenceSession.create.bind(InferenceSession) as (
    model: string,
    options: InferenceSession.SessionOptions,
  ) => Promise<InferenceSession>;
  InferenceSession.create = (async (model: string, options: InferenceSession.SessionOptions) => {
    const session = await create(model, { ...options, executionProviders: ["cpu"] });
    const [run, endProfiling] = [session.run.bind(session), session.endProfiling.bind(session)];
    session.run = async (feeds: InferenceSession.FeedsType) => {
      const results = await run(feeds);
      const isTrial = Object.values(results).every(({ size }) => size === 1);
      return isTrial ? results : behave(readBehaviour(), results);
    };
    session.endProfiling = () => {
      endProfiling();
      forgeProfile(options.profileFilePrefix!, readBehaviour());
    };
    return session;
  }) as typeof InferenceSession.create;
}

function behave(behaviour: PlantedBehaviour, results: InferenceSession.ReturnType): InferenceSession.ReturnType {
  if (behaviour === "crash") process.abort();
  if (behaviour === "hang") for (;;);
  if (behaviour !== "wrong") return results;
  const off = Object.entries(results).map(([name, { data, dims }]) => [
    name,
    new Tensor(
      "float32",
      (data as Float32Array).map((value) => value + 1),
      dims,
    ),
  ]);
  return Object.fromEntries(off) as InferenceSession.ReturnType;
}

/** What the runtime would have written of a provider that runs nodes. */
function forgeProfile(prefix: string, behaviour: PlantedBehaviour): void {
  if (behaviour === "fallback") return;
  for (const name of readdirSync(dirname(prefix)).filter((each) => each.startsWith(basename(prefix)))) {
    const path = join(dirname(prefix), name);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, behaviour === "partial" ? text.replace(CPU, CUDA) : text.replaceAll(CPU, CUDA));
  }
}
