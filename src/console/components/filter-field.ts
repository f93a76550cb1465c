/** A field that narrows a list, as `filter-form.tsx` shows it. Its value is in the address. */
type Choice = string | readonly [value: string, text: string];

/** Text is typed into a field with neither `options` nor `values`. */
export interface FilterField {
  /** Name in the address. */
  param: string;
  label: string;
  /** One of these can be chosen. */
  options?: readonly Choice[];
  /** What it is called that none of the options is chosen. */
  none?: string;
  /** Any of these can be chosen. In the address they have commas between. */
  values?: readonly Choice[];
  placeholder?: string;
  maxLength?: number;
  type?: 'search';
  /** Out of view until it has a value or somebody asks for all filters. */
  isRare?: boolean;
  isMono?: boolean;
  /** What can be typed; something else can be, too. */
  suggestions?: readonly string[];
}

/** Values with commas between. */
export function listed(text = ''): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
