/** A new access control rule: its conditions, what it does, and until when. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import type { RequestOf } from '../../api/service-api.ts';
import { Button } from '../../components/button.tsx';
import { CreateDialog } from '../../components/create-dialog.tsx';
import { CheckField, SelectField, TextField } from '../../components/field.tsx';

type Rule = RequestOf<'/access-control/create'>['rule'];
type Condition = Rule['conditions'][number];
type Field = Condition['field'];

const fields: readonly (readonly [Field, string])[] = [
  ['ip', 'Address'],
  ['ipMask', 'Network'],
  ['asn', 'Network number (ASN)'],
  ['countryCode', 'Country'],
  ['ja4Hash', 'TLS fingerprint (JA4)'],
  ['userAgent', 'User agent, whole'],
  ['userId', 'Your user id'],
];
const examples: Readonly<Record<Field, string>> = {
  ip: '203.0.113.9',
  ipMask: '203.0.113.0/24',
  asn: '64500',
  countryCode: 'AQ',
  ja4Hash: 't13d1516h2_8daaf6152771_02713d6af862',
  userAgent: 'Mozilla/5.0 …',
  userId: 'customer-17',
};

const lives = [
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '7 days'],
  ['2592000', '30 days'],
  ['31536000', '1 year'],
] as const;

const captchaTypes = [
  ['', 'As the site says'],
  ['frictionless', 'frictionless'],
  ['pow', 'pow'],
  ['image', 'image'],
  ['puzzle', 'puzzle'],
] as const;

/** Restrictions that are numbers. The service says which of them is out of its bounds. */
const numbers = [
  ['powDifficulty', 'Difficulty of the proof of work', '1 to 10'],
  ['solvedImagesCount', 'Pictures with a known answer', '1 to 32'],
  ['unsolvedImagesCount', 'Pictures without a known answer', '0 to 32'],
  ['imageThreshold', 'Share of pictures that must be right', '0 to 1'],
  ['frictionlessScore', 'Added to the score of the session', '−1 to 1'],
] as const;
type NumberName = (typeof numbers)[number][0];

export function NewRule({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const [type, setType] = useState<Rule['type']>('block');
  const [conditions, setConditions] = useState<readonly { field: Field; value: string }[]>([
    { field: 'ip', value: '' },
  ]);
  const [life, setLife] = useState<string>('86400');
  const [description, setDescription] = useState('');
  const [group, setGroup] = useState('');
  const [captchaType, setCaptchaType] = useState<'' | NonNullable<Rule['captchaType']>>('');
  const [given, setGiven] = useState<Partial<Record<NumberName, string>>>({});
  const [deferToVerify, setDeferToVerify] = useState(false);

  const restriction = (): Partial<Rule> => ({
    ...(captchaType === '' ? {} : { captchaType }),
    ...Object.fromEntries(Object.entries(given).flatMap(([name, text]) => (text === '' ? [] : [[name, Number(text)]]))),
    ...(deferToVerify ? { deferToVerify } : {}),
  });
  const rule = (): Rule => ({
    type,
    conditions: conditions.map(({ field, value }) => ({ field, operator: 'equals', value: value.trim() })),
    expiry: new Date(Date.now() + Number(life) * 1000).toISOString(),
    ...(description === '' ? {} : { description }),
    ...(group === '' ? {} : { ruleGroupId: group }),
    ...(type === 'restrict' ? restriction() : {}),
  });
  return (
    <CreateDialog
      title="New access control rule"
      isWide
      isComplete={conditions.every(({ value }) => value.trim() !== '')}
      send={() => call('/access-control/create', { rule: rule() })}
      onMade={onCreated}
      onClose={onClose}
    >
      <SelectField
        label="What it does"
        value={type}
        options={[
          ['block', 'Block: no captcha is issued'],
          ['restrict', 'Restrict: the captcha is harder, or the token is refused'],
        ]}
        onChange={setType}
      />
      <Conditions conditions={conditions} onChange={setConditions} />
      {type === 'restrict' && (
        <fieldset>
          <legend>Restriction</legend>
          <div class="group-members">
            <SelectField label="Captcha" value={captchaType} options={captchaTypes} onChange={setCaptchaType} />
            {numbers.map(([name, label, hint]) => (
              <TextField
                key={name}
                label={label}
                hint={hint}
                type="number"
                value={given[name] ?? ''}
                onInput={(text) => setGiven({ ...given, [name]: text })}
              />
            ))}
          </div>
          <CheckField
            label="Only at verification"
            hint="The challenge stays as it is, and the token is refused when your backend verifies it."
            isChecked={deferToVerify}
            onChange={setDeferToVerify}
          />
        </fieldset>
      )}
      <div class="group-members">
        <SelectField label="Expires after" value={life} options={lives} onChange={setLife} />
        <TextField label="Group" hint="To delete rules together." value={group} onInput={setGroup} maxLength={256} />
      </div>
      <TextField label="Description" hint="For people." value={description} onInput={setDescription} maxLength={1024} />
      <p class="hint">A rule with the same conditions is replaced.</p>
    </CreateDialog>
  );
}

interface ConditionsProps {
  conditions: readonly { field: Field; value: string }[];
  onChange: (conditions: readonly { field: Field; value: string }[]) => void;
}

/** Each field at most once: two values of one field never match together. */
function Conditions({ conditions, onChange }: ConditionsProps) {
  const used = new Set(conditions.map(({ field }) => field));
  const free = fields.filter(([field]) => !used.has(field));
  const set = (at: number, changed: { field: Field; value: string }) =>
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
              options={fields.filter(([other]) => other === field || !used.has(other))}
              onChange={(next) => set(at, { field: next, value: '' })}
            />
            <div class="grow">
              <TextField
                label={`Value ${at + 1}`}
                placeholder={examples[field]}
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
        {free[0] !== undefined && (
          <div class="actions">
            <Button isSmall onClick={() => onChange([...conditions, { field: free[0]![0], value: '' }])}>
              Add a condition
            </Button>
          </div>
        )}
      </div>
    </fieldset>
  );
}
