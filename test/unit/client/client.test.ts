import { describe, expect, it } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { createProblem, ProblemError } from "../../../src/protocol/wire/problem.ts";
import { createRecordingFetch, json } from "./recording-fetch.ts";

const baseUrl = "http://edge.test/";
const noRunners = { items: [], nextCursor: null };

const profile = {
  name: "mine",
  description: "",
  requirements: {},
  targets: {},
  settings: {},
  builtIn: false,
  version: 2,
  updatedAt: null,
};

describe("what a call sends", () => {
  it("shows the key, and leaves it out where there is none", async () => {
    const { fetch, requests } = createRecordingFetch(json(noRunners), json(noRunners));
    await createClient({ baseUrl, key: "mk_1", fetch }).call(endpoints.listRunners);
    await createClient({ baseUrl, fetch }).call(endpoints.listRunners);
    expect(requests.map(({ headers }) => headers.get("authorization"))).toEqual(["Bearer mk_1", null]);
    expect(requests[0]?.url).toBe("http://edge.test/v1/runners");
  });

  it("escapes the parameters of the path", async () => {
    const { fetch, requests } = createRecordingFetch(json({ items: [] }));
    await createClient({ baseUrl, fetch }).call(endpoints.listPlacements, { params: { model: "a/b?c" } });
    expect(requests[0]?.url).toBe("http://edge.test/v1/models/a%2Fb%3Fc/placements");
  });

  it("refuses a parameter that is missing, in types and when it runs", async () => {
    const { fetch, requests } = createRecordingFetch(json({}));
    // @ts-expect-error getJob wants params
    await expect(createClient({ baseUrl, fetch }).call(endpoints.getJob)).rejects.toThrow("params.id");
    expect(requests).toEqual([]);
  });

  it("refuses an empty parameter, which would name another route", async () => {
    const { fetch, requests } = createRecordingFetch(json({ items: [] }));
    const call = createClient({ baseUrl, fetch }).call(endpoints.listPlacements, { params: { model: "" } });
    await expect(call).rejects.toThrow("params.model");
    expect(requests).toEqual([]);
  });

  it("encodes the query as the table reads it", async () => {
    const { fetch, requests } = createRecordingFetch(() => new Response("{}"));
    const series = createId("series");
    const query = { series, from: "2026-11-21T09:30:00.000Z", step: undefined, percentiles: [50, 99.9], limit: 5 };
    await createClient({ baseUrl, fetch })
      .call(endpoints.listPoints, { query })
      .catch(() => undefined);
    const sent = Object.fromEntries(new URL(requests[0]?.url ?? "").searchParams);
    expect(sent).toEqual({ series, from: query.from, percentiles: "50,99.9", limit: "5" });
    expect(endpoints.listPoints.query?.parse(sent)).toMatchObject({ percentiles: [50, 99.9], limit: 5 });
  });

  it("sends a body as JSON beside the headers of the endpoint", async () => {
    const { fetch, requests } = createRecordingFetch(json(profile));
    await createClient({ baseUrl, fetch }).call(endpoints.updateProfile, {
      params: { name: "mine" },
      headers: { "if-match": '"1"' },
      body: { description: "new" },
    });
    const [request] = requests;
    expect(request?.method).toBe("PUT");
    expect(request?.headers.get("content-type")).toBe("application/json");
    expect(request?.headers.get("if-match")).toBe('"1"');
    expect(await request?.json()).toEqual({ description: "new" });
  });

  it("sends a raw body as it stands", async () => {
    const { fetch, requests } = createRecordingFetch(() => new Response("{}"));
    const content = new Uint8Array([8, 0, 255]);
    const rawBody = { mediaType: "application/octet-stream", content };
    await createClient({ baseUrl, fetch })
      .call(endpoints.uploadModel, { query: { name: "m" }, rawBody })
      .catch(() => undefined);
    expect(requests[0]?.headers.get("content-type")).toBe("application/octet-stream");
    expect(await requests[0]?.bytes()).toEqual(content);
  });
});

