const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

/** Every limit of the wire, in one place. Each is checked before anything is parsed. */
export const LIMITS = {
  /** Body of an ordinary JSON request. */
  jsonBodyBytes: 256 * KiB,
  /** Body that takes no room of its project in an isolate: it mostly comes with its head. */
  shortBodyBytes: 16 * KiB,
  /** Objects, arrays and fields of one: an empty object takes 56 bytes. `jsonBodyBytes` have room for no more. */
  jsonNodes: 128 * KiB,
  /**
   * Commas of a longer one: that many numbers take some ten milliseconds to parse, which nothing can interrupt. More of
   * them fit into a frame, or into several bodies.
   */
  jsonValues: 512 * KiB,
  /** Body of an inference request, JSON or frame. */
  inferBodyBytes: 8 * MiB,
  /** An ONNX file that one request carries, and that a process reads as a whole. */
  modelBytes: 32 * MiB,
  /**
   * All files of a model that is uploaded in parts. A protobuf message has less than 2 GiB
   * (https://protobuf.dev/programming-guides/proto-limits/), and ONNX Runtime reads no larger file.
   */
  largeModelBytes: 2 * GiB - 1,
  /** Files of such a model beside the one with the graph, and the length of their names. */
  modelDataFiles: 256,
  modelFileNameLength: 128,
  /**
   * Every part of an upload but the last. R2 takes equal parts of a least size, and a number of them; a Worker takes
   * bodies up to a size (src/edge/platform-limits.ts).
   */
  uploadPartBytes: 8 * MiB,
  /** Life of an upload that no model names, after its last part: a day. */
  uploadMs: 86_400_000,
  /**
   * Of a large file, when it is surveyed: reads of the bucket, bytes that are no weights, and the largest tensor that is
   * read. The reads are calls of one request (src/edge/platform-limits.ts).
   */
  surveyReads: 768,
  surveyBytes: 16 * MiB,
  surveyTensorBytes: 1 * KiB,
  /**
   * Of one model: nodes, or weights, of its graph, and parts of all kinds, each of which takes about 200 bytes of
   * memory.
   */
  modelNodes: 16_384,
  modelPieces: 2 ** 18,
  /** Names in it, and numbers of all its weights and of all that a row makes on its way, as bytes. */
  modelNameLength: 512,
  modelWeightBytes: 64 * MiB,
  modelActivationBytes: 512 * MiB,
  /** Classes of an output that its description names; further ones go without. */
  outputLabels: 1_024,
  /** Sizes of its inputs at which a model is measured, numbers that an input draws from, and JSON in a query. */
  measuredSizes: 4,
  inputValues: 64,
  queryJsonLength: 4_096,
  /** Errors of a model that one reply lists. */
  modelProblems: 32,
  /** One socket message. */
  socketMessageBytes: 16 * MiB,
  /** Header of a binary frame. */
  frameHeaderBytes: 64 * KiB,
  /** Elements of one tensor. */
  tensorElements: 2 ** 26,
  tensorRank: 8,
  tensorNameLength: 256,
  tensorsPerRequest: 64,
  /** Highest rate that a key can be given, and the longest life of its old secret after a rotation: a week. */
  keyRequestsPerSecond: 100_000,
  keyOverlapMs: 604_800_000,
  /** A budget, in milliseconds. */
  minBudgetMs: 0.1,
  maxBudgetMs: 600_000,
  /** Budget of an Open Inference Protocol request that names none. */
  oipBudgetMs: 30_000,
  /** Body of a request about Triton's model repository. */
  oipControlBytes: 64 * KiB,
  /** Statistics of all models: versions that one reply has, and links whose measurements move to the history for it. */
  oipStatisticsVersions: 1_000,
  oipStatisticsLinks: 64,
  /** Of one request to a policy. */
  observations: 4_096,
  observationElements: 65_536,
  /** Of one stream of observations: messages that may wait, and the length of each; of most policies it is less. */
  streamedObservations: 64,
  streamedMessageBytes: 1 * MiB,
  /** Files of one version of a model. */
  variantsPerVersion: 16,
  /** Rows of a version's held-out data, at least. */
  minHeldOutRows: 10,
  /** A compression: its time, rows for finding ranges, the rank of a layer, layers listed in its result. */
  compressionMs: 3_600_000,
  calibrationRows: 4_096,
  recipeRank: 4_096,
  /** A student: its layers, neurons or filters of one, a kernel's side, and what it learns on and how often. */
  studentLayers: 16,
  studentWidth: 1_024,
  studentKernel: 16,
  studentEpochs: 1_000,
  lessonRows: 16_384,
  compressedLayers: 1_024,
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
  /** Cache of such networks in one isolate. */
  edgeNetworks: 64,
  edgeNetworkBytes: 16 * MiB,
  /** Times that a runner may have one computed by one request, to measure it. */
  edgeRepetitions: 65_536,
  /** Products of weights, and what takes as long, in all rows and repetitions of such a request. */
  edgeRunProducts: 2 ** 28,
  /** Of these, those between two turns of others: a runner times no more, as others' turns would count. */
  edgeTurnProducts: 2 ** 26,
  /** Bytes of the inputs of one batch of requests; a request that is larger is a batch of its own. */
  batchBytes: 16 * MiB,
  /** Queue of one device of a runner: requests, and the bytes of their inputs. */
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
  /** Of one throughput job: submissions at once, and control intervals in its result. */
  submissionsInFlight: 16,
  controlSteps: 4_096,
  /** Trace of one run, as JSON; the runner drops its oldest events beyond that. */
  traceBytes: 4 * MiB,
  /** Raw samples of one job's run, as JSON; a set that is larger is not kept. */
  samplesBytes: 1 * MiB,
  /** Characters of an outcome's message: `jobResultBytes`, and trace and samples as strings, with their escapes. */
  outcomeTextLength: 12 * MiB,
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
  /**
   * Length of a rollup's sketch, enough for values that differ by ten orders of magnitude: a row of D1, which holds
   * 2 MB, has those of 60 minutes, and its own.
   */
  rollupSketchLength: 16 * KiB,
  /** Longest time by which a report may be ahead of the edge's clock, in milliseconds. */
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
  /** Networks whose layouts a runner keeps on its disk, and the sizes of each: some 150 bytes a layout. */
  storedLayouts: 1_000,
  layoutSizes: 64,
  /** A validation: its scenarios, its requirements, its time, the time and queries of one scenario, rates of one search. */
  validationScenarios: 8,
  requirements: 32,
  validationMs: 7_200_000,
  scenarioMs: 3_600_000,
  scenarioQueries: 1_000_000,
  /** Percentiles in one scenario's result: those of the requirements beside the usual ones. */
  scenarioPercentiles: 40,
  rateTrials: 64,
  /** Queries that one load may have in flight; where more would be, its rate is lost. */
  outstandingQueries: 1_024,
  /** Search for a configuration: its time, and what it tries. */
  optimisationMs: 3_600_000,
  optimisationTrials: 512,
  intraOpThreads: 64,
  /** Claims that one probe checks. */
  probedClaims: 64,
  /** Of a health report: models under watch, and processors whose clocks are read. */
  watchedPlacements: 256,
  watchedSensors: 32,
  /**
   * One report of it, as JSON; a larger one is not kept. One of as many placements, devices and sensors as there may be
   * has some 360 KB where requests waited from a microsecond to the longest budget, and a judgement reads sixty.
   */
  healthReportBytes: 384 * KiB,
  /** Time that the edge waits for a health report where it has an earlier one. */
  healthReportMs: 2_000,
  /** Event streams of all projects at one queue. */
  streams: 1_000,
  /**
   * A job's result as JSON. It stands in a row of an object's SQLite with the job's spec, of at most `jsonBodyBytes`
   * (src/edge/platform-limits.ts).
   */
  jobResultBytes: 1_700_000,
  /** Live watchers of one runner; the shortest report interval, and the longest lease of a watch. */
  liveWatchers: 16,
  minLiveMs: 100,
  maxLiveLeaseMs: 60_000,
  /** Width of a plot, in pixels. */
  minPlotWidth: 280,
  maxPlotWidth: 2_000,
  /**
   * Requests of a project's keys that ask the queue, which is one object for all: a fifth of the 1,000 a second that
   * Cloudflare names (docs/scale.md). `wrangler.toml` has the same for ten seconds of a location.
   */
  queueRequestsPerSecond: 200,
  /** Jobs that may wait in one queue. */
  queuedJobs: 10_000,
  /** Of one project, even where others have filled the queue. */
  queuedProjectFloor: 500,
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
  /** Steps and rows of one heat map. */
  heatmapTimes: 1_000,
  heatmapRows: 100,
  /** Series that one search for changes on demand may go through, and points of each. */
  searchedSeries: 50,
  searchedPoints: 5_000,
  /** Points of history that a rule for points looks back on, and points in a row that it may want. */
  thresholdWindow: 200,
  consecutivePoints: 20,
  /** Changes that an alert lists, and other alerts beside it. */
  alertChanges: 100,
  alertNeighbours: 20,
  noteLength: 1_000,
  /** Series of one key that differ by their fingerprint and are listed together. */
  hardwareSpans: 100,
  /** Requests in flight on one runner's socket. */
  inFlightPerRunner: 1_024,
  /**
   * A direct ticket: its life in milliseconds and its requests, by default and at most; its length; tickets that a
   * runner knows at once.
   */
  ticketMs: 10_000,
  maxTicketMs: 600_000,
  ticketRequests: 10_000,
  maxTicketRequests: 10_000_000,
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
  /** Rows of one export page (about), and the most of one import page. A row of D1 holds 2 MB. */
  exportPageRows: 5_000,
  exportPageBytes: 4_000_000,
  transferPageBytes: 8 * MiB,
  /** Time limit of a webhook's receiver for its answer, and attempts of one message. */
  webhookTimeoutMs: 10_000,
  webhookAttempts: 12,
  /** Time that the edge waits for a report of a runner where it has none to give instead. */
  onlyReportMs: 10_000,
  /** A runner that lost its connection so often in so long is given nothing for a while. */
  flapDisconnects: 5,
  flapWindowMs: 60_000,
  /** So is one on which so many different jobs in a row failed by its fault, each so soon after it began. */
  fastFailures: 3,
  fastFailureMs: 10_000,
  /**
   * Length of a quarantine by the number of earlier ones; the last repeats. The count starts anew after this time
   * without one.
   */
  quarantineMs: [60_000, 300_000, 1_800_000],
  quarantineForgottenMs: 3_600_000,
  /**
   * What a runner says of itself: names that drivers and systems give, features and limits of a device, features of a
   * processor (some 150 today), parts of a kernel, its description, and as JSON all together (some 60 KB of ours) and
   * its machine (some 1 KB).
   */
  foreignNameLength: 256,
  /** A fingerprint as JSON: it stands in the key of every series that was measured there. */
  fingerprintLength: 4_096,
  reportedHostLength: 1_024,
  deviceFeatures: 256,
  cpuFeatures: 512,
  announcedParts: 64,
  announcedTextLength: 2_048,
  announcedLength: 192 * KiB,
  hardwareLength: 16 * KiB,
  /** Devices of one runner. */
  devices: 16,
  deviceKeyLength: 32,
  /** Faults listed in one result; later ones are left out. */
  faults: 8,
  /** Kernels of one device listed as in quarantine. */
  quarantinedKernels: 64,
  /** A policy of a population: neurons of one layer, hidden layers, numbers of a member. */
  policyWidth: 1_024,
  policyLayers: 7,
  /** Channels of the two convolutions of a policy: an invocation holds a map of each of the second, in 8 KiB. */
  convFirstChannels: 32,
  convSecondChannels: 16,
  policyParameters: 2 ** 20,
  /** A policy whose members are graphs: hidden nodes and connections of a member. */
  graphNodes: 512,
  graphConnections: 4_096,
  /** Steps of an episode, episodes of a member in one evaluation, and of all members together. */
  episodeSteps: 100_000,
  memberEpisodes: 10_000,
  evaluatedEpisodes: 2 ** 22,
  /** Episodes that one evaluation records state by state; states of all of them, bytes of these, and the time that it takes. */
  recordedEpisodes: 32,
  recordedStates: 32_768,
  replayBytes: 8 * MiB,
  recordingMs: 60_000,
  /** Scores on a policy's card. */
  policyScores: 20,
  /** Episodes that one side of a comparison may have in a task, and tasks. */
  comparedEpisodes: 2 ** 18,
  comparedTasks: 32,
  /** Size of one page of episodes, and bytes of their file that it may read. */
  episodePageSize: 10_000,
  episodePageBytes: 4 * MiB,
  /** Members of one population, and policies of one evaluation that are models. */
  populationMembers: 2 ** 20,
  evaluatedPolicies: 64,
  /** An uploaded population, and any file that a job leaves: a Worker takes bodies of 100 MB. */
  populationBytes: 96 * MiB,
  /** The largest of all artifacts. */
  artifactBytes: 96 * MiB,
  /** Header of its file. */
  populationHeaderBytes: 64 * KiB,
  /** A held-out part: its file, the header of that, and samples. */
  heldOutBytes: 8 * MiB,
  heldOutHeaderBytes: 64 * KiB,
  heldOutRows: 65_536,
  jobArtifactBytes: 96 * MiB,
  jobArtifacts: 16,
  /** Numbers that describe a behaviour, cells of an archive. */
  archiveMeasures: 4,
  archiveCells: 2 ** 20,
  /** Size of an archive that the edge prunes, which it has in memory twice. */
  prunedArchiveBytes: 32 * MiB,
  /** Elites of one page, and cells along an axis that a heat map draws one by one. */
  listedElites: 10_000,
  drawnCells: 128,
  /** Parameters of a search that keeps a whole covariance matrix. */
  fullCovarianceParameters: 128,
  /** Time of one evaluation or training, in milliseconds, and generations of a training. */
  evaluationMs: 3_600_000,
  trainingMs: 86_400_000,
  trainingGenerations: 1_000_000,
  /** Points of a learning curve in a result. */
  curvePoints: 1_000,
  /** Genomes of a training by species, which the host crosses one by one; and species listed for a point of a curve. */
  speciesMembers: 16_384,
  speciesTold: 10,
  /** An environment of a user's own: characters of its WGSL, and words of its state. */
  environmentWgslLength: 65_536,
  environmentStateWords: 4_096,
  environmentsPerKey: 64,
  /** Agents of one pool, numbers of an agent, bytes of all of them: what one dispatch evolves. */
  poolAgents: 16_384,
  poolStateSize: 2_048,
  poolBytes: 64 * MiB,
  /** Agents that several objectives rank; ballots of one job; rounds and proposers of its proposals. */
  rankedAgents: 1_024,
  ballots: 1_024,
  consensusRounds: 256,
  /** Holographic vectors: their length, symbols or items of one request; queries, matches of one and of all in a search. */
  hrrDimension: 8_192,
  hrrSymbols: 1_024,
  hrrQueries: 64,
  hrrMatches: 1_000,
  hrrMatchesOfAll: 16_384,
  /** Items of one memory, and bytes of its parts; one dispatch searches one part. */
  memoryItems: 65_536,
  memoryPartBytes: 8 * MiB,
  /** Keys of a part, as JSON, that further ones may join: they are one value of the database, which holds 2 MB. */
  memoryPartKeyBytes: 256 * KiB,
  nameLength: 64,
  urlLength: 512,
  labelCount: 32,
  /** Of one scrape: series of a metric, runners asked, series of requests read, and their sketches. */
  metricSeries: 512,
  metricRunners: 100,
  metricStoredSeries: 4_096,
  metricSketches: 5_000,
} as const;
