import { argmax } from "./argmax/argmax.kernel.ts";
import { atomicsContention } from "./atomics-contention/atomics-contention.kernel.ts";
import { batchedGemm } from "./batched-gemm/batched-gemm.kernel.ts";
import { consensusConflicts } from "./consensus-conflicts/consensus-conflicts.kernel.ts";
import { consensusLeader } from "./consensus-leader/consensus-leader.kernel.ts";
import { consensusTally } from "./consensus-tally/consensus-tally.kernel.ts";
import { conv2d } from "./conv2d/conv2d.kernel.ts";
import { copy } from "./copy/copy.kernel.ts";
import { crowdingDistance } from "./crowding-distance/crowding-distance.kernel.ts";
import { depthwiseConv2d } from "./depthwise-conv2d/depthwise-conv2d.kernel.ts";
import { dequantize } from "./dequantize/dequantize.kernel.ts";
import { divergence } from "./divergence/divergence.kernel.ts";
import { dot4Peak } from "./dot4-peak/dot4-peak.kernel.ts";
import { emptyDispatch } from "./empty-dispatch/empty-dispatch.kernel.ts";
import { fmaPeak } from "./fma-peak/fma-peak.kernel.ts";
import { evolutionStep } from "./evolution-step/evolution-step.kernel.ts";
import { gemmF16 } from "./gemm-f16/gemm-f16.kernel.ts";
import { gemmInt8 } from "./gemm-int8/gemm-int8.kernel.ts";
import { gemm } from "./gemm/gemm.kernel.ts";
import { gemv } from "./gemv/gemv.kernel.ts";
import { fmaPeakF16 } from "./fma-peak-f16/fma-peak-f16.kernel.ts";
import { histogram } from "./histogram/histogram.kernel.ts";
import { hrrBind } from "./hrr-bind/hrr-bind.kernel.ts";
import { hrrEncode } from "./hrr-encode/hrr-encode.kernel.ts";
import { hrrProject } from "./hrr-project/hrr-project.kernel.ts";
import { hrrSearch } from "./hrr-search/hrr-search.kernel.ts";
import { hrrSimilarity } from "./hrr-similarity/hrr-similarity.kernel.ts";
import { hrrSuperpose } from "./hrr-superpose/hrr-superpose.kernel.ts";
import { hrrUnbind } from "./hrr-unbind/hrr-unbind.kernel.ts";
import type { KernelSpec } from "./kernel-spec.ts";
import { layernorm } from "./layernorm/layernorm.kernel.ts";
import { mapReduce } from "./map-reduce/map-reduce.kernel.ts";
import { matmulBiasActivation } from "./matmul-bias-activation/matmul-bias-activation.kernel.ts";
import { max } from "./max/max.kernel.ts";
import { mlpPopulation } from "./mlp-population/mlp-population.kernel.ts";
import { mlp } from "./mlp/mlp.kernel.ts";
import { nonDominatedRank } from "./non-dominated-rank/non-dominated-rank.kernel.ts";
import { pairwiseDistance } from "./pairwise-distance/pairwise-distance.kernel.ts";
import { quantize } from "./quantize/quantize.kernel.ts";
import { randomAccess } from "./random-access/random-access.kernel.ts";
import { reduce } from "./reduce/reduce.kernel.ts";
import { scan } from "./scan/scan.kernel.ts";
import { softmax } from "./softmax/softmax.kernel.ts";
import { stridedAccess } from "./strided-access/strided-access.kernel.ts";
import { synthesisExpand } from "./synthesis-expand/synthesis-expand.kernel.ts";
import { synthesisMatch } from "./synthesis-match/synthesis-match.kernel.ts";
import { transformFilter } from "./transform-filter/transform-filter.kernel.ts";
import { transpose } from "./transpose/transpose.kernel.ts";
import { triad } from "./triad/triad.kernel.ts";

/** Every kernel of the house, by name. */
export const KERNELS: ReadonlyMap<string, KernelSpec> = new Map(
  [
    gemm,
    triad,
    reduce,
    mlp,
    gemv,
    transpose,
    softmax,
    layernorm,
    matmulBiasActivation,
    batchedGemm,
    conv2d,
    depthwiseConv2d,
    quantize,
    dequantize,
    scan,
    histogram,
    max,
    argmax,
    stridedAccess,
    randomAccess,
    atomicsContention,
    emptyDispatch,
    divergence,
    transformFilter,
    mapReduce,
    mlpPopulation,
    copy,
    fmaPeak,
    fmaPeakF16,
    dot4Peak,
    gemmF16,
    gemmInt8,
    consensusTally,
    consensusLeader,
    consensusConflicts,
    evolutionStep,
    nonDominatedRank,
    crowdingDistance,
    pairwiseDistance,
    synthesisMatch,
    synthesisExpand,
    hrrBind,
    hrrUnbind,
    hrrEncode,
    hrrSimilarity,
    hrrSuperpose,
    hrrProject,
    hrrSearch,
  ].map((spec: KernelSpec) => [spec.name, spec]),
);
