import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConformanceReport, exitCodeOf } from "../../src/cli/conformance/render-report.ts";
import { runProgram } from "../../src/cli/program.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import type { ModelVersion } from "../../src/protocol/models/model.ts";
import { writeExternalModel } from "../edge/stack/external-model.ts";
import { encodePng } from "../unit/cli/encode-png.ts";
import { createTestShell, type Ended } from "../unit/cli/test-shell.ts";
import { wrapWav } from "../unit/cli/wrap-wav.ts";
import { type LocalStack, startLocalStack, waitFor } from "./local-stack.ts";
import { root } from "./run-npm.ts";

const program = join(root, "src/cli/main.ts");
const DIGIT = "models/lenet5/example-request.json";

/** For what compiles or calibrates while others have the machine. */
const SLOW_MS = 600_000;

let stack: LocalStack;
let folder: string;
beforeAll(async () => {
  stack = await startLocalStack();
  folder = await mkdtemp(join(tmpdir(), "millrace-cli-"));
  const added = await inProcess(["context", "add", "here", "--edge", stack.baseUrl, "--key", stack.adminKey]);
  expect(added).toMatchObject({ code: 0, err: "" });
  for (const name of ["lenet5", "cartpole", "bearing-fault"]) {
    expect(await millrace("models", "push", `models/${name}/${name}.onnx`)).toMatchObject({ code: 0, err: "" });
  }
  for (const model of ["lenet5", "cartpole", "bearing-fault"]) {
    await waitFor(`${model} to be placed on the runner`, async () => {
      const { items } = await stack.client.call(endpoints.listPlacements, { params: { model } });
      return items.find(({ state, backend }) => state === "eligible" && backend === "ort-cpu");
    });
  }
}, SLOW_MS);
afterAll(async () => {
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Variables of a person whose settings lie in the test's folder. */
function environment(change: Record<string, string> = {}): Record<string, string> {
  const own = Object.entries(process.env).filter(([name]) => !/^MILLRACE_|^(NO|FORCE)_COLOR$/.test(name));
  return { ...(Object.fromEntries(own) as Record<string, string>), XDG_CONFIG_HOME: folder, ...change };
}

/** The command in this process, where how it is started does not matter. */
async function inProcess(args: readonly string[], text?: string): Promise<Ended> {
  const shell = createTestShell({ env: environment(), folder: root, ...(text !== undefined && { text }) });
  await runProgram(args, shell);
  return shell.ended();
}

function millrace(...args: string[]): Promise<Ended> {
  return inProcess(args);
}

async function json<Value = Record<string, unknown>>(...args: string[]): Promise<Value> {
  const { code, out, err } = await millrace(...args, "--json");
  expect({ args, code, err }).toEqual({ args, code: 0, err: "" });
  expect(out.match(/\n/g)).toHaveLength(1);
  return JSON.parse(out) as Value;
}

/** The command as a process of its own, between pipes. */
async function piped(
  args: readonly string[],
  { input = "", env = {} }: { input?: string; env?: Record<string, string> } = {},
): Promise<Ended & { readonly signal: NodeJS.Signals | null }> {
  const child = spawn(process.execPath, [program, ...args], { cwd: root, env: environment(env) });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  child.stdin.end(input);
  const [code, signal] = (await once(child, "close")) as [number, NodeJS.Signals | null];
  return { code, out, err, signal };
}

describe("as a process between pipes", () => {
  it("reads a request on standard input, prints the answer, and has no colours unless forced", async () => {
    const request = JSON.stringify({
      budgetMs: 30_000,
      inputs: { observation: { data: [[0.01, -0.02, 0.03, 0.04]] } },
    });
    const plain = await piped(["infer", "cartpole", "-"], { input: request });
    expect(plain).toMatchObject({ code: 0, err: "" });
    expect(plain.out).toMatch(/^logits float32 \[1, 2\]\n/);
    expect(plain.out).not.toContain("\x1b");
    expect((await piped(["runner", "list"])).out).not.toContain("\x1b");
    expect((await piped(["runner", "list"], { env: { FORCE_COLOR: "1" } })).out).toContain("\x1b[32monline");
    const both = { FORCE_COLOR: "1", NO_COLOR: "1" };
    expect((await piped(["runner", "list"], { env: both })).out).not.toContain("\x1b");
  });

  it("keeps its compiled code for the next start", async () => {
    const { NODE_COMPILE_CACHE: _, ...env } = environment({ TMPDIR: folder });
    const child = spawn(process.execPath, [program, "--version"], { cwd: root, env, stdio: "ignore" });
    expect(await once(child, "close")).toEqual([0, null]);
    expect(await readdir(folder)).toContain("node-compile-cache");
  });

  it("turns lines of observations into lines of actions", async () => {
    const input = "[0.01,-0.02,0.03,0.04]\n\n[0.5,1,-0.1,-1]\n";
    const { code, out, err } = await piped(["act", "cartpole", "--observation", "-", "--budget", "30000"], { input });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^[01]\n[01]\n$/);
    const wrong = await piped(["act", "cartpole", "--budget", "30000"], { input: "[0,0,0,0]\n[1,2]\n" });
    expect(wrong.code).toBe(2);
    expect(wrong.out).toMatch(/^[01]\n$/);
    expect(wrong.err).toMatch(/^millrace: Line 2: .*\n$/);
  });

  it("checks a GPU until it is interrupted, and refuses a wrong command line", async () => {
    const options = ["device-suite", "--gpu", "software", "--only", "kernels", "--out", join(folder, "suite")];
    const child = spawn(process.execPath, [program, ...options], { cwd: root, env: environment({ HOME: folder }) });
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    // To this process alone, not to its group.
    child.stderr.once("data", () => child.kill("SIGINT"));
    expect(await once(child, "close")).toEqual([0, null]);
    expect(out).toMatch(/^\d+ passed, 0 failed, 1 skipped: .*report\.html\n$/);
    const wrong = (...args: string[]) => piped(["device-suite", ...args]);
    expect(await wrong("--limit-s", "soon")).toMatchObject({ code: 2, err: expect.stringContaining("--limit-s") });
    expect(await wrong("--only", "kernel")).toMatchObject({ code: 2, err: expect.stringContaining("names no part") });
    expect(await wrong("--out", program)).toMatchObject({ code: 2, err: expect.stringContaining("is no folder") });
  });

  it("ends quietly where whoever reads has enough", async () => {
    // More than a pipe holds.
    const line = `"$0" "$@" | head -c 1; echo " \${PIPESTATUS[0]}"`;
    const child = spawn("bash", ["-c", line, process.execPath, program, "kernels", "list", "--json"], {
      cwd: root,
      env: environment(),
    });
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    await once(child, "close");
    expect({ out, err }).toEqual({ out: "[ 0\n", err: "" });
  });

  it("leaves a job at Ctrl-C, which can be followed, cancelled, and told of by a code", async () => {
    const args = ["tune", "gemm", "--shape", "m=512,n=512,k=512", "--time", "120000", "--fresh"];
    const child = spawn(process.execPath, [program, ...args], { cwd: root, env: environment() });
    let err = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (!err.includes("taken by a runner") && (err + text).includes("taken by a runner")) child.kill("SIGINT");
      err += text;
    });
    const [code, signal] = (await once(child, "close")) as [number, NodeJS.Signals | null];
    expect({ code, signal }).toEqual({ code: 130, signal: null });
    const [, id = ""] = /(job_\w+) goes on\. Follow it: millrace jobs watch job_/.exec(err) ?? [];
    expect(await json("jobs", "show", id)).toMatchObject({ id, endedAt: null });
    expect(await millrace("jobs", "cancel", id)).toMatchObject({ code: 0 });
    expect(await millrace("jobs", "watch", id)).toMatchObject({ code: 11, out: "" });
  });
});

