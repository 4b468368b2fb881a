import { useCallback, useEffect, useRef } from "preact/hooks";
import type { Endpoint } from "../../protocol/endpoint.ts";
import type { Client } from "../../client/client.ts";
import { useColourScheme, useWidth } from "../ui/hooks/use-screen.ts";
import { useResource } from "../ui/hooks/use-resource.ts";

/** Widths are asked for in steps, so that a plot is drawn anew only when it would look different. */
const WIDTH_STEP_PX = 40;
const WIDEST_PX = 960;
const NARROWEST_PX = 280;

interface SvgPlotProps {
  readonly client: Client;
  /** The endpoint of the plot, and what it is of. */
  readonly endpoint: Endpoint;
  readonly id: string;
  /** The parameter of the endpoint that the id is for. */
  readonly of?: "id" | "model";
  readonly version?: number;
  readonly scenario?: number;
  /** Another moment has the plot read again: what it is of goes on. */
  readonly moment?: string;
}

/**
 * A plot as the API draws it. A key goes with each request, so that it is fetched; and the page's policy lets no
 * image but its own origin's in, so that the drawing is put into the page itself. It was parsed as XML, where its
 * texts are texts, and its colours are attributes: the policy would let neither script nor style run.
 */
export function SvgPlot({ client, endpoint, id, of = "id", version, scenario, moment }: SvgPlotProps) {
  const theme = useColourScheme();
  const frame = useRef<HTMLDivElement>(null);
  const known = useWidth(frame);
  const width = known === null ? null : stepWidth(known);
  const load = useCallback(
    async (signal: AbortSignal) => {
      if (width === null) return null;
      const response = await client.send(endpoint, {
        params: { [of]: id },
        query: { theme, width, scenario, version },
        signal,
      });
      return readDrawing(await response.text());
    },
    [client, endpoint, id, of, version, scenario, theme, width, moment],
  );
  const { value, error } = useResource(load);
  useEffect(() => {
    if (value !== null) frame.current?.replaceChildren(document.importNode(value, true));
  }, [value]);
  return (
    <div class="svg-plot" aria-busy={value === null && error === null}>
      {error !== null && <p class="muted plot-note">{`The plot could not be read: ${error.message}`}</p>}
      <div ref={frame} />
    </div>
  );
}

/** Throws where it is no SVG document. */
function readDrawing(text: string): Element {
  const { documentElement } = new DOMParser().parseFromString(text, "image/svg+xml");
  if (documentElement.localName !== "svg") throw new Error("it is no drawing");
  return documentElement;
}

/** A width in steps, within what a plot is drawn at. */
function stepWidth(width: number): number {
  const steps = Math.floor(width / WIDTH_STEP_PX) * WIDTH_STEP_PX;
  return Math.max(NARROWEST_PX, Math.min(WIDEST_PX, steps));
}
