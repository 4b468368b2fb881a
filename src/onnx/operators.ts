type Versions = Readonly<Record<number, string>>;

/**
 * Operators that ONNX Runtime 1.30 defines, by domain and the first version of it that has them; 7 includes all before
 * it. Source: the runtime, asked about each name in its library. It has no CPU implementation of some: loading says so.
 */
const DEFINED: Readonly<Record<string, Versions>> = {
  "": {
    7:
      "Abs Acos Add And ArgMax ArgMin Asin Atan AveragePool BatchNormalization Cast Ceil Clip Concat" +
      " Constant Conv ConvTranspose Cos DepthToSpace Div Dropout Elu Equal Exp Flatten Floor GRU Gather Gemm" +
      " GlobalAveragePool GlobalLpPool GlobalMaxPool Greater HardSigmoid Hardmax Identity If" +
      " InstanceNormalization LRN LSTM LayerNormalization LeakyRelu Less Log LogSoftmax Loop LpNormalization" +
      " LpPool MatMul Max MaxPool MaxRoiPool Mean MeanVarianceNormalization Min Mul Multinomial Neg Not Or" +
      " PRelu Pad Pow RNN RandomNormal RandomNormalLike RandomUniform RandomUniformLike Reciprocal ReduceL1" +
      " ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum" +
      " ReduceSumSquare Relu Reshape Selu Shape Sigmoid SimplifiedLayerNormalization Sin Size Slice Softmax" +
      " Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum Tan Tanh ThresholdedRelu Tile TopK" +
      " Transpose Unsqueeze Upsample Xor",
    8: "Expand Scan",
    9:
      "Acosh Asinh Atanh Compress ConstantOfShape Cosh Erf EyeLike IsNaN MaxUnpool NonZero OneHot Scatter" +
      " Shrink Sign Sinh TfIdfVectorizer Where",
    10:
      "ConvInteger DequantizeLinear IsInf MatMulInteger Mod NonMaxSuppression QLinearConv QLinearMatMul" +
      " QuantizeLinear Resize ReverseSequence RoiAlign StringNormalizer",
    11:
      "BitShift ConcatFromSequence CumSum Det DynamicQuantizeLinear GatherElements GatherND Range Round" +
      " ScatterElements ScatterND SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert" +
      " SequenceLength SplitToSequence Unique",
    12: "Celu Einsum GreaterOrEqual LessOrEqual NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
    14: "HardSwish Trilu",
    15: "Bernoulli CastLike Optional OptionalGetElement OptionalHasElement",
    16: "GridSample",
    17: "BlackmanWindow DFT HammingWindow HannWindow MelWeightMatrix STFT SequenceMap",
    18: "BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CenterCropPad Col2Im GroupNormalization Mish",
    19: "DeformConv",
    20: "AffineGrid Gelu ImageDecoder RegexFullMatch StringConcat StringSplit",
    23: "Attention RMSNormalization RotaryEmbedding",
    24: "Swish TensorScatter",
    26: "BitCast CumProd",
  },
  "ai.onnx.ml": {
    1:
      "ArrayFeatureExtractor Binarizer CastMap CategoryMapper Constant DictVectorizer FeatureVectorizer" +
      " Imputer LabelEncoder LinearClassifier LinearRegressor Normalizer OneHotEncoder SVMClassifier" +
      " SVMRegressor Scaler TreeEnsembleClassifier TreeEnsembleRegressor ZipMap",
    5: "TreeEnsemble",
  },
  "com.microsoft": {
    1:
      "Attention AttnLSTM BeamSearch BiasAdd BiasGelu BiasSoftmax BiasSplitGelu BifurcationDetector" +
      " BitmaskBiasDropout BitmaskDropout CDist CausalConvWithState ComplexMul ComplexMulConj Constant" +
      " ConvTransposeWithDynamicPads CropAndResize DecoderAttention DecoderMaskedMultiHeadAttention" +
      " DecoderMaskedSelfAttention DequantizeBFP DequantizeLinear DequantizeWithOrder DynamicQuantizeLSTM" +
      " DynamicQuantizeMatMul DynamicTimeWarping EPContext EmbedLayerNormalization EngramGate ExpandDims" +
      " FastGelu FusedConv FusedGemm FusedMatMul FusedMatMulActivation GatedAdd GatedDeltaNet GatedRMSNorm" +
      " GatedRelativePositionBias GatherBlockQuantized GatherND Gelu GemmFastGelu GemmFloat8" +
      " GemmaRotaryEmbedding GreedySearch GridSample GroupQueryAttention Inverse Irfft IsAllFinite" +
      " LinearAttention LinearAttentionGate MRotaryEmbedding MatMulBlockQuantizedFp4Weight" +
      " MatMulBlockQuantizedFp8Weight MatMulBnb4 MatMulFpQ4 MatMulInteger16 MatMulIntegerToFloat MatMulNBits" +
      " MatMulNBitsMlp MatMulNBitsQkv MaxpoolWithMask MoE MultiHeadAttention MurmurHash3 NGramHashMapping" +
      " NGramRepeatBlock NhwcConv NhwcFusedConv NhwcMaxPool PackedAttention PackedMultiHeadAttention Pad" +
      " PagedAttention QAttention QEmbedLayerNormalization QGemm QLinearAdd QLinearAveragePool QLinearConcat" +
      " QLinearConv QLinearGlobalAveragePool QLinearLeakyRelu QLinearMul QLinearReduceMean QLinearSigmoid" +
      " QLinearSoftmax QLinearWhere QMoE QOrderedAttention QOrderedGelu QOrderedLayerNormalization" +
      " QOrderedLongformerAttention QOrderedMatMul QuantizeBFP QuantizeLinear QuantizeWithOrder QuickGelu" +
      " Range ReduceSumInteger RelativePositionBias RemovePadding RestorePadding Rfft RotaryEmbedding" +
      " SampleOp Sampling SkipGroupNorm SkipLayerNormalization SkipSimplifiedLayerNormalization Snpe" +
      " SparseAttention SparseToDenseMatMul Tokenizer TorchEmbedding TransposeMatMul Trilu UnfoldTensor" +
      " Unique VarlenCausalConvWithState WhisperBeamSearch WordConvEmbedding",
  },
};

