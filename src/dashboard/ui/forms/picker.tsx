interface PickerProps<Value extends string> {
  readonly label: string;
  readonly value: Value | undefined;
  /** Values with their words. */
  readonly options: readonly (readonly [value: Value, words: string])[];
  readonly onPick: (value: Value) => void;
  readonly class?: string;
  readonly disabled?: boolean;
}

/** Picks one of several at once, outside of a form. */
export function Picker<Value extends string>(props: PickerProps<Value>) {
  const { label, value, options, onPick, disabled } = props;
  return (
    <label class={props.class}>
      {label}{" "}
      <select
        value={value}
        disabled={disabled}
        onChange={({ currentTarget }) => onPick(options[currentTarget.selectedIndex]![0])}
      >
        {options.map(([option, words]) => (
          <option key={option} value={option}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
