import { GROWING_SHAPE_RULES } from "../../onnx/growing-shape-rules.ts";
import { countElements, type OnnxModel, sizeInBytes } from "../../onnx/onnx-model.ts";
import type { Shape } from "../../onnx/shape-rule.ts";
import { measureWeights } from "../../onnx/summarise-model.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { FieldError } from "../../protocol/problem.ts";
import { nameNode, shorten } from "./name-node.ts";

/**
 * Whether one row, weights, and what the row makes of them on its way, have room. ONNX Runtime computes what depends on weights
 * alone as it loads a model, so a few bytes that stand for a huge shape would fill a runner before the first request.
 * Activations are counted as float32. Where a shape cannot be told, what only depends on weights is refused, and so are
 * operators that may make much of little; others wait for the watchdog of the process that runs them.
 */
export function checkSizes(model: OnnxModel, shapes: ReadonlyMap<string, Shape>): FieldError[] {
  return [...checkInputs(model), ...checkWeights(model), ...checkActivations(model, shapes)];
}

/** Both ends make inputs of their own to measure and to probe with, so that one that no request could carry fills them, too. */
function checkInputs({ inputs }: OnnxModel): FieldError[] {
  let sum = 0;
  for (const [index, { name, dtype, shape }] of inputs.entries()) {
    const elements = countElements(shape.map((size) => (typeof size === "number" ? size : 1)));
    // The length of a text takes four bytes, however short that is.
    sum += sizeInBytes(dtype === "string" ? "uint32" : dtype, elements);
    if (sum > LIMITS.inferBodyBytes) {
      const message = `the input ${shorten(name)} brings a row to ${sum} bytes, ${over("inferBodyBytes")}`;
      return [{ pointer: `#/graph/input/${index}`, message }];
    }
  }
  return [];
}

function checkWeights(model: OnnxModel): FieldError[] {
  const bytes = measureWeights(model);
  if (bytes <= LIMITS.modelWeightBytes) return [];
  return [{ pointer: "#/graph/initializer", message: `has weights of ${bytes} bytes, ${over("modelWeightBytes")}` }];
}

function checkActivations({ nodes, weights }: OnnxModel, shapes: ReadonlyMap<string, Shape>): FieldError[] {
  const fixed = new Set([...weights.keys(), ""]);
  let sum = 0;
  for (const [index, node] of nodes.entries()) {
    const pointer = `#/graph/node/${index}`;
    const isFixed = node.inputs.every((name) => fixed.has(name));
    for (const name of node.outputs) {
      if (name === "") continue;
      const shape = shapes.get(name);
      if (shape === undefined && (isFixed || GROWING_SHAPE_RULES.has(node.operator))) {
        return [{ pointer, message: `${nameNode(node)} gives ${shorten(name)}, whose size the file does not say` }];
      }
      if (isFixed) fixed.add(name);
      sum += sizeInBytes("float32", countElements(shape ?? [0]));
    }
    // What comes behind it is no better.
    if (sum > LIMITS.modelActivationBytes) {
      const message = `${nameNode(node)} brings what one row takes to ${sum} bytes, ${over("modelActivationBytes")}`;
      return [{ pointer, message }];
    }
  }
  return [];
}

function over(limit: "inferBodyBytes" | "modelWeightBytes" | "modelActivationBytes"): string {
  return `and may have ${LIMITS[limit]}`;
}
