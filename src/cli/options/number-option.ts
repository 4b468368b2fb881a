import { InvalidArgumentError } from "commander";

/** Reads an option that is a number within bounds. */
export function numberBetween(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (text.trim() !== "" && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`must be a number from ${min} to ${max}.`);
  };
}

/** Reads an option that is a whole number within bounds. */
export function wholeBetween(min: number, max: number) {
  return (text: string): number => {
    const value = numberBetween(min, max)(text);
    if (Number.isInteger(value)) return value;
    throw new InvalidArgumentError("must be a whole number.");
  };
}
