import { agentEndpoints } from "./jobs/agent-pool.ts";
import { alertEndpoints } from "./history/alert-endpoints.ts";
import { archiveEndpoints } from "./policies/archive.ts";
import { artifactEndpoints } from "./jobs/job-artifact.ts";
import { comparisonEndpoints } from "./comparison-endpoints.ts";
import { environmentEndpoints } from "./policies/environment-definition.ts";
import { evaluationEndpoints } from "./jobs/evaluation/evaluation.ts";
import { historyEndpoints } from "./history/history-endpoints.ts";
import { hrrEndpoints } from "./inference/hrr.ts";
import { inferenceEndpoints } from "./inference-endpoints.ts";
import { jobEndpoints } from "./job-endpoints.ts";
import { kernelEndpoints } from "./kernel-endpoints.ts";
import { keyEndpoints } from "./service/key-endpoints.ts";
import { modelEndpoints } from "./model-endpoints.ts";
import { oipEndpoints } from "./inference/oip.ts";
import { placementEndpoints } from "./models/models-endpoints.ts";
import { plotEndpoints } from "./models/plot-endpoints.ts";
import { populationEndpoints } from "./policies/population.ts";
import { profileEndpoints } from "./profile-endpoints.ts";
import { projectEndpoints } from "./service/project.ts";
import { runEndpoints } from "./run-endpoints.ts";
import { runnerEndpoints } from "./runner-endpoints.ts";
import { serviceEndpoints } from "./service-endpoints.ts";
import { thresholdEndpoints } from "./threshold-endpoints.ts";
import { transferEndpoints } from "./service/transfer.ts";
import { validationEndpoints } from "./jobs/validation.ts";
import { webhookEndpoints } from "./webhook-endpoints.ts";

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
  ...profileEndpoints,
  ...modelEndpoints,
  ...inferenceEndpoints,
  ...jobEndpoints,
  ...runEndpoints,
  ...kernelEndpoints,
} as const;