describe("models and requests", () => {
  it("are listed and shown with what was measured", async () => {
    const models = await json<{ name: string }[]>("models", "list");
    expect(models.map(({ name }) => name).toSorted()).toEqual(["bearing-fault", "cartpole", "lenet5"]);
    const { out } = await millrace("models", "show", "lenet5");
    expect(out).toContain("image: float32 n × 1 × 28 × 28");
    expect(out).toMatch(/^eligible +lenet5@1 fp32 +local cpu +ort-cpu +[\d.,]+ ms/m);
    expect(
      await json("models", "push", "models/lenet5/lenet5.onnx", "--data", "models/lenet5/held-out.safetensors"),
    ).toMatchObject({ model: { name: "lenet5" }, version: { version: 1, data: { metric: "accuracy" } } });
  });

  it(
    "send a model with weights in another file in parts, which a runner then serves",
    async () => {
      const [rows, columns] = [262_144, 9];
      const weights = new Float32Array(rows * columns).fill(0.5);
      const external = { location: "weights.bin", length: String(weights.byteLength) };
      const file = join(folder, "parts.onnx");
      await writeFile(file, writeExternalModel([{ name: "w", dims: [rows, columns], external }]));
      expect(await millrace("models", "push", file)).toMatchObject({
        code: 2,
        err: expect.stringContaining('lie in "weights.bin", which is none of the files given'),
      });
      await writeFile(join(folder, "weights.bin"), weights);
      const { version } = await json<{ version: ModelVersion }>("models", "push", file);
      expect(version.files.map(({ name, sizeBytes }) => [name, sizeBytes])).toEqual([
        ["model.onnx", expect.any(Number)],
        ["weights.bin", weights.byteLength],
      ]);
      expect((await json<{ version: ModelVersion }>("models", "push", file)).version.id).toBe(version.id);
      await waitFor("the model to be placed on the runner", async () => {
        const { items } = await stack.client.call(endpoints.listPlacements, { params: { model: "parts" } });
        return items.find(({ state, backend }) => state === "eligible" && backend === "ort-cpu");
      });
      const { out } = await millrace("models", "show", "parts");
      expect(out).toContain("not wgsl");
    },
    SLOW_MS,
  );

  it("ask by a file, by named inputs and by an array, within a budget", async () => {
    const digit = await json<{ outputs: { logits: { data: number[] } } }>(
      "infer",
      "lenet5",
      DIGIT,
      "--budget",
      "30000",
    );
    const { data } = digit.outputs.logits;
    expect(data.indexOf(Math.max(...data))).toBe(7);
    const { out } = await millrace("infer", "lenet5", DIGIT, "--budget", "30000", "--top", "2");
    expect(out).toMatch(/^logits float32 \[1, 10\]\n +7 .*\n +\d .*\n {2}model +lenet5@1 fp32/);
    expect(out).toMatch(/^ {2}compute +[·█]{40} {2}[\d.,]+ ms$/m);
    const wish = ["--budget", "30000"];
    const named = await json("infer", "cartpole", "--input", "observation=[0.01,-0.02,0.03,0.04]", ...wish);
    expect(named).toMatchObject({ outputs: { logits: { shape: [1, 2] } }, budgetMs: 30_000 });
    const array = await inProcess(["infer", "cartpole", "-", "--json", ...wish], "[[1,2,3,4],[4,3,2,1]]");
    expect(JSON.parse(array.out)).toMatchObject({ outputs: { logits: { shape: [2, 2] } } });
  });

  it("take a picture and a sound, and say what was done to them", async () => {
    const [picture, sound] = [join(folder, "digit.png"), join(folder, "bearing.wav")];
    const pixels = new Uint8Array(3 * 56 * 56).fill(255);
    await writeFile(picture, encodePng({ width: 56, height: 56, channels: 3, pixels }));
    const tone = Int16Array.from({ length: 700 }, (_, index) => 16_000 * Math.sin(index / 5));
    await writeFile(sound, wrapWav(1, 16, 1, Buffer.from(tone.buffer), { rateHz: 12_800 }));
    const seen = await millrace("infer", "lenet5", "--image", picture, "--budget", "30000", "--json");
    expect(seen).toMatchObject({ code: 0, err: "" });
    const told = await millrace("infer", "lenet5", "--image", picture, "--budget", "30000");
    expect(told).toMatchObject({ code: 0, err: "image: 56×56 pixels as 28×28 grey\n" });
    const white = JSON.stringify([Array.from({ length: 784 }, () => 1)]);
    const same = await inProcess([
      "infer",
      "lenet5",
      "--input",
      `image={"shape":[1,1,28,28],"data":${white.slice(1, -1)}}`,
      "--budget",
      "30000",
      "--json",
    ]);
    const logitsOf = ({ out }: Ended) =>
      (JSON.parse(out) as { outputs: { logits: { data: number[] } } }).outputs.logits.data;
    for (const [index, value] of logitsOf(seen).entries())
      expect(value).toBeCloseTo(logitsOf(same)[index] ?? Number.NaN, 2);
    const heard = await millrace("infer", "bearing-fault", "--wav", sound, "--budget", "30000");
    expect(heard).toMatchObject({ code: 0, err: "envelope: 700 samples at 12800 Hz: the first 40 ms as 512 values\n" });
    expect(heard.out).toContain("scores float32 [1, 4]");
  });

  it.each([
    [["infer", "lenet5", "--input", "image=[1,2]"], 2, "takes rows of 784 numbers; there are 2"],
    [["infer", "lenet5", "--input", "picture=[1]"], 2, "no input picture; it takes image: float32"],
    [["infer", "lenet5", "--image", "package.json"], 2, "it is no PNG file"],
    [["infer", "lenet5", "--wav", "package.json"], 2, "it is no WAV file"],
    [["infer", "lenet5", "no-such-file"], 2, "no such file"],
    [["infer", "lenet5"], 2, "Name a file"],
    [["infer", "lenet5", DIGIT, "--budget", "0"], 2, "--budget <ms>"],
    [["infer", "lenet5", DIGIT, "--refuse-within", "-1"], 2, "--refuse-within <ms>"],
    [["infer", "nobody", DIGIT], 5, "nobody"],
    [
      ["infer", "cartpole", "--input", "observation=[1,2,3,4]", "--budget", "0.1", "--confidence", "0.999"],
      8,
      "budget is 0.1 ms",
    ],
    [["act", "cartpole", "--observation", "left"], 2, "JSON array"],
    [["act", "nobody", "--observation", "[1]"], 5, "nobody"],
    [["models", "push", "package.json", "--name", "x"], 2, "ONNX"],
    [["models", "push", "models/lenet5/lenet5.onnx", "--name", "a b"], 2, "no name of a model"],
    [["models", "show", "nobody"], 5, "nobody"],
    [["runner", "status", "nobody"], 5, "There is no runner nobody; there is: local."],
    [["runner", "drain", "nobody"], 5, "no runner nobody"],
    [["bench", "nothing"], 5, "There is no kernel nothing"],
    [["bench", "triad", "--shape", "q=4"], 2, "#/shape"],
    [["bench", "triad", "--runner", "nobody"], 5, "no runner nobody"],
    [["bench", "triad", "--iterations", "0"], 2, "--iterations <n>"],
    [["validate", "lenet5", "--require", "speed"], 2, "latencyMs p99 <= 10"],
    [["validate", "lenet5", "--scenario", "server"], 2, "boundMs"],
    [["validate", "lenet5", "--requirements", "none-such"], 2, "#/requirements: is not the name"],
    [["validate", "lenet5", "--requirements", "a", "--require", "fidelity >= 1"], 2, "not both"],
    [["optimise", "nobody"], 2, "#/subject/model: is not a model"],
    [["tune", "nothing@1"], 2, "#/model: is not a model"],
    [["tune", "nothing"], 5, "There is no kernel and no model nothing"],
    [["evaluate", "cartpole", "--environment", "nowhere"], 2, "#/environment: is not an environment"],
    [["train", "nowhere"], 2, "#/environment: is not an environment"],
    [["train", "cartpole", "--algorithm", "prayer"], 2, "Allowed choices"],
    [["history", "--since", "yesterday"], 2, "12h or 7d"],
    [["jobs", "show", "job_1"], 2, "job"],
    [["jobs", "cancel", "job_00000000000000000000000000"], 5, "job"],
    [["kernels", "push", "package.json"], 2, "#/"],
    [["kernels", "push", "README.md"], 2, "holds no JSON"],
    [["keys", "create", "--name", "x", "--scope", "everything"], 2, "infer, submit, read, admin"],
    [["keys", "create", "--name", "x", "--scope", "read", "--project", "nobody"], 5, "no open project nobody"],
    [["keys", "revoke", "key_1"], 2, "id"],
    [["projects", "create", "not a name"], 2, "#/name"],
    [["projects", "create", "main"], 6, "project main already"],
    [["projects", "close", "nobody"], 5, "no project nobody"],
    [["projects", "close", "main"], 6, "cannot be closed"],
    [["projects", "quotas", "nobody"], 5, "no project nobody"],
    [["projects", "quotas", "--set", "models=1"], 2, "Name the project"],
    [["projects", "quotas", "main", "--set", "castles=1"], 2, "must name one of models"],
    [["projects", "quotas", "main", "--set", "models=many"], 2, "--set <quota=limit...>"],
    [["projects", "quotas", "main", "--set", "models=1=2"], 2, "must be a quota, =, and a number or default"],
    [["runner", "share", "nobody"], 5, "no runner nobody"],
    [["context", "use", "nowhere"], 5, "There is no context nowhere; there is: here."],
    [["jobs", "list", "--key", "mk_wrong"], 4, "--key"],
  ] as const)("refuse %j by the code %i", async (args, code, reason) => {
    const told = await millrace(...args);
    expect(told.err).toContain(reason);
    expect(told).toMatchObject({ code, out: "" });
    expect(told.err).toMatch(/^millrace: [^\n]+\n$/);
    const asJson = await millrace(...args, "--json");
    expect(asJson).toMatchObject({ code, out: "" });
    expect(JSON.parse(asJson.err)).toMatchObject({ status: expect.any(Number), code: expect.any(String) });
  });
});

