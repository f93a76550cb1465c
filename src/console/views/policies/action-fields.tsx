/** What a policy does, with the fields of that action. */
import { SelectField } from '../../components/field.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { RefusableText } from '../../settings/form.tsx';
import { problemIn } from '../../settings/setting-schema.ts';
import type { ListedAction, StoredSet } from './policy.ts';

type Action = ListedAction['action'];

const words: Readonly<Record<Action, string>> = {
  allow: 'allow: no later policy and no path rule applies',
  challenge: 'challenge',
  block: 'block',
  redirect: 'redirect, where the request would be allowed',
  skipSession: 'skipSession: ask for no session, and go on',
  limit: 'limit: count by a limit, and go on',
  origin: 'origin: send it to a named origin, and go on',
};
const levels = [
  ['', 'any'],
  ['0', '0: any that is solved'],
  ['1', '1: proof of work'],
  ['2', '2: four times the work, with an image or a puzzle'],
] as const;
const statuses = ['302', '303', '307', '308'] as const;

export interface ActionFieldsProps {
  then: ListedAction;
  onChange: (then: ListedAction) => void;
  /** What an action can name. */
  stored: Pick<StoredSet, 'limits' | 'origins'>;
}

export function ActionFields({ then, onChange, stored }: ActionFieldsProps) {
  const named = { limit: stored.limits.map(({ name }) => name), origin: Object.keys(stored.origins) };
  const first = (action: Action): ListedAction => {
    if (action === 'redirect') return { action, location: '/', status: 302 };
    if (action === 'limit') return { action, limit: named.limit[0] ?? '' };
    return action === 'origin' ? { action, origin: named.origin[0] ?? '' } : { action };
  };
  // Nothing can be named that is not there.
  const offered = (Object.keys(words) as Action[]).filter((action) => {
    const isNaming = action === 'limit' || action === 'origin';
    return !isNaming || named[action].length > 0 || then.action === action;
  });
  return (
    <>
      <SelectField
        label="Action"
        value={then.action}
        options={offered.map((action) => [action, words[action]] as const)}
        onChange={(action) => onChange(first(action))}
      />
      {then.action === 'challenge' && (
        <SelectField
          label="Lowest level that counts"
          hint="A level is a price. Programs solve pictures too."
          value={then.level === undefined ? '' : (String(then.level) as '0' | '1' | '2')}
          options={levels}
          onChange={(level) =>
            onChange(level === '' ? { action: 'challenge' } : { ...then, level: Number(level) as 0 | 1 | 2 })
          }
        />
      )}
      {then.action === 'redirect' && (
        <>
          <RefusableText
            name="location"
            label="Location"
            hint="A path of the same site, or an https address."
            isMono
            maxLength={forms.redirect.location.maxLength}
            error={problemIn(forms.redirect.location, then.location)}
            value={then.location}
            onInput={(location) => onChange({ ...then, location })}
          />
          <SelectField
            label="Status"
            value={String(then.status ?? 302) as (typeof statuses)[number]}
            options={statuses}
            onChange={(status) => onChange({ ...then, status: Number(status) as 302 | 303 | 307 | 308 })}
          />
        </>
      )}
      {/* What is chosen is offered too, also when it is gone. */}
      {then.action === 'limit' && (
        <SelectField
          label="Limit"
          value={then.limit}
          options={[...new Set([...named.limit, then.limit])]}
          onChange={(limit) => onChange({ ...then, limit })}
        />
      )}
      {then.action === 'origin' && (
        <SelectField
          label="Origin"
          value={then.origin}
          options={[...new Set([...named.origin, then.origin])]}
          onChange={(origin) => onChange({ ...then, origin })}
        />
      )}
    </>
  );
}
