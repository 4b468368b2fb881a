import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Tensor } from "../../src/protocol/wire/tensor.ts";
import { installPython } from "../python-program.ts";
import { listTree, measureMemory, signalAll } from "./process-tree.ts";
import { type Call, callByJson, callByOip, type Encoding, Sender } from "./requests.ts";
import type { ServedNetwork } from "./served-network.ts";

/** A server that runs, by one way to it. */
export interface RunningServer {
  /** Null for an encoding that it does not take. */
  readonly call: (tensor: Tensor, encoding: Encoding) => Promise<Call | null>;
  /** Time from its start to its first answer. */
  readonly startMs: number;
  /** Of all its processes, in MB. */
  readonly measureMemory: () => Promise<number>;
  /** Stops all its processes for a time, so that they take nothing from the others. */
  readonly pause: () => Promise<void>;
  readonly resume: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const FOLDER = new URL("../servers/", import.meta.url);
/** A program of NumPy, which all of them need. */
const READY = "bin/f2py";

interface PeerServer {
  /** The Python that it needs, where that of the path does not do. */
  readonly python?: string;
  /** Program of the environment and its arguments. */
  readonly command: (port: number) => readonly string[];
  readonly call: (base: string, tensor: Tensor, encoding: Encoding) => Call | null;
}

const byOip =
  (deadline: "timeout" | null, encodings: readonly Encoding[]): PeerServer["call"] =>
  (base, tensor, encoding) => {
    const url = new URL("/v2/models/model/infer", base);
    return encodings.includes(encoding) ? callByOip({ url, deadline }, tensor, encoding) : null;
  };
const byJson =
  (path: string, form: "oip" | "nested"): PeerServer["call"] =>
  (base, tensor, encoding) =>
    encoding === "JSON" ? callByJson(new URL(path, base), tensor, form) : null;

/** Real servers of PyPI with the settings that their documentation has for batches and queues. */
export const PEER_SERVERS: Readonly<Record<string, PeerServer>> = {
  triton: {
    // Its package carries parts of Debian 12's, which fail beside the libraries of a later 3.11.
    python: "/usr/bin/python3",
    command: (port) => ["python", "serve_pytriton.py", String(port)],
    call: byOip("timeout", ["JSON", "binary"]),
  },
  mlserver: {
    command: (port) => ["python", "serve_mlserver.py", String(port)],
    call: byOip(null, ["JSON"]),
  },
  litserve: {
    command: (port) => ["python", "serve_litserve.py", String(port)],
    call: byJson("/predict", "oip"),
  },
  bentoml: {
    command: (port) => ["bentoml", "serve", "serve_bentoml:Service", "--host", "127.0.0.1", "--port", String(port)],
    call: byJson("/predict", "nested"),
  },
  "ray-serve": {
    command: (port) => ["python", "serve_ray.py", String(port)],
    call: byJson("/", "oip"),
  },
};

/** Most rows that a peer joins, as ours does by the default of a calibration. */
const BATCH = 32;
const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 5_000;
const POLL_MS = 20;
const ERROR_TAIL = 2_000;
/** Settings by which they send nothing home. */
const QUIET = { BENTOML_DO_NOT_TRACK: "true", RAY_USAGE_STATS_ENABLED: "0", MLSERVER_DEBUG: "false" };

/** Installs a peer once, starts it with a network and waits for its first answer. Throws an Error with the reason. */
export async function startPeer(
  name: string,
  network: ServedNetwork,
  say: (text: string) => void,
): Promise<RunningServer> {
  const { command, call, python } = PEER_SERVERS[name]!;
  const environment = {
    folder: new URL(`.venv-${name}`, FOLDER),
    requirements: new URL(`requirements-${name}.txt`, FOLDER),
    ready: READY,
    ...(python !== undefined && { python }),
  };
  await installPython(environment, () => say(`installing ${name} (once)`));
  const folder = await mkdtemp(join(tmpdir(), "millrace-serve-"));
  const model = join(folder, "model.onnx");
  await writeFile(model, network.file);
  const port = await findPorts();
  const [program = "", ...args] = command(port);
  const startedAt = performance.now();
  const child = spawn(join(fileURLToPath(environment.folder), "bin", program), args, {
    cwd: fileURLToPath(FOLDER),
    env: {
      ...process.env,
      ...QUIET,
      MODEL: model,
      BATCH: String(BATCH),
      DEADLINE_MS: String(network.deadlineMs),
      BENTOML_HOME: folder,
      OMP_NUM_THREADS: "1",
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise<void>(
    (resolve) => void child.once("close", () => resolve()).once("error", () => resolve()),
  );
  // Helpers outlive a parent that ends by itself, and are no longer found below it.
  let known: number[] = [];
  const ids = async () => {
    known = [...new Set([...known, ...(child.pid === undefined ? [] : await listTree(child.pid))])];
    return known;
  };
  const stop = async () => {
    signalAll(await ids(), "SIGCONT");
    child.kill("SIGTERM");
    await Promise.race([ended, delay(STOP_LIMIT_MS)]);
    signalAll(await ids(), "SIGKILL");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const base = `http://127.0.0.1:${port}`;
  try {
    await waitForAnswer(child, call(base, network.input, "JSON")!);
    await ids();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    call: async (tensor, encoding) => call(base, tensor, encoding),
    startMs: performance.now() - startedAt,
    measureMemory: async () => measureMemory(await ids()),
    pause: async () => signalAll(await ids(), "SIGSTOP"),
    resume: async () => signalAll(await ids(), "SIGCONT"),
    stop,
  };
}

async function waitForAnswer(child: ChildProcess, call: Call): Promise<void> {
  let errors = "";
  child.stderr!.on("data", (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-ERROR_TAIL)));
  const sender = new Sender();
  const endMs = performance.now() + START_LIMIT_MS;
  let last = "";
  try {
    while (performance.now() < endMs) {
      if (child.exitCode !== null || child.pid === undefined)
        throw new Error(errors.trim().split("\n").at(-1) ?? "it ended");
      try {
        const { status, body } = await sender.send(call, START_LIMIT_MS);
        if (status === 200) return;
        last = `status ${status}: ${body.toString().slice(0, 200)}`;
      } catch (error) {
        last = String(error);
      }
      await delay(POLL_MS);
    }
    throw new Error(`no answer within ${START_LIMIT_MS / 1_000} s: ${last}`);
  } finally {
    sender.close();
  }
}

/** The first of three ports in a row that are free now. */
async function findPorts(): Promise<number> {
  for (;;) {
    const first = await listenOn(0);
    const free = await Promise.all([1, 2].map((more) => listenOn(first + more).catch(() => null)));
    if (free.every((port) => port !== null)) return first;
  }
}

async function listenOn(port: number): Promise<number> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const { port: found } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return found;
}
