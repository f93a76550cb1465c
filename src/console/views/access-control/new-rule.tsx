/** A new access control rule: its conditions, what it does, and until when. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import type { RequestOf } from '../../api/service-api.ts';
import { Button } from '../../components/button.tsx';
import { CreateDialog } from '../../components/dialog.tsx';
import { SelectField } from '../../components/field.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { RefusableText, useForm } from '../../settings/form.tsx';
import { valueText } from '../../settings/setting-words.ts';
import { captchaTypes } from '../../../contract/vocabulary.ts';

type Rule = RequestOf<'/access-control/create'>['rule'];
type Field = Rule['conditions'][number]['field'];
interface TypedCondition {
  field: Field;
  value: string;
}

export const conditionFields: readonly (readonly [field: Field, name: string, example: string])[] = [
  ['ip', 'Address', '203.0.113.9'],
  ['ipMask', 'Network', '203.0.113.0/24'],
  ['asn', 'Network number (ASN)', '64500'],
  ['countryCode', 'Country', 'AQ'],
  ['ja4Hash', 'TLS fingerprint (JA4)', 't13d1516h2_8daaf6152771_02713d6af862'],
  ['userAgent', 'User agent, whole', 'Mozilla/5.0 …'],
  ['userId', 'Your user id', 'customer-17'],
];

const types = [
  ['block', 'Block: no captcha is issued'],
  ['restrict', 'Restrict: the captcha is harder, or the token is refused'],
] as const;

const lives = [
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '7 days'],
  ['2592000', '30 days'],
  ['31536000', '1 year'],
] as const;

const captchas = [
  ['', 'As the site says'],
  ...captchaTypes.map((captchaType) => [captchaType, valueText(captchaType)] as const),
] as const;

/** Restrictions that are numbers. */
const numbers = [
  ['powDifficulty', 'Difficulty of the proof of work'],
  ['solvedImagesCount', 'Pictures with a known answer'],
  ['unsolvedImagesCount', 'Pictures without a known answer'],
  ['imageThreshold', 'Share of pictures that must be right'],
  ['frictionlessScore', 'Added to the score of the session'],
] as const;

const emptyDraft = {
  type: 'block' as Rule['type'],
  life: '86400',
  description: '',
  ruleGroupId: '',
  captchaType: '' as '' | NonNullable<Rule['captchaType']>,
  powDifficulty: '',
  solvedImagesCount: '',
  unsolvedImagesCount: '',
  imageThreshold: '',
  frictionlessScore: '',
  deferToVerify: false,
};

export function NewAccessControlRule({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const { description: about, ruleGroupId: group, ...restrictions } = forms.accessControlRule;
  // What a rule that blocks does not send cannot be wrong.
  const form = useForm(emptyDraft, (draft) => ({
    description: about,
    ruleGroupId: group,
    ...(draft.type === 'restrict' ? restrictions : {}),
  }));
  const [conditions, setConditions] = useState<readonly TypedCondition[]>([{ field: 'ip', value: '' }]);
  const { type, life, description, ruleGroupId, captchaType, deferToVerify } = form.draft;

  const restriction = (): Partial<Rule> => ({
    ...(captchaType === '' ? {} : { captchaType }),
    ...Object.fromEntries(
      numbers.flatMap(([name]) => (form.draft[name] === '' ? [] : [[name, Number(form.draft[name])]])),
    ),
    ...(deferToVerify ? { deferToVerify } : {}),
  });
  const rule = (): Rule => ({
    type,
    conditions: conditions.map(({ field, value }) => ({ field, operator: 'equals', value: value.trim() })),
    expiry: new Date(Date.now() + Number(life) * 1000).toISOString(),
    ...(description === '' ? {} : { description }),
    ...(ruleGroupId === '' ? {} : { ruleGroupId }),
    ...(type === 'restrict' ? restriction() : {}),
  });
  return (
    <CreateDialog
      title="New captcha rule"
      isWide
      isComplete={form.isComplete && conditions.every(({ value }) => value.trim() !== '')}
      send={() => call('/access-control/create', { rule: rule() })}
      onMade={onCreated}
      onClose={onClose}
    >
      {form.fields([{ name: 'type', label: 'What it does', options: types }])}
      <Conditions conditions={conditions} onChange={setConditions} />
      {type === 'restrict' && (
        <fieldset>
          <legend>Restriction</legend>
          <div class="group-members">
            {form.fields([
              { name: 'captchaType', label: 'Captcha', options: captchas },
              ...numbers.map(([name, label]) => ({ name, label })),
            ])}
          </div>
          {form.fields([
            {
              name: 'deferToVerify',
              label: 'Only at verification',
              hint: 'The challenge stays as it is, and the token is refused when your backend verifies it.',
            },
          ])}
        </fieldset>
      )}
      <div class="group-members">
        {form.fields([
          { name: 'life', label: 'Expires after', options: lives },
          { name: 'ruleGroupId', label: 'Group', hint: 'To delete rules together.' },
        ])}
      </div>
      {form.fields([{ name: 'description', label: 'Description', hint: 'For people.' }])}
      <p class="hint">A rule with the same conditions is replaced.</p>
    </CreateDialog>
  );
}

interface ConditionsProps {
  conditions: readonly TypedCondition[];
  onChange: (conditions: readonly TypedCondition[]) => void;
}

/** Each field at most once: two values of one field never match together. */
function Conditions({ conditions, onChange }: ConditionsProps) {
  const used = new Set(conditions.map(({ field }) => field));
  const free = conditionFields.find(([field]) => !used.has(field))?.[0];
  const set = (at: number, changed: TypedCondition) =>
    onChange(conditions.map((one, index) => (index === at ? changed : one)));
  return (
    <fieldset>
      <legend>When all of these are so</legend>
      <div class="stack">
        {conditions.map(({ field, value }, at) => (
          <div key={field} class="row">
            <SelectField
              label={`Condition ${at + 1}`}
              value={field}
              options={conditionFields.flatMap(([other, name]) =>
                other === field || !used.has(other) ? [[other, name] as const] : [],
              )}
              onChange={(next) => set(at, { field: next, value: '' })}
            />
            <div class="grow">
              <RefusableText
                name={`conditions.${at}.value`}
                label={`Value ${at + 1}`}
                placeholder={conditionFields.find(([one]) => one === field)?.[2] ?? ''}
                isMono
                value={value}
                onInput={(next) => set(at, { field, value: next })}
              />
            </div>
            {conditions.length > 1 && (
              <Button
                label={`Remove condition ${at + 1}`}
                onClick={() => onChange(conditions.filter((_, index) => index !== at))}
              >
                Remove
              </Button>
            )}
          </div>
        ))}
        {free !== undefined && (
          <div class="actions">
            <Button isSmall onClick={() => onChange([...conditions, { field: free, value: '' }])}>
              Add a condition
            </Button>
          </div>
        )}
      </div>
    </fieldset>
  );
}
