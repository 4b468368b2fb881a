import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash, generateKeyPairSync, verify } from "node:crypto";
import { once } from "node:events";
import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KERNELS } from "../../kernels/registry.ts";
import { type Client, createClient } from "../../src/client/client.ts";
import { readConfig } from "../../src/gpu-runner/config.ts";
import { CPU_ROLLOUTS } from "../../src/gpu-runner/environments/load-cpu-program.ts";
import { readHardware } from "../../src/gpu-runner/host/hardware/read-hardware.ts";
import { digestKernel } from "../../src/gpu-runner/kernels/dispatch/kernel-sources.ts";
import { createBootstrapSecret } from "../../src/local/data-folder.ts";
import { type EdgeHost, startEdge } from "../../src/local/edge-host.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { VERSION } from "../../src/protocol/wire/release.ts";
import { waitFor } from "./local-stack.ts";
import { root } from "./run-npm.ts";

const INSTALLED = "/opt/millrace-runner";
const PACKER = ["--experimental-import-meta-resolve", join(root, "src/local/pack/main.ts")];
/** A slow machine needs minutes to pack, and to start a program that is not compiled yet. */
const PATIENCE_MS = 900_000;

/** Settings of a systemd unit by section and name, in their order. */
function parseUnit(text: string): { of(section: string, name: string): string[] } {
  const found: [string, string, string][] = [];
  let section = "";
  for (const line of text.split("\n")) {
    const [, heading] = /^\[(\w+)\]$/.exec(line) ?? [];
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (heading !== undefined) section = heading;
    else if (name !== undefined && value !== undefined) found.push([section, name, value]);
    else if (line !== "" && !line.startsWith("#")) throw new Error(`no line of a unit: ${line}`);
  }
  const of = (wanted: string, name: string) =>
    found.filter(([each, key]) => each === wanted && key === name).map(([, , value]) => value);
  return { of };
}

/** Steps of a Containerfile, whose continued lines are joined. */
function parseSteps(text: string): { readonly word: string; readonly rest: string }[] {
  const joined = text.replaceAll(/^#.*\n/gm, "").replaceAll(/\\\n/g, "");
  return joined
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, word, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
      if (word === undefined || rest === undefined) throw new Error(`no step: ${line}`);
      return { word, rest };
    });
}

const pairsOf = (text: string) =>
  Object.fromEntries([...text.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name ?? "", value ?? ""]));

