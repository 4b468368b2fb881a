import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { InferenceBackend } from "../../src/gpu-runner/serving/queue/inference-server.ts";
import { writeCredential } from "../../src/gpu-runner/link/registration.ts";
import { decodeFrame, splitTensors } from "../../src/protocol/wire/frame.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import { EdgeMessage, FrameOffer, InferResult, LINK_VERSION, RunnerMessage } from "../../src/protocol/link.ts";
import { parseProblem, PROBLEMS } from "../../src/protocol/wire/problem.ts";
import { VERSION } from "../../src/protocol/wire/release.ts";
import type { RunnerScript } from "../edge/stack/runner-script.ts";
import { capabilities } from "../edge/stack/samples.ts";
import { readConversation, type Spoken } from "./link-v1/read-conversation.ts";
import { bringOnline, connectRunner, type LiveEdge, registerRunner, startLiveEdge } from "./live-edge.ts";
import { type LiveRunner, startLiveRunner } from "./live-runner.ts";
import { type HubConnection, ScriptedHub } from "./scripted-hub.ts";

/** Ends of different releases: they work together, or one says which release to install (docs/protocol.md, Versions). */

const program = join(import.meta.dirname, "../../src/cli/main.ts");
/** Pings are rare: a slow machine is no silent edge. */
const intervals = { pingMs: 20_000, heartbeatMs: 60, leaseMs: 60_000, resendMs: 1_000 };
const answerAll: InferenceBackend["infer"] = async (_model, tensors) => ({
  tensors: [...tensors],
  times: { uploadMs: 0, computeMs: 0, readbackMs: 0 },
});
const spoken = await readConversation();
const saidBy = (from: Spoken["from"]) => spoken.filter((each) => each.from === from);

describe("what release 0.1.0 said over millrace.v1", () => {
  const typesOf = (union: typeof RunnerMessage | typeof EdgeMessage) =>
    union.options.map((option) => option.shape.type.value).toSorted();

  it("is understood today, and no field of it is dropped", () => {
    expect(LINK_VERSION).toBe(1);
    for (const { from, message, frame } of spoken) {
      if (message !== null) {
        const schema = from === "runner" ? RunnerMessage : EdgeMessage;
        expect(schema.parse(message)).toEqual(message);
        continue;
      }
      const decoded = decodeFrame(frame ?? new Uint8Array());
      if (!decoded.ok) throw new Error(decoded.message);
      const header = from === "runner" ? InferResult.parse(decoded.header) : FrameOffer.parse(decoded.header);
      expect(header).toEqual(decoded.header);
      expect(splitTensors(header.tensors, decoded.payload)).toMatchObject({ ok: true });
    }
  });

  it("has every message that it knew", () => {
    const types = (from: Spoken["from"]) => [...new Set(saidBy(from).map(({ message }) => message?.type ?? "frame"))];
    // Messages that came later are optional to both: they are not part of that conversation.
    expect(typesOf(RunnerMessage)).toEqual(expect.arrayContaining(types("runner").filter((type) => type !== "frame")));
    expect(typesOf(EdgeMessage)).toEqual(expect.arrayContaining(types("edge").filter((type) => type !== "frame")));
    expect([types("runner").length, types("edge").length]).toEqual([13, 14]);
  });
});

describe("an edge of this release", () => {
  let edge: LiveEdge;
  let script: RunnerScript;
  beforeAll(async () => {
    // Scripted runners do not ping: none of them is silent, however long a test takes.
    edge = await startLiveEdge({ variables: { PING_MS: "60000" } });
  });
  afterEach(() => script.socket.close());
  afterAll(() => edge.stop());

  /** Earlier messages were accepted: the edge answers on the same socket. */
  const stateOf = async () => {
    script.send({ type: "echo", id: 7_000 });
    const answered = { type: "echoReply", id: 7_000 };
    await vi.waitFor(() => expect(script.received).toContainEqual(answered), { timeout: 60_000 });
    return script.closed ?? "open";
  };

  it("takes everything that a runner of release 0.1.0 says", async () => {
    script = await connectRunner(await registerRunner(edge));
    for (const { message, frame } of saidBy("runner")) script.socket.send(frame ?? JSON.stringify(message));
    expect(await script.next("welcome")).toMatchObject({ version: VERSION });
    expect(await stateOf()).toBe("open");
    // Outcomes of leases that it never gave: settled, so that they are not sent for ever.
    expect((await script.next("jobSettled")).stored).toBe(false);
  });

  it("takes a runner that announces the least that one may", async () => {
    script = await connectRunner(await registerRunner(edge));
    const { kernels, userKernels: _userKernels, ...least } = capabilities;
    const named = kernels.map(({ name, description, dimensions, dtypes, variants }) => {
      return { name, description, dimensions, dtypes, variants };
    });
    script.send({ type: "hello", capabilities: { ...least, kernels: named }, running: [] });
    await script.next("welcome");
    expect(await stateOf()).toBe("open");
  });

  it("takes a newer runner, and ignores the fields and messages that it does not know", async () => {
    script = await connectRunner(await registerRunner(edge));
    const later = { ...capabilities, version: "9.0.0", quantum: { qubits: 3 } };
    script.socket.send(JSON.stringify({ type: "hello", capabilities: later, running: [], mood: "good" }));
    await script.next("welcome");
    for (let i = 0; i < 3; i++) script.socket.send(JSON.stringify({ type: "entanglement", pairs: [i] }));
    expect(await stateOf()).toBe("open");
  });

  it.each([
    ["millrace.v0", `install release ${VERSION} of the runner`],
    ["millrace.v2", `bring the edge to the runner's release, or install release ${VERSION} of the runner`],
    ["chat", `install release ${VERSION} of the runner`],
  ])("refuses one that speaks %s alone, and names the release to install", async (protocol, mend) => {
    const runner = await registerRunner(edge);
    script = await bringOnline(runner);
    const headers = { authorization: `Bearer ${runner.credential}`, "sec-websocket-protocol": protocol };
    const response = await fetch(`${edge.url}/v1/link`, { headers });
    const problem = parseProblem(await response.text())?.problem;
    expect(response.status).toBe(400);
    expect(problem).toMatchObject({
      code: "upgrade-required",
      detail: `The edge is release ${VERSION} and speaks millrace.v1, the runner ${protocol}: ${mend}.`,
      errors: [{ pointer: "header/sec-websocket-protocol" }, { pointer: "header/upgrade" }],
    });
  });
});

