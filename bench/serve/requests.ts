import { Agent, request } from "node:http";
import { OIP_DATATYPES } from "../../src/protocol/inference/oip.ts";
import { type Tensor, tensorToJson, typedView } from "../../src/protocol/wire/tensor.ts";

/** How a tensor travels. */
export type Encoding = "JSON" | "binary";

/** A request without its deadline. */
export interface Call {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: (leftMs: number) => Buffer;
  /** Numbers of a reply's first tensor. */
  readonly read: (reply: Reply) => Float32Array;
}

/** A reply as received. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Where a server takes the Open Inference Protocol, and its parameter for the time left. */
export interface OipTarget {
  readonly url: URL;
  readonly bearer?: string;
  readonly deadline: "budget_ms" | "timeout" | null;
}

/** Inference by the Open Inference Protocol, as JSON or with Triton's binary tensors. */
export function callByOip({ url, bearer, deadline }: OipTarget, tensor: Tensor, encoding: Encoding): Call {
  const { name, dtype, shape, bytes } = tensor;
  const { data } = tensorToJson(tensor);
  const datatype = OIP_DATATYPES[dtype];
  const headers: Record<string, string> = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
  const limit = (leftMs: number) =>
    deadline === null
      ? {}
      : { parameters: { [deadline]: deadline === "timeout" ? Math.ceil(1_000 * leftMs) : leftMs } };
  if (encoding === "JSON") {
    // The tensor is written once: a generator on the same cores should not be what is measured.
    const inputs = JSON.stringify([{ name, shape, datatype, data }]);
    return {
      url,
      headers: { ...headers, "content-type": "application/json" },
      body: (leftMs) => Buffer.from(`${JSON.stringify({ ...limit(leftMs), inputs: 0 }).slice(0, -2)}${inputs}}`),
      read: ({ body }) => numbersOf((JSON.parse(body.toString()) as { outputs: { data: unknown }[] }).outputs[0]!.data),
    };
  }
  const parameters = { binary_data_size: bytes.byteLength };
  const head = (leftMs: number) =>
    JSON.stringify({
      parameters: { ...limit(leftMs).parameters, binary_data_output: true },
      inputs: [{ name, shape, datatype, parameters }],
    });
  // All heads get one length, so that the header of the request is fixed: spaces follow the JSON.
  const headBytes = head(123_456.789_012_345_67).length + 16;
  return {
    url,
    headers: { ...headers, "inference-header-content-length": String(headBytes) },
    body: (leftMs) => Buffer.concat([Buffer.from(head(leftMs).padEnd(headBytes)), bytes]),
    read: ({ headers: found, body }) => {
      const from = Number(found["inference-header-content-length"]);
      return new Float32Array(new Uint8Array(body.subarray(from)).buffer);
    },
  };
}

/** The tensor as JSON in the field `inputs` of another protocol, which takes no deadline. */
export function callByJson(url: URL, tensor: Tensor, form: "oip" | "nested"): Call {
  const { shape } = tensor;
  const { data } = tensorToJson(tensor);
  const inputs = form === "oip" ? [{ name: tensor.name, shape, data }] : nest([...(data as number[])], shape);
  const body = Buffer.from(JSON.stringify({ inputs }));
  return {
    url,
    headers: { "content-type": "application/json" },
    body: () => body,
    read: (reply) => numbersOf(JSON.parse(reply.body.toString())),
  };
}

function nest(values: readonly unknown[], shape: readonly number[]): unknown {
  let nested = values;
  for (const size of shape.slice(1).toReversed()) {
    nested = Array.from({ length: nested.length / size }, (_, at) => nested.slice(at * size, (at + 1) * size));
  }
  return nested;
}

/** All numbers of lists within lists or an object, in order. */
function numbersOf(value: unknown): Float32Array {
  const found: number[] = [];
  const walk = (each: unknown): void => {
    if (typeof each === "number") found.push(each);
    else if (Array.isArray(each)) each.forEach(walk);
    else if (typeof each === "object" && each !== null) Object.values(each).forEach(walk);
  };
  walk(value);
  return Float32Array.from(found);
}

/** Sends any number of requests at once, each over an idle kept connection. */
export class Sender {
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 256 });
  #isClosed = false;

  /** Rejects where the connection breaks. */
  send({ url, headers, body }: Call, leftMs: number): Promise<Reply> {
    // A destroyed agent would open further connections.
    if (this.#isClosed) return Promise.reject(new Error("the sender is closed"));
    const content = body(leftMs);
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const sent = { ...headers, "content-length": content.byteLength };
    const outgoing = request(url, { method: "POST", agent: this.#agent, headers: sent }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject);
      reply.on("end", () =>
        resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: Buffer.concat(chunks) }),
      );
    });
    outgoing.on("error", reject).end(content);
    return promise;
  }

  /** Closes all connections; what is open ends with an error. */
  close(): void {
    this.#isClosed = true;
    this.#agent.destroy();
  }
}

/** Whether a reply has these numbers, but for what providers of one network differ by. */
export function isRight(found: Float32Array, expected: Tensor): boolean {
  const wanted = typedView(expected) as Float32Array;
  const largest = wanted.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return (
    found.length === wanted.length && wanted.every((value, at) => Math.abs(value - found[at]!) <= TOLERANCE * largest)
  );
}
/** Relative to the largest output: ours may answer by weights of 8 bits where they decide alike. */
const TOLERANCE = 0.02;