let folder: string;
let edge: EdgeHost;
let client: Client;
let archive: string;
/** Where the archive was unpacked. */
let packed: string;
const { publicKey, privateKey } = generateKeyPairSync("ed25519");
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-deployment-"));
  const bootstrapSecret = createBootstrapSecret();
  edge = await startEdge({ port: 0, dataDir: join(folder, "data"), root, bootstrapSecret });
  client = createClient({ baseUrl: edge.url, key: bootstrapSecret });
  const [key, out] = [join(folder, "release.key"), join(folder, "out")];
  await writeFile(key, privateKey.export({ type: "pkcs8", format: "pem" }));
  const options = ["--platform=linux-x64", "--software-gpu", "--level=0", `--out=${out}`, `--sign-key=${key}`];
  const run = promisify(execFile);
  await run(process.execPath, [...PACKER, ...options]);
  archive = join(out, `millrace-runner-${VERSION}-linux-x64-software-gpu.tar.xz`);
  await mkdir(join(folder, "opt"));
  await run("tar", ["-xJf", archive, "-C", join(folder, "opt")]);
  packed = join(folder, "opt/millrace-runner");
}, PATIENCE_MS);
afterAll(async () => {
  await edge.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A bare machine: no program is in reach, and a home of its own. */
const bare = () => ({ PATH: join(folder, "nothing"), HOME: folder });

async function runPacked(...args: string[]) {
  const child = spawn(join(packed, "millrace-runner"), args, { cwd: folder, env: bare() });
  const [out, err, [code]] = await Promise.all([textOf(child.stdout), textOf(child.stderr), once(child, "exit")]);
  return { code: code as number | null, out, err };
}

/** Starts a runner by a command line on a bare machine, works with it once it is online, and ends it. */
async function withRunner(
  name: string,
  [program = "", ...args]: string[],
  work: (runnerId: string) => Promise<void>,
  own: NodeJS.ProcessEnv = {},
): Promise<void> {
  const { token } = await client.call(endpoints.createRegistrationToken, { body: {} });
  const environment = {
    ...bare(),
    MILLRACE_EDGE: edge.url,
    MILLRACE_TOKEN: token,
    MILLRACE_RUNNER_NAME: name,
    MILLRACE_RUNNER_DIR: join(folder, name),
    MILLRACE_GPU: "none",
    ...own,
  };
  const child: ChildProcess = spawn(program, args, { cwd: "/", env: environment, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, "exit");
  const failed = ended.then(([code, signal]) => {
    throw new Error(`${name} ended with ${code ?? signal}: ${stderr}`);
  });
  const online = async () => {
    const { items } = await client.call(endpoints.listRunners);
    return items.find((each) => each.name === name && each.state === "online")?.id;
  };
  const use = async () => work(await waitFor(`${name} to be online`, online, PATIENCE_MS));
  try {
    await Promise.race([use(), failed]);
  } finally {
    failed.catch(() => {});
    child.kill("SIGTERM");
    await ended;
  }
}

describe("npm run pack:runner", () => {
  it("signs the archive's checksum", async () => {
    const line = await readFile(`${archive}.sha256`, "utf8");
    const digest = createHash("sha256")
      .update(await readFile(archive))
      .digest("hex");
    expect(line).toBe(`${digest}  ${basename(archive)}\n`);
    const signature = await readFile(`${archive}.sha256.sig`);
    expect(verify(null, Buffer.from(line), publicKey, signature)).toBe(true);
    expect(verify(null, Buffer.from(line.replace(/^./, "x")), publicKey, signature)).toBe(false);
  });

  it("packs every file that a packed source names", async () => {
    const files = (await readdir(packed, { recursive: true, withFileTypes: true })).filter((each) => each.isFile());
    const paths = files.map((each) => join(each.parentPath, each.name).slice(packed.length));
    const sources = paths.filter((path) => path.endsWith(".ts") && !path.startsWith("/node_modules/"));
    expect(sources.length).toBeGreaterThan(700);
    const missing: string[] = [];
    for (const source of sources) {
      const code = await readFile(join(packed, source), "utf8");
      // Types are gone when it runs, and comments and descriptions name files in other ways.
      const run = code.replaceAll(/\b(?:import|export) type [^"';]*?from\s*"[^"]+"/g, "");
      for (const [, named = ""] of run.matchAll(/"([\w./-]*\w\.(?:ts|wgsl|as|css|py))"/g)) {
        const end = `/${named.replace(/^(\.{0,2}\/)+/, "")}`;
        if (named !== ".test.ts" && !paths.some((path) => path.endsWith(end))) missing.push(`${source}: ${named}`);
      }
    }
    expect(missing).toEqual([]);
  });

  it("packs kernels whole, so that tunings and results are those of a checkout", async () => {
    const move = (url: URL) => new URL(url.href.replace(root, packed));
    for (const kernel of KERNELS.values()) {
      const variants = kernel.variants.map((each) => ({ ...each, shared: each.shared?.map(move) ?? [] }));
      const moved = { ...kernel, folder: move(kernel.folder), variants } as unknown as typeof kernel;
      expect(await digestKernel(moved)).toBe(await digestKernel(kernel));
    }
  });

  it.each([
    [["--platform=linux-arm64", `--node=${join(root, "node_modules/node")}`], "is no program for linux-arm64."],
    [["--platform=linux-arm64", "--software-gpu"], "There is no software GPU for linux-arm64"],
    [["--platform=linux-x64", `--sign-key=${join(root, "package.json")}`], "package.json is no Ed25519 key"],
    [["--platform=amiga"], "argument 'amiga' is invalid. Allowed choices are linux-x64,"],
    [["--platform=linux-x64", "--level=10"], "must be a number from 0 to 9."],
  ])("%j ends with a sentence", async (options, sentence) => {
    const end = promisify(execFile)(process.execPath, [...PACKER, ...options]);
    await expect(end).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(sentence) });
  });
});

describe("a packed runner on a bare machine", { timeout: PATIENCE_MS }, () => {
  it("says its release, and what is wrong with a command", async () => {
    expect(await runPacked("--version")).toEqual({ code: 0, out: `${VERSION}\n`, err: "" });
    expect(await runPacked("up")).toMatchObject({ code: 2, err: "millrace: unknown command 'up'\n" });
    const wrong = await runPacked("device-suite", "--only", "kernel");
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("--only kernel names no part; there are: ") });
  });

  it("has all that its doctor looks for", async () => {
    const { code, out, err } = await runPacked("doctor", "--edge", edge.url, "--json");
    const { findings } = JSON.parse(out) as { findings: { check: string; state: string; found: string }[] };
    expect({ code, err, failures: findings.filter(({ state }) => state === "failure") }).toMatchObject({
      failures: [],
    });
    const found = Object.fromEntries(findings.map((each) => [each.check, each.found]));
    expect(found).toMatchObject({
      packages: "webgpu, onnxruntime-node load",
      gpu: expect.stringMatching(/the software GPU|\(/),
    });
    expect(Object.keys(found)).not.toContain("port");
  });

  it("checks the software GPU, and compares with programs that were compiled when it was packed", async () => {
    const only = "kernels/empty-dispatch,networks/fall-cnn wgsl,environments/xor,in-flight/cartpole wgsl 1 in";
    const { code, out } = await runPacked("device-suite", "--gpu=software", "--out=suite", `--only=${only}`);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringMatching(/^12 passed, 0 failed, 0 skipped: /) });
    const report = JSON.parse(await readFile(join(folder, "suite/report.json"), "utf8"));
    const { commit } = JSON.parse(await readFile(join(packed, "packed.json"), "utf8"));
    expect(report.subject.commit).toBe(commit);
    const { figures } = report.checks.find(({ name }: { name: string }) => name === "xor episodes");
    expect(figures).toMatchObject({ comparedWith: "cpu-simd" });
  });

  it("has a program for the CPU for every environment that has a twin there", async () => {
    const programs = await readdir(join(packed, "dist/cpu-simd"));
    const environments = new Set(CPU_ROLLOUTS.map(({ environment }) => environment.name));
    for (const name of environments) {
      expect(programs.filter((file) => file.startsWith(`rollout-${name}-`)).length).toBeGreaterThanOrEqual(2);
    }
    expect(environments.size).toBeGreaterThan(10);
  });

  it("knows its machine where the path is empty", async () => {
    const start = [join(packed, "millrace-runner"), "start"];
    await withRunner(
      "without-path",
      start,
      async (runnerId) => {
        const { capabilities } = await client.call(endpoints.getRunner, { params: { id: runnerId } });
        const { os, cpu, virtual } = await readHardware();
        expect(capabilities?.hardware).toMatchObject({
          os,
          cpu: { model: cpu.model, features: cpu.features },
          virtual,
        });
      },
      { PATH: "" },
    );
  });
});

