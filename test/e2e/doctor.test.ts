import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { type Client, createClient } from "../../src/client/client.ts";
import { createBootstrapSecret } from "../../src/local/data-folder.ts";
import { type EdgeHost, startEdge } from "../../src/local/edge-host.ts";
import { locateBinding } from "../../src/gpu-runner/providers/installed-provider.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { waitFor } from "./local-stack.ts";
import { type Finished, root, run } from "./run-npm.ts";

const DAY_MS = 86_400_000;

let folder: string;
let edge: EdgeHost;
let admin: Client;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-doctor-test-"));
  const bootstrapSecret = createBootstrapSecret();
  edge = await startEdge({ port: 0, dataDir: join(folder, "data"), root, bootstrapSecret });
  admin = createClient({ baseUrl: edge.url, key: bootstrapSecret });
});
afterAll(async () => {
  await edge.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Options {
  readonly edgeUrl?: string;
  readonly key?: string;
  readonly port?: number;
  readonly dataDir?: string;
  readonly runnerDir?: string;
  readonly environment?: Record<string, string>;
}

/** Runs it as a person would; without a plant, against the edge of this file and folders of its own. */
function askDoctor(options: Options, ...more: string[]): Promise<Finished> {
  const args = [
    join(root, "src/cli/main.ts"),
    "doctor",
    `--edge=${options.edgeUrl ?? edge.url}`,
    `--port=${options.port ?? new URL(edge.url).port}`,
    `--data-dir=${options.dataDir ?? join(folder, "data")}`,
    `--runner-dir=${options.runnerDir ?? join(folder, "no-runner")}`,
    ...(options.key === undefined ? [] : [`--key=${options.key}`]),
    ...more,
  ];
  return run(process.execPath, args, options.environment);
}

/** What fails with a plant, with what is told of it; without one, nothing does (but for the port, if the edge is another). */
async function listFailures(options: Options): Promise<Finding[]> {
  const { code, stdout, stderr } = await askDoctor(options, "--json");
  expect(stderr).toBe("");
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
  const failures = findings.filter(({ state }) => state === "failure");
  expect({ code, ok }).toEqual(failures.length === 0 ? { code: 0, ok: true } : { code: 1, ok: false });
  expect(failures.every(({ advice }) => (advice ?? "").length > 10)).toBe(true);
  return failures.filter(
    ({ check }) => check !== "port" || options.port !== undefined || options.edgeUrl === undefined,
  );
}

async function createKey(scopes: ("read" | "infer" | "submit" | "admin")[]) {
  return admin.call(endpoints.createKey, { body: { name: "doctor", scopes } });
}

describe("millrace doctor", () => {
  it("finds nothing wrong where nothing is, and tells what the key is for", async () => {
    const { secret } = await createKey(["read", "submit"]);
    const { code, stdout, stderr } = await askDoctor({ key: secret });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Nothing stands in the way.");
    expect(stdout).toMatch(/^ok +key +valid, with scopes read, submit$/m);
    expect(stdout).toMatch(/^ok +clock +agrees/m);
    expect(stdout).toMatch(/^– +link +only a registered runner can try it/m);
    expect(stdout).toMatch(/^ok +port +\d+ is held by the edge itself$/m);
    const all = await createKey(["admin"]);
    expect((await askDoctor({ key: all.secret })).stdout).toContain("valid, with all scopes (admin)");
    expect((await askDoctor({})).stdout).toMatch(/^warning +key +no key is named$/m);
  });

  it("names a Vulkan driver that is not there, and one that is none", async () => {
    const missing = join(folder, "missing_icd.json");
    expect(await listFailures({ environment: { VK_ICD_FILENAMES: missing } })).toMatchObject([
      {
        check: "vulkan",
        found: `VK_ICD_FILENAMES names no usable driver: ${missing} is not there`,
        advice: expect.stringContaining("Unset VK_ICD_FILENAMES"),
      },
    ]);
    const garbage = join(folder, "garbage_icd.json");
    await writeFile(garbage, "{ no manifest");
    const lost = join(folder, "lost_icd.json");
    const manifest = { file_format_version: "1.0.0", ICD: { library_path: "./libgone.so", api_version: "1.3.0" } };
    await writeFile(lost, JSON.stringify(manifest));
    const [failure, ...others] = await listFailures({
      environment: { VK_DRIVER_FILES: [garbage, lost].join(delimiter) },
    });
    expect(others).toEqual([]);
    expect(failure?.found).toContain(`${garbage} is no manifest of a driver`);
    expect(failure?.found).toContain(`${lost} names ./libgone.so, which is not there`);
  });

  it("names the libraries that a provider of ONNX Runtime misses", async () => {
    const runnerDir = join(folder, "runner-with-cuda");
    const provider = join(runnerDir, "providers/ort-cuda");
    await mkdir(provider, { recursive: true });
    const { version: ort } = await locateBinding();
    const installed = { ort, cuda: 13, files: {}, libraries: ["libcublas.so.99", "libcudnn.so.99"], from: "a test" };
    await writeFile(join(provider, "installed.json"), JSON.stringify(installed));
    expect(await listFailures({ runnerDir })).toMatchObject([
      {
        check: "providers",
        found: "cuda: The loader does not find the CUDA runtime (libcublas.so.99); cuDNN (libcudnn.so.99)",
        advice: expect.stringContaining("Install CUDA's libraries"),
      },
    ]);
  });

  it("names a Node that is too old", async () => {
    const programs = join(folder, "old-node");
    await mkdir(programs);
    await writeFile(join(programs, "node"), "#!/bin/sh\necho v18.20.4\n");
    await chmod(join(programs, "node"), 0o755);
    const environment = { PATH: [programs, process.env["PATH"]].join(delimiter) };
    expect(await listFailures({ environment })).toMatchObject([
      {
        check: "node",
        found: `v18.20.4 (${join(programs, "node")}) is too old`,
        advice: expect.stringContaining("20.11"),
      },
    ]);
  });

  it("makes only the checks that are named, and says which there are", async () => {
    const { stdout } = await askDoctor({}, "--only=edge, clock", "--json");
    expect((JSON.parse(stdout) as { findings: Finding[] }).findings.map(({ check }) => check)).toEqual([
      "edge",
      "clock",
    ]);
    const wrong = await askDoctor({}, "--only=edges");
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("there is no check 'edges', but node, ") });
  });

  it("names packages whose programs cannot be loaded", async () => {
    const failures = await listFailures({ environment: { NODE_OPTIONS: "--no-addons" } });
    expect(failures.map(({ check }) => check)).toContain("packages");
    expect(failures.find(({ check }) => check === "packages")?.found).toContain("webgpu");
  });

  it("names an edge that does not answer, and what is none", async () => {
    // RFC 6761: nobody ever has this name.
    expect(await listFailures({ edgeUrl: "http://edge.invalid" })).toMatchObject([
      { check: "edge", found: "The name edge.invalid does not resolve" },
    ]);
    await using other = await serve((_, response) => response.end("hello"));
    expect(await listFailures({ edgeUrl: other.url })).toMatchObject([
      { check: "edge", found: `What answers at ${other.url} is no edge: status 200, no media type` },
    ]);
  });

  it("names a key that was revoked", async () => {
    const { id, secret } = await createKey(["read"]);
    expect(await listFailures({ key: secret })).toEqual([]);
    await admin.call(endpoints.revokeKey, { params: { id } });
    const failures = await waitFor("the key to be unknown", async () => {
      const found = await listFailures({ key: secret });
      return found.length > 0 ? found : undefined;
    });
    expect(failures).toMatchObject([{ check: "key", found: expect.stringContaining("revoked") }]);
  });

  it("names a clock that is off", async () => {
    await using proxy = await serve(async ({ url = "/" }, response) => {
      const answer = await fetch(new URL(url, edge.url));
      response.setHeader("date", new Date(Date.now() + DAY_MS).toUTCString());
      response.writeHead(answer.status, { "content-type": "application/json" });
      response.end(await answer.text());
    });
    expect(await listFailures({ edgeUrl: proxy.url })).toMatchObject([
      {
        check: "clock",
        found: expect.stringMatching(/clock is \d+ s behind the edge's$/),
        advice: expect.stringContaining("NTP"),
      },
    ]);
  });

  it("names a folder that cannot be written", async () => {
    const file = join(folder, "a-file");
    await writeFile(file, "");
    expect(await listFailures({ dataDir: join(file, "inside") })).toMatchObject([
      { check: "data folder", found: expect.stringContaining("cannot be written") },
    ]);
  });

  it("names the process that has the port", async () => {
    const taken = createSocketServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    const failures = await listFailures({ port });
    taken.close();
    expect(failures).toMatchObject([
      { check: "port", found: expect.stringContaining(`${port} (--port) is taken by `) },
    ]);
    if (process.platform === "linux") expect(failures[0]?.found).toContain(`process ${process.pid} `);
  });

  it("names a runner that was removed at its edge", async () => {
    const { token } = await admin.call(endpoints.createRegistrationToken, { body: {} });
    const body = { token, name: "lab", labels: {} };
    const registration = await admin.call(endpoints.registerRunner, { body });
    const runnerDir = join(folder, "registered");
    await mkdir(runnerDir);
    await writeFile(join(runnerDir, "credential.json"), JSON.stringify({ edgeUrl: edge.url, ...registration }));
    expect(await listFailures({ runnerDir })).toEqual([]);
    await admin.call(endpoints.removeRunner, { params: { id: registration.runnerId } });
    expect(await listFailures({ runnerDir })).toMatchObject([
      { check: "runner", found: expect.stringContaining("does not know the credential") },
    ]);
    await writeFile(join(runnerDir, "credential.json"), "{");
    expect(await listFailures({ runnerDir })).toMatchObject([
      { check: "runner", found: expect.stringContaining("damaged") },
    ]);
  });
});

/** A server of the test's own on a free port, until the end of its scope. */
async function serve(handler: Parameters<typeof createServer>[1] & {}): Promise<AsyncDisposable & { url: string }> {
  const server: Server = createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
}