describe("a runner of this release", () => {
  let hub: ScriptedHub;
  let runner: LiveRunner;
  let connection: HubConnection;
  beforeEach(async () => {
    hub = await ScriptedHub.start();
    runner = startLiveRunner(hub.port, answerAll);
    connection = await hub.nextConnection();
    await connection.next("hello");
  });
  afterEach(async () => {
    await runner.stop();
    await hub.stop();
  });

  /** Earlier messages were accepted: the runner answers on the same socket, its only one. */
  const socketsUsed = async () => {
    const requestId = createId("request");
    connection.send({ type: "memoryRequest", requestId });
    // Others may come first, to questions of the conversation.
    while ((await connection.next("memoryReport")).requestId !== requestId);
    return hub.connections.length;
  };

  it("takes everything that an edge of release 0.1.0 says", async () => {
    for (const { message, frame } of saidBy("edge")) {
      if (frame !== null) connection.sendFrame(frame);
      else connection.sendText(JSON.stringify(message));
    }
    // No model lies here that it could answer with.
    const asked = saidBy("edge").flatMap(({ frame }) => (frame === null ? [] : [decodeFrame(frame)]));
    const { requestId } = await connection.next("inferFailed");
    expect(asked).toMatchObject([{ header: { requestId } }]);
    expect(await socketsUsed()).toBe(1);
  });

  it("takes a newer edge, and ignores the fields and messages that it does not know", async () => {
    const welcome = { type: "welcome", runnerId: createId("runner"), version: "9.0.0", placed: [], shard: 3 };
    connection.sendText(JSON.stringify({ ...welcome, intervals: { ...intervals, auditMs: 5 } }));
    connection.sendText(JSON.stringify({ type: "entanglement", pairs: [1] }));
    await connection.next("heartbeat");
    expect(await socketsUsed()).toBe(1);
  });

  it("gives a job back that only a newer release knows, and says which", async () => {
    connection.send({ type: "welcome", runnerId: createId("runner"), version: "9.0.0", intervals, placed: [] });
    await connection.next("heartbeat");
    const lease = { jobId: createId("job"), epoch: 2 };
    connection.sendText(JSON.stringify({ type: "offer", lease, attempt: 1, spec: { kind: "teleport" }, model: null }));
    expect(await connection.next("jobOutcome")).toEqual({
      type: "jobOutcome",
      lease,
      outcome: {
        ok: false,
        problem: expect.objectContaining({
          code: "upgrade-required",
          detail: `The runner is release ${VERSION} and does not know this teleport: install release 9.0.0 of it.`,
        }),
      },
    });
    expect(await socketsUsed()).toBe(1);
  });
});

describe("the runner's program", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-skew-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each([
    ["9.0.0", "millrace.v9", "install release 9.0.0 of the runner"],
    ["0.0.9", "millrace.v0", "bring the edge to the runner's release, or install release 0.0.9 of the runner"],
  ])("before an edge of release %s that speaks %s ends, and says what to install", async (version, protocol, mend) => {
    const edge = createServer((incoming, outgoing) => {
      const isHealth = incoming.url === "/v1/health";
      outgoing.writeHead(isHealth ? 200 : 400, { "content-type": "application/json" });
      outgoing.end(JSON.stringify(isHealth ? { status: "ok", version, linkProtocols: [protocol] } : {}));
    });
    edge.on("upgrade", (_incoming, stream) => stream.end("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"));
    await new Promise<void>((resolve) => void edge.listen(0, "127.0.0.1", resolve));
    const host = `127.0.0.1:${(edge.address() as AddressInfo).port}`;
    const credential = {
      edgeUrl: `http://${host}`,
      linkUrl: `ws://${host}/v1/link`,
      runnerId: createId("runner"),
      credential: "mc_1",
    };
    await writeCredential(folder, credential);
    const args = [program, "runner", "start", "--data-dir", folder, "--gpu", "none"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
    try {
      let stderr = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
      const [code] = await once(child, "close");
      expect(stderr).toContain(
        `The edge is release ${version} and speaks ${protocol}, the runner millrace.v1: ${mend}.`,
      );
      expect(code).toBe(PROBLEMS["upgrade-required"].exitCode);
    } finally {
      child.kill();
      edge.closeAllConnections();
      edge.close();
    }
  });
});
