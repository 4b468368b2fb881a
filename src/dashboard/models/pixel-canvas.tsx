import { useEffect, useRef } from "preact/hooks";
import type { PictureForm } from "./input-picture.ts";

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
