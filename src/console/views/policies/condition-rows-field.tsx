/** A condition by clicks: rows of field, operator and value, and groups of them. */
import { policyFieldFacts, wordsOf } from '../../../contract/management/policy-set/policy-fields.ts';
import { type PolicyField, policyFields, type PolicyOperator } from '../../../contract/vocabulary.ts';
import { parseExpression } from '../../../policies/text/parse.ts';
import { Button } from '../../components/button.tsx';
import { SelectField } from '../../components/field.tsx';
import { formOn, useRefusal } from '../../settings/form.tsx';
import { filledLines } from '../../settings/setting-schema.ts';
import { namesOf, suggestedValues } from './completions.ts';
import {
  changedRow,
  type ConditionRows,
  groupOf,
  isList,
  newRow,
  type Row,
  type RowGroup,
  rowProblem,
  takesOneLine,
} from './condition-rows.ts';
import { exampleValues, fieldWords, operatorWords } from './condition-words.ts';

export interface ConditionRowsFieldProps {
  value: string;
  /** `null`: rows cannot show the condition. */
  rows: ConditionRows | null;
  onChange: (rows: ConditionRows) => void;
}

export function ConditionRowsField({ value, rows, onChange }: ConditionRowsFieldProps) {
  const refused = useRefusal('when', 'Condition');
  if (rows === null) return <Unshown text={value} />;
  const { joint, groups } = rows;
  const isWrong = value !== '' && !parseExpression(value).ok;
  const isUnfilled = isWrong && groups.every((group) => group.rows.every((row) => rowProblem(row) === null));
  const writeGroup = (at: number, group: RowGroup): void => {
    const next = group.rows.length === 0 ? groups.toSpliced(at, 1) : groups.with(at, group);
    onChange({ joint, groups: next });
  };
  return (
    <div class="stack">
      {groups.length > 1 && (
        <div class="clause-joint">
          <SelectField
            label="A request must meet"
            value={joint}
            options={[
              ['and', 'all of these'],
              ['or', 'one of these'],
            ]}
            onChange={(next) => onChange({ joint: next, groups })}
          />
        </div>
      )}
      {groups.map((group, at) => (
        <Group
          key={at}
          group={group}
          number={at + 1}
          outer={joint}
          isOnly={groups.length === 1}
          onChange={(next) => writeGroup(at, next)}
        />
      ))}
      <div class="actions">
        <Button isSmall onClick={() => onChange({ joint, groups: [...groups, groupOf(newRow)] })}>
          Add a row
        </Button>
      </div>
      {value !== '' && (
        <p class="hint">
          As text: <code>{value}</code>
        </p>
      )}
      {isUnfilled && <p class="hint">Fill in every row.</p>}
      {refused !== null && <p class="field-error">{refused}</p>}
    </div>
  );
}

function Unshown({ text }: { text: string }) {
  return (
    <div class="notice" role="status">
      <p>
        {parseExpression(text).ok
          ? 'Rows cannot show this condition: it has groups inside groups, or values with line breaks. It stays text:'
          : 'The text has a mistake, so rows cannot show it. Correct it as text:'}
      </p>
      <code>{text}</code>
    </div>
  );
}

const groupOptions = [
  ['or', 'one of these'],
  ['and', 'all of these'],
  ['not or', 'none of these'],
  ['not and', 'not all of these'],
] as const;

interface GroupProps {
  group: RowGroup;
  number: number;
  outer: 'and' | 'or';
  isOnly: boolean;
  onChange: (group: RowGroup) => void;
}

