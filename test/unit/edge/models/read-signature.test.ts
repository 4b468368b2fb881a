import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { readFileSignature } from "./read-file-signature.ts";
import { fc } from "../../property.ts";

const zoo = join(import.meta.dirname, "../../../../models");
const files = readdirSync(zoo, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".onnx"))
  .map((name) => ({ name, bytes: new Uint8Array(readFileSync(join(zoo, name))) }));
const lenet5 = files.find(({ name }) => name.includes("lenet5"))?.bytes ?? new Uint8Array();

const bytes = (field: number, value: Uint8Array) =>
  new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(value).finish();
const text = (field: number, value: string) => bytes(field, new TextEncoder().encode(value));
const varint = (field: number, value: number) => new BinaryWriter().tag(field, WireType.Varint).int32(value).finish();
const join8 = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));

const valueInfo = (name: string, elementType: number, ...dimensions: Uint8Array[]) =>
  join8(
    text(1, name),
    bytes(
      2,
      bytes(1, join8(varint(1, elementType), bytes(2, join8(...dimensions.map((dimension) => bytes(1, dimension)))))),
    ),
  );
const graphOf = (...parts: Uint8Array[]) => join8(varint(1, 8), bytes(7, join8(...parts)), bytes(8, varint(2, 17)));
const input = bytes(11, valueInfo("x", 1, varint(1, 4)));
const output = bytes(12, valueInfo("y", 1, text(2, "batch"), varint(1, 2)));

const messageOf = (file: Uint8Array) => {
  const result = readFileSignature(file);
  return result.ok ? null : result.message;
};

describe("the signature of a model", () => {
  it("is read of every file in the zoo", () => {
    expect(files.map(({ name }) => name)).toEqual(
      expect.arrayContaining([expect.stringContaining("lenet5"), expect.stringContaining("cartpole")]),
    );
    for (const { name, bytes: file } of files) {
      const signature = readFileSignature(file);
      const dtypes = signature.ok ? signature.inputs.map(({ dtype }) => dtype) : [];
      expect([...new Set(dtypes)], name).toEqual(["float32"]);
    }
    const found = readFileSignature(lenet5);
    expect(found.ok && found.inputs[0]?.shape.slice(-2)).toEqual([28, 28]);
    expect(found.ok && found.outputs[0]?.shape.at(-1)).toBe(10);
  });

  it("has free dimensions as -1 and leaves weights out of the inputs", () => {
    const weight = bytes(5, join8(varint(2, 1), text(8, "w"), bytes(9, new Uint8Array(4))));
    const file = graphOf(input, bytes(11, valueInfo("w", 1, varint(1, 9))), weight, output);
    expect(readFileSignature(file)).toEqual({
      ok: true,
      inputs: [{ name: "x", dtype: "float32", shape: [4] }],
      outputs: [{ name: "y", dtype: "float32", shape: [-1, 2] }],
    });
  });

  it("is refused wherever a tensor's bytes lie outside of the file", () => {
    const elsewhere = varint(14, 1);
    const named = bytes(13, text(1, "/etc/passwd"));
    const attributeOf = (...parts: Uint8Array[]) => bytes(1, bytes(5, join8(...parts)));
    const nested = bytes(6, bytes(1, bytes(5, bytes(5, elsewhere))));
    const places = {
      "an initializer": bytes(5, join8(text(8, "w"), elsewhere)),
      "an initializer that only names a file": bytes(5, join8(text(8, "w"), named)),
      "a sparse initializer": bytes(15, bytes(1, elsewhere)),
      "a constant": attributeOf(text(1, "value"), bytes(5, elsewhere)),
      "a list of tensors": attributeOf(bytes(10, elsewhere)),
      "a subgraph": attributeOf(nested),
    };
    for (const [place, part] of Object.entries(places)) {
      expect(messageOf(graphOf(input, output, part)), place).toContain("outside of the file");
    }
    const inFunction = join8(graphOf(input, output), bytes(25, bytes(7, bytes(5, bytes(5, elsewhere)))));
    expect(messageOf(inFunction)).toContain("outside of the file");
    const scalar = join8(varint(2, 1), bytes(9, new Uint8Array(4)), varint(14, 0));
    expect(messageOf(graphOf(input, output, attributeOf(text(1, "value"), bytes(5, scalar))))).toBeNull();
  });

  it("is refused where no request could carry it", () => {
    const long = bytes(11, valueInfo("x".repeat(257), 1, varint(1, 4)));
    expect(messageOf(graphOf(long, output))).toContain("256 characters");
    const deep = bytes(11, valueInfo("x", 1, ...Array.from({ length: 9 }, () => varint(1, 1))));
    expect(messageOf(graphOf(deep, output))).toContain("8 dimensions");
    const many = Array.from({ length: 65 }, (_, i) => bytes(11, valueInfo(`x${i}`, 1, varint(1, 4))));
    expect(messageOf(graphOf(...many, output))).toContain("64 inputs");
    let loop: Uint8Array = varint(14, 0);
    for (let depth = 0; depth < 40; depth++) loop = bytes(1, bytes(5, bytes(6, loop)));
    expect(messageOf(graphOf(input, output, loop))).toContain("not an ONNX model");
  });

  it("is refused with its reason", () => {
    expect(messageOf(new Uint8Array())).toContain("no graph");
    expect(messageOf(bytes(7, join8(input, output)))).toContain("no opset");
    expect(messageOf(graphOf(output))).toContain("no inputs");
    expect(messageOf(graphOf(input))).toContain("no outputs");
    expect(messageOf(graphOf(bytes(11, valueInfo("s", 14)), output))).toContain("s has elements of complex64");
    expect(messageOf(graphOf(bytes(11, text(1, "odd")), output))).toContain("odd has no type");
  });

  it("is refused where weights lie outside of the file", () => {
    const location = bytes(13, join8(text(1, "location"), text(2, "/etc/passwd")));
    for (const tensor of [location, varint(14, 1), join8(location, varint(14, 1))]) {
      expect(messageOf(graphOf(input, output, bytes(5, join8(text(8, "w"), tensor))))).toContain("outside of the file");
    }
    const inside = join8(text(8, "w"), varint(2, 1), bytes(9, new Uint8Array(4)), varint(14, 0));
    expect(messageOf(graphOf(input, output, bytes(5, inside)))).toBeNull();
  });

  it("of a truncated or damaged file is refused or read, and never throws", () => {
    fc.assert(
      fc.property(fc.nat(lenet5.byteLength - 1), (length) => {
        // The tail of the file is the opset: without it, or within the graph, there is no model.
        expect(readFileSignature(lenet5.subarray(0, length)).ok).toBe(false);
      }),
    );
    fc.assert(
      fc.property(fc.nat(2_000), fc.nat(255), (at, value) => {
        const damaged = lenet5.slice();
        damaged[at] = value;
        expect(typeof readFileSignature(damaged).ok).toBe("boolean");
      }),
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (noise) => !readFileSignature(noise).ok));
    expect(readFileSignature(new Uint8Array(100_000).fill(0x0b)).ok).toBe(false);
  });
});
