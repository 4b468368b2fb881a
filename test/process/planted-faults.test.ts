import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import { AUTHORITY, type EdgeFaults, plantEdge, plantSocket } from "../plants/planted-edge.ts";
import { CACHE_DIR } from "../kernels/software-gpu-cache.ts";

/** Every fault is planted for real, and has to be named by the doctor and in the runner's log within this time. */
const WITHIN_MS = 15_000;
/** Time of a doctor that waits for nothing, on a machine with little else to do. */
const SOUND_MS = 1_000;
/** A slower machine gets as much more time, up to so many times. */
const MOST_SLOWER = 8;
/** Time in which one process may stand still while others go on. */
const STALL_MS = 10_000;
const withinMs = (soundMs: number) => WITHIN_MS * Math.min(MOST_SLOWER, Math.max(1, soundMs / SOUND_MS)) + STALL_MS;
/** A fault that is not named until then is not waited for any more. */
const PATIENCE_MS = withinMs(Number.POSITIVE_INFINITY);
const ROOT = process.env["PLANTED_ROOT"] ?? join(import.meta.dirname, "../..");
/** Rows that are tried at the same time. */
const LANES = 2;

/** A machine with a fault, as its processes see it. */
interface Patient {
  readonly edgeUrl?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Shell command before the program. */
  readonly before?: string;
  /** User of the programs, if this one may change it. */
  readonly uid?: number;
  readonly token?: string;
}

interface Row {
  /** Plants the fault; the runner's folder is there, and holds a credential for `edgeUrl` unless there is a token. */
  readonly plant: (folder: string, kept: AsyncDisposableStack) => Promise<Patient>;
  /** Check that names it. */
  readonly check: string;
  /** Words of both that name the fault with its subject, and the remedy. */
  readonly says: RegExp;
  readonly advises: RegExp;
  /** Only the running runner can see it: the doctor reads what that has told. */
  readonly isTold?: true;
  /** The doctor makes all of its checks. */
  readonly isWhole?: true;
}

const edge =
  (faults: EdgeFaults, environment: Readonly<Record<string, string>> = {}): Row["plant"] =>
  async (_folder, kept) => ({ edgeUrl: kept.use(await plantEdge(faults)).url, environment });
const proxy =
  (text: string | null, edgeUrl = "http://edge.test"): Row["plant"] =>
  async (_folder, kept) => {
    const { url } = kept.use(await plantSocket(text));
    return { edgeUrl, environment: { [edgeUrl.startsWith("https") ? "HTTPS_PROXY" : "HTTP_PROXY"]: url } };
  };
const freePort = async () => {
  const planted = await plantSocket(null);
  await planted[Symbol.asyncDispose]();
  return planted.port;
};
const taken =
  (setting: string): Row["plant"] =>
  async (_folder, kept) => ({ environment: { [setting]: String(kept.use(await plantSocket(null)).port) } });
const trusting = { NODE_EXTRA_CA_CERTS: AUTHORITY };
const REFUSED = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n";
const LOGIN = "HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n";
const LINKER = "#!/bin/sh\nprintf '\\tlibc.so.6 (libc6) => /lib/libc.so.6\\n'\n";
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const other = isRoot ? { uid: NOBODY } : {};
const canMount = spawnSync("unshare", ["-rm", "true"]).status === 0;