/** The first version of each operator, by domain and name. */
export const OPERATORS: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map(
  Object.entries(DEFINED).map(([domain, versions]) => [domain, new Map(Object.entries(versions).flatMap(listNames))]),
);

function listNames([version, names]: readonly [string, string]): (readonly [string, number])[] {
  return names.split(" ").map((name) => [name, Number(version)] as const);
}

/** ONNX's own operators that the kernels of `kernels/network` compute. */
export const WGSL_OPERATORS = [
  "Abs",
  "Acos",
  "Acosh",
  "Add",
  "And",
  "ArgMax",
  "ArgMin",
  "Asin",
  "Asinh",
  "Atan",
  "Atanh",
  "AveragePool",
  "BatchNormalization",
  "Cast",
  "CastLike",
  "Ceil",
  "Celu",
  "Clip",
  "Concat",
  "Constant",
  "ConstantOfShape",
  "Conv",
  "ConvTranspose",
  "Cos",
  "Cosh",
  "CumSum",
  "DepthToSpace",
  "DequantizeLinear",
  "Div",
  "Dropout",
  "Einsum",
  "Elu",
  "Equal",
  "Erf",
  "Exp",
  "Expand",
  "EyeLike",
  "Flatten",
  "Floor",
  "GRU",
  "Gather",
  "GatherElements",
  "GatherND",
  "Gelu",
  "Gemm",
  "GlobalAveragePool",
  "GlobalLpPool",
  "GlobalMaxPool",
  "Greater",
  "GreaterOrEqual",
  "GroupNormalization",
  "HardSigmoid",
  "HardSwish",
  "Hardmax",
  "Identity",
  "InstanceNormalization",
  "IsInf",
  "IsNaN",
  "LRN",
  "LSTM",
  "LayerNormalization",
  "LeakyRelu",
  "Less",
  "LessOrEqual",
  "Log",
  "LogSoftmax",
  "LpNormalization",
  "LpPool",
  "MatMul",
  "Max",
  "MaxPool",
  "Mean",
  "MeanVarianceNormalization",
  "Min",
  "Mish",
  "Mod",
  "Mul",
  "Neg",
  "Not",
  "OneHot",
  "Or",
  "PRelu",
  "Pad",
  "Pow",
  "QuantizeLinear",
  "RMSNormalization",
  "Range",
  "Reciprocal",
  "ReduceL1",
  "ReduceL2",
  "ReduceLogSum",
  "ReduceLogSumExp",
  "ReduceMax",
  "ReduceMean",
  "ReduceMin",
  "ReduceProd",
  "ReduceSum",
  "ReduceSumSquare",
  "Relu",
  "Reshape",
  "Resize",
  "Round",
  "Scatter",
  "ScatterElements",
  "ScatterND",
  "Selu",
  "Shape",
  "Shrink",
  "Sigmoid",
  "Sign",
  "Sin",
  "Sinh",
  "Size",
  "Slice",
  "Softmax",
  "Softplus",
  "Softsign",
  "SpaceToDepth",
  "Split",
  "Sqrt",
  "Squeeze",
  "Sub",
  "Sum",
  "Swish",
  "Tan",
  "Tanh",
  "TensorScatter",
  "ThresholdedRelu",
  "Tile",
  "TopK",
  "Transpose",
  "Trilu",
  "Unsqueeze",
  "Upsample",
  "Where",
  "Xor",
] as const;
export type WgslOperator = (typeof WGSL_OPERATORS)[number];

/** Operators that stand for several of those, by domain and name. */
export const WGSL_EXPANSIONS = [
  "Attention",
  "ConvInteger",
  "DynamicQuantizeLinear",
  "MatMulInteger",
  "QLinearConv",
  "QLinearMatMul",
  "RotaryEmbedding",
  "SimplifiedLayerNormalization",
  "com.microsoft.Attention",
  "com.microsoft.BiasGelu",
  "com.microsoft.FastGelu",
  "com.microsoft.FusedMatMul",
  "com.microsoft.Gelu",
  "com.microsoft.MultiHeadAttention",
  "com.microsoft.QGemm",
  "com.microsoft.QLinearAdd",
  "com.microsoft.QLinearConcat",
  "com.microsoft.QLinearGlobalAveragePool",
  "com.microsoft.QLinearLeakyRelu",
  "com.microsoft.QLinearMul",
  "com.microsoft.QLinearSigmoid",
  "com.microsoft.QuickGelu",
  "com.microsoft.RotaryEmbedding",
  "com.microsoft.SkipLayerNormalization",
  "com.microsoft.SkipSimplifiedLayerNormalization",
] as const;
