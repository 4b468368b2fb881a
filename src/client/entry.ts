/** What the package `millrace/client` gives; see docs/guides/client.md. */
export { act } from "./act.ts";
export type { CallOptions, RawBody, RequestParts, Sendable } from "./call-options.ts";
export { type Client, type ClientOptions, createClient } from "./client.ts";
export { createRetry, type Retry, type RetryNotice, type RetryOptions } from "./create-retry.ts";
export {
  type DirectChannel,
  type DirectOptions,
  type DirectReply,
  type DirectRequest,
  openDirectChannel,
} from "./direct-channel.ts";
export type { StreamEvent, StreamOptions, StreamState } from "./event-stream.ts";
export { followJob } from "./follow-job.ts";
export { infer } from "./infer.ts";
export { inferFrame, type InferFrameReply, type InferFrameRequest } from "./infer-frame.ts";
export { listAll } from "./list-all.ts";
export { submitJob } from "./submit-job.ts";
export { uploadModel } from "./upload-model.ts";
export { waitForJob } from "./wait-for-job.ts";
export { type BudgetOptions, REPLY_MARGIN_MS, withinBudget } from "./within-budget.ts";
export type { Endpoint } from "../protocol/endpoint.ts";
export { endpoints } from "../protocol/endpoints.ts";
export { FeedEvent } from "../protocol/feed.ts";
export type { InferReply, InferRequest } from "../protocol/inference.ts";
export { type Job, JobEvent, type JobInput, type JobResult } from "../protocol/job.ts";
export type { Model, ModelVersion, Placement } from "../protocol/model.ts";
export type { ActReply, ActRequest } from "../protocol/policy.ts";
export { type Problem, type ProblemCode, ProblemError, PROBLEMS } from "../protocol/problem.ts";
export type { Runner } from "../protocol/runner.ts";
export type { Tensor } from "../protocol/tensor.ts";
export { VERSION } from "../protocol/version.ts";
