/** What to do about what, by the settings that there are. */
export const ADVICE = {
  throttling:
    "Cool the machine, or take load from it: a lower `maxRows` or `maxInFlight` of its placements, or a placement rule (`PUT /v1/models/{id}/placement`) that leaves this runner out.",
  contention:
    "Stop or move what else runs on the machine, give the runner cores of its own (`taskset`, `CPUWeight=` of systemd), or leave this runner out by the model's placement rule.",
  slowBackend:
    "Restart the runner, then validate anew. If it stays slow, serve by another backend (`MILLRACE_ORT_WEBGPU`, `MILLRACE_GPU`) or set the placement's `threads`.",
  drift:
    "Validate the placement anew (`POST /v1/jobs`, kind `validation`): if it is still as slow, compare its history with the last change of driver, Node or settings, and set its `threads` again.",
  batches: "Raise `maxRows` of the placement, so that more of what waits is computed at once.",
  hostBound:
    "Give the host more room: fewer other processes, fewer rows a request to encode, or `MILLRACE_DIRECT` for clients that are near.",
  synchronisation:
    "Let more be under way at once: raise `maxInFlight` and `maxRows` of the placement; of kernels, submit several before waiting (throughput jobs, `inFlight`).",
  transfer:
    "Move less: larger batches by `maxRows`, a variant of smaller inputs, or a backend on the CPU for what computes so little.",
  utilisation: "Raise `maxRows` and `maxInFlight` of the placement, or give it more `threads`, one step at a time.",
  memory:
    "Restart the runner to win time. Then lower `MILLRACE_HOST_MEMORY` and `MILLRACE_GPU_MEMORY`, and report the model or kernel that was served while it grew.",
  errors:
    "Read the runner's log (`MILLRACE_LOG_LEVEL=debug`); validate the placement anew, and take out by its placement rule what keeps failing.",
  restarts:
    "Read the runner's log for why the device's process ends; set `MILLRACE_GPU` to another adapter or `none`, or `MILLRACE_ORT_WEBGPU=off`.",
  queueing:
    "Add a runner or widen the model's placement rule; raise `maxRows` to compute more at once, or lower `maxInFlight` to refuse sooner. Give what is urgent a higher `priority` and an honest `budgetMs`.",
  pageOuts:
    "Raise `MILLRACE_HOST_MEMORY` (or `MILLRACE_GPU_MEMORY`, `MILLRACE_DISK_SPACE`), or place fewer models here.",
  occupancy:
    "Tune the kernel on this device (`POST /v1/jobs`, kind `tuning`): another workgroup size lets more of it be resident.",
  bandwidth:
    "Tune the kernel on this device (`POST /v1/jobs`, kind `tuning`), or give it larger shapes: it uses little of the memory's bandwidth and of its arithmetic.",
  p99: "Lower `maxRows`, or `maxInFlight`, of the placement, raise the requests' `priority`, or search a configuration that meets it (`POST /v1/jobs`, kind `optimisation`).",
} as const;