describe("what a call makes of the reply", () => {
  it("gives the value that the schema parsed", async () => {
    const { fetch } = createRecordingFetch(json({ status: "ok", version: "0.1.0", later: 1 }));
    expect(await createClient({ baseUrl, fetch }).call(endpoints.getHealth)).toEqual({
      status: "ok",
      version: "0.1.0",
    });
  });

  it("gives nothing for a reply without content", async () => {
    const { fetch } = createRecordingFetch(() => new Response(null, { status: 204 }));
    expect(
      await createClient({ baseUrl, fetch }).call(endpoints.deleteProfile, { params: { name: "mine" } }),
    ).toBeUndefined();
  });

  it.each([
    createProblem("not-found", "There is no /v1/profiles/mine."),
    createProblem("method-not-allowed", "/v1/profiles/mine takes GET."),
  ])("says that the edge is older where it has no such route: $code", async (problem) => {
    const { fetch } = createRecordingFetch(json(problem, problem.status));
    const failed = createClient({ baseUrl, fetch }).call(endpoints.deleteProfile, { params: { name: "mine" } });
    await expect(failed).rejects.toMatchObject({
      problem: {
        code: "upgrade-required",
        detail: expect.stringContaining(`does not know DELETE /v1/profiles/{name}: it is older than this client`),
      },
    });
  });

  it("takes what is not there for what it is, by an edge that has the route", async () => {
    const problem = createProblem("not-found", "There is no profile mine.");
    const { fetch } = createRecordingFetch(json(problem, problem.status));
    const failed = createClient({ baseUrl, fetch }).call(endpoints.deleteProfile, { params: { name: "mine" } });
    await expect(failed).rejects.toMatchObject({ problem });
  });

  it("throws the server's problem, whole", async () => {
    const problem = {
      ...createProblem("budget-unattainable", "1 ms cannot be met.", {
        fits: { budgetMs: 4, placementId: "plc_1", variant: "fp32", confidence: 0.99 },
        retryAfterMs: 20,
      }),
      instance: "/v1/infer",
    };
    const { fetch } = createRecordingFetch(json(problem, 422, "application/problem+json"));
    const error: unknown = await createClient({ baseUrl, fetch })
      .call(endpoints.listRunners)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ProblemError);
    expect((error as ProblemError).problem).toEqual(problem);
    expect((error as ProblemError).message).toBe("1 ms cannot be met.");
  });

  it("says so when a gateway answers in place of the service", async () => {
    const { fetch } = createRecordingFetch(() => new Response("<h1>Bad gateway</h1>", { status: 502 }));
    const call = createClient({ baseUrl, fetch }).call(endpoints.listRunners);
    await expect(call).rejects.toMatchObject({ problem: { code: "internal" } });
    await expect(call).rejects.toThrow(/GET \/v1\/runners answered 502 without a problem: .*Bad gateway/);
  });

  it("names the place where a reply does not fit", async () => {
    const { fetch } = createRecordingFetch(json({ items: [{ ...profile, version: "two" }], nextCursor: null }));
    const call = createClient({ baseUrl, fetch }).call(endpoints.listProfiles);
    await expect(call).rejects.toThrow(
      /GET \/v1\/profiles answered 200 with what the protocol does not know \(items\/0\/version: /,
    );
    await expect(call).rejects.not.toBeInstanceOf(ProblemError);
  });

  it("refuses a success that is not JSON", async () => {
    const { fetch } = createRecordingFetch(() => new Response("<html>"));
    await expect(createClient({ baseUrl, fetch }).call(endpoints.listRunners)).rejects.toThrow("does not know");
  });

  it("says which edge cannot be reached, and keeps the cause", async () => {
    const { fetch } = createRecordingFetch();
    const call = createClient({ baseUrl, fetch }).call(endpoints.listRunners);
    await expect(call).rejects.toThrow("http://edge.test/ cannot be reached");
    await expect(call).rejects.toMatchObject({ cause: { message: "fetch failed" } });
  });

  it("passes an abort on as it is", async () => {
    const abort = new AbortController();
    const { fetch } = createRecordingFetch(({ signal }) => {
      abort.abort(new Error("enough"));
      signal.throwIfAborted();
      return new Response();
    });
    await expect(
      createClient({ baseUrl, fetch }).call(endpoints.listRunners, { signal: abort.signal }),
    ).rejects.toThrow("enough");
  });
});
