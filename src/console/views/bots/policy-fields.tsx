/** The fields of a bot policy. */
import type { ResponseOf } from '../../api/service-api.ts';
import { Button } from '../../components/button.tsx';
import { Section } from '../../components/page.tsx';
import { CheckField } from '../../components/field.tsx';
import { botBehaviours, botPresets, type BotAction, type BotBehaviour } from '../../../contract/vocabulary.ts';
import { formOn } from '../../settings/form.tsx';
import { PolicyOverrides, actionOptions, type BotPolicyFields } from './policy-overrides.tsx';

type Behaviours = ResponseOf<'/protect/robots'>['behaviours'];

const presetTexts = {
  open: 'open: everybody may',
  'search-only': 'search-only: search yes, training no',
  closed: 'closed: monitors and webhooks only',
} as const;

const presetOptions = botPresets.map((preset) => [preset, presetTexts[preset]] as const);

const comesFor: Record<BotBehaviour, string> = {
  search: 'Search engines',
  agent: 'Agents that act for a person',
  training: 'Crawlers for training',
  preview: 'Previews of links',
  feed: 'Feed readers',
  monitor: 'Monitors of the site',
  webhook: 'Webhooks',
  archive: 'Archives',
  seo: 'Marketing and SEO',
  other: 'Others',
  'suspected-agent': 'Visitors who seem operated by a program',
};

export interface PolicyFieldsProps {
  policy: BotPolicyFields;
  /** What each behaviour gets; `null` while unknown. */
  behaviours: Behaviours | null;
  /** Ids of bots, as suggestions. */
  bots: readonly string[];
  isDisabled: boolean;
  onChange: (change: Partial<BotPolicyFields>) => void;
}

export function PolicyFields({ policy, behaviours, bots, isDisabled, onChange }: PolicyFieldsProps) {
  const byPreset = new Map(behaviours?.map((one) => [one.behaviour, one.byPreset]));
  const { charge } = policy;
  const form = formOn(policy, onChange, { isDisabled });
  const behaviourForm = formOn<Record<string, BotAction | ''>>(
    Object.fromEntries(botBehaviours.map((name) => [name, policy.behaviours[name] ?? ''])),
    (change) => {
      const actions: Record<string, BotAction | '' | undefined> = { ...policy.behaviours, ...change };
      const chosen = Object.entries(actions).filter(([, action]) => action !== '');
      onChange({ behaviours: Object.fromEntries(chosen) });
    },
    { isDisabled },
  );
  return (
    <>
      <Section title="By what they come for">
        {form.fields([
          {
            name: 'preset',
            label: 'Preset',
            hint: 'What each behaviour gets that has no action of its own below.',
            options: presetOptions,
          },
        ])}
        <div class="policy-grid">
          {behaviourForm.fields(
            botBehaviours.map((name) => ({
              name,
              label: `${comesFor[name]} (${name})`,
              options: [['', `by the preset: ${byPreset.get(name) ?? '…'}`] as const, ...actionOptions],
            })),
          )}
        </div>
      </Section>
      <Section title="Names without a proof">
        <div class="policy-grid">
          {form.fields([
            {
              name: 'claimed',
              label: 'Claimed',
              hint: 'Nothing proves the name, or not yet. Where the bot of that name gets something stricter, they get that.',
              options: actionOptions,
            },
            {
              name: 'impostor',
              label: 'Impostor',
              hint: 'The operator publishes a complete proof, and it does not hold or is not there yet.',
              options: actionOptions,
            },
          ])}
        </div>
      </Section>
      <PolicyOverrides
        overrides={policy.overrides}
        bots={bots}
        isDisabled={isDisabled}
        onChange={(overrides) => onChange({ overrides })}
      />
      <Section
        title="Charge"
        actions={
          !isDisabled && (
            <Button
              isSmall
              onClick={() => onChange({ charge: charge === null ? { price: '', licenseUrl: '' } : null })}
            >
              {charge === null ? 'Set a price' : 'Remove the price'}
            </Button>
          )
        }
      >
        {charge === null ? (
          <p class="soft">There is no price. The action charge needs one.</p>
        ) : (
          <div class="policy-grid">
            {formOn(charge, (change) => onChange({ charge: { ...charge, ...change } }), { isDisabled }).fields([
              { name: 'price', label: 'Price', hint: 'Currency and amount, such as USD 0.01' },
              { name: 'licenseUrl', label: 'Licence', type: 'url', hint: 'Address of the licence, https' },
            ])}
          </div>
        )}
      </Section>
      <Section title="Signatures of agents">
        <CheckField
          label="Each signature counts once"
          hint="An agent is proved only by a nonce that was not used before. The edge asks the service for each."
          isChecked={policy.signatures.nonce === 'once'}
          isDisabled={isDisabled}
          onChange={(isOnce) => onChange({ signatures: { ...policy.signatures, nonce: isOnce ? 'once' : 'ignore' } })}
        />
      </Section>
      <Section title="robots.txt">
        <CheckField
          label="Add this policy to the origin’s robots.txt"
          isChecked={policy.robots.serve}
          isDisabled={isDisabled}
          onChange={(serve) => onChange({ robots: { ...policy.robots, serve } })}
        />
      </Section>
    </>
  );
}
