/** Of ONNX's own operators, what ONNX Runtime 1.30 loads. */
export const FIRST_OPSET = 7;
export const LAST_OPSET = 26;

/**
 * Operators that ONNX Runtime's CPU provider computes, by the opset since which it knows them (7 stands for it and all
 * before); without those of training and of pictures as files.
 */
const SINCE: Readonly<Record<number, string>> = {
  7:
    "Abs Acos Add And ArgMax ArgMin Asin Atan AveragePool BatchNormalization Cast Ceil Clip Concat" +
    " Constant Conv ConvTranspose Cos DepthToSpace Dropout Elu Equal Exp Flatten Floor GRU Gather Gemm" +
    " GlobalAveragePool GlobalLpPool GlobalMaxPool Greater HardSigmoid Hardmax Identity If" +
    " InstanceNormalization LRN LSTM LayerNormalization LeakyRelu Less Log LogSoftmax Loop LpNormalization" +
    " LpPool MatMul Max MaxPool MaxRoiPool Mean MeanVarianceNormalization Min Mul Multinomial Neg Not Or" +
    " PRelu Pad Pow RNN RandomNormal RandomNormalLike RandomUniform RandomUniformLike Reciprocal ReduceL1" +
    " ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum" +
    " ReduceSumSquare Relu Reshape Selu Shape Sigmoid Sin Size Slice Softmax Softplus Softsign" +
    " SpaceToDepth Split Sqrt Squeeze Sub Sum Tan Tanh ThresholdedRelu Tile TopK Transpose Unsqueeze" +
    " Upsample Xor",
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
  12: "Celu Einsum GreaterOrEqual LessOrEqual",
  14: "HardSwish Trilu",
  15: "Bernoulli CastLike Optional OptionalGetElement OptionalHasElement",
  16: "GridSample",
  17: "BlackmanWindow DFT HammingWindow HannWindow MelWeightMatrix STFT SequenceMap",
  18: "BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CenterCropPad Col2Im GroupNormalization Mish",
  19: "DeformConv",
  20: "AffineGrid Gelu RegexFullMatch StringConcat StringSplit",
  23: "Attention RMSNormalization RotaryEmbedding",
  24: "Swish TensorScatter",
};

/** The first opset of each operator, by name. */
export const OPERATORS: ReadonlyMap<string, number> = new Map(
  Object.entries(SINCE).flatMap(([opset, names]) => names.split(" ").map((name) => [name, Number(opset)] as const)),
);

/** Operators that run a graph of their own, and mostly as often as data say. */
export const REPEATING_OPERATORS: ReadonlySet<string> = new Set(["If", "Loop", "Scan", "SequenceMap"]);
