import { useState } from "preact/hooks";
import { readPictureForm } from "./input-picture.ts";
import { readSoundLength } from "./input-sound.ts";
import { NumberInput, type TensorInputProps } from "./input-fields.tsx";
import { PictureInput } from "./picture-input.tsx";
import { SoundInput } from "./sound-input.tsx";
import { Picker } from "../ui/forms/picker.tsx";

const WORDS = { picture: "a picture", sound: "a sound", numbers: "numbers" } as const;
type Way = keyof typeof WORDS;

/** One input of a network, by whatever its shape may hold. */
export function TensorField({ spec, onTensor }: TensorInputProps) {
  const form = readPictureForm(spec.shape);
  const length = spec.dtype.startsWith("float") ? readSoundLength(spec.shape) : null;
  const ways: Way[] = [
    ...(form === null ? [] : ["picture" as const]),
    "numbers",
    ...(length === null ? [] : ["sound" as const]),
  ];
  const [way, setWay] = useState<Way>(ways[0] ?? "numbers");
  const change = (next: Way) => {
    onTensor(null);
    setWay(next);
  };
  const sizes = spec.shape.map((size) => (size === -1 ? "n" : size)).join(" × ");
  return (
    <fieldset class="try-input">
      <legend>
        {spec.name} <small>{`${spec.dtype} ${sizes}`}</small>
      </legend>
      {ways.length > 1 && (
        <Picker label="Given as" value={way} options={ways.map((each) => [each, WORDS[each]])} onPick={change} />
      )}
      {way === "picture" && form !== null && <PictureInput spec={spec} form={form} onTensor={onTensor} />}
      {way === "sound" && length !== null && <SoundInput spec={spec} length={length} onTensor={onTensor} />}
      {way === "numbers" && <NumberInput spec={spec} onTensor={onTensor} />}
    </fieldset>
  );
}
