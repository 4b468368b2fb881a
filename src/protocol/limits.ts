const KiB = 1024;
const MiB = 1024 * KiB;

/** Every limit of the wire, in one place. Each is checked before anything is parsed. */
export const LIMITS = {
  /** Body of an ordinary JSON request. */
  jsonBodyBytes: 256 * KiB,
  /** Objects, arrays and fields of one: an empty object takes 56 bytes. `jsonBodyBytes` have room for no more. */
  jsonNodes: 128 * KiB,
  /** Body of an inference request, JSON or frame. */
  inferBodyBytes: 8 * MiB,
  /** An uploaded ONNX file. */
  modelBytes: 32 * MiB,
  /** One socket message; workerd itself takes 32 MiB. */
  socketMessageBytes: 16 * MiB,
  /** Header of a binary frame. */
  frameHeaderBytes: 64 * KiB,
  /** Elements of one tensor. */
  tensorElements: 2 ** 26,
  tensorRank: 8,
  tensorNameLength: 256,
  tensorsPerRequest: 64,
  /** A budget, in milliseconds. */
  minBudgetMs: 0.1,
  maxBudgetMs: 600_000,
  /** Budget of an Open Inference Protocol request that names none. */
  oipBudgetMs: 30_000,
  /** Of one request to a policy. */
  observations: 4_096,
  observationElements: 65_536,
  /** Of one stream of observations: those that wait, and the length of each message. */
  streamedObservations: 64,
  streamedMessageBytes: 1 * MiB,
  /** Files of one version of a model. */
  variantsPerVersion: 16,
  /** Runners that one model may be pinned to. */
  pinnedRunners: 64,
  /** Rows of one batch of requests, and batch sizes that a calibration measures. */
  batchRows: 256,
  sweepSteps: 9,
  /** Networks that the edge computes by itself: numbers in weights and biases, operators, elements of a row. */
  edgeParameters: 2 ** 20,
  edgeNodes: 256,
  edgeWidth: 65_536,
  /** Rows of one request that it computes by itself. */
  edgeRows: 32,
  /** What one isolate keeps of such networks. */
  edgeNetworks: 64,
  edgeNetworkBytes: 16 * MiB,
  /** Times that a runner may have one computed by one request, to measure it. */
  edgeRepetitions: 65_536,
  /** Products of weights, and what takes as long, in all rows and repetitions of such a request: some tens of milliseconds of the edge. */
  edgeRunProducts: 2 ** 28,
  /** Bytes of the inputs of one batch of requests; a request that is larger is a batch of its own. */
  batchBytes: 16 * MiB,
  /** What may wait for one device of a runner: requests, and the bytes of their inputs. */
  deviceQueueRequests: 512,
  deviceQueueBytes: 256 * MiB,
  /** The most urgent priority of a request; 0 is the ordinary one. */
  maxPriority: 9,
  /** Page size of a list. */
  maxPageSize: 200,
  defaultPageSize: 50,
  /** Samples of one benchmark. */
  maxIterations: 10_000,
  maxWarmup: 1_000,
  /** Of one throughput job: submissions at once, and intervals of control that are told. */
  submissionsInFlight: 16,
  controlSteps: 4_096,
  /** Trace of one run, as JSON; the runner drops its oldest events beyond that. */
  traceBytes: 4 * MiB,
  /** Raw samples of one job's run, as JSON; a set that is larger is not kept. */
  samplesBytes: 1 * MiB,
  /** A report from outside: its body, what it measured, samples of one measurement and of all. */
  reportBodyBytes: 8 * MiB,
  reportMeasurements: 5_000,
  reportedSamples: 100_000,
  reportedSamplesInAll: 400_000,
  /** Largest magnitude of a reported number: sums of many stay finite. */
  reportedMagnitude: 1e100,
  /** Values that one reported aggregate may stand for, and the length of its sketch. */
  reportedCount: 1e12,
  reportedSketchLength: 65_536,
  /** How far a report's times may lie ahead of the edge's clock, in milliseconds. */
  reportAheadMs: 86_400_000,
  runNameLength: 128,
  revisionLength: 128,
  /** Entries of a series' configuration, and the length of a value. */
  configurationEntries: 32,
  configurationLength: 256,
  /** Time that one search for the fastest variant and axes may take, in milliseconds. */
  minTuningBudgetMs: 200,
  maxTuningBudgetMs: 600_000,
  /** Candidates of one search; a larger space is sampled. Those that do not fit a device are listed beside them. */
  tuningCandidates: 256,
  tuningTrials: 512,
  /** Rungs of one search, and runs of a candidate in one of them. */
  tuningRungs: 16,
  tuningRounds: 64,
  tuningReasonLength: 500,
  /** Tunings that a runner keeps on its disk. */
  storedTunings: 1_000,
  /** Jobs that may wait in one queue. */
  queuedJobs: 10_000,
  /** Points that one history query may return. */
  historyPoints: 10_000,
  /** Rollups or points that one history query may read. */
  historyRows: 50_000,
  /** Series that one history query may put together. */
  queriedSeries: 200,
  /** Latest points of one series that a side of a comparison may read, and of all series together. */
  comparedPoints: 1_000,
  comparedPointsInAll: 20_000,
  /** Samples of a side that are compared where there are too few runs: evenly spaced ranks of more. */
  comparedSamples: 1_000,
  /** Dimensions that one may group by. */
  groupDimensions: 6,
  /** Series that one search for changes on demand may go through, and points of each. */
  searchedSeries: 50,
  searchedPoints: 5_000,
  /** Rules that points are judged by, points of history that one of them looks back on, points in a row that it may want. */
  thresholds: 500,
  thresholdWindow: 200,
  consecutivePoints: 20,
  /** Changes that an alert tells one by one, and alerts beside it. */
  alertChanges: 100,
  alertNeighbours: 20,
  noteLength: 1_000,
  /** Series of one key that differ by their fingerprint and are told together. */
  hardwareSpans: 100,
  /** Steps and rows of one heat map. */
  heatmapTimes: 1_000,
  heatmapRows: 100,
  /** Requests in flight on one runner's socket. */
  inFlightPerRunner: 1_024,
  /** A direct ticket: its life in milliseconds, its requests, its length, and tickets that a runner knows at once. */
  ticketMs: 10_000,
  ticketRequests: 10_000,
  ticketLength: 2_048,
  ticketsHeld: 4_096,
  /** A runner's own listener: connections, requests at once, bytes of a request's head. */
  directConnections: 256,
  directInFlight: 64,
  directHeadBytes: 8 * KiB,
  /** Outcomes of direct requests in one message, and those that wait while there is no link. */
  directOutcomes: 1_024,
  directOutcomesKept: 16_384,
  /** A submitted kernel: characters of its WGSL, and how much of everything it may name. */
  kernelWgslLength: 65_536,
  kernelDimensions: 8,
  kernelBindings: 8,
  kernelPasses: 16,
  kernelConstants: 32,
  /** Numbers in expected outputs and the inputs that they belong to, all together. */
  kernelExpectedNumbers: 16_384,
  /** Device memory of one run of a submitted kernel. */
  kernelBytes: 512 * MiB,
  /** From the start of a submitted kernel's run to its end: compiling, checking and timing. */
  kernelTimeoutMs: 60_000,
  /** Submitted kernels of one key. */
  kernelsPerKey: 256,
  /** A run of fewer timed iterations stands on no leaderboard. */
  rankedIterations: 20,
  /** Entries that one leaderboard reply may hold. */
  leaderboardEntries: 1_000,
  /** Webhooks of one edge. */
  webhooks: 32,
  /** How long a receiver may take to answer, and how often a message is sent until it arrives. */
  webhookTimeoutMs: 10_000,
  webhookAttempts: 12,
  /** How long the edge waits for a runner to tell of its memory. */
  memoryReportMs: 2_000,
  /** Devices of one runner. */
  devices: 16,
  deviceKeyLength: 32,
  /** Faults that one result tells; of more, the first. */
  faults: 8,
  /** Kernels of one device that are told to be in quarantine. */
  quarantinedKernels: 64,
  nameLength: 64,
  urlLength: 512,
  labelCount: 32,
} as const;
