import { request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { FRAME_MEDIA_TYPE } from "../../../src/protocol/inference/inference.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { writeModel } from "../../../src/onnx/write-model.ts";
import type { Attacker } from "../attacker/attacker.ts";
import { placeNetwork } from "../attacker/own-runner.ts";
import { writeNetwork, writeRequest } from "../served-network.ts";
import type { Attack } from "./attack.ts";

const INFER = "/v1/infer";
const TRICKLE_BYTES = 32 * 1_024;
const TRICKLE_MS = 100;

/** Eight million bytes of JSON that hold an inference of four million numbers. */
function writeLargeJson(): string {
  const [head, tail] = ['{"model":"nobody","budgetMs":500,"inputs":{"x":{"data":[', "0]}}}"];
  const zeros = Math.floor((LIMITS.inferBodyBytes - head.length - tail.length) / 2);
  return head + "0,".repeat(zeros) + tail;
}

/** JSON nested as deeply as its limit of nodes allows. */
function nest(head: string, depth: number, tail: string): string {
  return head + "[".repeat(depth) + "]".repeat(depth) + tail;
}

export const BODY_ATTACKS: readonly Attack[] = [
  {
    name: "large-inferences",
    does: "sixteen inferences at once of four million numbers in 8 MiB of JSON",
    prepare: (attacker) => {
      const body = writeLargeJson();
      return () => attacker.flood(16, () => attacker.ask("POST", INFER, { body }));
    },
  },
  {
    name: "packed-inferences",
    does: "sixteen of the same at once, each sent as eight kilobytes of gzip",
    prepare: (attacker) => {
      const body = gzipSync(writeLargeJson());
      const headers = { "content-type": "application/json", "content-encoding": "gzip" };
      return () => attacker.flood(16, () => attacker.ask("POST", INFER, { body: new Uint8Array(body), headers }));
    },
  },
  {
    name: "slow-bodies",
    does: "two hundred bodies of 8 MiB that come slowly",
    prepare: (attacker) => () => attacker.flood(200, () => trickle(attacker)),
  },
  {
    name: "deep-json",
    does: "JSON that is nested as deeply as its size allows",
    prepare: (attacker) => {
      const job = nest("", LIMITS.jsonNodes, "");
      const inference = nest('{"model":"nobody","budgetMs":500,"inputs":{"x":{"data":', LIMITS.jsonNodes - 8, "}}}");
      return () =>
        attacker.flood(16, (count) => {
          const [path, body] = count % 2 === 0 ? ["/v1/jobs", job] : [INFER, inference.padEnd(300_000)];
          return attacker.ask("POST", path, { body });
        });
    },
  },
  {
    name: "edge-networks",
    does: "twenty clients with thirty-two rows for the largest network that the edge computes by itself",
    prepare: async (attacker) => {
      const form = { widths: [1_000, 1_000, 8], input: "x", output: "y" };
      await placeNetwork(attacker, "dense", writeNetwork(form, 4), "edge-wasm");
      const wishes = { model: "dense", budgetMs: 10_000, backend: "edge-wasm" };
      const body = writeRequest(form, LIMITS.edgeRows, wishes);
      const headers = { "content-type": FRAME_MEDIA_TYPE };
      return () => attacker.flood(20, () => attacker.ask("POST", INFER, { body, headers }));
    },
  },
  {
    name: "model-checks",
    does: "eight checks at once of a model of a quarter of a million parts",
    prepare: (attacker) => {
      const body = writeManyParts();
      return () => attacker.flood(8, () => attacker.ask("POST", "/v1/models/check", { body }));
    },
  },
  {
    name: "large-reports",
    does: "eight reports at once of as many values as one may have",
    prepare: (attacker) => {
      const values = Array.from({ length: LIMITS.reportedSamples }, (_, index) => index % 100);
      const measured = (subject: string) => ({ subject, metric: "wallMs", unit: "ms", values });
      return () =>
        attacker.flood(8, (count) => {
          const measurements = ["a", "b", "c"].map(measured);
          return attacker.ask("POST", "/v1/history/points", { body: { run: `values-${count}`, measurements } });
        });
    },
  },
];

/** Sends one body bit by bit; counts the answer, or that the connection broke. */
async function trickle({ url, key, signal, answers }: Attacker): Promise<void> {
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": FRAME_MEDIA_TYPE,
    "content-length": LIMITS.inferBodyBytes,
  };
  const outgoing = request(new URL(INFER, url), { method: "POST", agent: false, headers, signal });
  const ended = new Promise<string>((resolve) => {
    outgoing.once("response", (reply) => {
      reply.resume();
      resolve(String(reply.statusCode));
    });
    outgoing.once("error", () => resolve("no answer"));
  });
  const answer = ended.then((text) => void (signal.aborted || answers.count(text)));
  const chunk = new Uint8Array(TRICKLE_BYTES);
  for (let sent = 0; sent < LIMITS.inferBodyBytes && !signal.aborted && !outgoing.destroyed; sent += TRICKLE_BYTES) {
    outgoing.write(chunk);
    await Promise.race([delay(TRICKLE_MS), answer]);
  }
  outgoing.end();
  await answer;
}

/** A model of as many parts as one may have: nodes with attributes. */
function writeManyParts(): Uint8Array<ArrayBuffer> {
  const attributes = new Map(Array.from({ length: 14 }, (_, at) => [`a${at}`, { kind: "int", value: at } as const]));
  const nodes = Array.from({ length: LIMITS.modelNodes }, (_, at) => ({
    name: "",
    domain: "",
    operator: "Identity",
    inputs: [at === 0 ? "x" : `v${at}`],
    outputs: [`v${at + 1}`],
    attributes,
  }));
  const value = (name: string) => ({ name, dtype: "float32", shape: [1] }) as const;
  return writeModel({
    irVersion: 8,
    opset: 17,
    domains: new Map(),
    name: "parts",
    nodes,
    weights: new Map(),
    inputs: [value("x")],
    outputs: [value(`v${LIMITS.modelNodes}`)],
  });
}
