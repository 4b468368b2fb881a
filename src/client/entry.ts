/** Exports of the package `millrace/client`; see docs/guides/client.md. */
export { act } from "./infer.ts";
export type { CallOptions, RawBody, RequestParts, Sendable } from "./call-options.ts";
export { type Client, type ClientOptions, createClient } from "./client.ts";
export { createRetry, type Retry, type RetryNotice, type RetryOptions } from "./retry.ts";
export {
  type DirectChannel,
  type DirectOptions,
  type DirectReply,
  type DirectRequest,
  openDirectChannel,
} from "./direct-channel.ts";
export type { StreamEvent, StreamOptions, StreamState } from "./event-stream.ts";
export { followJob } from "./jobs.ts";
export { infer } from "./infer.ts";
export { inferFrame, type InferFrameReply, type InferFrameRequest } from "./infer.ts";
export { listAll } from "./list-all.ts";
export { submitJob } from "./jobs.ts";
export { uploadModel } from "./upload-model.ts";
export { waitForJob } from "./jobs.ts";
export { type BudgetOptions, REPLY_MARGIN_MS, withinBudget } from "./infer.ts";
export type { Endpoint } from "../protocol/endpoint.ts";
export { endpoints } from "../protocol/endpoints.ts";
export { FeedEvent } from "../protocol/service/service-state.ts";
export type { InferReply, InferRequest } from "../protocol/inference/inference.ts";
export { type Job, JobEvent, type JobInput, type JobResult } from "../protocol/jobs/job.ts";
export type { Model, ModelVersion, Placement } from "../protocol/models/model.ts";
export type { ActReply, ActRequest } from "../protocol/policies/policy.ts";
export { type Problem, type ProblemCode, ProblemError, PROBLEMS } from "../protocol/wire/problem.ts";
export type { Runner } from "../protocol/fleet/runner.ts";
export type { Tensor } from "../protocol/wire/tensor.ts";
export { VERSION } from "../protocol/wire/release.ts";
