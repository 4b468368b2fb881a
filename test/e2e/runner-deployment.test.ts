import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access, cp, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../src/client/client.ts";
import { readConfig } from "../../src/gpu-runner/config.ts";
import { createBootstrapSecret } from "../../src/local/data-folder.ts";
import { type EdgeHost, startEdge } from "../../src/local/edge-host.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { waitFor } from "./local-stack.ts";
import { root } from "./run-npm.ts";

const INSTALLED = "/opt/millrace";

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
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-deployment-"));
  const bootstrapSecret = createBootstrapSecret();
  edge = await startEdge({ port: 0, dataDir: join(folder, "data"), root, bootstrapSecret });
  client = createClient({ baseUrl: edge.url, key: bootstrapSecret });
});
afterAll(async () => {
  await edge.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Starts a runner by a command line in a folder, until it is online under its name and was ended again. */
async function bringOnline(name: string, [program = "", ...args]: string[], cwd: string): Promise<void> {
  const { token } = await client.call(endpoints.createRegistrationToken, { body: {} });
  const environment = {
    ...process.env,
    MILLRACE_EDGE: edge.url,
    MILLRACE_TOKEN: token,
    MILLRACE_RUNNER_NAME: name,
    MILLRACE_RUNNER_DIR: join(folder, name),
    MILLRACE_GPU: "none",
  };
  const child: ChildProcess = spawn(program, args, { cwd, env: environment, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, "exit");
  try {
    await waitFor(`${name} to be online`, async () => {
      if (child.exitCode !== null) throw new Error(stderr);
      const { items } = await client.call(endpoints.listRunners);
      return items.find((each) => each.name === name && each.state === "online");
    });
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

describe("deploy/millrace-runner.service", () => {
  it("starts a runner, as a user of its own, within reach of GPUs and little else", async () => {
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
    await access(documentation.replace(`file://${INSTALLED}`, root));
    expect(unit.of("Service", "WorkingDirectory")).toEqual([INSTALLED]);
    const [line = ""] = unit.of("Service", "ExecStart");
    await bringOnline("by-systemd", line.replaceAll(INSTALLED, root).split(" "), root);
  });
});

describe("deploy/Containerfile", () => {
  it("copies all that a runner needs, and starts it as nobody in particular", async () => {
    const steps = parseSteps(await readFile(join(root, "deploy/Containerfile"), "utf8"));
    const restsOf = (word: string) => steps.filter((step) => step.word === word).map(({ rest }) => rest);
    const copied = restsOf("COPY").flatMap((rest) => rest.split(/\s+/).slice(0, -1));
    const layout = join(folder, "image");
    for (const name of copied) {
      await cp(join(root, name), join(layout, name), { recursive: true });
    }
    await symlink(join(root, "node_modules"), join(layout, "node_modules"));
    const manifest = JSON.parse(await readFile(join(layout, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    const scripts = [
      ...restsOf("RUN")
        .join(" ")
        .matchAll(/npm run (\S+)/g),
    ].map(([, name]) => name ?? "");
    expect(scripts).toEqual(["build:simd"]);
    for (const name of scripts) await access(join(layout, manifest.scripts[name]?.replace(/^node /, "") ?? ""));
    const environment = pairsOf(restsOf("ENV").join(" "));
    expect(environment["NVIDIA_DRIVER_CAPABILITIES"]?.split(",")).toContain("graphics");
    expect(readConfig(environment).dataDir.startsWith(`${restsOf("VOLUME")[0]}/`)).toBe(true);
    expect(restsOf("USER")).toEqual(["node"]);
    const [entrypoint = "[]"] = restsOf("ENTRYPOINT");
    const [program, ...args] = JSON.parse(entrypoint) as string[];
    expect(program).toBe("node");
    await bringOnline("in-container", [process.execPath, ...args], layout);
  });
});