const ROWS: Readonly<Record<string, Row>> = {
  "a clock that is a day off": {
    plant: edge({ aheadMs: 86_400_000 }),
    check: "clock",
    says: /clock is \d+ s behind the edge's/,
    advises: /NTP/,
  },
  "a name that does not resolve": {
    // RFC 6761: nobody ever has this name.
    plant: async () => ({ edgeUrl: "https://edge.invalid" }),
    check: "edge",
    says: /name edge\.invalid does not resolve/,
    advises: /DNS/,
    isWhole: true,
  },
  "a proxy that is not there": {
    plant: async () => ({
      edgeUrl: "https://edge.test",
      environment: { HTTPS_PROXY: `http://127.0.0.1:${await freePort()}` },
    }),
    check: "edge",
    says: /Nothing listens at the proxy 127\.0\.0\.1:\d+ \(HTTPS_PROXY\)/,
    advises: /HTTPS_PROXY.*NO_PROXY/,
  },
  "a proxy that wants a password": {
    plant: proxy(LOGIN, "https://edge.test"),
    check: "edge",
    says: /proxy 127\.0\.0\.1:\d+ \(HTTPS_PROXY\) wants a name and a password \(status 407\)/,
    advises: /HTTPS_PROXY=http:\/\/name:password@/,
  },
  "a proxy that refuses the host": {
    plant: proxy(REFUSED),
    check: "edge",
    says: /proxy 127\.0\.0\.1:\d+ \(HTTP_PROXY\) makes no tunnel to edge\.test:80 \(status 403\)/,
    advises: /allow CONNECT/,
  },
  "a setting that names no proxy": {
    plant: async () => ({ environment: { HTTPS_PROXY: "socks5://user:secret@corp:1080" } }),
    check: "proxy",
    says: /HTTPS_PROXY names no proxy that speaks http: corp:1080/,
    advises: /http:\/\/host:port/,
  },
  "a certificate that has expired": {
    plant: edge({ certificate: "expired" }, trusting),
    check: "edge",
    says: /certificate of 127\.0\.0\.1:\d+ has expired/,
    advises: /Renew/,
  },
  "a certificate that is not valid yet": {
    plant: edge({ certificate: "early" }, trusting),
    check: "edge",
    says: /certificate of 127\.0\.0\.1:\d+ is not valid yet/,
    advises: /clock by NTP/,
  },
  "a certificate that is signed by itself": {
    plant: edge({ certificate: "self-signed" }),
    check: "edge",
    says: /certificate of 127\.0\.0\.1:\d+ is signed by itself/,
    advises: /NODE_EXTRA_CA_CERTS/,
  },
  "a certificate for another host": {
    plant: edge({ certificate: "other-host" }, trusting),
    check: "edge",
    says: /certificate of 127\.0\.0\.1:\d+ is for another host \(DNS:elsewhere\.example\)/,
    advises: /--edge/,
  },
  "a company's proxy that reads TLS": {
    plant: edge({ certificate: "intercepted" }),
    check: "edge",
    says: /authority that is not trusted here: Example Corp, Example Corp Inspection CA/,
    advises: /NODE_EXTRA_CA_CERTS.*NODE_USE_SYSTEM_CA/,
  },
  "an edge without TLS behind https": {
    plant: async (_folder, kept) => {
      const { url } = kept.use(await plantEdge());
      return { edgeUrl: url.replace("http:", "https:") };
    },
    check: "edge",
    says: /What listens at 127\.0\.0\.1:\d+ speaks no TLS/,
    advises: /http:\/\//,
  },
  "an edge that is down": {
    plant: async () => ({ edgeUrl: `http://127.0.0.1:${await freePort()}` }),
    check: "edge",
    says: /Nothing listens at 127\.0\.0\.1:\d+/,
    advises: /millrace up/,
  },
  "an address that is silent": {
    plant: async (_folder, kept) => ({ edgeUrl: kept.use(await plantSocket(null)).url }),
    check: "edge",
    says: /127\.0\.0\.1:\d+ does not answer in time/,
    advises: /firewall/,
  },
  "a portal in the edge's place": {
    plant: edge({ isPage: true }),
    check: "edge",
    says: /What answers at http:\/\/127\.0\.0\.1:\d+ is no edge: status 200, text\/html/,
    advises: /portal or proxy.*\/v1\/health/,
  },
  "an edge of another release": {
    plant: edge({ protocols: ["millrace.v9"], link: "stripped" }),
    check: "edge",
    says: /http:\/\/127\.0\.0\.1:\d+ does not speak this release's link/,
    advises: /speaks millrace\.v9, the runner millrace\.v1: .*install release/,
  },
  "a proxy that refuses WebSockets": {
    plant: edge({ link: "blocked" }),
    check: "link",
    says: /http:\/\/127\.0\.0\.1:\d+ answers, but its WebSocket does not come through/,
    advises: /pass WebSockets/,
  },
  "a proxy that takes the Upgrade header away": {
    plant: edge({ link: "stripped" }),
    check: "link",
    says: /WebSocket does not come through/,
    advises: /Upgrade: websocket/,
  },
  "a link that is cut by an idle timeout": {
    plant: edge({ cutAfterMs: 300 }),
    check: "runner's word",
    says: /link to 127\.0\.0\.1:\d+ was cut \d+ times in/,
    advises: /idle timeout/,
    isTold: true,
  },
  "a credential that the edge does not know": {
    plant: edge({ link: "unknown" }),
    check: "runner",
    says: /http:\/\/127\.0\.0\.1:\d+ does not know the credential of rnr_/,
    advises: /--token/,
  },
  "a credential that is damaged": {
    plant: async (folder) => {
      await writeFile(join(folder, "credential.json"), "{");
      return {};
    },
    check: "runner",
    says: /credential\.json is damaged/,
    advises: /Delete it.*--token/,
  },
  "a token that was used": {
    plant: async (_folder, kept) => ({
      edgeUrl: kept.use(await plantEdge({ registration: "token-used" })).url,
      token: "mt_used",
    }),
    check: "runner's word",
    says: /registration token was used already/,
    advises: /Have a new one made/,
    isTold: true,
  },
  "a full disk": {
    // The system's limit on a file's size stands for the end of a disk: no byte can be written.
    plant: async () => ({ before: "ulimit -f 0" }),
    check: "runner's folder",
    says: /runner takes no more: the disk/,
    advises: /Make room/,
  },
  "a folder on a read-only disk": {
    plant: async (folder) => {
      if (canMount) return { before: `mount -t tmpfs -o ro tmpfs ${folder}` };
      await chmod(folder, 0o555);
      return { ...other };
    },
    check: "runner's folder",
    says: canMount ? /runner cannot be written: its file system is read-only/ : /may not be read and written/,
    advises: /another folder by --data-dir/,
  },
  "a folder of another user": {
    plant: async (folder) => {
      await chmod(folder, isRoot ? 0o700 : 0o000);
      return { ...other };
    },
    check: "runner's folder",
    says: /runner.* may not be read and written by the user/,
    advises: /chown/,
    isWhole: true,
  },
  "a port for direct requests that is taken": {
    plant: taken("MILLRACE_DIRECT"),
    check: "listeners",
    says: /127\.0\.0\.1:\d+ \(MILLRACE_DIRECT\) is taken by process \d+ \(/,
    advises: /another port by MILLRACE_DIRECT/,
  },
  "a port for metrics that is taken": {
    plant: taken("MILLRACE_METRICS"),
    check: "listeners",
    says: /127\.0\.0\.1:\d+ \(MILLRACE_METRICS\) is taken by process \d+ \(/,
    advises: /another port by MILLRACE_METRICS/,
  },
  "two runners on one folder": {
    plant: async (folder, kept) => {
      const { url: edgeUrl } = kept.use(await plantEdge());
      await writeCredential(folder, edgeUrl);
      const first = startRunner(folder, { edgeUrl });
      kept.defer(() => end(first));
      await expect.poll(() => readdir(folder), { timeout: PATIENCE_MS }).toContain("runner.sock");
      return { edgeUrl };
    },
    check: "runner's word",
    says: /in use by a runner, process \d+|second runner, process \d+, was started in \S+, which this one has/,
    advises: /a folder of its own by --data-dir/,
    isTold: true,
  },
  "too few open files": {
    plant: async () => ({ before: "ulimit -n 200" }),
    check: "open files",
    says: /may open 200 files/,
    advises: /ulimit -n 65536/,
  },
  "too little memory for a device's process": {
    plant: async () => ({ environment: { MILLRACE_PROCESS_MEMORY: "40MiB" } }),
    check: "memory",
    says: /device's process may have 40 MiB of memory/,
    advises: /Raise MILLRACE_PROCESS_MEMORY/,
  },
  "a driver that is lost": {
    plant: async (folder) => gpu({ VK_DRIVER_FILES: join(folder, "gone_icd.json") }),
    check: "vulkan",
    says: /VK_DRIVER_FILES names no usable driver: \S+gone_icd\.json is not there/,
    advises: /Unset VK_DRIVER_FILES/,
  },
  "no Vulkan loader": {
    plant: async (folder) => {
      const manifests = join(folder, "share/vulkan/icd.d");
      await mkdir(manifests, { recursive: true });
      const manifest = { ICD: { library_path: process.execPath } };
      await writeFile(join(manifests, "sound.json"), JSON.stringify(manifest));
      // A linker that knows one other library, before the system's own.
      await writeFile(join(folder, "ldconfig"), LINKER, { mode: 0o755 });
      const PATH = [folder, process.env["PATH"]].join(delimiter);
      return gpu({ XDG_DATA_DIRS: join(folder, "share"), PATH, LD_LIBRARY_PATH: "" });
    },
    check: "vulkan",
    says: /Vulkan loader, libvulkan\.so\.1, is not installed/,
    advises: /libvulkan1/,
  },
  "a GPU that is only software": {
    plant: async (folder) => gpu({ VK_DRIVER_FILES: join(folder, "gone_icd.json") }),
    check: "gpu",
    says: /no real GPU; in its stead the software GPU/,
    advises: /vendor's driver/,
  },
  "a device's process that dies at its start": {
    plant: async () => gpu({ NODE_OPTIONS: `--require ${join(import.meta.dirname, "../plants/die-in-gpu.cjs")}` }),
    check: "gpu",
    says: /(The process of gpu0 does not start|The GPU's driver fails): .*\(SIGABRT\)/,
    advises: /driver.*anew/s,
  },
};

function gpu(environment: Readonly<Record<string, string>>): Patient {
  return { environment: { MILLRACE_GPU: "auto", ...environment } };
}

let parent: string;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), "millrace-planted-"));
  await chmod(parent, 0o755);
});
afterAll(() => rm(parent, { recursive: true, force: true }));

