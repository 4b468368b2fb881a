import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { OipError } from "../../../src/protocol/inference/oip.ts";
import { PROBLEMS, Problem } from "../../../src/protocol/wire/problem.ts";
import { parseJson } from "../../../src/protocol/wire/parse-json.ts";
import { findUndeclared } from "../../edge/stack/declared-replies.ts";
import type { FuzzRequest } from "./fuzz-request.ts";
import type { OpenApiDocument, Operation } from "./operation.ts";
import type { FuzzReply } from "./send-request.ts";

/** workerd's own refusals of a head that is too long, before the Worker sees it. */
const PLATFORM_STATUSES = new Set([414, 431]);
/** Statuses of the page's files, and of methods without a route, in addition to the document's. */
const UNBOUND_STATUSES = new Set([200, 204, 304, 400, 401, 403, 404, 405, 413, 415]);

/** Holds replies against the document: declared statuses, sound problems, and bodies of their schemas. */
export class ReplyJudge {
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: OpenApiDocument, operations: readonly Operation[]) {
    this.#operations = new Map(operations.map((operation) => [operation.operationId, operation]));
    this.#ajv.addSchema(document, "document");
  }

  /** Fault of a reply; null where it is allowed. */
  judge(request: FuzzRequest, reply: FuzzReply): string | null {
    const { status } = reply;
    if (PLATFORM_STATUSES.has(status)) return null;
    if (status === 500) return `500 ${reply.text?.slice(0, 300)}`;
    if (request.isAtOperation) {
      const operation = this.#operations.get(request.operationId);
      const fault = operation === undefined ? null : findUndeclared(operation, status, reply.contentType);
      if (fault !== null) return `${fault}: ${reply.text?.slice(0, 200)}`;
    } else if (status > 500 || (!UNBOUND_STATUSES.has(status) && request.method === "PROPFIND")) {
      return `${status} at a path or method that is not the operation's`;
    }
    if (request.method === "HEAD" || reply.text === null) return null;
    return status >= 400 ? judgeProblem(request, reply) : this.#judgeBody(request, reply);
  }

  #judgeBody({ operationId, isAtOperation }: FuzzRequest, { status, contentType, text }: FuzzReply): string | null {
    if (!isAtOperation || contentType !== "application/json") return null;
    const declared = this.#operations.get(operationId)?.responses[status]?.content?.[contentType];
    if (declared === undefined) return `${contentType}, which is not declared for ${status}`;
    const value = parseJson(text ?? "");
    if (value === undefined) return `${status} with a body that is not JSON`;
    const validate = this.#validatorOf(operationId, status);
    if (validate(value)) return null;
    const [error] = validate.errors ?? [];
    return `${status} with a body that is not of its schema: ${error?.instancePath} ${error?.message}`;
  }

  #validatorOf(operationId: string, status: number): ValidateFunction {
    const key = `${operationId} ${status}`;
    const made = this.#validators.get(key);
    if (made !== undefined) return made;
    const { path = "", method = "" } = this.#operations.get(operationId) ?? {};
    const place = ["paths", path, method.toLowerCase(), "responses", status, "content", "application/json", "schema"];
    const pointer = place.map((part) => encodeURIComponent(String(part).replaceAll("~", "~0").replaceAll("/", "~1")));
    const validate = this.#ajv.compile({ $ref: `document#/${pointer.join("/")}` });
    this.#validators.set(key, validate);
    return validate;
  }
}

/** Errors are problems, and under `/v2` of the Open Inference Protocol's shape. */
function judgeProblem({ path }: FuzzRequest, { status, contentType, text }: FuzzReply): string | null {
  const value = parseJson(text ?? "");
  if (/^\/v2(?:[/?]|$)/.test(path)) {
    const isSound = contentType === "application/json" && OipError.safeParse(value).success;
    return isSound ? null : `${status} that is no error of the Open Inference Protocol: ${text?.slice(0, 200)}`;
  }
  const problem = Problem.safeParse(value);
  if (contentType !== "application/problem+json" || !problem.success) {
    return `${status} that is no problem but ${contentType}: ${text?.slice(0, 200)}`;
  }
  const known = PROBLEMS[problem.data.code];
  return known.status === status ? null : `${status} with the code ${problem.data.code}`;
}
