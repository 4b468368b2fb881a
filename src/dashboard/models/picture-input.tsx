import { useEffect, useRef, useState } from "preact/hooks";
import { FileField, type TensorInputProps } from "./input-fields.tsx";
import {
  decodePicture,
  numbersToPixels,
  PICTURE_RANGES,
  type PictureForm,
  type PictureRange,
  pixelsToNumbers,
} from "./input-picture.ts";
import { toTensor } from "./input-tensor.ts";
import { Picker } from "../ui/forms/picker.tsx";
import { plainOptions } from "../../words/form-fields.ts";

const RANGES = plainOptions(Object.keys(PICTURE_RANGES) as PictureRange[]);

interface PixelCanvasProps {
  readonly form: Pick<PictureForm, "width" | "height">;
  /** RGBA bytes, row by row. */
  readonly pixels: Uint8ClampedArray<ArrayBuffer>;
  readonly label: string;
}

/** A small picture, its pixels large enough to be seen. */
export function PixelCanvas({ form: { width, height }, pixels, label }: PixelCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    canvas.current?.getContext("2d")?.putImageData(new ImageData(pixels, width, height), 0, 0);
  }, [pixels, width, height]);
  return <canvas ref={canvas} class="pixels" width={width} height={height} role="img" aria-label={label} />;
}

/** A picture's file, brought to the size and range that the network takes, with what it gets to see. */
export function PictureInput({ spec, form, onTensor }: TensorInputProps & { readonly form: PictureForm }) {
  const isByte = spec.dtype === "uint8";
  const [range, setRange] = useState<PictureRange>(isByte ? "0 to 255" : "0 to 1");
  const [inverted, setInverted] = useState(false);
  const [pixels, setPixels] = useState<Uint8ClampedArray | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const latest = useRef<File | null>(null);
  const numbers = pixels === null ? null : pixelsToNumbers(pixels, { form, range, inverted });
  useEffect(() => {
    const read = numbers === null ? null : toTensor(spec, numbers);
    onTensor(read?.ok === true ? read.tensor : null);
  }, [pixels, range, inverted]);
  const take = async (file: File) => {
    latest.current = file;
    setFailure(null);
    try {
      const decoded = await decodePicture(file, form);
      if (latest.current === file) setPixels(decoded);
    } catch {
      if (latest.current === file) setFailure(`${file.name} is no picture that this browser can read.`);
    }
  };
  return (
    <div class="try-media">
      <div class="try-fields">
        <FileField label="A picture" accept="image/*" onFile={(file) => void take(file)} />
        <div class="try-row">
          <Picker label="Black to white" value={range} options={RANGES} onPick={setRange} disabled={isByte} />
          <label class="check">
            <input
              type="checkbox"
              checked={inverted}
              onChange={({ currentTarget }) => setInverted(currentTarget.checked)}
            />{" "}
            Invert: dark becomes light
          </label>
        </div>
        <p class="muted">
          {`Stretched to ${form.width} × ${form.height}, ${form.channels === 1 ? "without colours" : "red, green and blue"}.`}
        </p>
        {failure !== null && (
          <p class="refusal" role="alert">
            {failure}
          </p>
        )}
      </div>
      {numbers !== null && (
        <PixelCanvas form={form} pixels={numbersToPixels(numbers, form)} label={`What ${spec.name} gets to see`} />
      )}
    </div>
  );
}
