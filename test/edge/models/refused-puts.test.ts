import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { storeBody } from "../../../src/edge/http/store-body.ts";
import { digestOf, putArtifact } from "../../../src/edge/store/artifact-store.ts";
import { openProject } from "../../../src/edge/store/database.ts";
import { joinParts, putPart } from "../../../src/edge/store/models/upload-store.ts";

const REFUSAL = "put: too many requests";
/** The bucket, which refuses each put before it takes any of it. */
const refusing = new Proxy(env.ARTIFACTS, {
  get: (target, name) => {
    if (name === "put") return async () => Promise.reject(new Error(REFUSAL));
    const value: unknown = Reflect.get(target, name);
    return typeof value === "function" ? value.bind(target) : value;
  },
});
const bytes = new Uint8Array(3 * 2 ** 20).fill(7);

it("a long artifact fails where the bucket refuses it", async () => {
  const digest = await digestOf(bytes.buffer);
  await expect(putArtifact(refusing, digest, bytes.buffer)).rejects.toThrow(REFUSAL);
});

/** Stores `body` as `bytes`. */
async function store(bucket: R2Bucket, body: BodyInit) {
  const headers = { "content-type": "application/octet-stream", "content-length": String(bytes.byteLength) };
  const request = new Request("http://edge.test", { method: "PUT", body, headers });
  const limits = { mediaTypes: ["application/octet-stream"], maxBytes: bytes.byteLength };
  const digest = await digestOf(bytes.buffer);
  return storeBody(request, digest, limits, (stream) => putArtifact(bucket, digest, stream));
}

it("a body fails where the bucket refuses it", async () => {
  await expect(store(refusing, bytes)).rejects.toThrow(REFUSAL);
});

it("a body fails where the bucket fails halfway", async () => {
  const put = async (_key: string, stream: ReadableStream) => {
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel(new Error("the connection to the bucket broke"));
    throw new Error(REFUSAL);
  };
  await expect(store({ put } as unknown as R2Bucket, bytes)).rejects.toThrow(REFUSAL);
});

it("the parts of an upload stay where the bucket refuses the whole", async () => {
  const digest = await digestOf(bytes.buffer);
  const storage = { DB: env.DB, ARTIFACTS: env.ARTIFACTS, project: "main" };
  const upload = { digest, sizeBytes: bytes.byteLength, isStored: false };
  await env.DB.prepare("insert into uploads (project, digest, size_bytes, touched_at_ms) values ('main', ?1, ?2, ?3)")
    .bind(digest, bytes.byteLength, Date.now())
    .run();
  const { readable, writable } = new FixedLengthStream(bytes.byteLength);
  await Promise.all([
    putPart(storage, { digest, number: 1, partDigest: digest }, readable),
    new Blob([bytes]).stream().pipeTo(writable),
  ]);
  const join = (ARTIFACTS: R2Bucket) =>
    joinParts({ ...storage, ARTIFACTS }, openProject(storage), upload, 1, Date.now());
  await expect(join(refusing)).rejects.toThrow(REFUSAL);
  expect(await join(env.ARTIFACTS)).toBe("stored");
});
