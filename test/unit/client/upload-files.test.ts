import { describe, expect, it } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { uploadFile } from "../../../src/client/upload-files.ts";
import { createRecordingFetch, json } from "./recording-fetch.ts";

const digest = `sha256:${"a".repeat(64)}`;
const content = new Blob([new Uint8Array(10)]);

const stand = (state: "open" | "stored", missing: number[]) =>
  json({ digest, sizeBytes: 10, state, partBytes: 8, missing });
const sent = () => new Response(null, { status: 204 });
const round = [stand("open", [2]), sent];

describe("a file in parts", () => {
  it("is stored where the last part that is sent was the one that was missing", async () => {
    const { fetch, requests } = createRecordingFetch(...round, ...round, ...round, stand("stored", []));
    const done: number[] = [];
    await uploadFile(
      createClient({ baseUrl: "https://edge.test", key: "mk_x", fetch }),
      { digest, content },
      { onProgress: (doneBytes) => done.push(doneBytes) },
    );
    expect(requests.map(({ method }) => method)).toEqual(["POST", "PUT", "POST", "PUT", "POST", "PUT", "POST"]);
    expect(done).toEqual([8, 10, 8, 10, 8, 10, 10]);
  });

  it("is given up as a conflict where parts are missing after three rounds", async () => {
    const { fetch, requests } = createRecordingFetch(...round, ...round, ...round, stand("open", [2]));
    const client = createClient({ baseUrl: "https://edge.test", key: "mk_x", fetch });
    await expect(uploadFile(client, { digest, content })).rejects.toMatchObject({
      problem: { code: "conflict", detail: expect.stringContaining(digest) },
    });
    expect(requests).toHaveLength(7);
  });
});
