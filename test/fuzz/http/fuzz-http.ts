import * as fc from "fast-check";
import { describeRequest, type FuzzRequest } from "./fuzz-request.ts";
import { measureEdgeBytes, startFuzzedStack } from "./fuzzed-stack.ts";
import { KnownValues } from "./known-values.ts";
import { listOperations, type OpenApiDocument } from "./operation.ts";
import { ReplyJudge } from "./reply-judge.ts";
import { requestsFor } from "./request-arbitrary.ts";
import { SchemaArbitraries } from "../schema-arbitraries.ts";
import { RequestSender } from "./send-request.ts";

/** Requests that are created at once, from the values known then. */
const CHAPTER = 500;
const CONNECTIONS = 16;
/** Far longer than any request: one that takes this long is considered hung. */
const DEADLINE_MS = 60_000;

export interface HttpFinding {
  readonly operationId: string;
  readonly what: string;
  /** The first request that showed it, and how many did. */
  readonly request: string;
  count: number;
}

export interface HttpOutcome {
  readonly requests: number;
  readonly seconds: number;
  readonly operations: number;
  /** Replies by status; `cut` and `failed` are those without one. */
  readonly byStatus: Readonly<Record<string, number>>;
  /** Replies of the operation with the fewest. */
  readonly fewestReplies: number;
  /** Operations that never succeeded. */
  readonly neverDone: readonly string[];
  readonly edgeBytesBefore: number | null;
  readonly edgeBytesAfter: number | null;
  readonly findings: readonly HttpFinding[];
}

/** Sends requests for every operation of a running edge's own document, and judges every reply. */
export async function fuzzHttp(requests: number, seed: number, say: (text: string) => void): Promise<HttpOutcome> {
  const known = new KnownValues();
  const { stack, secrets, files } = await startFuzzedStack(known);
  const sender = new RequestSender(stack.baseUrl, CONNECTIONS, DEADLINE_MS);
  try {
    const document = (await (await fetch(`${stack.baseUrl}/openapi.json`)).json()) as OpenApiDocument;
    const operations = listOperations(document);
    const schemas = new SchemaArbitraries(document.components.schemas, known);
    const arbitraries = operations.map((operation) => requestsFor(operation, { schemas, known, secrets, files }));
    const tally = new HttpTally(new ReplyJudge(document, operations), known);
    const edgeBytesBefore = await measureEdgeBytes();
    const startedMs = performance.now();
    for (let sent = 0, chapter = 0; sent < requests; chapter++) {
      const size = Math.min(CHAPTER, requests - sent);
      // Every operation in turn, wherever a chapter ends.
      const queue = Array.from({ length: size }, (_, at) => {
        const place = sent + at;
        const arbitrary = arbitraries[place % arbitraries.length]!;
        return fc.sample(arbitrary, { seed: seed + place, numRuns: 1 })[0]!;
      });
      await sendAll(queue, sender, tally);
      sent += size;
      if (chapter % 20 === 19) say(`${sent} requests, ${tally.findings.length} findings`);
    }
    await fetch(`${stack.baseUrl}/v1/health`);
    const seconds = (performance.now() - startedMs) / 1_000;
    const edgeBytesAfter = await measureEdgeBytes();
    return {
      requests,
      seconds,
      operations: operations.length,
      edgeBytesBefore,
      edgeBytesAfter,
      ...tally.outcome(operations),
    };
  } finally {
    sender.close();
    await stack.stop();
  }
}

async function sendAll(queue: FuzzRequest[], sender: RequestSender, tally: HttpTally): Promise<void> {
  const work = async () => {
    for (let request = queue.pop(); request !== undefined; request = queue.pop()) {
      tally.add(request, await sender.send(request));
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
}

class HttpTally {
  readonly findings: HttpFinding[] = [];
  readonly #judge: ReplyJudge;
  readonly #known: KnownValues;
  readonly #byStatus = new Map<string, number>();
  readonly #byOperation = new Map<string, number>();
  readonly #done = new Set<string>();

  constructor(judge: ReplyJudge, known: KnownValues) {
    this.#judge = judge;
    this.#known = known;
  }

  add(request: FuzzRequest, sent: Awaited<ReturnType<RequestSender["send"]>>): void {
    const status = sent.kind === "replied" ? String(sent.reply.status) : sent.kind;
    this.#byStatus.set(status, (this.#byStatus.get(status) ?? 0) + 1);
    if (sent.kind === "cut") return;
    const { operationId } = request;
    this.#byOperation.set(operationId, (this.#byOperation.get(operationId) ?? 0) + 1);
    if (sent.kind === "replied" && sent.reply.status < 400 && request.isAtOperation) this.#done.add(operationId);
    if (sent.kind === "replied" && sent.reply.status < 400 && sent.reply.text !== null)
      this.#known.harvest(sent.reply.text, request.path);
    const what = sent.kind === "failed" ? sent.reason : this.#judge.judge(request, sent.reply);
    if (what !== null) this.#note(request, what);
  }

  outcome(operations: readonly { readonly operationId: string }[]) {
    const counts = operations.map(({ operationId }) => this.#byOperation.get(operationId) ?? 0);
    const byStatus = Object.fromEntries([...this.#byStatus].toSorted(([a], [b]) => a.localeCompare(b)));
    const neverDone = operations.map(({ operationId }) => operationId).filter((id) => !this.#done.has(id));
    return { byStatus, neverDone, fewestReplies: Math.min(...counts), findings: this.findings };
  }

  #note(request: FuzzRequest, what: string): void {
    const { operationId } = request;
    const alike = this.findings.find((each) => each.operationId === operationId && kindOf(each.what) === kindOf(what));
    if (alike === undefined) this.findings.push({ operationId, what, request: describeRequest(request), count: 1 });
    else alike.count++;
  }
}

/** Findings that differ in numbers and ids alone are one. */
function kindOf(what: string): string {
  return what.slice(0, 60).replaceAll(/\d+/g, "0");
}