const lanes = Array.from({ length: LANES }, () => Promise.resolve());

it.concurrent.each(Object.entries(ROWS))(
  "%s is named by the doctor and in the log",
  { timeout: 900_000 },
  (name, row) => {
    const index = Object.keys(ROWS).indexOf(name) % LANES;
    const turn = lanes[index]!.then(() => prove(name, row));
    lanes[index] = turn.catch(() => undefined);
    return expect(turn).resolves.toBeUndefined();
  },
);

async function prove(name: string, { plant, check, says, advises, isTold, isWhole }: Row): Promise<void> {
  await using kept = new AsyncDisposableStack();
  const folder = join(parent, name.replaceAll(/\W/g, "-"), "runner");
  await mkdir(folder, { recursive: true });
  await linkSoftwareGpu(folder);
  const patient = await plant(folder, kept);
  const { edgeUrl = "http://127.0.0.1:9", token } = patient;
  if (token === undefined && patient.uid === undefined)
    await writeCredential(folder, edgeUrl, "wx").catch(() => undefined);
  const startMs = performance.now();
  const runner = startRunner(folder, patient);
  kept.defer(() => end(runner));
  const asking = isTold ? null : isWhole ? askAll(folder, patient, check, advises) : askDoctor(folder, patient, check);
  const sound = timeSound(folder);
  sound.catch(() => undefined);
  const line = await readUntil(runner.stderr, says);
  const logMs = performance.now() - startMs;
  expect(line).toMatch(advises);
  const askedMs = performance.now();
  // What ends a runner is kept as it ends; what lasts, as it is told.
  const finding = await (asking ?? poll(() => askDoctor(folder, patient, check), says));
  const doctorMs = performance.now() - (isTold ? askedMs : startMs);
  expect(finding).toMatchObject({ check, found: expect.stringMatching(says), advice: expect.stringMatching(advises) });
  expect(finding.state).toMatch(/failure|warning/);
  const mostMs = withinMs(await sound);
  expect(logMs).toBeLessThan(mostMs);
  expect(doctorMs).toBeLessThan(mostMs);
  if (process.env["PLANTED_TABLE"]) {
    console.log(`| ${name} | ${(logMs / 1e3).toFixed(1)} | ${(doctorMs / 1e3).toFixed(1)} | ${finding.state} |`);
  }
}