describe("jobs", () => {
  it("are submitted, followed and summed up", async () => {
    const { code, out, err } = await millrace(
      "bench",
      "triad",
      "--shape",
      "n=65536",
      "--iterations",
      "10",
      "--runner",
      "local",
    );
    expect(code).toBe(0);
    expect(err).toMatch(/^queued\n/);
    expect(out).toMatch(/^ {2}kernel +triad n=65536 \(grid-stride, float32/);
    expect(out).toMatch(/^ {2}submitted to done +p50 .* n 10/m);
    const result = await json("bench", "triad", "--shape", "n=65536", "--iterations", "10");
    expect(result).toMatchObject({ state: "succeeded", result: { kind: "benchmark", wallMs: { count: 10 } } });
  });

  it("can be left at once, and watched later", async () => {
    const detached = await millrace("bench", "triad", "--shape", "n=65536", "--iterations", "10", "--detach");
    expect(detached).toMatchObject({ code: 0, err: "" });
    const id = detached.out.trim();
    expect(id).toMatch(/^job_\w{26}$/);
    const watched = await millrace("jobs", "watch", id, "--json");
    expect(watched).toMatchObject({ code: 0, err: "" });
    const events = watched.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(events.at(0)?.type).toBe("queued");
    expect(events.at(-1)?.type).toBe("succeeded");
    expect((await millrace("jobs", "show", id)).out).toContain("triad n=65536");
    const list = await json<{ id: string }[]>("jobs", "list", "--state", "succeeded");
    expect(list.map((job) => job.id)).toContain(id);
  });

  it("of validations end by their verdict", async () => {
    const quick = ["--scenario", "singleStream:minDurationMs=200,minQueries=70", "--device", "cpu"];
    const passed = await millrace("validate", "lenet5", ...quick, "--require", "latencyMs p50 <= 10000");
    expect(passed.code).toBe(0);
    expect(passed.out).toMatch(/^latencyMs p50 <= 10000 +PASS .* single stream, on the runner$/m);
    const failed = await millrace("validate", "lenet5", ...quick, "--require", "latencyMs p50 <= 0.000001");
    expect(failed.code).toBe(1);
    expect(failed.out).toMatch(/^ {2}verdict +FAIL$/m);
    // A percentile that so few queries say nothing of.
    const few = [
      "--scenario",
      "singleStream:minDurationMs=100,minQueries=1",
      "--require",
      "latencyMs p99.9999 <= 10000",
    ];
    expect(await verdictOf("validate", "lenet5", ...few)).toMatchObject({ code: 3, verdict: "insufficient" });
  });

  it("of optimisations end by whether anything reaches the targets", async () => {
    const found = await millrace("optimise", "cartpole", "--latency", "100000", "--time", "15000");
    expect(found.code).toBe(0);
    expect(found.out).toMatch(/^ {2}verdict +FOUND$/m);
    const none = await millrace(
      "optimise",
      "cartpole",
      "--latency",
      "0.000001",
      "--percentile",
      "p50",
      "--time",
      "15000",
    );
    expect(none.code).toBe(1);
    expect(none.out).toContain("INFEASIBLE");
    expect(none.out).toMatch(/^fp32 on cpu .* NEAREST/m);
  });

  it(
    "of tunings and evaluations are summed up",
    async () => {
      const tuned = await millrace("tune", "triad", "--shape", "n=65536", "--time", "2000");
      expect(tuned.code).toBe(0);
      expect(tuned.out).toMatch(/^ {2}best +grid-stride /m);
      const evaluated = await millrace("evaluate", "cartpole", "--environment", "cartpole", "--episodes", "10");
      expect(evaluated.code).toBe(0);
      expect(evaluated.out).toMatch(/^cartpole@1 +[\d.,]+ \[[\d.,]+, [\d.,]+\]/m);
    },
    SLOW_MS,
  );

  it(
    "of trainings end by whether they reach what they shall, and what is published acts",
    async () => {
      const training = ["train", "cartpole", "--generations", "2", "--episodes", "2", "--population", "8"];
      const trained = await millrace(...training, "--publish", "fresh-policy");
      expect(trained.code).toBe(0);
      expect(trained.out).toMatch(/^ {2}curve +/m);
      expect(await millrace(...training, "--stop-at", "100000")).toMatchObject({ code: 1 });
      await waitFor("the policy to be placed", async () => {
        const acted = await millrace("act", "fresh-policy", "--observation", "[0,0,0,0]", "--budget", "30000");
        return acted.code === 0 && /^[01]\n$/.test(acted.out) ? acted : undefined;
      });
    },
    SLOW_MS,
  );

  it(
    "check a kernel that is pushed, which then runs by its name",
    async () => {
      const pushed = await millrace("kernels", "push", "kernels/gemm/example-submission.json");
      expect(pushed.code).toBe(0);
      const [id = ""] = pushed.out.split("\n");
      expect(await json("kernels", "push", "kernels/gemm/example-submission.json")).toMatchObject({
        id,
        state: "valid",
      });
      expect((await millrace("kernels", "list")).out).toMatch(new RegExp(`^textbook-gemm +valid .*${id}$`, "m"));
      expect(await json("kernels", "run", "textbook-gemm")).toMatchObject({
        result: { kind: "benchmark", kernel: id },
      });
    },
    SLOW_MS,
  );
});

describe("what stays", () => {
  it("is the history, as series with their course and one of them as a table", async () => {
    await json("bench", "copy", "--shape", "n=65536", "--iterations", "10");
    const all = await millrace("history", "copy", "--since", "1h");
    expect(all.code).toBe(0);
    expect(all.out).toMatch(/^copy wallMs .*[▁▂▃▄▅▆▇█] +[\d.,]+ ms +10$/m);
    const one = await millrace("history", "copy", "--metric", "wallMs", "--since", "1h", "--step", "1h");
    expect(one.out).toMatch(/^copy wallMs .*\nat +samples +min +p50/);
    expect(await json("history", "copy", "--metric", "wallMs")).toMatchObject({ groups: [{ metric: "wallMs" }] });
    expect((await millrace("history", "nothing-of-this")).out).toMatch(/^Nothing was measured/);
  });

  it("is a runner that can be drained, resumed and asked how it is", async () => {
    expect((await millrace("runner", "drain", "local")).out).toBe("local is draining\n");
    expect(await millrace("runner", "resume", stack.runnerId)).toMatchObject({ code: 0, out: "local is online\n" });
    const status = await json<{ runner: object; diagnosis: object }>("runner", "status", "local");
    expect(status).toMatchObject({ runner: { id: stack.runnerId }, diagnosis: { checks: expect.any(Array) } });
    expect((await millrace("runner", "status")).out).toMatch(/^local rnr_\w+\n {2}state +online/);
  });

  it("is a key that works until it is revoked", async () => {
    const created = await millrace("keys", "create", "--name", "reader", "--scope", "read");
    const secret = created.out.trim();
    expect(secret).toMatch(/^mk_/);
    const [, id = ""] = /^(key_\w+): reader may read/.exec(created.err) ?? [];
    expect(await millrace("jobs", "list", "--key", secret)).toMatchObject({ code: 0 });
    expect(await millrace("keys", "list", "--key", secret)).toMatchObject({ code: 4 });
    expect(await json("keys", "revoke", id)).toMatchObject({ id, name: "reader" });
    expect(
      (await json<{ id: string; revokedAt: string | null }[]>("keys", "list")).find((key) => key.id === id)?.revokedAt,
    ).not.toBeNull();
  });

  it("is a project with keys of its own, that sees what is shared and ends when it is closed", async () => {
    expect((await millrace("projects", "create", "tenant")).out).toBe("tenant is open\n");
    const created = await millrace("keys", "create", "--name", "first", "--scope", "admin", "--project", "tenant");
    expect(created.err).toContain("first may admin in tenant");
    const theirs = ["--key", created.out.trim()];
    expect(await json("runner", "list", ...theirs)).toEqual([]);
    expect(await json("models", "list", ...theirs)).toEqual([]);
    expect(await millrace("projects", "list", ...theirs)).toMatchObject({ code: 4 });
    await millrace("projects", "quotas", "tenant", "--set", "models=0", "keys=7");
    const set = await millrace("projects", "quotas", "tenant", "--set", "storedBytes=1GiB", "keys=default");
    expect(set.out).toMatch(/^models +models +0 of 0 +set$/m);
    expect(set.out).toMatch(/^storedBytes +files +0 B of 1 GiB +set$/m);
    expect(set.out).toMatch(/^keys +keys +1 of 1,000$/m);
    const own = await json<{ project: string; quotas: object[] }>("projects", "quotas", ...theirs);
    expect(own.quotas).toContainEqual({ name: "models", used: 0, limit: 0, isSet: true });
    expect(await millrace("projects", "quotas", "tenant", "--set", "models=9", ...theirs)).toMatchObject({ code: 4 });
    const refused = await millrace("models", "push", "models/lenet5/lenet5.onnx", "--name", "lenet5", ...theirs);
    expect(refused).toMatchObject({ code: 6, out: "" });
    expect(refused.err).toContain("quota `models` of 0");
    expect((await millrace("runner", "share", "local")).out).toBe("local works for all projects\n");
    expect(await json("runner", "list", ...theirs)).toMatchObject([{ name: "local", shared: true, owned: false }]);
    expect((await millrace("runner", "list", ...theirs)).out).toMatch(/^online +local .* another's /m);
    expect((await millrace("runner", "status", "local", ...theirs)).out).toContain("shared by another project");
    expect(await millrace("runner", "drain", "local", ...theirs)).toMatchObject({ code: 5 });
    expect((await millrace("runner", "unshare", "local")).out).toBe("local works for its own project\n");
    expect((await millrace("runner", "list")).out).toMatch(/^online +local .* ours /m);
    expect((await millrace("projects", "close", "tenant")).out).toBe("tenant is closed\n");
    expect(await json<object[]>("projects", "list")).toEqual([
      { name: "main", createdAt: null, closedAt: null },
      { name: "tenant", createdAt: expect.any(String), closedAt: expect.any(String) },
    ]);
    expect((await millrace("projects", "list")).out).toMatch(/^main +/m);
    expect(await millrace("runner", "list", ...theirs)).toMatchObject({ code: 4 });
  });

  it("is named by completion", async () => {
    expect((await millrace("completion", "names", "model")).out.split("\n")).toContain("lenet5");
    expect((await millrace("completion", "names", "runner")).out).toBe("local\n");
    expect((await millrace("completion", "names", "context")).out).toBe("here\n");
  });

  it("judges how it keeps deadlines, as any server, by the model's metadata", async () => {
    const keyFile = join(folder, "conformance.key");
    await writeFile(keyFile, `${stack.adminKey}\n`);
    const place = ["--url", stack.baseUrl, "--model", "bearing-fault", "--key-file", keyFile];
    const short = [
      "--only",
      "expiry,cancellation",
      "--overload-s",
      "1",
      "--late-share",
      "0.5",
      "--max-s",
      "240",
      "--json",
    ];
    const { code, out, err } = await millrace("conformance", ...place, "--deadline", "millrace-oip", ...short);
    expect(err).toBe("");
    const report = JSON.parse(out) as ConformanceReport;
    expect(report.baseline.capacityPerSecond).toBeGreaterThan(0);
    expect(report.properties.map(({ property }) => property)).toEqual(["expiry", "cancellation"]);
    expect(report.properties[0]?.figures["requests"]).toBeGreaterThan(0);
    expect(code).toBe(exitCodeOf(report.properties));
    expect(report.url).toBe(`${stack.baseUrl}/v2/models/bearing-fault/infer`);
  });
});

/** The verdict and the code of a job that does not end with 0. */
async function verdictOf(...args: string[]): Promise<{ readonly code: number; readonly verdict: unknown }> {
  const { code, out } = await millrace(...args, "--json");
  return { code, verdict: (JSON.parse(out) as { result: { verdict: unknown } }).result.verdict };
}