function Group({ group, number, outer, isOnly, onChange }: GroupProps) {
  const { isNot, joint, rows } = group;
  const isGroup = rows.length > 1;
  // What the list around it cannot say.
  const inner = outer === 'and' ? 'or' : 'and';
  const add = (): void => onChange({ ...(isGroup ? group : { isNot: false, joint: inner }), rows: [...rows, newRow] });
  const shown = rows.map((row, at) => {
    const name = isGroup ? `Row ${number}.${at + 1}` : `Row ${number}`;
    return (
      <RowFields
        key={at}
        row={row}
        name={name}
        onChange={(next) => onChange({ ...group, rows: rows.with(at, next) })}
        onRemove={isOnly && !isGroup ? null : () => onChange({ ...group, rows: rows.toSpliced(at, 1) })}
      />
    );
  });
  // One structure for both, so that the button keeps the focus when a row becomes a group.
  return (
    <div
      class={isGroup ? 'clause-group' : 'clause-line'}
      {...(isGroup ? { role: 'group', 'aria-label': `Group ${number}` } : {})}
    >
      {isGroup && (
        <div class="clause-joint">
          <SelectField
            label={`Group ${number} must meet`}
            value={`${isNot ? 'not ' : ''}${joint}`}
            options={groupOptions}
            onChange={(next) =>
              onChange({ rows, isNot: next.startsWith('not'), joint: next.endsWith('or') ? 'or' : 'and' })
            }
          />
        </div>
      )}
      <div class="stack clause-rows">{shown}</div>
      <Button isSmall label={isGroup ? `Add to the group ${number}` : `${inner} … beside row ${number}`} onClick={add}>
        {isGroup ? 'Add to the group' : `${inner} …`}
      </Button>
    </div>
  );
}

const listHint = (field: PolicyField): string =>
  takesOneLine(field) ? 'one per line, or with commas' : 'one per line';

interface RowFieldsProps {
  row: Row;
  name: string;
  onChange: (row: Row) => void;
  /** `null`: it is the only one. */
  onRemove: (() => void) | null;
}

const fieldOptions = policyFields.map((field) => [field, fieldWords[field]] as const);

function operatorOptions(field: PolicyField): (readonly [string, string])[] {
  return policyFieldFacts[field].operators.flatMap((operator) => {
    const [is, isNot] = operatorWords[operator];
    return [[operator, is] as const, [`not ${operator}`, isNot] as const];
  });
}

function RowFields({ row, name: label, onChange, onRemove }: RowFieldsProps) {
  const { field, name, isNot, operator, value } = row;
  const { name: names } = policyFieldFacts[field];
  const words = wordsOf(field, name === '' ? undefined : name);
  const isOfWords = words !== undefined && (operator === 'equals' || operator === 'in');
  const draft = {
    field: field as string,
    name,
    operator: `${isNot ? 'not ' : ''}${operator}`,
    value,
    chosen: filledLines(value),
  };
  const write = (change: Partial<typeof draft>): void => {
    const { operator: typed, chosen, field: other, ...rest } = change;
    const [last = 'equals', isOpposite] = (typed ?? draft.operator).split(' ').toReversed();
    onChange(
      changedRow(row, {
        ...rest,
        ...(other === undefined ? {} : { field: other as PolicyField }),
        ...(chosen === undefined ? {} : { value: chosen.join('\n') }),
        operator: last as PolicyOperator,
        isNot: isOpposite !== undefined,
      }),
    );
  };
  const form = formOn(draft, write, {
    problemAt: (place) => (place === 'value' || place === 'chosen' ? rowProblem(row) : null),
  });
  return (
    <div class="clause" role="group" aria-label={label}>
      {form.fields([
        { name: 'field', label: 'Field', isLabelHidden: true, options: fieldOptions },
        names !== undefined && {
          name: 'name',
          label: 'Which',
          isLabelHidden: true,
          isMono: true,
          placeholder: 'name',
          ...(names === 'required' ? { suggestions: namesOf(field) } : { options: [['', 'name'], ...names] }),
        },
        { name: 'operator', label: 'Operator', isLabelHidden: true, options: operatorOptions(field) },
        isOfWords && operator === 'in' && { name: 'chosen', label: 'Values', options: words },
        isOfWords && operator === 'equals' && { name: 'value', label: 'Value', isLabelHidden: true, options: words },
        !isOfWords &&
          operator !== 'exists' && {
            name: 'value',
            label: isList(operator) ? 'Values, one per line' : 'Value',
            isLabelHidden: true,
            isMono: true,
            rows: isList(operator) ? 3 : 1,
            suggestions: suggestedValues(field),
            placeholder: isList(operator) ? listHint(field) : (exampleValues[field] ?? ''),
          },
      ])}
      {onRemove !== null && (
        <Button isSmall kind="danger" label={`Remove ${label.toLowerCase()}`} onClick={onRemove}>
          ×
        </Button>
      )}
    </div>
  );
}
