import { useEffect, useRef, useState } from "preact/hooks";
import { formatNumber } from "../../words/numbers.ts";
import { FileField, type TensorInputProps } from "./input-fields.tsx";
import { decodeSound, fitSound, outlineSound, SOUND_RATES_HZ } from "./input-sound.ts";
import { toTensor } from "./input-tensor.ts";

const USUAL_RATE_HZ = 16_000;
const PARTS = 200;

interface SoundInputProps extends TensorInputProps {
  /** Samples that the network takes; 0 where it takes any number. */
  readonly length: number;
}

/** A sound's file, brought to one channel, a rate and the length that the network takes. */
export function SoundInput({ spec, length, onTensor }: SoundInputProps) {
  const [rateHz, setRateHz] = useState(USUAL_RATE_HZ);
  const [file, setFile] = useState<File | null>(null);
  const [samples, setSamples] = useState<Float32Array | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const isRate = rateHz >= SOUND_RATES_HZ.least && rateHz <= SOUND_RATES_HZ.most;
  const asked = useRef(0);
  useEffect(() => {
    const ask = ++asked.current;
    setSamples(null);
    setFailure(null);
    if (file === null || !isRate) return;
    decodeSound(file, rateHz).then(
      (decoded) => asked.current === ask && setSamples(decoded),
      () => asked.current === ask && setFailure(`${file.name} is no sound that this browser can read.`),
    );
  }, [file, rateHz, isRate]);
  const fitted = samples === null ? null : fitSound(samples, length);
  useEffect(() => {
    const read = fitted === null ? null : toTensor(spec, [...fitted]);
    onTensor(read?.ok === true ? read.tensor : null);
  }, [samples]);
  return (
    <div class="try-fields">
      <FileField label="A sound" accept="audio/*" onFile={setFile} />
      <label>
        Samples a second (Hz){" "}
        <input
          type="number"
          min={SOUND_RATES_HZ.least}
          max={SOUND_RATES_HZ.most}
          step={1}
          required
          value={rateHz}
          onInput={({ currentTarget }) => setRateHz(currentTarget.valueAsNumber)}
        />
      </label>
      <p class="muted">
        {`One channel, resampled; ${length === 0 ? "its whole length" : `the first ${formatNumber(length)} samples, with silence behind them where it is shorter`}.`}
      </p>
      {failure !== null && (
        <p class="refusal" role="alert">
          {failure}
        </p>
      )}
      {samples !== null && fitted !== null && (
        <Waveform
          samples={fitted}
          label={`${formatNumber(fitted.length)} samples of ${formatNumber(samples.length)} at ${formatNumber(rateHz)} Hz`}
        />
      )}
    </div>
  );
}

function Waveform({ samples, label }: { readonly samples: Float32Array; readonly label: string }) {
  const parts = outlineSound(samples, PARTS);
  return (
    <figure>
      <svg class="waveform" viewBox={`0 -1 ${parts.length} 2`} preserveAspectRatio="none" role="img" aria-label={label}>
        {parts.map(({ low, high }, part) => (
          <rect key={part} x={part} y={-high} width={0.8} height={Math.max(0.01, high - low)} />
        ))}
      </svg>
      <figcaption class="muted">{label}</figcaption>
    </figure>
  );
}
