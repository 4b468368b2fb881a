import { fc } from "../property.ts";
import { countElements, DType, DTYPE_BYTES, packStrings, type Tensor } from "../../../src/protocol/wire/tensor.ts";

export const dtypes = DType.options;

const shape = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 4 });

/** Tensors of any type and small shape; their bytes are arbitrary, but booleans are 0 or 1. */
export const anyTensor: fc.Arbitrary<Tensor> = fc
  .record({ name: fc.string({ minLength: 1, maxLength: 8 }), dtype: fc.constantFrom(...dtypes), shape })
  .chain((head) => {
    const elements = countElements(head.shape);
    if (head.dtype === "string") {
      const strings = fc.array(fc.string({ unit: "grapheme", maxLength: 6 }), {
        minLength: elements,
        maxLength: elements,
      });
      return strings.map((each): Tensor => ({ ...head, bytes: packStrings(each) }));
    }
    const length = elements * DTYPE_BYTES[head.dtype];
    const max = head.dtype === "bool" ? 1 : 255;
    return fc.uint8Array({ minLength: length, maxLength: length, max }).map((bytes) => ({ ...head, bytes }));
  });