describe("deploy/millrace-runner.service", { timeout: PATIENCE_MS }, () => {
  it("starts a packed runner, which answers, as a user of its own within reach of GPUs and little else", async () => {
    const unit = parseUnit(await readFile(join(root, "deploy/millrace-runner.service"), "utf8"));
    expect(unit.of("Service", "User")).toEqual(["millrace"]);
    expect(unit.of("Service", "Restart")).toEqual(["always"]);
    const config = readConfig(pairsOf(unit.of("Service", "Environment").join(" ")));
    expect(config.dataDir).toBe("/var/lib/millrace/runner");
    expect(unit.of("Service", "StateDirectory")).toEqual(["millrace"]);
    expect(unit.of("Service", "ProtectSystem")).toEqual(["strict"]);
    expect(unit.of("Service", "DeviceAllow")).toEqual(["char-drm rw", "char-kfd rw", "char-nvidia* rw"]);
    // Either would keep GPUs or compilers from working.
    for (const name of ["PrivateDevices", "MemoryDenyWriteExecute"]) expect(unit.of("Service", name)).toEqual([]);
    const [documentation = ""] = unit.of("Unit", "Documentation");
    await access(documentation.replace(`file://${INSTALLED}`, packed));
    const [line = ""] = unit.of("Service", "ExecStart");
    await withRunner("by-systemd", line.replaceAll(INSTALLED, packed).split(" "), async (runnerId) => {
      const content = new Uint8Array(await readFile(join(root, "models/cartpole/cartpole.onnx")));
      const rawBody = { mediaType: "application/octet-stream", content };
      await client.call(endpoints.uploadModel, { query: { name: "cartpole" }, rawBody });
      const inputs = { observation: { data: [[0.01, -0.02, 0.03, 0.04]] } };
      const body = { model: "cartpole", budgetMs: 30_000, runnerId, inputs };
      const reply = await waitFor("an answer", () => client.call(endpoints.infer, { body }), PATIENCE_MS);
      expect(reply).toMatchObject({ placement: { runnerId }, outputs: { logits: { shape: [1, 2] } } });
    });
  });
});

describe("deploy/Containerfile", () => {
  it("unpacks the archive, and starts it as systemd does, as nobody in particular", async () => {
    const steps = parseSteps(await readFile(join(root, "deploy/Containerfile"), "utf8"));
    const restsOf = (word: string) => steps.filter((step) => step.word === word).map(({ rest }) => rest);
    const added = `dist/runner/millrace-runner-$\{VERSION}-linux-x64.tar.xz ${INSTALLED.replace(/[^/]+$/, "")}`;
    expect(restsOf("ADD")).toEqual([added]);
    const environment = pairsOf(restsOf("ENV").join(" "));
    expect(environment["NVIDIA_DRIVER_CAPABILITIES"]?.split(",")).toContain("graphics");
    expect(readConfig(environment).dataDir.startsWith(`${restsOf("VOLUME")[0]}/`)).toBe(true);
    const [user = ""] = restsOf("USER");
    expect(restsOf("RUN").join(" ")).toContain(`useradd --home-dir /var/lib/millrace --create-home ${user}`);
    const unit = parseUnit(await readFile(join(root, "deploy/millrace-runner.service"), "utf8"));
    const [entrypoint = "[]"] = restsOf("ENTRYPOINT");
    expect((JSON.parse(entrypoint) as string[]).join(" ")).toBe(unit.of("Service", "ExecStart")[0]);
  });
});
