import { agentEndpoints } from "./jobs/agent-pool.ts";
import { alertEndpoints } from "./history/alert-endpoints.ts";
import { archiveEndpoints } from "./policies/archive.ts";
import { artifactEndpoints } from "./jobs/job-artifact.ts";
import { comparisonEndpoints } from "./history/comparison-endpoints.ts";
import { environmentEndpoints } from "./policies/environment-definition.ts";
import { evaluationEndpoints } from "./jobs/evaluation/evaluation.ts";
import { historyEndpoints } from "./history/history-endpoints.ts";
import { hrrEndpoints } from "./inference/hrr.ts";
import { inferenceEndpoints } from "./inference/inference-endpoints.ts";
import { jobEndpoints } from "./jobs/job-endpoints.ts";
import { kernelEndpoints } from "./kernels/kernel-endpoints.ts";
import { keyEndpoints } from "./service/key-endpoints.ts";
import { edgeEndpoints } from "./models/edge-place.ts";
import { modelEndpoints, placementEndpoints } from "./models/model-endpoints.ts";
import { uploadEndpoints } from "./models/upload.ts";
import { oipEndpoints } from "./inference/oip-endpoints.ts";
import { plotEndpoints } from "./models/plot-endpoints.ts";
import { policyEndpoints } from "./policies/policy-endpoints.ts";
import { populationEndpoints } from "./policies/population.ts";
import { profileEndpoints } from "./fleet/profile-endpoints.ts";
import { projectEndpoints } from "./service/project.ts";
import { runEndpoints } from "./history/run-endpoints.ts";
import { runnerEndpoints } from "./fleet/runner-endpoints.ts";
import { serviceEndpoints } from "./service/service-endpoints.ts";
import { thresholdEndpoints } from "./history/threshold-endpoints.ts";
import { transferEndpoints } from "./service/transfer.ts";
import { validationEndpoints } from "./jobs/validation.ts";
import { webhookEndpoints } from "./service/webhook-endpoints.ts";

/** Every route of the service. */
export const endpoints = {
  ...oipEndpoints,
  ...historyEndpoints,
  ...comparisonEndpoints,
  ...thresholdEndpoints,
  ...alertEndpoints,
  ...webhookEndpoints,
  ...environmentEndpoints,
  ...placementEndpoints,
  ...transferEndpoints,
  ...hrrEndpoints,
  ...agentEndpoints,
  ...validationEndpoints,
  ...plotEndpoints,
  ...artifactEndpoints,
  ...populationEndpoints,
  ...archiveEndpoints,
  ...evaluationEndpoints,
  ...keyEndpoints,
  ...projectEndpoints,
  ...serviceEndpoints,
  ...runnerEndpoints,
  ...edgeEndpoints,
  ...profileEndpoints,
  ...modelEndpoints,
  ...uploadEndpoints,
  ...inferenceEndpoints,
  ...policyEndpoints,
  ...jobEndpoints,
  ...runEndpoints,
  ...kernelEndpoints,
} as const;
