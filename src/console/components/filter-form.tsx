/**
 * Fields that narrow a list. Their values are in the address. Choices count at once and take along what is typed, text
 * counts with the button or Enter.
 */
import { useLayoutEffect, useState } from 'preact/hooks';
import { useParams } from '../url/params.ts';
import { Button } from './button.tsx';
import { ChoiceField } from './choice.tsx';
import { SelectField, TextField } from './field.tsx';
import { type FilterField, listed } from './filter-field.ts';

export interface FilterFormProps {
  verb: string;
  fields: readonly FilterField[];
  /** Parameters that say where a page begins. A new search begins with the first page. */
  place?: readonly string[];
  /** What is asked for, and not a list that is there without it: every field is in view, on a phone too. */
  isQuestion?: boolean;
}

export function FilterForm({ verb, fields, place = [], isQuestion = false }: FilterFormProps) {
  const [params, change] = useParams();
  const [draft, setDraft] = useState(params);
  // The address also changes by the back button. A layout effect runs before the next event of the visitor; another effect
  // would run a frame later, and put the values back over what is typed meanwhile.
  useLayoutEffect(() => setDraft(params), [JSON.stringify(params)]);
  const typed = fields.filter(({ options, values }) => options === undefined && values === undefined);
  const apply = (chosen: Readonly<Record<string, string>>) =>
    change({
      ...Object.fromEntries(typed.map(({ param }) => [param, draft[param]?.trim() ?? null])),
      ...chosen,
      ...without(place),
    });
  const names = fields.map(({ param }) => param);
  const chosenCount = names.filter((name) => params[name] !== undefined).length;
  // On a phone, the fields stand behind a button; on a desk, those that are rarely used and have no value.
  const [isOpen, setIsOpen] = useState(false);
  const inputOf = (field: FilterField) => {
    const { param, label, options, none = 'any', values, isRare: _place, ...typedField } = field;
    if (options !== undefined) {
      return (
        <SelectField<string>
          label={label}
          value={params[param] ?? ''}
          options={[['', none], ...options]}
          onChange={(value) => apply({ [param]: value })}
        />
      );
    }
    if (values !== undefined) {
      return (
        <ChoiceField
          label={label}
          options={values}
          chosen={listed(params[param])}
          onChange={(chosen) => apply({ [param]: chosen.join(',') })}
        />
      );
    }
    return (
      <TextField
        isMono
        {...typedField}
        label={label}
        value={draft[param] ?? ''}
        onInput={(text) => setDraft((former) => ({ ...former, [param]: text }))}
      />
    );
  };
  return (
    <form
      class="filters"
      data-open={isQuestion || isOpen}
      data-has-rare={fields.some(({ isRare }) => isRare)}
      onSubmit={(event) => {
        event.preventDefault();
        apply({});
      }}
    >
      {!isQuestion && (
        <div class="filters-button">
          <Button isExpanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            {chosenCount === 0 ? 'Filters' : `Filters (${chosenCount})`}
          </Button>
        </div>
      )}
      {fields.map((field) => (
        <div key={field.param} class={field.isRare && params[field.param] === undefined ? 'filter-rare' : ''}>
          {inputOf(field)}
        </div>
      ))}
      <div class="actions">
        <Button type="submit" kind="primary">
          {verb}
        </Button>
        {!isQuestion && chosenCount > 0 && (
          <Button kind="quiet" onClick={() => change(without([...names, ...place]))}>
            Clear
          </Button>
        )}
      </div>
    </form>
  );
}

function without(names: readonly string[]): Record<string, null> {
  return Object.fromEntries(names.map((name) => [name, null]));
}
