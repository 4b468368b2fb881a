import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { openJobArtifacts } from "../../../../src/gpu-runner/link/artifacts.ts";
import { createId } from "../../../../src/protocol/wire/id.ts";
import { createProblem, type ProblemCode } from "../../../../src/protocol/wire/problem.ts";

const lease = { jobId: createId("job"), epoch: 3 };
const bytes = Uint8Array.of(1, 2, 3);
const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const artifact = { name: "policy", digest, sizeBytes: 3, mediaType: "application/octet-stream" };

let server: Server | undefined;
afterEach(() => server?.close());

/** An edge that gives these answers in turn, and records its requests. */
async function scriptEdge(answers: readonly { status: number; body: string | Uint8Array }[]) {
  const asked: { method: string; url: string; key: string; body: Buffer }[] = [];
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "", url = "", headers } = request;
    asked.push({ method, url, key: headers.authorization ?? "", body: Buffer.concat(chunks) });
    const { status, body } = answers[asked.length - 1] ?? { status: 500, body: "too many" };
    response.writeHead(status).end(body);
  }).listen(0);
  const edgeUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const open = (signal = new AbortController().signal) =>
    openJobArtifacts({ edgeUrl, credential: "mc_x" }, lease, signal);
  return { open, asked };
}

const refuse = (code: ProblemCode) => {
  const problem = createProblem(code, "no");
  return { status: problem.status, body: JSON.stringify(problem) };
};

it("leaves a file under its digest, and tries again what may pass", async () => {
  const { open, asked } = await scriptEdge([
    { status: 502, body: "a gateway" },
    { status: 200, body: JSON.stringify(artifact) },
  ]);
  expect(await open().put("policy", bytes)).toEqual(artifact);
  expect(asked).toHaveLength(2);
  expect(asked[1]?.url).toBe(
    `/v1/link/jobs/${lease.jobId}/artifacts/policy?epoch=3&digest=${encodeURIComponent(digest)}`,
  );
  expect(asked[1]).toMatchObject({ method: "PUT", key: "Bearer mc_x", body: Buffer.from(bytes) });
});

it("gives up at once where the edge refuses", async () => {
  const { open, asked } = await scriptEdge([refuse("not-found"), { status: 200, body: JSON.stringify(artifact) }]);
  await expect(open().put("policy", bytes)).rejects.toMatchObject({ problem: { code: "not-found" } });
  expect(asked).toHaveLength(1);
});

it("finds what was left, and nothing where there is none", async () => {
  const { open, asked } = await scriptEdge([{ status: 200, body: bytes }, refuse("not-found")]);
  expect(await open().get("checkpoint")).toEqual(bytes);
  expect(await open().get("checkpoint")).toBeNull();
  expect(asked[0]?.url).toBe(`/v1/link/jobs/${lease.jobId}/artifacts/checkpoint?epoch=3`);
});

it("ends with the job", async () => {
  const stopping = new AbortController();
  const { open } = await scriptEdge([{ status: 502, body: "" }]);
  const putting = open(stopping.signal).put("policy", bytes);
  stopping.abort();
  await expect(putting).rejects.toThrow("aborted");
});
