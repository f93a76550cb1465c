/** Fields that narrow a list. Choices count at once and take along what is typed, text counts with the button or Enter. */
import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';

export interface FilterFormProps {
  verb: string;
  onSubmit: () => void;
  /** `null`: there is nothing to clear. */
  onClear: (() => void) | null;
  children: ComponentChildren;
}

export function FilterForm({ verb, onSubmit, onClear, children }: FilterFormProps) {
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      <div class="actions">
        <Button type="submit" kind="primary">
          {verb}
        </Button>
        {onClear !== null && (
          <Button kind="quiet" onClick={onClear}>
            Clear
          </Button>
        )}
      </div>
    </form>
  );
}

/** Options of a choice: one for no filter, and one for each value. */
export function optionsOf<Value extends string>(none: string, values: readonly Value[]) {
  return [['', none] as const, ...values] as const;
}