/** How long a doctor takes now where there is nothing wrong, and nothing to wait for. */
async function timeSound(folder: string): Promise<number> {
  const startMs = performance.now();
  expect(await askDoctor(folder, {}, "proxy")).toMatchObject({ check: "proxy", state: "skipped" });
  return performance.now() - startMs;
}

async function poll(ask: () => Promise<Finding>, says: RegExp): Promise<Finding> {
  for (const endMs = performance.now() + PATIENCE_MS; ;) {
    const finding = await ask();
    if (says.test(finding.found) || performance.now() > endMs) return finding;
    await delay(100);
  }
}

function writeCredential(folder: string, edgeUrl: string, flag = "w"): Promise<void> {
  const linkUrl = `${edgeUrl.replace("http", "ws")}/v1/link`;
  const stored = { edgeUrl, linkUrl, runnerId: createId("runner"), credential: "mc_planted" };
  return writeFile(join(folder, "credential.json"), JSON.stringify(stored), { flag });
}

/** One of earlier runs, which takes seconds to unpack. */
async function linkSoftwareGpu(folder: string): Promise<void> {
  const names = await readdir(CACHE_DIR).catch(() => []);
  for (const name of names.filter((each) => /^swiftshader-[0-9a-f]+$/.test(each))) {
    await symlink(join(CACHE_DIR, name), join(folder, name));
  }
}

function start(program: string, args: readonly string[], patient: Patient, variables: NodeJS.ProcessEnv): ChildProcess {
  const { before = ":", uid, environment } = patient;
  const command = [process.execPath, join(ROOT, program), ...args];
  const shell = ["sh", "-c", `${before}; exec "$@"`, "sh", ...command];
  const [file = "", ...rest] = before.startsWith("mount") ? ["unshare", "-rm", ...shell] : shell;
  const inherited = Object.entries(process.env).filter(([key]) => !/proxy|^VK_|^MILLRACE_/i.test(key));
  return spawn(file, rest, {
    env: { ...Object.fromEntries(inherited), ...variables, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    ...(uid !== undefined && { uid, gid: uid }),
  });
}

function startRunner(folder: string, patient: Patient): ChildProcess {
  const { edgeUrl = "http://127.0.0.1:9", token } = patient;
  const registration = token === undefined ? {} : { MILLRACE_TOKEN: token };
  return start("src/gpu-runner/main.ts", [], patient, {
    MILLRACE_RUNNER_DIR: folder,
    MILLRACE_EDGE: edgeUrl,
    MILLRACE_GPU: "none",
    MILLRACE_STOP_GRACE_MS: "0",
    ...registration,
  });
}

/** The first whole line of a program's output with these words. */
async function readUntil(output: Readable | null, says: RegExp): Promise<string> {
  let text = "";
  output?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const ended = once(output!, "close").then(() => true);
  const endMs = performance.now() + PATIENCE_MS;
  for (let isOver = false; ;) {
    const found = text
      .split("\n")
      .slice(0, -1)
      .find((line) => says.test(line));
    if (found !== undefined) return found.replaceAll("\\", "");
    if (isOver || performance.now() > endMs) throw new Error(`the log does not say ${String(says)}:\n${text}`);
    isOver = await Promise.race([ended, delay(50, false)]);
  }
}

async function end(runner: ChildProcess): Promise<void> {
  if (runner.exitCode !== null || runner.signalCode !== null) return;
  const ended = once(runner, "exit");
  runner.kill("SIGKILL");
  await ended;
}

/** The finding of a check among all, as a person reads them: as they come. */
async function askAll(folder: string, patient: Patient, check: string, advises: RegExp): Promise<Finding> {
  const { edgeUrl = "http://127.0.0.1:9" } = patient;
  const asked = start("src/cli/main.ts", ["doctor", `--edge=${edgeUrl}`, `--runner-dir=${folder}`], patient, {
    HOME: parent,
  });
  try {
    const [line, advice] = await Promise.all([
      readUntil(asked.stdout, new RegExp(`^(FAILURE|warning) +${check} `)),
      readUntil(asked.stdout, advises),
    ]);
    return { check, state: "failure", found: line, advice };
  } finally {
    await end(asked);
  }
}

async function askDoctor(folder: string, patient: Patient, check: string): Promise<Finding> {
  const { edgeUrl = "http://127.0.0.1:9" } = patient;
  const args = ["doctor", "--json", `--only=${check}`, `--edge=${edgeUrl}`, `--runner-dir=${folder}`];
  const asked = start("src/cli/main.ts", args, patient, { HOME: parent });
  let text = "";
  asked.stdout?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  await once(asked, "close");
  const { findings } = JSON.parse(text) as { findings: Finding[] };
  return findings[0]!;
}
